"""Writing a snapshot: it can be read back, appears whole or not at all, and is its owner's alone."""

from __future__ import annotations

import gzip
import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.snapshot import load, load_raw
from k8s_topo_mcp.sources.snapshot.errors import SnapshotError
from k8s_topo_mcp.sources.snapshot.write import Facts, entries, write
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import Unreadable
from tests.sources.canaries import CANARIES, planted, secrets

GANG = Path(__file__).parents[1] / "scenes/gang-16.json"
FOUR = Path(__file__).parents[1] / "scenes/four-h100-nodes"
NODE: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", ["out.json", "out.json.gz", "folder"])
@pytest.mark.parametrize("scene", [GANG, FOUR], ids=lambda path: path.stem)
def test_what_was_written_answers_as_what_was_read(scene: Path, name: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / name
    assert main(["snapshot", str(out), "--snapshot", str(scene)]) == 0
    _, err = capsys.readouterr()
    assert err.startswith(f"{out}: ")
    before, after = load([str(scene)], name="x"), load([str(out)], name="x")
    assert (after.now, after.release, after.unreadable, after.notes) == (before.now, before.release, before.unreadable, before.notes)
    for tool in ("explain_pending", "topology_graph"):
        assert ask(find(tool), after, {}).structured() == ask(find(tool), before, {}).structured()


def test_to_stdout_it_is_plain_json_one_object_a_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["snapshot", "-", "--snapshot", str(GANG)]) == 0
    text = capsysbinary.readouterr().out.decode()
    found = json.loads(text)
    assert found["items"][0]["kind"] == "SnapshotInfo"
    assert len(text.splitlines()) == len(found["items"]) + 2


def test_it_is_readable_by_its_owner_alone_and_refuses_to_replace(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.json.gz"
    assert main(["snapshot", str(out), "--demo"]) == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    first = out.read_bytes()
    assert main(["snapshot", str(out), "--snapshot", str(GANG)]) == 2
    assert "exists; give another name, or --force" in capsys.readouterr().err
    assert out.read_bytes() == first
    assert main(["snapshot", str(out), "--snapshot", str(GANG), "--force"]) == 0
    assert json.loads(gzip.decompress(out.read_bytes()))["kind"] == "List"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json.gz"]


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield NODE
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(str(tmp_path / "out.json"), broken(), stdout=io.BytesIO())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"), [("out.yaml", "must end in"), ("none/out.json", "No such file"), ("file/under", "can't be written")]
)
def test_a_place_that_cannot_be_is_one_line(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SnapshotError, match=said):
        write(str(tmp_path / name), [NODE], stdout=io.BytesIO())


def test_what_could_not_be_read_is_said_again(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    facts = Facts(
        as_of=1_770_000_000.25, cluster="c", version={"gitVersion": "v1.36.1", "buildDate": "x"}, gates={"DRADeviceTaints": True},
        unreadable=(Unreadable("Event", "forbidden"),),
    )  # fmt: skip
    write(str(out), entries(facts, [NODE]), stdout=io.BytesIO())
    view = load([str(out)])
    assert (view.now, view.source.cluster, view.release.minor) == (1_770_000_000.25, "c", 36)
    assert view.unreadable == facts.unreadable
    assert view.release.gates["DRADeviceTaints"].enabled
    assert "buildDate" not in out.read_text()


def test_a_cluster_whose_nodes_were_listed_and_are_none_stays_one(tmp_path: Path) -> None:
    source, out = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": []}))
    _, facts, items = load_raw([str(source)])
    write(str(out), entries(facts, items), stdout=io.BytesIO())
    assert load([str(out)]).unreadable == ()


def test_options_that_say_how_to_judge_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ["--snapshot", str(GANG), "--kubernetes-version", "1.35", "--gates", "DRADeviceTaints=false"]
    assert main(["snapshot", str(out), *options]) == 0
    view = load([str(out)])
    assert view.release.minor == 35
    assert not view.release.gates["DRADeviceTaints"].enabled


@pytest.mark.parametrize("more", [[], ["--anonymize"]], ids=["plain", "anonymous"])
def test_no_secret_that_a_dump_holds_gets_into_a_snapshot(more: list[str], tmp_path: Path, capsys: Captured) -> None:
    dump = json.loads(GANG.read_text(encoding="utf-8"))
    source, out = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps({**dump, "items": [*map(planted, dump["items"]), *secrets()]}))
    assert all(canary in source.read_text() for canary in CANARIES if canary not in ("CANARY-termination", "CANARY-parameters"))
    assert main(["snapshot", str(out), "--snapshot", str(source), *more]) == 0
    said = "".join(capsys.readouterr())
    assert "CANARY" not in out.read_text() + said


def test_a_table_without_aliases_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["snapshot", "-", "--demo", "--alias-table", str(tmp_path / "t")]) == 2
    assert "--anonymize" in capsys.readouterr().err
