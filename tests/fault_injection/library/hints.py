"""Words that would give a cause away, and where a scene could have let one slip: everything whose name its author chose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fault_injection.library.declared import TITLES
from fault_injection.library.shelf import Entry
from fault_injection.library.steps import Said, named
from fault_injection.library.world import World
from k8s_topo_mcp.findings import CODES

Object = dict[str, Any]

NEUTRAL = frozenset(
    """
    a all an and another any are as at before beside but by can claim class cluster container counters device devices doesn domain
    domains don driver drivers for free from gpu group has have held here high image in is it its label labels lower many more name names
    new no node nodes number of off offers old on one or other own owner pending plugin pod pods pool queue ready release request
    requests resource resources root roots run runs s scheduler scheduling search selector selectors set slice slices start state than that
    the their to top topology type under up volume volumes with without workload zone autoscaler autoscalers karpenter computedomains api
    versions admin access key order age room model status storage limit binding priority quota template templates kubelet compute common
    feature default shared port affinity partition partitions capacity taint taints job jobs
    card cards part parts daemon daemons plugins
    """.split()
)
"""Words that objects of every cluster carry in their names, whatever is wrong: the kinds of things."""


SENTENCES = tuple(
    re.compile(text)
    for text in (
        r"0/\d+ nodes are available: .*",  # kube-scheduler, pkg/scheduler/framework/types.go
        r'Error creating: pods "\S+" is forbidden: .*',  # kube-controller-manager, pkg/controller/controller_utils.go
        r'Pulling image "\S+"',  # kubelet, pkg/kubelet/images/image_manager.go
        r"Failed to prepare dynamic resources: .*",  # kubelet, pkg/kubelet/cm/dra/manager.go
        r"pod didn't trigger scale-up: .*",  # cluster-autoscaler, processors/status/eventing_scale_up_processor.go
        r"Failed to schedule pod, .*",  # karpenter, pkg/controllers/provisioning/scheduling/events.go
        r"couldn't assign flavors to pod set \S+: .*",  # kueue, pkg/scheduler/flavorassigner/flavorassigner.go
    )
)
"""What components say of their own accord: words that aren't the scene's."""


def words_of(text: str) -> set[str]:
    return {word for word in re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()) if len(word) > 1}


def telling(entries: Iterable[Entry]) -> set[str]:
    """The words of families, codes and of the faults' own names that aren't neutral."""
    sources = [*TITLES.values(), *CODES, *(entry.name for entry in entries)]
    return {word for text in sources for word in words_of(text)} - NEUTRAL


def chosen_texts(world: World) -> Iterator[tuple[str, str]]:
    """(where, text) of everything in a scene whose text its author chose: names, labels, annotations, parts of claims, messages of pods."""
    for step in world.steps:
        for item in named(step):
            where = f"{item['kind']} {item['metadata']['name']}"
            if item["kind"] not in ("DeviceClass", "DaemonSet"):  # a driver's installation brings these names along
                yield where, item["metadata"]["name"]
            yield where, item["metadata"].get("namespace") or ""
            if item["kind"] not in ("Node", "MachineDeployment"):  # a cloud and Cluster API have keys of their own
                for field in ("labels", "annotations"):
                    for key, value in (item["metadata"].get(field) or {}).items():
                        yield where, key.rpartition("/")[2]
                        yield where, value
            for text in inner_texts(item):
                yield where, text
        if isinstance(step, Said) and not any(sentence.fullmatch(step.message) for sentence in SENTENCES):
            yield f"Event about {step.about['metadata']['name']}", step.message


def inner_texts(item: Object) -> Iterator[str]:
    """Names inside of an object: of requests and their alternatives, drivers, pools, devices, counters, containers, volumes; and what the
    status of a pod says."""
    spec = item.get("spec") or {}
    match item["kind"]:
        case "ResourceSlice":
            yield spec["driver"]
            yield spec["pool"]["name"]
            yield from (part["name"] for field in ("devices", "sharedCounters") for part in spec.get(field) or ())
        case "ResourceClaim" | "ResourceClaimTemplate":
            inner = spec["spec"] if item["kind"] == "ResourceClaimTemplate" else spec
            for request in inner["devices"].get("requests") or ():
                yield request["name"]
                yield from (part["name"] for part in request.get("firstAvailable") or ())
        case _:
            pod = spec if item["kind"] == "Pod" else (spec.get("template") or {}).get("spec") or {}
            for field in ("containers", "initContainers", "volumes", "resourceClaims"):
                yield from (part["name"] for part in pod.get(field) or ())
    if item["kind"] == "Pod":
        status = item.get("status") or {}
        yield status.get("message") or ""
        yield from (entry.get("message") or "" for entry in status.get("conditions") or ())


def hints(world: World, forbidden: set[str]) -> list[str]:
    """Names in a scene that hold a telling word."""
    return [f"{where}: {text!r}" for where, text in chosen_texts(world) if words_of(text) & forbidden]
