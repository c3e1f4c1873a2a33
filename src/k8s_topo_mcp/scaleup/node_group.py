"""A node group: nodes that somebody makes alike, and how many of them there may be.

What an autoscaler thinks of the group at the moment (backoff, errors) isn't here: it belongs to that autoscaler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..objects import Node, ObjectRef, Quantity
from .template import Fact, NodeTemplate

Kind = Literal[
    "labelled nodes",
    "machine type",
    "Cluster Autoscaler",
    "Cluster API",
    "Karpenter NodePool",
    "ResourceFlavor",
    "capacity pool",
    "file",
    "shape",
]


@dataclass(frozen=True, slots=True, eq=False)
class NodeGroup:
    """`templates`: one, or several where the autoscaler chooses (the instance types of a NodePool); none: `why_none` says what is missing.
    `members`: the live nodes. `size` is what the group is meant to have now; None: not known. `limits`: of a NodePool, by resource.
    `said`: where name and sizes come from, where only an event tells of them."""

    name: str
    kind: Kind
    templates: tuple[NodeTemplate, ...]
    members: tuple[Node, ...] = ()
    size: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    limits: Mapping[str, Quantity] = field(default_factory=dict[str, Quantity])
    ref: ObjectRef | None = None
    why_none: str = ""
    said: Fact | None = None
