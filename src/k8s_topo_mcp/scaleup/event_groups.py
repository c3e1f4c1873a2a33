"""Node groups that only Cluster Autoscaler's events name: it set their sizes, and no status lists them.

A status lists all groups, so that one which is newer than an event and doesn't have its group says that it is gone. What an event says of a
size is what it was then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..objects import ObjectRef
from ..view import ClusterView
from .autoscalers import status
from .group_events import GroupWord, group_words, words_of
from .machine_groups import group_of
from .machine_types import STARTING
from .node_group import NodeGroup
from .status_groups import machine_group, templates_of_cloud
from .template import Fact


def event_groups(view: ClusterView, known: Collection[str]) -> tuple[NodeGroup, ...]:
    """One for each group that isn't known already, by what the newest events say of it."""
    said = status(view)
    written = said.written if said is not None else None
    found: dict[str, GroupWord] = {}
    for word in group_words(view):
        last = word.event.last
        if word.group in known or last is None or (written is not None and written >= last):
            continue
        before = found.get(word.group)
        # One that the autoscaler's own ConfigMap has counts before one on a pod; of two such the newer.
        if before is None or (before.confidence == "assumed" and word.confidence == "declared"):
            found[word.group] = word
    return tuple(_group(view, word, [size for size in words_of(view, name) if size.what != "failed"]) for name, word in found.items())


def _group(view: ClusterView, word: GroupWord, grown: Sequence[GroupWord]) -> NodeGroup:
    sizes = next((entry for entry in grown if entry.confidence == word.confidence), None)
    size, most = (None, None) if sizes is None else (sizes.size, sizes.most)
    if word.what == "failed" or (sizes is not None and view.now and view.now - (sizes.event.last or 0.0) > STARTING):
        size = None  # its nodes won't come; or they are there by now, or it has shrunk since
    fact = Fact("name and sizes", f"{_of(word.event.ref)}, {word.event.reason} by {word.event.component}", word.confidence)
    machines = machine_group(view, word.group)
    if machines is not None:
        own = group_of(view, machines)
        return replace(own, name=word.group, kind="Cluster Autoscaler", size=own.size if size is None else size, said=fact)
    templates, members = templates_of_cloud(view, word.group)
    why = ""
    if not members:
        why = f"no node of the cluster can be told to be of it by its name, and only {_of(word.event.ref)} tells of it"
    templates = tuple(replace(template, facts=(*template.facts, fact)) for template in templates)
    return NodeGroup(
        word.group, "Cluster Autoscaler", templates, members, size, None, most, ref=word.event.regarding, why_none=why, said=fact
    )


def _of(reference: ObjectRef) -> str:
    return f"Event {reference.namespace}/{reference.name}"
