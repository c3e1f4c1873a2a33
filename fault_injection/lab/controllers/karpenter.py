"""Karpenter beside a lab, with its own kwok provider: a NodeClaim becomes a Node object at once, and no machine is behind it.

One thing of its source is changed: it would listen for metrics and probes on every address, and listens on 127.0.0.1. Its provider knows
the instance types that a file tells, and says of none which devices it has. No leader is elected: a Lease would carry this machine's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fault_injection.lab.control_plane import free
from fault_injection.lab.errors import LabError
from fault_injection.lab.lab import Lab

from .definitions import define
from .probes import ready
from .programs import Edit, Program

Object = dict[str, Any]

PROGRAM = Program(
    name="karpenter",
    module="sigs.k8s.io/karpenter",
    version="v1.14.1",
    sum="h1:GjqvOHLjl2+OXM0ti5VEZSQuvcitB0pETd8zdChXEtI=",
    package="./kwok",
    stamp="sigs.k8s.io/karpenter/pkg/operator.Version",
    manifests=("kwok/charts/crds", "kwok/apis/crds"),
    edits=(Edit("pkg/operator/operator.go", 'fmt.Sprintf(":%d", ', 'fmt.Sprintf("127.0.0.1:%d", ', 2),),
)
NODE_CLASS = {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}, "spec": {}}
ZONE = "test-zone-a"
READY = 60.0
"""Seconds until it serves; on an idle machine about three."""


def start(lab: Lab, settings: Mapping[str, Any]) -> None:
    """Install Karpenter and run it.

    `settings`: `flags`, its command line; `types`, the instance types that its provider has, name → {resource: quantity}. Raises LabError.
    """
    if unknown := sorted(set(settings) - {"flags", "types"}):
        raise LabError(f"Karpenter has no setting {', '.join(unknown)}; it has flags and types")
    binary = PROGRAM.binary()
    own = lab.path / "karpenter"
    own.mkdir()
    for path in PROGRAM.manifests:
        define(lab, PROGRAM.documents(path))
    lab.client.create(NODE_CLASS)
    types = own / "instance-types.json"
    types.write_text(json.dumps(instance_types(settings.get("types", {})), indent=1))
    health, metrics = free(2)
    # It takes its kubeconfig from the environment alone, and `env` becomes the program: the process is the one that is ended.
    lab.beside(
        "karpenter",
        [
            "/usr/bin/env",
            f"KUBECONFIG={lab.kubeconfig}",
            "SYSTEM_NAMESPACE=kube-system",
            str(binary),
            "--disable-leader-election=true",
            f"--health-probe-port={health}",
            f"--metrics-port={metrics}",
            f"--instance-types-file-path={types}",
            *flags(settings.get("flags", ())),
        ],
    )
    lab.wait("Karpenter to be ready", lambda: ready(health), READY)


def flags(told: Sequence[str]) -> list[str]:
    """The command line of a scene. Raises LabError for one that would open a port or elect a leader."""
    for flag in told:
        if flag.split("=")[0] in ("--health-probe-port", "--metrics-port", "--disable-leader-election", "--instance-types-file-path"):
            raise LabError(f"{flag} is the lab's to say, not the scene's")
    return list(told)


def instance_types(types: Mapping[str, Mapping[str, str]]) -> list[Object]:
    """The provider's file (kwok/cloudprovider/helpers.go): one offering on demand in one zone each."""
    places = (("karpenter.sh/capacity-type", "on-demand"), ("topology.kubernetes.io/zone", ZONE))
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in places]
    return [
        {
            "name": name,
            "offerings": [{"Price": 1.0, "Available": True, "Requirements": requirements}],
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": dict(resources),
        }
        for name, resources in types.items()
    ]
