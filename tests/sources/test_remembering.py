"""A source with a journal: its views know their past, as soon as it could be read and for as long as it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from k8s_topo_mcp.objects import ApiObject
from k8s_topo_mcp.sources.journal import Journal, JournalError, Remembering, open_journal
from k8s_topo_mcp.sources.source import Observer, SourceError
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView, SourceInfo
from k8s_topo_mcp.view.past import MetadataChange
from tests.history.objects import NOON, edited, item, made, node

HOME = made(item("Namespace", "kube-system", metadata={"uid": "0a1b2c3d-4e5f"}))
OVERALL = 120.0


@dataclass
class Standing:
    as_of: float | None


class Fed:
    """A source that is fed by the test."""

    name = "prod"

    def __init__(self) -> None:
        self.now = NOON
        self.observers: list[Observer] = []
        self.noticing: list[Callable[[MetadataChange], None]] = []
        self.ready = threading.Event()
        self.closed = False
        self._objects: dict[tuple[str, tuple[str, str]], ApiObject] = {}
        self._view: ClusterView | None = None
        self._viewing = threading.Lock()

    def start(self) -> None:
        pass

    def feed(self, after: ApiObject, at: float) -> None:
        with self._viewing:
            before = self._objects.get((after.KIND, after.key))
            self._objects[after.KIND, after.key] = after
            self.now, self._view = at, None
        for observer in self.observers:
            observer.changed(before, after, at)

    def view(self) -> ClusterView:
        if not self.ready.is_set():
            raise SourceError("prod", "not yet")
        with self._viewing:  # the test asks and the thread that opens the journal does
            if self._view is None:
                self._view = ClusterView([HOME, *self._objects.values()], now=self.now, source=SourceInfo("live", "prod", self.now))
            return self._view

    def observe(self, observer: Observer) -> None:
        self.observers.append(observer)

    def notice(self, tell: Callable[[MetadataChange], None]) -> None:
        self.noticing.append(tell)

    def standing(self) -> Standing:
        return Standing(self.now)

    def close(self) -> None:
        self.closed = True


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + OVERALL
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_views_know_what_the_source_told(tmp_path: Path) -> None:
    asked: list[str] = []

    def opener(cluster: str) -> Journal:
        asked.append(cluster)
        return open_journal(tmp_path / "j.sqlite", cluster, lambda: inner.now)

    inner = Fed()
    inner.feed(made(node()), NOON)
    source = Remembering(inner, opener, rhythm=0.01)
    source.start()
    inner.ready.set()
    until(lambda: source.journal is not None)
    assert asked == ["prod-0a1b2c3d"]
    inner.feed(made(edited(node(), "spec.unschedulable", True)), NOON + 60)
    seen = source.view()
    report = ask(find("recent_changes"), seen, {}).report
    assert "  12:01:00Z  Node n1 spec.unschedulable: false → true · watched\n" in report
    # The same state is the same view, with what was worked out for it.
    assert source.view() is seen
    # Silence counts as knowledge, too, and is written down.
    inner.now = NOON + 600
    until(
        lambda: (
            Path(tmp_path / "j.sqlite").exists() and source.journal is not None and source.journal.spans(NOON + 600)[-1].end == NOON + 600
        )
    )
    source.close()
    assert inner.closed
    again = open_journal(tmp_path / "j.sqlite", "prod-0a1b2c3d", lambda: NOON + 700)
    spans = again.past(NOON + 700).spans
    again.close()
    assert spans[0].begin == NOON
    assert spans[0].end >= NOON + 60


def test_the_first_view_knows_what_was_written_before(tmp_path: Path) -> None:
    """A server that was started anew is asked at once; the thread that looks at how current it is may not have run yet."""
    before = open_journal(tmp_path / "j.sqlite", "prod-0a1b2c3d", lambda: NOON)
    before.changed(None, made(node()), NOON - 1)
    before.changed(made(node()), made(edited(node(), "spec.unschedulable", True)), NOON + 60)
    before.close()
    inner = Fed()
    inner.feed(made(edited(node(), "spec.unschedulable", True)), NOON + 120)
    source = Remembering(inner, lambda name: open_journal(tmp_path / "j.sqlite", name, lambda: inner.now), rhythm=OVERALL)
    source.start()  # it looks once, in vain, and then not for two minutes
    inner.ready.set()
    report = ask(find("recent_changes"), source.view(), {}).report
    assert "  12:01:00Z  Node n1 spec.unschedulable: false → true · watched\n" in report
    assert source.view() is source.view()
    source.close()


def test_two_that_ask_at_once_open_it_once(tmp_path: Path) -> None:
    opening: list[str] = []
    both = threading.Barrier(2)

    def opener(cluster: str) -> Journal:
        opening.append(cluster)
        time.sleep(0.05)
        return open_journal(tmp_path / "j.sqlite", cluster, lambda: inner.now)

    def first() -> None:
        both.wait(OVERALL)
        pasts.append(source.view().past)

    inner = Fed()
    inner.ready.set()
    pasts: list[object] = []
    source = Remembering(inner, opener, rhythm=OVERALL)
    threads = [threading.Thread(target=first) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(OVERALL)
    assert opening == ["prod-0a1b2c3d"]
    assert len(inner.observers) == 1
    assert all(past is not None for past in pasts)
    source.close()


def test_without_a_journal_views_are_the_source_s_own(tmp_path: Path) -> None:
    def refusing(_: str) -> Journal:
        raise JournalError(str(tmp_path), "isn't a file")

    for opener in (lambda _: None, refusing):
        inner = Fed()
        inner.ready.set()
        source = Remembering(inner, opener, rhythm=0.01)
        source.start()
        assert source.view() is inner.view()
        assert source.view().past is None
        source.close()
        assert inner.observers == []
