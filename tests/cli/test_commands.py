"""The command line in this process: what it prints where, and its exit status."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.demo import CLAIM
from k8s_topo_mcp.cli.source import VARIABLE

SCENES = Path(__file__).parents[1] / "scenes"
GANG = str(SCENES / "gang-16.json")


@pytest.fixture(autouse=True)
def _no_snapshot_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


Captured = pytest.CaptureFixture[str]


def test_explain_prints_the_answer_and_nothing_else(capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "--demo"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("default/trainer-0 is blocked")
    assert "\x1b" not in out
    assert out.splitlines()[-1].startswith("basis  ")
    assert err == ""


def test_the_namespace_may_stand_apart(capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "-n", "default", "--demo"]) == 0
    apart = capsys.readouterr().out
    assert main(["explain", "default/trainer-0", "--demo"]) == 0
    assert capsys.readouterr().out == apart


def test_a_blocker_sets_the_exit_status_only_when_asked(capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "--demo", "--exit-code"]) == 3
    assert main(["explain", "eval-0", "--demo", "--exit-code"]) == 0
    assert main(["scaleup", "--pod", "default/trainer-0", "--add", "g6.12xlarge", "--demo", "--exit-code"]) == 3
    assert main(["scaleup", "--pod", "default/allreduce-0", "--add", "p4d.24xlarge", "--demo", "--exit-code"]) == 0
    assert main(["call", "explain_pending", "pod=trainer-0", "--demo"]) == 0
    assert main(["call", "explain_pending", "pod=trainer-0", "--demo", "--exit-code"]) == 3
    capsys.readouterr()


@pytest.mark.parametrize("command", ["scaleup", "fits"])
def test_a_quota_that_refuses_a_pod_to_come_is_a_blocker(command: str, tmp_path: Path, capsys: Captured) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
        "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}},
    }
    free = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
    new = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": {"containers": [{"name": "main", "image": "web"}]}}
    manifest = tmp_path / "new.json"
    manifest.write_text(json.dumps(new), encoding="utf-8")
    statuses: list[int] = []
    for name, items in {"full": [free, quota], "open": [free]}.items():
        snapshot = tmp_path / f"{name}.json"
        snapshot.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        statuses.append(main([command, str(manifest), "--snapshot", str(snapshot), "--exit-code"]))
    assert statuses == [3, 0]
    capsys.readouterr()


def test_json_is_the_structured_answer(capsys: Captured) -> None:
    assert main(["explain", "trainer-0", "--demo"]) == 0
    text = capsys.readouterr().out
    assert main(["call", "explain_pending", "pod=default/trainer-0", "--demo", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["report"] + "\n" == text
    assert said["blocker"]["code"] == "CONSTRAINT_UNSATISFIABLE"


def test_fits_reads_a_file_and_stdin(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = tmp_path / "claim.yaml"
    manifest.write_text(CLAIM)
    assert main(["fits", str(manifest), "--demo"]) == 0
    from_file = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(CLAIM))
    assert main(["fits", "-", "--demo"]) == 0
    assert capsys.readouterr().out == from_file
    assert main(["call", "claim_feasibility", f"manifest=@{manifest}", "--demo"]) == 0
    assert capsys.readouterr().out == from_file


def test_the_cursor_of_an_answer_gives_its_next_part(capsys: Captured, tmp_path: Path) -> None:
    manifest = tmp_path / "claim.yaml"
    manifest.write_text(CLAIM.replace("productname", "productName"))
    shown: set[str] = set()
    for command in (["explain"], ["explain", "--full"], ["fits", str(manifest)], ["topology"], ["topology", "--depth", "device"]):
        assert main([*command, "--demo", "--json"]) == 0
        first = json.loads(capsys.readouterr().out)
        if "cursor" not in first:
            continue
        shown.add(command[0])
        assert main([*command, "--demo", "--json", "--cursor", first["cursor"]]) == 0
        assert json.loads(capsys.readouterr().out)["report"] != first["report"]
    assert shown == {"explain", "fits", "topology"}


def test_all_groups_are_reached_and_the_full_overview_shows_no_fewer_at_once(capsys: Captured) -> None:
    sizes: dict[str, list[int]] = {}
    for detail in ("short", "full"):
        command = ["explain", "--demo", "--json"] + (["--full"] if detail == "full" else [])
        numbers: list[int] = []
        cursor: list[str] = []
        while True:
            assert main([*command, *cursor]) == 0
            said = json.loads(capsys.readouterr().out)
            page = [group["number"] for group in said["overview"]["groups"]]
            sizes.setdefault(detail, []).append(len(page))
            numbers += page
            if "cursor" not in said:
                break
            cursor = ["--cursor", said["cursor"]]
        assert numbers == list(range(1, 13))
    assert sizes["full"][0] >= sizes["short"][0]


def test_a_call_takes_pairs_behind_its_options_too(capsys: Captured) -> None:
    assert main(["call", "explain_pending", "pod=trainer-0", "--demo"]) == 0
    before = capsys.readouterr().out
    assert main(["call", "explain_pending", "--demo", "pod=trainer-0"]) == 0
    assert capsys.readouterr().out == before
    for wrong in (["call", "explain_pending", "--demo", "pod=trainer-0", "--podd", "x"], ["explain", "a", "--demo", "b"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2
        assert "unrecognized arguments" in capsys.readouterr().err


def test_topology_takes_a_scope(capsys: Captured) -> None:
    assert main(["topology", "--demo"]) == 0
    assert main(["topology", "node/h100-0", "--demo"]) == 0
    assert "h100-0" in capsys.readouterr().out


def test_tools_are_listed_with_their_arguments(capsys: Captured) -> None:
    assert main(["tools"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("explain_pending", "claim_feasibility", "topology_graph", "ignore_holders"))


def test_the_snapshot_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv(VARIABLE, GANG)
    assert main(["topology"]) == 0
    assert "gang-16" in capsys.readouterr().out.splitlines()[-1]


def test_release_gates_and_time_can_be_given(capsys: Captured) -> None:
    options = ["--kubernetes-version", "1.36", "--gates", "DRADeviceTaints=false", "--as-of", "2026-11-30T00:00:00Z"]
    assert main(["topology", "--demo", *options]) == 0
    basis = capsys.readouterr().out.splitlines()[-1]
    assert "2026-11-30T00:00Z" in basis
    assert "Kubernetes 1.36" in basis
    assert "DRADeviceTaints=false" in basis


def test_a_gate_that_is_misspelt_is_told_with_the_nearest(capsys: Captured) -> None:
    assert main(["topology", "--demo", "--gates", "DRADeviceTaints=true,DRADeviceTaintz=true"]) == 2
    assert "Nearest: DRADeviceTaints," in capsys.readouterr().err


def test_a_version_file_can_be_given(tmp_path: Path, capsys: Captured) -> None:
    version = tmp_path / "anything.json"
    version.write_text('{"major": "1", "minor": "36", "gitVersion": "v1.36.3"}')
    assert main(["topology", "--snapshot", GANG, "--version-json", str(version)]) == 0
    assert "Kubernetes 1.36.3" in capsys.readouterr().out.splitlines()[-1]


def test_a_version_file_with_objects_does_not_join_the_cluster(tmp_path: Path, capsys: Captured) -> None:
    claim = tmp_path / "claim.json"
    claim.write_text(json.dumps({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {}}))
    empty = tmp_path / "empty.json"
    empty.write_text("")
    for path in (claim, empty):
        for command in (["topology", "--demo"], ["topology", "--snapshot", GANG], ["snapshot", "-", "--demo"]):
            assert main([*command, "--version-json", str(path)]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert "version" in err
            assert err.count("\n") == 1
    assert main(["topology", "--demo", "--version-json", str(claim)]) == 2
    assert "doesn't name a release; right would be the output of kubectl version -o json" in capsys.readouterr().err


def test_kinds_that_could_not_be_read_set_the_exit_status(tmp_path: Path, capsys: Captured) -> None:
    dump = json.loads(Path(GANG).read_text(encoding="utf-8"))
    info = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo", "unreadable": [{"kind": "ResourceQuota", "reason": "403"}]}
    dump["items"].append(info)
    partial = tmp_path / "partial.json"
    partial.write_text(json.dumps(dump))
    assert main(["topology", "--snapshot", str(partial)]) == 5
    assert "unreadable: ResourceQuota (403)" in capsys.readouterr().out


NO_SOURCE = "error: no cluster to read: give --snapshot PATH"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["explain"], 2, NO_SOURCE),
        (["serve"], 2, NO_SOURCE),
        (["explain", "--demo", "--snapshot", GANG], 2, "error: --demo and --snapshot name two clusters; give one."),
        (["serve", "--snapshot", "-"], 2, "error: serve speaks MCP on stdin, so --snapshot can't be -."),
        (["fits", "-", "--snapshot", "-"], 2, "error: FILE and --snapshot can't both be stdin."),
        (["fits", "missing.yaml", "--demo"], 2, "error: missing.yaml: No such file or directory"),
        (["call", "explain_pendin", "--demo"], 2, "error: there is no tool 'explain_pendin'; did you mean explain_pending?"),
        (["call", "explain_pending", "trainer-0", "--demo"], 2, "error: 'trainer-0' isn't key=value, as in: call explain_pending pod="),
        (["call", "explain_pending", "pod=a", "pod=b", "--demo"], 2, "error: pod is given twice."),
        (["call", "explain_pending", "podd=a", "--demo"], 2, 'error: explain_pending has no argument "podd"; did you mean pod?'),
        (["call", "claim_feasibility", "manifest=@missing.yaml", "--demo"], 2, "error: manifest=@missing.yaml: No such file or directory"),
        (["topology", "--demo", "--gates", "A"], 2, "error: --gates: 'A' isn't NAME=true or NAME=false"),
        (["topology", "--demo", "--gates", "DRADeviceTaintz=true"], 2, "error: --gates: no gate 'DRADeviceTaintz' changes what is judged"),
        (["topology", "--demo", "--version-json", "missing"], 2, "error: version-json: missing can't be read: No such file"),
        (["topology", "--demo", "--as-of", "noon"], 2, "error: as-of: must be a time such as 2026-11-29T17:53:12Z, is 'noon'"),
        (["topology", "--demo", "--kubernetes-version", "new"], 2, "error: version: 'new' is not a Kubernetes version"),
        (
            ["topology", "--demo", "--kubernetes-version", "1.36", "--version-json", "v"],
            2,
            "error: --version-json and --kubernetes-version both",
        ),
        (["snapshot", __file__, "--demo"], 2, f"error: {__file__}: must end in .json or .json.gz"),
        (["snapshot", GANG, "--demo"], 2, f"error: {GANG}: exists; give another name"),
        (["snapshot", "/dev/null/x.json", "--demo"], 2, "error: /dev/null/x.json: can't be written: Not a directory"),
        (["topology", "--snapshot", "missing.json"], 4, "error: missing.json: can't be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_line_on_stderr(arguments: list[str], status: int, said: str, capsys: Captured) -> None:
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_an_option_that_does_not_exist_is_bad_input(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["explain", "--colour"])
    assert left.value.code == 2
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rbac", "--namespaces", ""], "--namespaces names no namespace; give some, as in --namespaces team-a,team-b, or leave it out"),
        (["rbac", "--namespaces", " , "], "--namespaces names no namespace"),
        (["explain", "--namespaces", ""], "--namespaces names no namespace"),
        (["explain", "--namespaces", "", "--demo"], "--namespaces names no namespace"),
        (["doctor", "--namespaces", "", "--kubeconfig", __file__], "--namespaces names no namespace"),
        (["rbac", "--namespaces", "a;b"], "--namespaces: 'a;b' isn't the name of a namespace, as in --namespaces team-a,team-b"),
        (
            ["rbac", "--account-namespace", "x;y"],
            "--account-namespace: 'x;y' isn't the name of a namespace, as in --account-namespace k8s-",
        ),
        (["rbac", "--account-namespace", "a,b"], "--account-namespace: 'a,b' isn't the name"),
        (["rbac", "--account-namespace", ""], "--account-namespace: '' isn't the name"),
    ],
)
def test_a_namespace_that_cannot_be_one_is_refused_by_its_option(arguments: list[str], said: str, capsys: Captured) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {said}")
