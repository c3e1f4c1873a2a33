"""Kinds that the control plane doesn't serve by itself (Kueue's, Karpenter's, Cluster API's): served by a definition that takes anything.

What a controller of them would do, a scene writes in its stead; the API server keeps it and gives it out like its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fault_injection.lab.errors import LabError
from k8s_topo_mcp.objects import KINDS
from k8s_topo_mcp.sources.live.kinds import plural_of

from .places import Place

Object = dict[str, Any]
DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def serve(place: Place, items: Iterable[Object], mark: Callable[[Object], Object]) -> None:
    """Make sure that the kinds of these objects are served; a definition gets the mark of what is injected.

    Raises LabError for one that neither Kubernetes nor the product knows.
    """
    client = place.client
    for version, kind, namespaced in sorted({(item["apiVersion"], item["kind"], "namespace" in item["metadata"]) for item in items}):
        if client.serves(version, kind):
            continue
        group, _, name = version.partition("/")
        if (group, kind) not in KINDS or group.endswith(".k8s.io"):
            raise LabError(f"nobody knows {version} {kind}; turn on its gate or name its API in the fault's plane")
        client.create(mark(_definition(group, name, kind, namespaced)))
        place.wait(f"{kind} to be served", lambda version=version, kind=kind: client.is_ready(version, kind), 20)


def defined_by(definition: Object) -> tuple[str, str]:
    """apiVersion and kind of the objects that a definition made here serves."""
    spec = definition["spec"]
    return f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"]


def _definition(group: str, version: str, kind: str, namespaced: bool) -> Object:
    plural = plural_of(kind)
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}, "subresources": {"status": {}}}
    return {
        "apiVersion": DEFINITION[0],
        "kind": DEFINITION[1],
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced" if namespaced else "Cluster", "versions": [served]},
    }
