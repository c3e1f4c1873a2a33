"""What questions before anything is broken propose: a pod with a claim like that of the pod which a fault is about, or nodes of shapes of
the catalogue. Drawn from the case's name and seed.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator
from typing import Any

import yaml

from fault_injection.scenes import Scene
from fault_injection.scenes.scene import SHAPES

from .cases import Case, Object
from .predictions import Candidate

COUNTS = (1, 2, 4)
"""Devices of a pod of which several are made."""
FITS_COUNTS = (1, 2, 3, 4, 5, 6, 8)
FITS_PROCESSORS = ("1", "8", "24", "60")
"""Devices and CPUs of a pod of which one is made."""
ALIKE = ("resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot")
"""Attributes in which its devices may have to agree, where devices publish them."""
CANDIDATES = 4
MOST_DEVICES = 16
"""Devices of a node that is proposed: a question has to be readable."""
NEW = "next-run"
"""The pod and template that are proposed; no scene has one of that name."""


class NoQuestion(Exception):
    """A question can't be asked of a scene. Says why."""


def pod_of_copies(case: Case) -> list[Object]:
    """A template and a pod that ask for some devices of the class that the asked pod wants; how many, is drawn. Raises NoQuestion."""
    wanted = _wanted(case)
    draw = random.Random(f"copies {case.name} {case.seed}")
    return _manifest(case, {"requests": [_request(wanted, draw.choice(COUNTS))]}, "1")


def pod_that_may_fit(case: Case) -> list[Object]:
    """The same with more that is drawn: devices, processors, and whether the devices have to agree in an attribute. Raises NoQuestion."""
    wanted = _wanted(case)
    draw = random.Random(f"fits {case.name} {case.seed}")
    devices: Object = {"requests": [_request(wanted, draw.choice(FITS_COUNTS))]}
    published = [key for key in ALIKE if key in attributes_of(case)]
    processors = draw.choice(FITS_PROCESSORS)
    if published and draw.random() < 0.5:
        devices["constraints"] = [{"matchAttribute": draw.choice(published)}]
    return _manifest(case, devices, processors)


def nodes_to_add(case: Case) -> list[Candidate]:
    """Nodes of the catalogue's shapes: the scene's own and others of the same driver, as their drivers publish them. Raises NoQuestion."""
    asked = case.recording.find(case.asked) or {}
    if case.asked.kind != "Pod" or asked.get("spec", {}).get("nodeName"):
        raise NoQuestion(f"{case.entry.name}: what the user asks about is no pod that waits")
    classes = set(_classes(case, asked))
    known = {name: shape for name, shape in SHAPES.items() if len(shape["gpus"]) <= MOST_DEVICES}
    drivers = classes & {driver for shape in known.values() for driver in shape["drivers"]}
    if not drivers or drivers != classes:
        raise NoQuestion(f"{case.entry.name}: the catalogue has no node for the classes {', '.join(sorted(classes)) or '(none)'}")
    own = case.entry.world(case.seed, case.recording.told["innocents"]).gpu.shape
    draw = random.Random(f"nodes {case.name} {case.seed}")
    others = [name for name, shape in known.items() if drivers <= set(shape["drivers"]) and name != own]
    if len(others) < CANDIDATES - 1:
        raise NoQuestion(f"{case.entry.name}: the catalogue has only {len(others)} other shapes with {', '.join(sorted(drivers))}")
    chosen = [*([own] if drivers <= set(SHAPES[own]["drivers"]) else []), *draw.sample(others, CANDIDATES)][:CANDIDATES]
    return [_candidate(case, shape, drivers) for shape in sorted(chosen)]


def _candidate(case: Case, shape: str, drivers: set[str]) -> Candidate:
    name = re.sub(r"[^a-z0-9]+", "-", shape.lower()).strip("-")
    scene = Scene(zlib.crc32(f"{case.name} {shape}".encode()), release=case.release)
    (node,) = scene.nodes(shape, names=[f"new-{name}"])
    slices = [item for item in scene.slices_of(node) if item["spec"]["driver"] in drivers]
    return Candidate(name=node["metadata"]["name"], manifest=_written([_bare(item) for item in (node, *slices)]))


def _bare(item: Object) -> Object:
    """As somebody would write it: without what only a snapshot has."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in ("uid", "creationTimestamp")}
    made = {**item, "metadata": metadata}
    if item["kind"] == "Node":
        made["status"] = {"capacity": item["status"]["capacity"], "allocatable": item["status"]["allocatable"]}
    return made


def _written(items: list[Object]) -> str:
    return yaml.dump_all(items, Dumper=_Plain, sort_keys=False, default_flow_style=None, width=140)


class _Plain(yaml.SafeDumper):
    """YAML without anchors: the same part twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


# --- what the asked pod wants ---------------------------------------------------------------------------------------------------------


def _wanted(case: Case) -> str:
    """The device class of the first request that the asked pod's claims have."""
    found = next(_classes(case, case.recording.find(case.asked) or {}), None)
    if found is None:
        raise NoQuestion(f"{case.entry.name}: what the user asks about has no claim with a device class")
    return found


def _classes(case: Case, pod: Object) -> Iterator[str]:
    """The device classes that a pod's claims and templates ask for, in their order."""
    entries = pod.get("spec", {}).get("resourceClaims") or ()
    names = {entry.get("resourceClaimName") or entry.get("resourceClaimTemplateName") for entry in entries}
    for item in case.recording.items:
        if item.get("kind") in ("ResourceClaim", "ResourceClaimTemplate") and item["metadata"]["name"] in names:
            spec = item["spec"].get("spec", item["spec"])
            for request in (spec.get("devices") or {}).get("requests") or ():
                for part in request.get("firstAvailable") or (request.get("exactly") or request,):
                    if part.get("deviceClassName"):
                        yield str(part["deviceClassName"])


def attributes_of(case: Case) -> set[str]:
    """The names of all attributes that devices of the recording publish."""
    devices = (
        device for item in case.recording.items if item.get("kind") == "ResourceSlice" for device in item["spec"].get("devices") or ()
    )
    return {name for device in devices for name in (device.get("attributes") or (device.get("basic") or {}).get("attributes") or ())}


def _request(device_class: str, count: int) -> Object:
    return {"name": "devices", "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}}


def _manifest(case: Case, devices: Object, processors: str) -> list[Object]:
    namespace = case.asked.namespace or "default"
    resources = {"requests": {"cpu": processors, "memory": "1Gi"}, "claims": [{"name": "devices"}]}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": NEW, "namespace": namespace},
            "spec": {"spec": {"devices": devices}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": NEW, "namespace": namespace},
            "spec": {
                "containers": [{"name": "main", "image": "registry.example/run:1", "resources": resources}],
                "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": NEW}],
            },
        },
    ]
