"""The driver behind a class or resource of which a node has nothing: does its DaemonSet run, and where does it want to?

Zero of zero pods ready looks healthy and isn't: a DaemonSet whose node selector matches no node wants no pod. A driver that publishes
nothing, or an empty slice, is told apart from one that isn't there. Of MIG, the label nvidia.com/mig.config.state (GPU operator's
mig-manager) says whether a node's partitions are being changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...dra.problem import AllocationProblem
from ...findings import Finding, finding
from ...objects import DeviceClass, Node, ResourceSlice
from ...scheduling.node_affinity import matches
from ...scheduling.placement import Placement
from ...view import ClusterView
from ...view.indices import pods_of_owner, slices_of_driver
from .. import counted_devices
from ..classes import drivers_asked, drivers_named
from ..evidence import Absent, Evidence, Held, Labelled, PluginSet, PluginUnknown
from ..plugins import daemon_set, device_plugin_of, plugin_of, pod_on, published_on, unselected

LACKING = frozenset({"NO_DEVICES", "CLASS_NO_MATCH", "POOL_INCOMPLETE"})
"""Causes behind which a driver may stand."""

SCARCE = frozenset({"NOT_ENOUGH_DEVICES", "DEVICES_IN_USE"})
"""Causes beside which a driver that has devices elsewhere, and whose pod on a node isn't ready, is shown: that node would have some."""

MIG_STATE = "nvidia.com/mig.config.state"
UNSETTLED = ("failed", "pending", "rebooting")

_SHOWN = 2


def look(view: ClusterView, placement: Placement, lacking: Finding) -> Held | None:
    """What is known of the driver behind a cause; a finding of its own where its DaemonSet runs on no node."""
    problem = placement.devices.problem
    if lacking.code in LACKING | SCARCE and problem is not None:
        return _drivers(view, lacking, drivers_asked(view, problem.claims), [entry.node for entry in placement.opened])
    if not counted_devices.is_counted(lacking):
        return None
    kept_back = counted_devices.seen(view, lacking)
    if kept_back:
        gone = [entry.node for entry in kept_back if entry.allocatable == "0"]
        return Held(lacking, (*kept_back, *_plugin_on(view, lacking.text("resource"), gone)))
    return _device_plugin(view, lacking) if lacking.code == "RESOURCE_TOO_LARGE" and lacking.text("allocatable") == "0" else None


def behind(view: ClusterView, problem: AllocationProblem, lacking: Finding) -> tuple[Evidence, ...]:
    """What is seen of the drivers that some claims ask for, where a driver may stand behind what they lack; for claims without a pod."""
    if lacking.code not in LACKING | SCARCE:
        return ()
    held = _drivers(view, lacking, drivers_asked(view, problem.claims), view.all(Node))
    return () if held is None else held.evidence


def _drivers(view: ClusterView, lacking: Finding, drivers: Iterable[str], nodes: Sequence[Node]) -> Held | None:
    """What is seen of each driver: as a whole where it has no device anywhere, else on those of the nodes where its pod isn't ready."""
    seen: list[Evidence] = []
    for driver in drivers:
        slices = slices_of_driver(view, driver)
        if any(entry.devices for entry in slices):
            seen += _down_on(view, driver, slices, nodes)
            continue
        if lacking.code in SCARCE:
            continue
        plugin = plugin_of(view, driver)
        if isinstance(plugin, PluginUnknown) and not plugin.looked_at:
            continue  # nothing was read of DaemonSets: nothing can be concluded
        seen.append(plugin)
        seen.append(_published(view, driver, slices))
        if isinstance(plugin, PluginSet):
            nowhere, evidence = _state(view, plugin)
            if nowhere:
                found = finding("DRIVER_RUNS_NOWHERE", plugin.daemon_set, "spec.template.spec", driver=driver)
                return Held(found, (*seen, *evidence, *_mig(view)), look_at=_describe(plugin))
            seen += evidence
    seen += _mig(view) if seen and lacking.code not in SCARCE else ()
    return Held(_of_empty_slices(view, lacking), tuple(seen)) if seen else None


def _down_on(view: ClusterView, driver: str, slices: Sequence[ResourceSlice], nodes: Sequence[Node]) -> Iterator[Evidence]:
    """Of a driver whose devices are all on nodes: its pods that aren't ready on some of these nodes, which it publishes nothing of."""
    plugin = plugin_of(view, driver)
    if not isinstance(plugin, PluginSet) or not all(entry.node_selection.node_name for entry in slices):
        return
    having = {entry.node_selection.node_name for entry in slices if entry.devices}
    lacking = {node.name for node in nodes} - having
    on = dict.fromkeys(pod.node_name for pod in pods_of_owner(view, plugin.daemon_set) if pod.node_name in lacking)
    states = (state for name in on if (state := pod_on(view, plugin, name)).pod is not None and not state.ready)
    down = tuple(islice(states, _SHOWN))
    if down:
        yield plugin
    for state in down:
        yield state
        yield published_on(view, driver, state.node)


def _of_empty_slices(view: ClusterView, lacking: Finding) -> Finding:
    """Where no device passes a class because its driver has published empty slices, these are to blame, not the class."""
    entry = view.get(DeviceClass, lacking.text("device_class")) if lacking.code == "CLASS_NO_MATCH" else None
    drivers = drivers_named(entry) if entry is not None else ()
    slices = [piece for driver in drivers for piece in slices_of_driver(view, driver)]
    if not slices or any(piece.devices for piece in slices):
        return lacking
    first = min(slices, key=lambda piece: piece.name)
    return finding("NO_DEVICES", first.ref, "spec.devices", device_class=lacking.text("device_class"))


def _device_plugin(view: ClusterView, lacking: Finding) -> Held | None:
    resource = lacking.text("resource")
    if any(resource in node.allocatable for node in view.all(Node)):
        return None
    plugin = device_plugin_of(view, resource)
    if isinstance(plugin, PluginUnknown) and not plugin.looked_at:
        return None
    seen: list[Evidence] = [plugin, Absent(f"no node has {resource} among its allocatable resources, not even 0 of it")]
    if isinstance(plugin, PluginSet):
        nowhere, evidence = _state(view, plugin)
        if nowhere:
            found = finding("DRIVER_RUNS_NOWHERE", plugin.daemon_set, "spec.template.spec", driver=resource)
            return Held(found, (*seen, *evidence, *_mig(view)), look_at=_describe(plugin))
        seen += evidence
    return Held(lacking, (*seen, *_mig(view)))


def _plugin_on(view: ClusterView, resource: str, nodes: Sequence[str]) -> tuple[Evidence, ...]:
    """The device plugin, and how it is on nodes that offer none of their devices."""
    plugin = device_plugin_of(view, resource)
    if not nodes or (isinstance(plugin, PluginUnknown) and not plugin.looked_at):
        return ()
    states = [pod_on(view, plugin, name) for name in nodes] if isinstance(plugin, PluginSet) else []
    return (plugin, *(state for state in states if not state.ready))


def _published(view: ClusterView, driver: str, slices: tuple[ResourceSlice, ...]) -> Evidence:
    if slices:
        return Absent(f"{len(slices)} slices of {driver} list no device at all: it runs, but found none")
    return Absent(f"no ResourceSlice of {driver} on any of {view.count(Node)} nodes")


def _state(view: ClusterView, plugin: PluginSet) -> tuple[bool, Sequence[Evidence]]:
    """Whether the DaemonSet runs on no node, with the reason; else its pods that aren't ready."""
    entry = daemon_set(view, plugin)
    if entry is None:
        return False, []
    if plugin.desired == 0:
        why = unselected(view, entry)
        return True, [] if why is None else [why]
    pod = entry.template
    nodes = [node.name for node in view.all(Node) if pod is None or matches(pod, node)]
    states = (pod_on(view, plugin, name) for name in nodes)
    return False, [state for state in states if state.pod is not None and not state.ready][:_SHOWN]


def _mig(view: ClusterView) -> list[Evidence]:
    found: list[Evidence] = []
    for value in UNSETTLED:
        nodes = tuple(node.name for node in view.all(Node) if node.metadata.labels.get(MIG_STATE) == value)
        if nodes:
            found.append(Labelled(MIG_STATE, value, nodes))
    return found


def _describe(plugin: PluginSet) -> tuple[str, ...]:
    return (f"kubectl -n {plugin.daemon_set.namespace} describe daemonset {plugin.daemon_set.name}",)
