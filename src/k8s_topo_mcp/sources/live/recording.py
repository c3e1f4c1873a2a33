"""A live cluster's raw objects, cut down to what a snapshot holds: one list of every kind, no watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...releases import parse_gates
from ...view import ClusterView
from ..snapshot.fields import kept
from ..snapshot.write import Facts
from .source import LiveSource


class Recording:
    """A screen that changes nothing, and keeps of every object what a snapshot holds. The last of several readings of one stays."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    def object(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """The object itself."""
        left = kept(item)
        if left is not None:
            metadata = left.get("metadata", {})
            key = (str(left["apiVersion"]), str(left["kind"]), str(metadata.get("namespace", "")), str(metadata.get("name", "")))
            self._found[key] = left
        return item

    def text(self, text: str) -> str:
        """The text itself."""
        return text

    def cluster(self, name: str) -> str:
        """The name itself."""
        return name

    @property
    def items(self) -> list[dict[str, Any]]:
        """What was seen, by kind, namespace and name."""
        return [self._found[key] for key in sorted(self._found)]


def record(
    kubeconfig: str | None,
    context: str | None,
    *,
    namespaces: Sequence[str] = (),
    version: str | None = None,
    gates: Mapping[str, bool] | None = None,
) -> tuple[ClusterView, Facts, list[dict[str, Any]]]:
    """The view of a live cluster now, with what a snapshot of it holds. Raises SourceError."""
    recording = Recording()
    source = LiveSource(kubeconfig, context, namespaces=namespaces, watch=False, version=version, gates=gates, screen=recording)
    source.start()
    try:
        view = source.view()
    finally:
        source.close()
    missing = {entry.kind for entry in view.unreadable}
    facts = Facts(
        as_of=view.now,
        cluster=view.source.cluster or view.source.name,
        version=source.asked.version if version is None else {"gitVersion": f"v{version.removeprefix('v')}"},
        gates={**parse_gates(source.asked.gates or ""), **(gates or {})},
        unreadable=view.unreadable,
        nodes_listed="Node" not in missing,
    )
    return view, facts, recording.items
