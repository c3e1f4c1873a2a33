"""Which DaemonSet runs a driver on the nodes, and how its pods are.

Nothing in the API links a ResourceSlice to the pod that publishes it, so a driver's DaemonSet is recognised by marks: the plugin directory
that it mounts (/var/lib/kubelet/plugins/DRIVER, k8s.io/dynamic-resource-allocation kubeletplugin), the driver's name in its labels or
images, and the names under which known drivers are installed (their charts). Which mark it was is always said. DaemonSets that a driver
makes for one ComputeDomain aren't its plugin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from ..dra.pools import newest_of
from ..objects import COMPUTE_DOMAIN_LABEL, Container, DaemonSet, Node, Pod, Taint, Toleration
from ..scheduling.node_affinity import matches
from ..scheduling.taint_toleration import BLOCKING, tolerated
from ..view import ClusterView
from ..view.indices import pods_of_owner, slices_of_node
from .evidence import PluginPod, PluginSet, PluginUnknown, Published, Unselected, age_of

PLUGINS = "/var/lib/kubelet/plugins/"
DEVICE_PLUGINS = "/var/lib/kubelet/device-plugins"

_NVIDIA = ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu", "k8s-dra-driver-gpu")
INSTALLED_AS: Mapping[str, tuple[str, ...]] = {
    "gpu.nvidia.com": _NVIDIA,
    "compute-domain.nvidia.com": _NVIDIA,
    "gpu.amd.com": ("k8s-gpu-dra-driver",),
    "gpu.intel.com": ("intel-gpu-resource-driver",),
    "gaudi.intel.com": ("intel-gaudi-resource-driver",),
    "qat.intel.com": ("intel-qat-resource-driver",),
    "dra.net": ("dranet",),
    "dra.cpu": ("dracpu", "dra-driver-cpu"),
    "gpu.example.com": ("dra-example-driver",),
}
"""Names of charts, DaemonSets and images under which drivers are installed."""

_NODE = "node.kubernetes.io/"
OWN_TOLERATIONS = (
    *(Toleration(_NODE + key, "Exists", "", "NoExecute") for key in ("not-ready", "unreachable")),
    *(Toleration(_NODE + key, "Exists", "", "NoSchedule") for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")),
)
NETWORK_TOLERATION = Toleration(_NODE + "network-unavailable", "Exists", "", "NoSchedule")
"""What the DaemonSet controller tolerates for its pods, the last for those on the host's network (pkg/controller/daemon/util,
AddOrUpdateDaemonPodTolerations)."""

STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Reasons for which a container waits before its first start, or before that in a new sandbox."""

CRASHED_OF_LATE = 600.0
"""Seconds: after so long up a container's crashes no longer count, twice the longest backoff (pkg/kubelet kubelet.go MaxCrashLoopBackOff,
k8s.io/client-go util/flowcontrol backoff.go hasExpired)."""

Mark = Callable[[DaemonSet], str]


def plugin_of(view: ClusterView, driver: str) -> PluginSet | PluginUnknown:
    """The DaemonSet of a DRA driver."""
    return view.memo(("plugin", driver), lambda: _find(view, driver, _marks_of_driver(driver)))


def device_plugin_of(view: ClusterView, resource: str) -> PluginSet | PluginUnknown:
    """The DaemonSet whose device plugin offers an extended resource."""
    return view.memo(("device plugin", resource), lambda: _find(view, resource, (_device_plugin(resource),)))


def _find(view: ClusterView, driver: str, marks: Iterable[Mark]) -> PluginSet | PluginUnknown:
    sets = [entry for entry in view.all(DaemonSet) if not _is_per_domain(entry)]
    for mark in marks:
        found = [(entry, why) for entry in sets if (why := mark(entry))]
        plugins = [(entry, why) for entry, why in found if "plugin" in entry.name] if len(found) > 1 else found
        chosen = plugins or found
        if len(chosen) == 1:
            entry, why = chosen[0]
            return PluginSet(driver, entry.ref, why, entry.desired, entry.ready or 0)
        if chosen:
            return PluginUnknown(driver, len(sets), tuple(entry.ref for entry, _ in chosen))
    return PluginUnknown(driver, len(sets))


def _is_per_domain(entry: DaemonSet) -> bool:
    return entry.template is not None and COMPUTE_DOMAIN_LABEL in entry.template.node_selector


def _marks_of_driver(driver: str) -> tuple[Mark, ...]:
    """Ways to recognise a driver's DaemonSet, the surest first."""
    directory = PLUGINS + driver
    names = INSTALLED_AS.get(driver, ())

    def mounts(entry: DaemonSet) -> str:
        return f"mounts {directory}" if any(path.rstrip("/") == directory for path in _paths(entry)) else ""

    def names_it(entry: DaemonSet) -> str:
        if any(driver in (key, value) for key, value in _labels(entry).items()):
            return "a label names the driver"
        return next((f"image {image}" for image in _images(entry) if driver in image), "")

    def known_name(entry: DaemonSet) -> str:
        return "its name" if any(name in entry.name for name in names) else ""

    def known_image(entry: DaemonSet) -> str:
        return next((f"image {image}" for image in _images(entry) if any(name in image for name in names)), "")

    def known_label(entry: DaemonSet) -> str:
        found = ((key, value) for key, value in _labels(entry).items() if any(name in value or name in key for name in names))
        return next((f"label {key}={value}" for key, value in found), "")

    return mounts, names_it, known_name, known_image, known_label, _like(driver)


def _like(driver: str) -> Mark:
    """Vendor and "dra" in name and images, and a kubelet plugin: likely the one."""
    vendor = driver.split(".")[-2] if driver.count(".") else driver

    def mark(entry: DaemonSet) -> str:
        words = _words(entry)
        plugin = any(path.startswith(PLUGINS.rstrip("/")) for path in _paths(entry))
        return f"likely: a kubelet plugin with {vendor} and dra in its names" if plugin and vendor in words and "dra" in words else ""

    return mark


def _device_plugin(resource: str) -> Mark:
    vendor = resource.partition("/")[0].split(".")[0]

    def mark(entry: DaemonSet) -> str:
        known = any(path.startswith(DEVICE_PLUGINS) for path in _paths(entry)) or "device-plugin" in entry.name
        return f"a device plugin with {vendor} in its names" if known and vendor in _words(entry) else ""

    return mark


def _words(entry: DaemonSet) -> frozenset[str]:
    return frozenset(re.split(r"[^a-z0-9]+", " ".join((entry.name, *_images(entry))).lower()))


def _labels(entry: DaemonSet) -> Mapping[str, str]:
    return entry.metadata.labels if entry.template is None else {**entry.metadata.labels, **entry.template.metadata.labels}


def _images(entry: DaemonSet) -> tuple[str, ...]:
    return entry.templates[0].images if entry.templates else ()


def _paths(entry: DaemonSet) -> tuple[str, ...]:
    return entry.templates[0].host_paths if entry.templates else ()


# --- how it is --------------------------------------------------------------------------------------------------------------------


def daemon_set(view: ClusterView, plugin: PluginSet) -> DaemonSet | None:
    """The object that a plugin was recognised in."""
    return view.get(DaemonSet, plugin.daemon_set.name, plugin.daemon_set.namespace)


def pod_on(view: ClusterView, plugin: PluginSet, node: str) -> PluginPod:
    """The plugin's pod on a node, the one in the worst state of several."""
    pods = view.memo(("pods of the plugin", plugin.daemon_set), lambda: _by_node(view, plugin)).get(node, ())
    states = sorted((_state(view, pod) for pod in pods), key=lambda entry: entry.ready)
    return states[0] if states else PluginPod(node, None, kept_off=_kept_off(view, plugin, node))


def _by_node(view: ClusterView, plugin: PluginSet) -> Mapping[str, Sequence[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods_of_owner(view, plugin.daemon_set):
        if not pod.is_terminal:
            found.setdefault(pod.node_name, []).append(pod)
    return found


def taints_between(view: ClusterView, entry: DaemonSet, node: Node) -> tuple[Taint, ...]:
    """The taints of a node that a DaemonSet's pods don't tolerate, with what its controller tolerates for them."""
    if entry.template is None:
        return ()
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    own = _with_own_tolerations(entry.template).tolerations
    return tuple(taint for taint in node.taints if taint.effect in BLOCKING and not tolerated(own, taint, comparison))


def _kept_off(view: ClusterView, plugin: PluginSet, name: str) -> str:
    """Why the DaemonSet has no pod on a node: the controller makes none where labels or taints are against it (pkg/controller/daemon
    NodeShouldRunDaemonPod). "" where neither is, or the node can't be seen."""
    entry, node = daemon_set(view, plugin), view.get(Node, name)
    if entry is None or entry.template is None or node is None:
        return ""
    if not matches(entry.template, node):
        return f"it asks for {_asked(entry.template)[0]}, and the node isn't so labelled"
    taints = taints_between(view, entry, node)
    return f"it doesn't tolerate {taints_in_words(taints)} of the node" if taints else ""


def taints_in_words(taints: Sequence[Taint]) -> str:
    """All of them, in words of the API."""
    return f"taint{'s' if len(taints) > 1 else ''} {' and '.join(str(taint) for taint in taints)}"


def _state(view: ClusterView, pod: Pod) -> PluginPod:
    containers = (*pod.init_containers, *pod.containers)
    ready = pod.condition("Ready")
    waiting = next((entry.state.reason for entry in containers if entry.state.kind == "waiting" and entry.state.reason), "")
    exits = [
        state
        for entry in containers
        for state in (entry.last_state, entry.state)
        if state.kind == "terminated" and not (state.exit_code == 0 and entry in pod.init_containers)
    ]
    last = max(exits, key=lambda state: state.since or 0.0, default=None)
    return PluginPod(
        pod.node_name,
        pod.ref,
        waiting or pod.phase,
        ready is not None and ready.holds,
        sum(entry.restart_count for entry in containers),
        None if last is None else last.exit_code,
        None if last is None else age_of(view, last.since),
        exit_reason="" if last is None else last.reason,
        is_down=not (ready is not None and ready.holds) and _is_down(view, pod),
    )


def _is_down(view: ClusterView, pod: Pod) -> bool:
    """Whether a pod that isn't ready doesn't come up by itself. Nothing says which of its containers is the driver: it is so where all
    fail, or where none was started since one that has to come before them fails."""
    begun = any(entry.state.kind in ("running", "terminated") for entry in pod.containers)
    before = not begun and any(_fails(view, entry, True) for entry in pod.init_containers)
    return before or (bool(pod.containers) and all(_fails(view, entry) for entry in pod.containers))


def _fails(view: ClusterView, entry: Container, init: bool = False) -> bool:
    """Whether the kubelet says what keeps a container from running, or it ended of late and isn't ready again."""
    if entry.ready:
        return False
    if entry.state.kind == "waiting":
        return entry.state.reason not in STARTING
    if init and entry.state.kind == "terminated" and entry.state.exit_code == 0:
        return False
    exits = [state for state in (entry.last_state, entry.state) if state.kind == "terminated" and not (init and state.exit_code == 0)]
    ages = [age for state in exits if (age := age_of(view, state.since)) is not None]
    return bool(ages) and min(ages) <= CRASHED_OF_LATE


def published_on(view: ClusterView, driver: str, node: str) -> Published:
    """What the driver's slices still say of a node."""
    slices = [entry for entry in slices_of_node(view, node) if entry.driver == driver]
    if not slices:
        return Published(driver, node, node, None, 0)
    current = newest_of(slices)
    return Published(driver, node, current[0].pool, current[0].generation, sum(len(entry.devices) for entry in current))


def unselected(view: ClusterView, entry: DaemonSet) -> Unselected | None:
    """Why a DaemonSet runs on none of the nodes, or None where it may run on one: labels that they lack, then taints."""
    pod = entry.template
    nodes = view.all(Node)
    if pod is None or not nodes:
        return None
    selected = [node for node in nodes if matches(pod, node)]
    if not selected:
        requirement, keys = _asked(pod)
        nearest, example = _nearest_label(nodes, keys)
        return Unselected(requirement, 0, len(nodes), nearest, example)
    taints = [taints_between(view, entry, node) for node in selected]
    if not all(taints):
        return None
    return Unselected(f"toleration of taint {taints[0][0]}", 0, len(selected))


def _with_own_tolerations(pod: Pod) -> Pod:
    return replace(pod, tolerations=(*pod.tolerations, *OWN_TOLERATIONS, *((NETWORK_TOLERATION,) if pod.host_network else ())))


def _asked(pod: Pod) -> tuple[str, tuple[str, ...]]:
    """What the pod asks of a node's labels, in words of the API, and the keys of it."""
    parts = [f"{key}={value}" for key, value in pod.node_selector.items()]
    keys = list(pod.node_selector)
    required = pod.affinity.node.required
    if required is not None:
        parts.append(" or ".join(" and ".join(str(own) for own in (*term.expressions, *term.fields)) for term in required.terms))
        keys += [own.key for term in required.terms for own in term.expressions]
    return ", ".join(parts), tuple(keys)


def _nearest_label(nodes: tuple[Node, ...], keys: tuple[str, ...]) -> tuple[str, str]:
    """A label of some node with one of the keys (then with another value) or with a key that looks like one, and that node."""
    known = {key: (value, node.name) for node in nodes for key, value in node.metadata.labels.items()}
    for key in keys:
        close = get_close_matches(key, list(known), n=1, cutoff=0.75)
        if close:
            value, node = known[close[0]]
            return f"{close[0]}={value}", node
    return "", ""
