"""A lab's cluster as a snapshot: every kind that the product reads, the version, and the gates that the components really run with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx

from k8s_topo_mcp.objects import KINDS
from k8s_topo_mcp.objects.decoding import parse_time
from k8s_topo_mcp.sources.live.kinds import STATUS_CONFIG_MAP
from k8s_topo_mcp.sources.snapshot.fields import kept
from k8s_topo_mcp.sources.snapshot.write import Facts, entries

from .client import Client, Object
from .kubelets import now

_LINE = re.compile(r'^kubernetes_feature_enabled\{name="(?P<name>[^"]+)".*\} (?P<value>[01])$', re.MULTILINE)


def record(client: Client, scheduler_metrics: str, cluster: str, api_version: str | None = None) -> Object:
    """A v1 List as our own `snapshot` command writes it; `api_version` as for `objects`."""
    facts = Facts(
        as_of=parse_time(now(micro=True)),
        cluster=cluster,
        version=client.call("GET", "/version"),
        gates={**read_gates(client.text("/metrics")), **read_gates(scheduler_metrics)},
    )
    return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(entries(facts, objects(client, api_version)))}


def objects(client: Client, api_version: str | None = None, **parameters: str) -> list[Object]:
    """Every object of every kind that the product reads, whole, and the autoscaler's status.

    Each is in the version that the API server prefers; those of resource.k8s.io in `api_version`, if that is served. `parameters` are those
    of the lists, as labelSelector.
    """
    versions = client.versions()
    found: list[Object] = []
    for group, kind in sorted(KINDS):
        if group == "events.k8s.io":
            continue  # the same events as in the core group
        wanted = [api_version] if group == "resource.k8s.io" and api_version is not None else []
        served = next((version for version in (*wanted, *versions.get(group, ())) if client.serves(version, kind)), None)
        if served is not None:
            found += client.list(served, kind, None, **parameters)
    namespace, name = STATUS_CONFIG_MAP
    return found + client.list("v1", "ConfigMap", namespace, **{**parameters, "fieldSelector": f"metadata.name={name}"})


def read_gates(metrics: str) -> dict[str, bool]:
    """The gates in a component's /metrics."""
    return {match["name"]: match["value"] == "1" for match in _LINE.finditer(metrics)}


def gate_lines(*metrics: str) -> str:
    """The lines about gates of several components; where they differ, the last one's."""
    lines = {match["name"]: match[0] for text in metrics for match in _LINE.finditer(text)}
    return "".join(f"{lines[name]}\n" for name in sorted(lines))


def metrics(scheduler: str) -> str:
    """The scheduler's /metrics; empty while it is stopped."""
    try:
        # Its certificate is made up at each start; the connection doesn't leave this machine.
        return httpx.get(f"{scheduler}/metrics", verify=False, timeout=10, trust_env=False).text
    except httpx.HTTPError:
        return ""


def write(client: Client, scheduler_metrics: str, target: Path) -> None:
    """A folder of three files, as scenes are kept: objects.json, version.json, feature-gates.txt."""
    target.mkdir(parents=True, exist_ok=True)
    items = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [kept(item) for item in objects(client)]}
    (target / "objects.json").write_text(json.dumps(items, indent=1, sort_keys=True) + "\n")
    (target / "version.json").write_text(json.dumps(client.call("GET", "/version"), indent=1) + "\n")
    (target / "feature-gates.txt").write_text(gate_lines(client.text("/metrics"), scheduler_metrics))
