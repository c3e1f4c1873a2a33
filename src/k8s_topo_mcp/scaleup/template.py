"""What a node that doesn't exist yet would be: the node, what its drivers would publish, what its DaemonSets would run, and how each of
these is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..dra.node_classes import share_facts
from ..dra.selectors import share_judgements
from ..objects import Node, Pod, ResourceSlice
from ..view import Add

Confidence = Literal["observed", "declared", "catalogue", "assumed"]
"""observed: a live node has it. declared: an object of the cluster or a file of the user says so. catalogue: the table of node shapes.
assumed: neither; it is what such nodes usually have."""

HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class Fact:
    """Where one part of a template comes from. `part` in a reader's words ("labels", "devices of gpu.nvidia.com"), `source` the object or
    file ("Node gpu-3", "NodePool gpu", "catalogue, p5.48xlarge")."""

    part: str
    source: str
    confidence: Confidence


@dataclass(frozen=True, slots=True, eq=False)
class NodeTemplate:
    """One kind of node of a group. Nothing in it bears the name of a real node: `added` names it.

    `node`, `slices` (all node-local, whole pools) and `daemons` (pods that DaemonSets would run there) belong together by the name of
    `node`. `devices_known`: whether anybody says what such a node publishes; if not, `slices` is empty and what its devices would do is
    unknown. `unpredictable`: keys of labels that such nodes carry with a value that isn't known before the node is there.
    `amounts_unknown`: resources of which such nodes have some, nobody says how much; `node` then has so much that none falls short.
    """

    name: str
    node: Node
    slices: tuple[ResourceSlice, ...] = ()
    daemons: tuple[Pod, ...] = ()
    devices_known: bool = True
    unpredictable: frozenset[str] = frozenset()
    facts: tuple[Fact, ...] = ()
    amounts_unknown: frozenset[str] = frozenset()


def added(template: NodeTemplate, names: Iterable[str]) -> tuple[Add, ...]:
    """One node of the template under each name, with slices and daemons of its own. A pool is named after its node, as drivers do; where a
    node has several pools of one driver, the part of their names that isn't the node's stays."""
    found: list[Add] = []
    for name in names:
        node = template.node
        labels = {**node.metadata.labels, HOSTNAME: name}
        found.append(Add(replace(node, metadata=replace(node.metadata, name=name, uid="", labels=labels))))
        found += [Add(_slice(entry, node.name, name)) for entry in template.slices]
        found += [Add(_daemon(pod, node.name, name)) for pod in template.daemons]
    return tuple(found)


def _slice(entry: ResourceSlice, before: str, name: str) -> ResourceSlice:
    metadata = replace(entry.metadata, name=renamed(entry.name, before, name), uid="")
    selection = replace(entry.node_selection, node_name=name)
    made = replace(entry, metadata=metadata, pool=renamed(entry.pool, before, name), node_selection=selection)
    share_judgements(entry, made)
    share_facts(entry, made)
    return made


def _daemon(pod: Pod, before: str, name: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=renamed(pod.name, before, name), uid=""), node_name=name)


def renamed(text: str, before: str, name: str) -> str:
    """A name that has the node's in it, under the node's new name; one that hasn't gets it appended."""
    found, count = re.subn(rf"(?<![A-Za-z0-9]){re.escape(before)}(?![A-Za-z0-9])", lambda _: name, text, count=1)
    return found if count else f"{text}-{name}"
