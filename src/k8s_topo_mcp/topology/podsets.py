"""Sets of pods from near: a workload, a gang, a queue, what an InferencePool serves from. Who they are, where they stand, what they hold.
Pods that are alike fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of

from .closeup import asked
from .domains import level_names, words
from .hardware import hardware
from .largest import COARSE
from .location import located
from .nodes import NodeHardware
from .placed import PlacedDevice
from .rows import Row, fold
from .serving import role_of
from .words import number

PLACES = 4
"""Things named of one sort."""


def podset_rows(view: ClusterView, path: str, about: str, pods: Sequence[Pod]) -> tuple[Row, ...]:
    """
    One row that sums the set up, below it the pods.

    Parameters
    ----------
    path : str
        The scope.
    about : str
        What is known of the set besides its pods; "" for nothing.
    """
    living = [pod for pod in pods if not pod.is_terminal]
    rows: list[tuple[Hashable, Row]] = []
    together: dict[NodeHardware, list[PlacedDevice]] = {}
    for pod in living:
        places = _held(view, pod)
        for node, devices in places:
            together.setdefault(node, []).extend(devices)
        text = _pod_words(view, pod, places)
        rows.append((text, Row("pod", text, (f"{pod.full_name}",), path=f"pod/{pod.full_name}")))
    phases = Counter("Pending, not scheduled" if pod.is_pending else pod.phase for pod in living)
    parts = [about] if about else []
    ended = len(pods) - len(living)
    counts = ", ".join(f"{count:,} {phase}" for phase, count in phases.most_common())
    parts.append(f"{number(len(living), 'pod')}{f': {counts}' if counts else ''}{f' ({ended:,} more have ended)' if ended else ''}")
    parts.extend(_spread(together))
    head = Row(path.partition("/")[0], "; ".join(parts), (path,), path=path, children=fold(rows))
    return (head,)


def _held(view: ClusterView, pod: Pod) -> list[tuple[NodeHardware, list[PlacedDevice]]]:
    ids = [
        result.id
        for entry in claims_of(view, pod)
        if entry.claim is not None and entry.claim.allocation is not None
        for result in entry.claim.allocation.results
    ]
    return located(view, ids) if ids else []


def _pod_words(view: ClusterView, pod: Pod, places: Sequence[tuple[NodeHardware, list[PlacedDevice]]]) -> str:
    """Without the name of its node, so that pods that are alike on different nodes fold."""
    parts = ["Pending, not scheduled" if pod.is_pending else pod.phase]
    role = role_of(pod)
    if role:
        parts.append(f"role {role}")
    if places:
        kinds = Counter(device.kind.label for _, devices in places for device in devices)
        parts.append("holds " + _listed(f"{count} {label}" for label, count in kinds.items()))
    waiting = [entry.claim for entry in claims_of(view, pod) if entry.claim is not None and entry.claim.allocation is None]
    if waiting:
        parts.append("asks " + _listed(asked(claim) for claim in waiting))
    plugin = _plugin_words(view, pod)
    if plugin:
        parts.append(plugin)
    return ", ".join(parts)


def _plugin_words(view: ClusterView, pod: Pod) -> str:
    node = hardware(view).node(pod.node_name) if pod.node_name else None
    names = [entry.name for entry in node.plugin if pod in entry.users] if node is not None else []
    return f"{', '.join(names)} of a device plugin (which devices is not published)" if names else ""


def _listed(words: Iterable[str]) -> str:
    """The first few, the others counted."""
    listed = list(words)
    more = f" and {len(listed) - PLACES} more" if len(listed) > PLACES else ""
    return ", ".join(listed[:PLACES]) + more


def _spread(together: dict[NodeHardware, list[PlacedDevice]]) -> Iterable[str]:
    """What the set holds, and over which places."""
    if not together:
        return
    kinds = Counter(device.kind.label for devices in together.values() for device in {id(device): device for device in devices}.values())
    held = _listed(f"{count:,} {label}" for label, count in kinds.most_common())
    yield f"holds {held} on {number(len(together), 'node')}"
    for level in level_names(node.places for node in together):
        counts = Counter(node.places.get(level) for node in together)
        # Nobody needs to be told of a region or zone that all share.
        if level in COARSE and len(counts) == 1:
            continue
        named = [f"{value if value is not None else 'unknown'} {count:,}" for value, count in counts.most_common()]
        yield f"nodes by {words(level)}: {_listed(named)}"
