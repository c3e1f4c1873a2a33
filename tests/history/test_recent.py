"""Several sources of one stretch of time become one list, in which nothing stands twice."""

from __future__ import annotations

from k8s_topo_mcp.history.comparing import Earlier
from k8s_topo_mcp.history.recent import recent
from tests.history.objects import NOON, condition, device, edited, node, piece, view, watched
from tests.history.watching import Watched

TURNED = node(status={"conditions": [condition("Ready", "False", "KubeletNotReady", "2026-11-29T12:10:00Z")]})


def test_without_a_past_it_is_what_objects_say() -> None:
    found = recent(view(TURNED, now=NOON + 900), NOON)
    assert (found.how, found.spans, found.whole_since) == ("timestamps", (), None)
    assert [(change.field, change.at - NOON, change.known) for change in found.changes] == [("status.conditions[Ready]", 600, "timestamps")]


def test_a_watched_change_stands_once_with_both_values() -> None:
    seen = watched(node(status={"conditions": [condition("Ready", "True", "KubeletReady")]}), TURNED, NOON + 600.7)
    past = Watched(seen, (NOON, NOON + 900))
    found = recent(view(TURNED, now=NOON + 900).with_past(past), NOON)
    assert [(change.old, change.new, change.known) for change in found.changes] == [
        ("True (KubeletReady)", "False (KubeletNotReady)", "watched")
    ]
    assert found.whole_since == NOON


def test_what_happened_while_nobody_watched_is_filled_in() -> None:
    past = Watched((), (NOON - 600, NOON + 300), (NOON + 700, NOON + 900))
    found = recent(view(TURNED, now=NOON + 900).with_past(past), NOON)
    assert [change.known for change in found.changes] == ["timestamps"]
    assert [(span.begin - NOON, span.end - NOON) for span in found.spans] == [(0, 300), (700, 900)]
    assert found.whole_since == NOON + 700


def test_a_watch_that_ended_is_not_whole() -> None:
    past = Watched((), (NOON, NOON + 300))
    assert recent(view(node(), now=NOON + 900).with_past(past), NOON).whole_since is None


def test_a_comparison_takes_the_time_that_the_object_says() -> None:
    earlier = view(node(status={"conditions": [condition("Ready", "True", "KubeletReady")]}), piece())
    later = view(TURNED, edited(piece(), "spec.devices", [device("gpu-0")]), now=NOON + 900)
    found = recent(later.with_past(Earlier(earlier, later)), NOON)
    assert [(change.field, change.at - NOON, change.after, change.known) for change in found.changes] == [
        ("status.conditions[Ready]", 600, None, "compared"),
        ("spec.devices", 900, NOON, "compared"),
    ]


def test_a_slice_published_anew_is_a_note_and_one_with_fewer_devices_a_loss() -> None:
    old = piece("n1-aaaaa", "n1", device("gpu-0"), device("gpu-1"))
    now = view(now=NOON + 900)
    same = edited(
        piece("n1-bbbbb", "n1", device("gpu-0"), device("gpu-1"), generation=2), "metadata.creationTimestamp", "2026-11-29T12:05:00Z"
    )
    past = Watched([*watched(old, None, NOON + 301), *watched(None, same, NOON + 300)], (NOON, NOON + 900))
    assert [(change.field, change.old, change.new, change.effect.name) for change in recent(now.with_past(past), NOON).changes] == [
        ("spec.pool.generation", "1", "2", "NOTE")
    ]
    fewer = edited(same, "spec.devices", [device("gpu-0")])
    past = Watched([*watched(old, None, NOON + 301), *watched(None, fewer, NOON + 300)], (NOON, NOON + 900))
    assert [change.effect.name for change in recent(now.with_past(past), NOON).changes] == ["MORE", "LESS"]
