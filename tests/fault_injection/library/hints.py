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


OWN = "(?P<own>.*)"
NOT_READY = (
    "error preparing devices for claim: prepare devices failed: error applying config: error asserting ComputeDomain Ready: "
    "ComputeDomain not Ready"  # dra-driver-nvidia-gpu, cmd/compute-domain-kubelet-plugin
)
FILTERED = (
    r"\d+ (?:max node group size reached|cannot allocate all claims|node\(s\) didn't match Pod's node affinity/selector|Insufficient \S+)"
)
SENTENCES = tuple(
    re.compile(f"{begin}(?:{'|'.join((*ends, OWN))})")
    for begin, *ends in (
        (r"0/\d+ nodes are available: ", ".*"),  # kube-scheduler, pkg/scheduler/framework/types.go: its own reasons
        (
            r'Error creating: pods "\S+" is forbidden: ',  # kube-controller-manager, pkg/controller/controller_utils.go
            r"exceeded quota: \S+, requested: \S+, used: \S+, limited: \S+",  # plugin/pkg/admission/resourcequota/controller.go
        ),
        (r'Pulling image "\S+"', ""),  # kubelet, pkg/kubelet/images/image_manager.go
        (
            "Failed to prepare dynamic resources: prepare dynamic resources: ",  # kubelet, pkg/kubelet/cm/dra/manager.go
            r"DRA driver \S+ is not registered",
            rf"NodePrepareResources failed for claim \S+: {NOT_READY}",
        ),
        (
            "pod didn't trigger scale-up: ",  # cluster-autoscaler, processors/status/eventing_scale_up_processor.go
            rf"{FILTERED}(?:, {FILTERED})*",
        ),
        (
            r'Failed to schedule pod, incompatible with nodepool "\S+", ',  # karpenter, pkg/controllers/provisioning/scheduling/events.go
            "no instance type can satisfy the allocation",
        ),
        (
            "Failed to schedule pod, ",  # karpenter, pkg/controllers/provisioning/scheduling/scheduler.go and nodeclaim.go
            "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter",
            r"all available instance types exceed limits for nodepool \(NodePool=\S+\)",
            "allocating dynamic resources, no instance type can satisfy the allocation",
        ),
        (
            r"couldn't assign flavors to pod set \S+: ",  # kueue, pkg/scheduler/flavorassigner/flavorassigner.go
            r"insufficient unused quota for \S+ in flavor \S+, \d+ more needed",
        ),
    )
)
"""What components say of their own accord: words that aren't the scene's. What else follows a component's beginning is the scene's own."""


def own_words(message: str) -> str:
    """What of an event's message the scene has chosen: all of it, or what follows the words that its component begins with."""
    found = next((match for sentence in SENTENCES if (match := sentence.fullmatch(message)) is not None), None)
    return message if found is None else found.groupdict().get("own") or ""


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
        if isinstance(step, Said):
            yield f"Event about {step.about['metadata']['name']}", own_words(step.message)


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
