"""Snapshots and aliases of a live cluster, from the replay server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fault_injection.replay import serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
from k8s_topo_mcp.sources.source import Screened, SourceError
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from tests.sources.canaries import CANARIES, TOKEN, planted, secrets
from tests.sources.test_anonymise import differences

GANG = Path(__file__).parents[1] / "scenes/gang-16.json"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """The scene with secrets wherever a cluster has them."""
    found = json.loads(GANG.read_text(encoding="utf-8"))
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({**found, "items": [*map(planted, found["items"]), *secrets()]}))
    return path


def test_a_live_cluster_s_snapshot_answers_as_the_objects_it_was_made_of(
    dump: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    with serve(str(dump), token=TOKEN) as server:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", TOKEN)
        assert main(["snapshot", str(out), "--kubeconfig", str(kubeconfig)]) in (0, 5)
        assert not server.writes
    text, said = out.read_text(), "".join(capfd.readouterr())
    assert not [canary for canary in (*CANARIES, TOKEN) if canary in text + said]
    now = json.loads(text)["items"][0]["asOf"]
    before, after = load([str(GANG)], as_of=now, name="x"), load([str(out)], name="x")
    assert after.count(Pod) == before.count(Pod)
    one, other = (ask(find("explain_pending"), view, {}).structured() for view in (before, after))
    for part in ("report", "basis"):
        one.pop(part), other.pop(part)
    assert one == other


def test_a_live_cluster_under_aliases_is_asked_by_them(dump: Path, tmp_path: Path) -> None:
    anonymiser = Anonymiser()
    with serve(str(dump), token=TOKEN) as server:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", TOKEN)
        source = Screened(LiveSource(str(kubeconfig), screen=anonymiser), anonymiser)
        source.start()
        try:
            view = source.view()
        finally:
            source.close()
    real = load([str(GANG)], as_of=view.now, name="x")
    names = {anonymiser.aliases.known(node.name) for node in real.all(Node)}
    assert {node.name for node in view.all(Node)} == names
    waiting = next(pod for pod in real.all(Pod) if not pod.node_name)
    alias = "/".join(anonymiser.aliases.known(part) or part for part in waiting.full_name.split("/"))
    one = ask(find("explain_pending"), real, {"pod": waiting.full_name}).structured()
    other = ask(find("explain_pending"), view, {"pod": alias}).structured()
    assert one["blocker"]["code"] == other["blocker"]["code"]
    assert not list(differences(anonymiser.aliases, one["blocker"], other["blocker"]))
    assert "dump" not in json.dumps(other)
    assert waiting.name not in json.dumps(other)


def test_a_cluster_that_does_not_answer_is_not_named(tmp_path: Path) -> None:
    with serve(str(GANG)) as server:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
    text = kubeconfig.read_text()
    (tmp_path / "other").write_text(text.replace("127.0.0.1", "api.acme.example.com") if "127.0.0.1" in text else text)
    anonymiser = Anonymiser()
    source = Screened(LiveSource(str(tmp_path / "other"), screen=anonymiser), anonymiser)
    source.start()
    try:
        with pytest.raises(SourceError) as caught:
            source.view()
    finally:
        source.close()
    assert "acme" not in str(caught.value)
    assert "kubeconfig" not in str(caught.value)
