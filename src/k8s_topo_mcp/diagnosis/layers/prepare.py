"""A pod that is bound but doesn't start: what its node does with it.

The order in which the kubelet works: volumes are attached and mounted, devices are prepared by their drivers, the sandbox is made, images
are pulled, containers start (k8s.io/kubernetes pkg/kubelet kubelet_pods.go SyncPod, kuberuntime_manager.go). What the kubelet last said
decides; a container that already waits for its image or restarts has passed the steps before. Event reasons: pkg/kubelet/events/event.go;
texts of the device part: pkg/kubelet/cm/dra/manager.go prepareResources, cm/dra/plugin/dra_plugin_manager.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...dra.pools import newest_of
from ...findings import finding
from ...objects import DeviceResult, Event, Node, ObjectRef, Pod, ResourceClaim
from ...view import ClusterView
from ...view.indices import claims_of, consumers_of, events_of, slices_of_pool
from ..evidence import Advice, Evidence, Held, PluginSet, PluginUnknown, age_of, said, stated
from ..plugins import STARTING, plugin_of, pod_on, published_on
from . import compute_domain
from .new_pod import new_pod_fits, placed_anew

PREPARE = "FailedPrepareDynamicResources"
VOLUMES = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
SANDBOX = frozenset({"FailedCreatePodSandBox", "FailedPodSandBoxStatus", "NetworkNotReady"})
IMAGES = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError"}
)
EXAMPLES = 4

_UNREGISTERED = re.compile(r"DRA driver (\S+) is not registered")
_CLAIM = re.compile(r"ResourceClaim (\S+?):? ")
_NOT_ALLOWED = "is not allowed to use ResourceClaim"

Allocated = tuple[ResourceClaim, DeviceResult]


def look(view: ClusterView, pod: Pod) -> Held | None:
    """What keeps a bound pod from starting; None where nothing is seen, or it isn't bound and starting."""
    if not pod.node_name or pod.phase != "Pending":
        return None
    container = _container(pod)
    if container is not None:
        return container
    results = tuple(_results(view, pod))
    for event in _warnings(view, pod):
        if event.reason == PREPARE:
            return compute_domain.look(view, pod, event) or _gone(view, pod, results, event) or _unprepared(view, pod, event, results)
        if event.reason in VOLUMES:
            found = finding("VOLUME_NOT_MOUNTED", _node_ref(view, pod), reason=event.reason, message=event.message)
            return Held(found, (said(view, event),))
        if event.reason in SANDBOX:
            found = finding("SANDBOX_FAILED", _node_ref(view, pod), reason=event.reason, message=event.message)
            return Held(found, (said(view, event),))
    return _silent(view, pod, results)


def bound_age(view: ClusterView, pod: Pod) -> float | None:
    """How long ago the pod was bound."""
    scheduled = pod.condition("PodScheduled")
    return age_of(view, scheduled.changed if scheduled is not None else None)


def _container(pod: Pod) -> Held | None:
    """A container that has got as far as its image or its own start."""
    for entry in (*pod.init_containers, *pod.containers):
        reason, message = entry.state.reason, entry.state.message
        if entry.state.kind != "waiting" or reason in STARTING:
            continue
        code = "IMAGE_NOT_PULLED" if reason in IMAGES else "CONTAINER_NOT_STARTED"
        return Held(finding(code, pod.ref, f"container {entry.name}", container=entry.name, reason=reason, message=message))
    return None


def _warnings(view: ClusterView, pod: Pod) -> Iterator[Event]:
    """What was said against the pod since it was bound, newest first; a sandbox that was made later silences what stood before it."""
    started = pod.condition("PodReadyToStartContainers")
    since = started.changed if started is not None and started.holds else None
    for event in events_of(view, pod.ref):
        if event.type == "Warning" and not (since is not None and event.last is not None and event.last < since):
            yield event


def _results(view: ClusterView, pod: Pod) -> Iterator[Allocated]:
    for entry in claims_of(view, pod):
        if entry.claim is not None and entry.claim.allocation is not None:
            for result in entry.claim.allocation.results:
                yield entry.claim, result


def _node_ref(view: ClusterView, pod: Pod) -> ObjectRef:
    node = view.get(Node, pod.node_name)
    return node.ref if node is not None else ObjectRef("Node", "", pod.node_name)


# --- devices ----------------------------------------------------------------------------------------------------------------------


def _unprepared(view: ClusterView, pod: Pod, event: Event, results: tuple[Allocated, ...]) -> Held:
    claim, result = _meant(event.message, results)
    driver = _driver(event.message, result)
    evidence = (said(view, event), *compute_domain.unread(view, event))
    return _not_prepared(view, pod, claim, driver, results, _why(event.message), evidence, event.message)


def _not_prepared(
    view: ClusterView,
    pod: Pod,
    claim: ResourceClaim | None,
    driver: str,
    results: tuple[Allocated, ...],
    why: str,
    evidence: tuple[Evidence, ...] = (),
    message: str = "",
) -> Held:
    name = claim.full_name if claim is not None else ""
    devices = tuple(own.device for held, own in results if held is claim and own.driver == driver)
    found = finding("PREPARE_FAILED", _node_ref(view, pod), driver=driver, claim=name, devices=devices, why=why)
    on = driver_on(view, driver, pod.node_name) if driver else ()
    plugin = plugin_of(view, driver) if driver else None
    return Held(found, (*evidence, *on), _helps(view, pod, plugin, message), _vain(view, pod), _look_at(view, pod, plugin))


def driver_on(view: ClusterView, driver: str, node: str) -> tuple[Evidence, ...]:
    """A driver on one node: its DaemonSet, its pod there, what its slices still say."""
    plugin = plugin_of(view, driver)
    pods = (pod_on(view, plugin, node),) if isinstance(plugin, PluginSet) else ()
    return plugin, *pods, published_on(view, driver, node)


def _meant(message: str, results: tuple[Allocated, ...]) -> tuple[ResourceClaim | None, DeviceResult | None]:
    """The claim that the kubelet speaks of, by name or by its driver; the only one if there is only one."""
    unregistered = _UNREGISTERED.search(message)
    for claim, result in results:
        if unregistered is not None and result.driver == unregistered.group(1):
            return claim, result
    for claim, result in results:
        if any(claim.name == name for name in _CLAIM.findall(f"{message} ")):
            return claim, result
    claims = dict(results)
    return next(iter(claims.items())) if len(claims) == 1 else (None, None)


def _driver(message: str, result: DeviceResult | None) -> str:
    unregistered = _UNREGISTERED.search(message)
    return unregistered.group(1) if unregistered is not None else result.driver if result is not None else ""


def _why(message: str) -> str:
    """The kind of failure, by the kubelet's text."""
    if _UNREGISTERED.search(message):
        return "not registered"
    if _NOT_ALLOWED in message:
        return "not reserved"
    if "still exists (previous pod force-deleted" in message or "is being unprepared" in message:
        return "old claim"
    if "NodePrepareResources failed for ResourceClaim" in message or "NodePrepareResources skipped" in message:
        return "refused"
    if "code = Unavailable" in message or "code = DeadlineExceeded" in message:
        return "no answer"
    return "other"


def _helps(view: ClusterView, pod: Pod, plugin: object, message: str) -> tuple[Advice, ...]:
    helps: list[Advice] = []
    if isinstance(plugin, PluginSet):
        state = pod_on(view, plugin, pod.node_name)
        if state.pod is None:
            why = f" ({state.kept_off})" if state.kept_off else ""
            onto = f"get a pod of DaemonSet {_full(plugin.daemon_set)} onto {pod.node_name}{why}"
            helps.append(Advice(f"{onto}: kubelet then retries by itself"))
        elif not state.ready:
            helps.append(Advice(f"repair {state.pod.name}: kubelet retries by itself, the pod may stay"))
    if _NOT_ALLOWED in message:
        helps.append(Advice("delete the pod and let the scheduler place the new one: it reserves the claim"))
    elsewhere = new_pod_fits(view, pod, cordoned=True)
    again = "a new one fits" if pod.metadata.controller is not None else "created again it fits"
    if elsewhere:
        helps.append(Advice(f"cordon {pod.node_name}, then delete the pod: {again}", elsewhere))
    return tuple(helps)


def _vain(view: ClusterView, pod: Pod) -> tuple[Advice, ...]:
    stays = pod.node_name in new_pod_fits(view, pod)
    again = (Advice(f"deleting only the pod ({pod.node_name} stays eligible)"),) if stays else ()
    return Advice("more devices or nodes"), Advice("changing the claim"), *again


def _look_at(view: ClusterView, pod: Pod, plugin: object) -> tuple[str, ...]:
    if isinstance(plugin, PluginSet):
        state = pod_on(view, plugin, pod.node_name)
        if state.pod is not None:
            previous = " --previous" if state.restarts else ""
            return (f"kubectl -n {state.pod.namespace} logs {state.pod.name} --all-containers{previous}",)
        return (f"kubectl -n {plugin.daemon_set.namespace} describe daemonset {plugin.daemon_set.name}",)
    return (f"kubelet's log on {pod.node_name}, and the driver's",)


def _full(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref.name}"


# --- devices that are gone ---------------------------------------------------------------------------------------------------------


def _gone(view: ClusterView, pod: Pod, results: tuple[Allocated, ...], event: Event | None = None) -> Held | None:
    """An allocated device that isn't published any more: nothing gives the pod another one, it has to be made anew.

    Not where the driver may only be away.
    """
    if not view.can_read("ResourceSlice"):
        return None
    for claim, result in results:
        if _published(view, result):
            continue
        plugin = plugin_of(view, result.driver)
        if _is_away(view, pod, result, plugin):
            continue
        found = finding("DEVICE_GONE", claim.ref, "status.allocation", claim=claim.name, device=str(result.id), node=pod.node_name)
        evidence = (*((said(view, event),) if event is not None else ()), *driver_on(view, result.driver, pod.node_name))
        return Held(found, evidence, *_anew(view, pod, claim), _look_at(view, pod, plugin))
    return None


def _is_away(view: ClusterView, pod: Pod, result: DeviceResult, plugin: PluginSet | PluginUnknown) -> bool:
    """Whether a device may be missing only because its driver isn't there for now: with its registration the kubelet removes its slices
    (cm/dra/plugin/dra_plugin_manager.go wipeResourceSlices), and with it they come back. A driver that will have no pod there doesn't come
    back, nor one of a cluster without DaemonSets; where no pod is seen now, or it isn't known which DaemonSet is the driver's, a pool
    that is there without the device is the driver's own word."""
    if isinstance(plugin, PluginSet):
        state = pod_on(view, plugin, pod.node_name)
        if state.pod is not None:
            return not state.ready
        if state.kept_off:
            return False
    elif view.can_read("DaemonSet") and plugin.looked_at == 0:
        return False
    return not slices_of_pool(view, result.driver, result.pool)


def _published(view: ClusterView, result: DeviceResult) -> bool:
    """Whether a device is in the newest generation of its pool; taken as so where that isn't all there yet."""
    current = newest_of(slices_of_pool(view, result.driver, result.pool))
    complete = not current or len(current) >= current[0].slice_count
    return not complete or any(device.name == result.device for entry in current for device in entry.devices)


def _anew(view: ClusterView, pod: Pod, claim: ResourceClaim) -> tuple[tuple[Advice, ...], tuple[Advice, ...]]:
    """That the pod is made anew and where it then fits, and what is in vain."""
    owner = pod.metadata.controller
    again = f"its {owner.kind} makes a new one" if owner is not None else "and create it again"
    waiting = Advice("waiting: nothing gives a bound pod other devices")
    others = len(claim.reserved_for) - 1
    if others > 0 and claim.metadata.controller is None:
        users = f"delete the pod and the {others} more that use claim {claim.name}"
        return (Advice(f"{users}: unused, it is given back, and allocated anew to new pods"),), (waiting,)
    place = placed_anew(view, pod)
    if place.fits:
        return (Advice(f"delete the pod ({again}): its claims are allocated anew, and it fits", place.fits),), (waiting,)
    if not place.certain:
        return (Advice(f"delete the pod ({again}): its claims are allocated anew"),), (waiting,)
    ends = tuple(Advice(f"{text}, and delete the pod ({again}): it then fits", nodes) for text, nodes in place.after)
    first = ends or (Advice(f"delete the pod ({again}), once there is room for it: its claims are allocated anew"),)
    return first, (waiting, Advice("deleting the pod alone: a new one fits nowhere now"))


# --- nothing said -----------------------------------------------------------------------------------------------------------------


def _silent(view: ClusterView, pod: Pod, results: tuple[Allocated, ...]) -> Held | None:
    """No warning stands: is the node there and ready, are the devices still published, does their driver run there?"""
    if not view.can_read("Node"):
        return None
    node = view.get(Node, pod.node_name)
    if node is None:
        return Held(finding("NODE_GONE", ObjectRef("Node", "", pod.node_name), node=pod.node_name))
    ready = node.condition("Ready")
    if ready is not None and not ready.holds:
        found = finding("NODE_NOT_READY", node.ref, "status.conditions[Ready]", node=node.name, reason=ready.reason)
        return Held(found, (stated(view, node.ref, ready),))
    domain = compute_domain.look(view, pod)
    if domain is not None:
        return domain
    return _gone(view, pod, results) or _driver_down(view, pod, results)


def _driver_down(view: ClusterView, pod: Pod, results: tuple[Allocated, ...]) -> Held | None:
    """A driver that doesn't stay up on the node, while the kubelet has it to prepare the devices: before the sandbox is made
    (kuberuntime_manager.go SyncPod: PrepareDynamicResources, then createPodSandbox), and once for all pods of a claim (manager.go:
    "Resources already prepared")."""
    sandbox = pod.condition("PodReadyToStartContainers")
    if sandbox is not None and sandbox.holds:
        return None
    for claim, result in results:
        if any(own.node_name == pod.node_name and own.phase == "Running" for own in consumers_of(view, claim)):
            continue
        plugin = plugin_of(view, result.driver)
        if isinstance(plugin, PluginSet) and pod_on(view, plugin, pod.node_name).is_down:
            return _not_prepared(view, pod, claim, result.driver, results, "driver down")
    return None
