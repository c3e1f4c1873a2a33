"""Answers over a cluster that changes are those of a process that has just been started: nothing that is kept from earlier views shows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cluster
from fault_injection.replay import churn as churning
from fault_injection.replay.reading import read
from fault_injection.replay.store import Store
from k8s_topo_mcp.objects import ApiObject, Pod, decode
from k8s_topo_mcp.releases import Release, release
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView, SourceInfo
from k8s_topo_mcp.view.kinds import Key, Kind

DEMO = str(files("k8s_topo_mcp") / "scenes" / "twenty-gpu-nodes")
NOW = 1_796_000_000.0
PORT = 8080
Object = dict[str, Any]
Kinds = dict[type[ApiObject], Kind]


class Changing:
    """A store to which changes are made, and what a watching source makes of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.gone: list[Object] = []
        self.kinds: Kinds = {}
        self._changed: dict[type[ApiObject], dict[Key, tuple[ApiObject | None, ApiObject | None]]] = {}
        for item in self.decoded():
            self._note(item, item)
        self.follow()

    def decoded(self) -> list[ApiObject]:
        found: list[ApiObject] = []
        for resource in self.store.resources():
            kept = self.store.of_kind(resource.api_version, resource.kind)
            for entry in [] if kept is None else kept.entries.values():
                item = decode(entry.value(resource))
                if item is not None:
                    found.append(item)
        return found

    def apply(self, value: Mapping[str, Any]) -> None:
        item = decode(self.store.apply(value))
        if item is not None:
            self._note(item, item)

    def delete(self, value: Mapping[str, Any]) -> None:
        self.store.delete(value)
        item = decode(dict(value))
        if item is not None:
            self._note(item, None)

    def _note(self, item: ApiObject, after: ApiObject | None) -> None:
        pending = self._changed.setdefault(type(item), {})
        known = self.kinds.get(type(item), Kind({})).by_key.get(item.key)
        pending[item.key] = (known, after)

    def follow(self) -> None:
        for kind, changes in self._changed.items():
            real = {key: pair for key, pair in changes.items() if pair != (None, None)}
            self.kinds[kind] = self.kinds.get(kind, Kind({})).followed(real)
        self._changed = {}


def seen(kinds: Kinds, of: Release) -> ClusterView:
    return ClusterView.of_kinds(kinds, release=of, now=NOW, source=SourceInfo("live", "a", NOW))


def anew(items: list[ApiObject], of: Release) -> ClusterView:
    by_kind: dict[type[ApiObject], dict[Key, ApiObject]] = {}
    for item in items:
        by_kind.setdefault(type(item), {})[item.key] = item
    return seen({kind: Kind(found) for kind, found in by_kind.items()}, of)


def answers(view: ClusterView) -> dict[str, str]:
    explain = find("explain_pending")
    told = {pod.full_name: ask(explain, view, {"pod": pod.full_name}).report for pod in view.all(Pod) if pod.is_pending}
    told["triage"] = ask(explain, view, {"detail": "full"}).report
    told["topology"] = ask(find("topology_graph"), view, {}).report
    return told


def shake(changing: Changing, dice: random.Random) -> None:
    """A change that decides answers: what is held, who holds it, what a node has and takes."""

    def some(api_version: str, kind: str) -> Object:
        kept = changing.store.of_kind(api_version, kind)
        assert kept is not None
        return kept.entries[dice.choice(sorted(kept.entries))].value(kept.resource)

    match dice.randrange(9):
        case 0:
            pod = some("v1", "Pod")
            changing.delete(pod)
            changing.gone.append(pod)
        case 1 if changing.gone:
            changing.apply(changing.gone.pop())
        case 2:
            claim = some("resource.k8s.io/v1", "ResourceClaim")
            claim["status"] = {}
            changing.apply(claim)
        case 3:
            claim, other = (some("resource.k8s.io/v1", "ResourceClaim") for _ in "ab")
            changing.apply({**claim, "status": {**other.get("status", {}), "reservedFor": claim.get("status", {}).get("reservedFor", [])}})
        case 4:
            piece = some("resource.k8s.io/v1", "ResourceSlice")
            changing.delete(piece)
            changing.gone.append(piece)
        case 5:
            piece = some("resource.k8s.io/v1", "ResourceSlice")
            piece["spec"]["devices"] = (piece["spec"].get("devices") or [])[1:]
            changing.apply(piece)
        case 8:  # another pod of that name, as large, that takes a port of its host or leaves it
            pod = some("v1", "Pod")
            container = pod["spec"]["containers"][0]
            if container.pop("ports", None) is None:
                container["ports"] = [{"containerPort": PORT, "hostPort": PORT}]
            changing.apply(pod)
        case 6:
            node = some("v1", "Node")
            node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)
            changing.apply(node)
        case _:
            pod = some("v1", "Pod")
            if pod["spec"].get("nodeName"):
                pod.setdefault("status", {})["phase"] = dice.choice(("Running", "Succeeded"))
            else:
                pod["spec"]["nodeName"] = some("v1", "Node")["metadata"]["name"]
                pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000"}}
            changing.apply(pod)


def mixed() -> Iterator[Object]:
    """A small cluster with pods that wait for several causes: selectors and labels that nothing meets, a port of the host."""
    yield from cluster.objects(nodes=9, pods=90, pending=0, seed=3, mixed=40)
    pod = cluster.plain_pod("wants-a-port", "team-0", "wants-a-port", "", 100)
    pod["spec"].pop("nodeName")
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": PORT, "hostPort": PORT}]
    pod["status"] = {"phase": "Pending"}
    yield pod


@pytest.mark.parametrize(("name", "rounds"), [("demo", 16), ("mixed", 8)])
def test_answers_of_a_watched_cluster_are_those_of_a_fresh_start(
    name: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("k8s_topo_mcp.view.kinds.FEW_CHANGES", 0)  # however small the cluster is
    monkeypatch.setattr("k8s_topo_mcp.dra.inventory.FEW_CHANGES", 0)
    monkeypatch.setattr("k8s_topo_mcp.diagnosis.rows.FEW_CHANGES", 0)
    monkeypatch.setattr("k8s_topo_mcp.diagnosis.places.FEW_CHANGES", 0)
    monkeypatch.setattr("k8s_topo_mcp.dra.visible.FEW", 0)
    monkeypatch.setattr(churning, "_now", lambda: "2026-11-30T00:00:00Z")
    source = DEMO
    if name == "mixed":
        source = str(tmp_path / "cluster.json")
        Path(source).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(mixed())}))
    changing, of, dice = Changing(read(source).store), release(37), random.Random(2)
    churn = churning.Churn(changing, 1.0, 1)  # type: ignore[arg-type]  # all that it asks of a server
    answers(seen(changing.kinds, of))
    compared = different = 0
    before: dict[str, str] = {}
    for _ in range(rounds):
        for _ in range(3):
            churn.step()
        for _ in range(dice.randrange(1, 5)):
            shake(changing, dice)
        changing.follow()
        watched, fresh = answers(seen(changing.kinds, of)), answers(anew(changing.decoded(), of))
        assert watched == fresh
        compared += len(watched)
        different += sum(before.get(name) != text for name, text in watched.items())
        before = watched
    assert compared > 100
    assert different > 50, "the changes decide answers"
