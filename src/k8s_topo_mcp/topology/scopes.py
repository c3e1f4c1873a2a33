"""What a scope names: the cluster, a set of nodes, one node or a part of it, a pod, a claim, a device.

Grammar: `cluster`, `zombies`, `pod/NS/NAME`, `claim/NS/NAME`, `device/DRIVER/POOL/DEVICE`, `pool/DRIVER/POOL` (a pool's name may hold
slashes), sets of pods (see `teams`: `workload/KIND/NS/NAME`, `gang/KIND/NS/NAME`, `queue/NS/NAME`, `clusterqueue/NAME`,
`inferencepool/NS/NAME`), or pairs that narrow each other: `zone/NAME`, any other level of `domains` or kind of `groups`, `shape/NAME`,
`nodes/BUCKET`, `node/NAME`, `numa/N`, `root/NAME`. Behind a node `resource/NAME` is taken as the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, TypeVar

from k8s_topo_mcp.objects.meta import ApiObject, ObjectRef
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.resource import ResourceClaim
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import find_pods, nearest_names

from ..scaleup.group_labels import GROUP_NAMES, GROUP_WORDS
from ..scaleup.place_labels import LEVEL_NAMES
from .buckets import BUCKETS, bucket
from .columns import Columns
from .domains import words
from .frames import frame_of
from .nodes import Hardware, NodeHardware, Unbound
from .placed import PlacedDevice
from .shapes import Shape
from .teams import TEAMS, TeamError, find_team

T = TypeVar("T", bound=ApiObject)

Focus = Literal["nodes", "node", "pod", "claim", "device", "pool", "pods", "zombies"]


class ScopeError(ValueError):
    """The scope names nothing that is there. The message says what is near; `missing` is the kind, namespace and name of one object that
    it would be, None where it isn't one object."""

    def __init__(self, message: str, missing: ObjectRef | None = None) -> None:
        super().__init__(message)
        self.missing = missing


class AmbiguousScope(ScopeError):
    """The name fits several objects."""


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What to draw. `path` is the scope in full; `nodes` the nodes in it (one that a NUMA node, a root or a pool narrows has only what is
    there); `pods` a set of pods, of which `about` says more; `unbound` the devices of a pool that no node has to itself."""

    path: str
    focus: Focus
    nodes: tuple[NodeHardware, ...]
    pod: Pod | None = None
    claim: ResourceClaim | None = None
    device: PlacedDevice | None = None
    pods: tuple[Pod, ...] = ()
    about: str = ""
    unbound: tuple[Unbound, ...] = ()


NARROWING = (*LEVEL_NAMES, *GROUP_NAMES, "shape", "nodes", "node", "numa", "root")
KEYS = ("cluster", *NARROWING, "pod", "claim", "device", "pool", *TEAMS, "zombies")


def resolve(view: ClusterView, facts: Hardware, shapes: Mapping[str, Shape], scope: str) -> Selection:
    """
    What `scope` means in this view.

    Raises
    ------
    ScopeError
        It names nothing; the message lists what is near, or the forms there are.
    """
    asked = scope.strip().strip("/") or "cluster"
    head, _, rest = asked.partition("/")
    match head:
        case "cluster":
            return Selection("cluster", "nodes", facts.nodes) if not rest else resolve(view, facts, shapes, rest)
        case "zombies":
            return Selection("zombies", "zombies", facts.nodes)
        case "pod":
            pod = _pod(view, rest)
            return Selection(f"pod/{pod.full_name}", "pod", (), pod=pod)
        case "claim":
            claim = _claim(view, rest)
            return Selection(f"claim/{claim.full_name}", "claim", (), claim=claim)
        case "device":
            return _device(facts, rest)
        case "pool":
            return _pool(facts, rest)
        case _ if head in TEAMS:
            return _team(view, head, rest)
        case _ if head in KEYS or head in facts.levels:
            return _narrowed(view, facts, shapes, asked.partition("/resource/")[0])
        case _:
            return _bare(view, facts, shapes, asked)


def _bare(view: ClusterView, facts: Hardware, shapes: Mapping[str, Shape], asked: str) -> Selection:
    """A name without its kind: taken when it fits one thing only."""
    found: dict[str, Selection] = {}
    node = facts.node(asked)
    if node is not None:
        found[f"node/{asked}"] = Selection(f"node/{asked}", "node", (node,))
    for key in (*facts.levels, *GROUP_NAMES, "shape"):
        nodes = _matching(facts.nodes, shapes, key, asked)
        if nodes:
            found[f"{key}/{asked}"] = Selection(f"{key}/{asked}", "nodes", nodes)
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise AmbiguousScope(f'scope "{asked}" fits {", ".join(found)}. Give one of these.')
    near = [f"node/{name}" for name in nearest_names(view, Node, asked, 2)]
    near += [f"pod/{name}" for name in nearest_names(view, Pod, asked, 2)]
    hint = f" Nearest: {', '.join(near)}." if near else ""
    raise ScopeError(
        f'scope "{asked}" not found.{hint} Forms: cluster, zone/NAME, shape/NAME, nodepool/NAME, node/NAME, pod/NS/NAME, claim/NS/NAME, '
        "workload/KIND/NS/NAME, queue/NS/NAME, gang/KIND/NS/NAME, device/DRIVER/POOL/DEVICE, zombies, or a path of an earlier answer."
    )


def _narrowed(view: ClusterView, facts: Hardware, shapes: Mapping[str, Shape], asked: str) -> Selection:
    parts = asked.split("/")
    if len(parts) % 2:
        raise ScopeError(f'scope "{asked}": {parts[-1]} has no name after it. Right: {_right(parts[-1])}.')
    nodes = facts.nodes
    numa: int | None = None
    root: str | None = None
    single: NodeHardware | None = None
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        match key:
            case "node":
                single = next((node for node in nodes if node.name == value), None)
                if single is None:
                    near = nearest_names(view, Node, value)
                    raise ScopeError(_missing("node", value, near, len(nodes), "nodes"), ObjectRef(Node.KIND, "", value))
                nodes = (single,)
            case "numa":
                known = sorted({device.spot.numa for node in nodes for device in node.devices if device.spot.numa is not None})
                if not value.isdecimal() or int(value) not in known:
                    near = [str(entry) for entry in known[:4]]
                    raise ScopeError(_missing("NUMA node", value, near, len(known), "NUMA nodes published here"))
                numa = int(value)
            case "root":
                roots = sorted({root for node in nodes for device in node.devices for root in device.spot.roots or ()})
                if value not in roots:
                    raise ScopeError(_missing("PCIe root", value, _near(value, roots), len(roots), "roots published here"))
                root = value
            case "nodes":
                if value not in BUCKETS:
                    raise ScopeError(f'scope "{asked}": nodes/{value} is none of {", ".join(f"nodes/{name}" for name in BUCKETS)}.')
                nodes = tuple(node for node in nodes if bucket(node) == value)
                if not nodes:
                    raise ScopeError(f'scope "{asked}" has no nodes now.')
            case _ if key in facts.levels or key in NARROWING:
                found = _matching(nodes, shapes, key, value)
                if not found:
                    values = _values(nodes, shapes, key)
                    word = GROUP_WORDS.get(key) or words(key)
                    raise ScopeError(_missing(word, value, _near(value, values), len(values), f"{word} names"))
                nodes = found
            case _:
                raise ScopeError(f'scope "{asked}": {key} can\'t narrow a scope. Keys: {", ".join(NARROWING)}.')
    if (numa is not None or root is not None) and single is None:
        raise ScopeError(f'scope "{asked}": numa and root need a node before them: node/NAME/numa/0, node/NAME/root/pci0000:44.')
    if single is not None:
        return Selection(asked, "node", (_part(single, numa, root),))
    return Selection(asked, "nodes", nodes)


def _right(key: str) -> str:
    """What may stand after a key that stands alone."""
    if key == "nodes":
        return " or ".join(f"nodes/{name}" for name in BUCKETS)
    return {"numa": "numa/0", "root": "root/pci0000:44"}.get(key, f"{key}/NAME")


def _part(node: NodeHardware, numa: int | None, root: str | None) -> NodeHardware:
    """The node with the devices of one NUMA node or root alone; what a device plugin counts has no place, so it goes."""
    if numa is None and root is None:
        return node
    return _with_devices(
        node,
        (
            device
            for device in node.devices
            if (numa is None or device.spot.numa == numa) and (root is None or root in (device.spot.roots or ()))
        ),
    )


def _with_devices(node: NodeHardware, kept: Iterable[PlacedDevice]) -> NodeHardware:
    devices = Columns.of(kept)
    frame = frame_of(devices)
    counts = frame.counts(devices.states)
    return replace(node, columns=devices, plugin=(), frame=frame, tallies=counts.tallies, accelerators=counts.accelerators)


def _matching(nodes: Iterable[NodeHardware], shapes: Mapping[str, Shape], key: str, value: str) -> tuple[NodeHardware, ...]:
    if key == "shape":
        return tuple(node for node in nodes if shapes[node.name].name == value or shapes[node.name].name.rpartition("~")[0] == value)
    if key in GROUP_NAMES:
        return tuple(node for node in nodes if any(group.kind == key and group.name == value for group in node.groups))
    return tuple(node for node in nodes if node.places.get(key) == value)


def _values(nodes: Iterable[NodeHardware], shapes: Mapping[str, Shape], key: str) -> list[str]:
    if key in GROUP_NAMES:
        return sorted({group.name for node in nodes for group in node.groups if group.kind == key})
    names = {shapes[node.name].name if key == "shape" else node.places.get(key) for node in nodes}
    return sorted(name for name in names if name is not None)


def _missing(kind: str, value: str, near: Sequence[str], count: int, of: str) -> str:
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return f'{kind} "{value}" not found.{hint} {count:,} {of} read.'


def _near(value: str, names: Sequence[str]) -> list[str]:
    return get_close_matches(value, names[:5000], n=3, cutoff=0.3) or list(names[:3])


def _pod(view: ClusterView, rest: str) -> Pod:
    return _named(view, Pod, "pod", rest, lambda name: find_pods(view, name))


def _claim(view: ClusterView, rest: str) -> ResourceClaim:
    return _named(view, ResourceClaim, "claim", rest, lambda name: tuple(claim for claim in view.all(ResourceClaim) if claim.name == name))


def _named(view: ClusterView, kind: type[T], word: str, rest: str, by_name: Callable[[str], tuple[T, ...]]) -> T:
    namespace, slash, name = rest.partition("/")
    if not rest:
        raise ScopeError(f'scope "{word}" needs a name: {word}/NAMESPACE/NAME.')
    if slash:
        found = view.get(kind, name, namespace)
        if found is not None:
            return found
    else:
        candidates = by_name(rest)
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            names = [f"{word}/{item.full_name}" for item in candidates[:4]]
            raise AmbiguousScope(f'{word} "{rest}" exists in {len(candidates)} namespaces: {", ".join(names)}. Give one of these.')
    about = ObjectRef(kind.KIND, namespace if slash else "", name if slash else rest)
    raise ScopeError(_missing(word, rest, nearest_names(view, kind, rest), view.count(kind), f"{word}s"), about)


def _device(facts: Hardware, rest: str) -> Selection:
    driver, _, tail = rest.partition("/")
    pool, _, name = tail.rpartition("/")
    if not pool:
        raise ScopeError('a device is named device/DRIVER/POOL/DEVICE, as in "device/gpu.nvidia.com/gpu-0/gpu-3".')
    in_pool: list[str] = []
    places = [((node,), node.devices) for node in facts.nodes] + [((), entry.devices) for entry in facts.unbound]
    for nodes, devices in places:
        for device in devices:
            if device.pool.driver != driver or device.pool.name != pool:
                continue
            for candidate in (device, *device.parts):
                in_pool.append(candidate.name)
                if candidate.name == name:
                    return Selection(f"device/{rest}", "device", nodes, device=candidate)
    near = [f"device/{driver}/{pool}/{entry}" for entry in _near(name, in_pool)]
    raise ScopeError(_missing("device", rest, near, len(in_pool), "devices in that pool"))


def _pool(facts: Hardware, rest: str) -> Selection:
    driver, _, pool = rest.partition("/")
    if not pool:
        raise ScopeError('a pool is named pool/DRIVER/POOL, as in "pool/gpu.nvidia.com/gpu-0".')

    def own(device: PlacedDevice) -> bool:
        return device.pool.driver == driver and device.pool.name == pool

    nodes = tuple(_with_devices(node, filter(own, node.devices)) for node in facts.nodes if any(map(own, node.devices)))
    unbound = tuple(entry for entry in facts.unbound if entry.pool.driver == driver and entry.pool.name == pool)
    if not nodes and not unbound:
        known = {f"{device.pool.driver}/{device.pool.name}": None for node in facts.nodes for device in node.devices}
        near = [f"pool/{name}" for name in _near(rest, list(known))]
        raise ScopeError(_missing("pool", rest, near, len(known), "pools on nodes"))
    return Selection(f"pool/{rest}", "pool", nodes, unbound=unbound)


def _team(view: ClusterView, kind: str, rest: str) -> Selection:
    try:
        team = find_team(view, kind, rest)
    except TeamError as error:
        raise ScopeError(str(error)) from None
    return Selection(team.path, "pods", (), pods=team.pods, about=team.about)
