"""The frame's parts without a control plane: signs, changes, intents, variants, files that aren't as declared, commands."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fault_injection.__main__ import main
from fault_injection.library import actions, asked, catalogue, recordings
from fault_injection.library.changes import BadChange, as_v1, edited, on_recording
from fault_injection.library.command import FAMILIES
from fault_injection.library.declared import Family, Fault, Variants
from fault_injection.library.golden import Change, Devices, Golden, Intent
from fault_injection.library.intent import lost
from fault_injection.library.roles import Named, filled, filled_in, quoted
from fault_injection.library.shelf import Entry, entries, entry
from fault_injection.library.signs import Sign
from fault_injection.library.strict import BadFile, read
from fault_injection.library.variants import ACCELERATORS, Accelerator, drawn
from fault_injection.scenes import Scene, request

ROOT = Path(__file__).parents[3]
POD = Named("v1", "Pod", "default", "cedar-bay")
ROLES = {"pod": POD, "number": "4", "parts": [{"name": "a.b"}]}


def test_a_template_takes_names_numbers_and_structures() -> None:
    assert filled("{pod} {pod.name} {pod.ref} {number}", ROLES) == "default/cedar-bay cedar-bay Pod default/cedar-bay 4"
    assert filled_in({"{number}": ["{number}", "x{number}", "{parts}", True]}, ROLES) == {"4": [4, "x4", [{"name": "a.b"}], True]}
    assert quoted("{pod} .* a.b", {"pod": Named("v1", "Pod", None, "a.b")}) == r"a\.b .* a.b"
    with pytest.raises(KeyError, match="no role 'node'; it has number, parts, pod"):
        filled("{node}", ROLES)


def pod(**status: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "cedar-bay"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("sign", "item", "seen"),
    [
        (Sign(bound=True), {**pod(), "spec": {"nodeName": "n"}}, True),
        (Sign(bound=True), pod(), False),
        (Sign(exists=False), None, True),
        (Sign(condition="PodScheduled", reason="Unschedulable", message="{pod.name}"), pod(conditions=[]), False),
        (
            Sign(condition="PodScheduled", reason="Unschedulable", message="{pod.name}"),
            pod(conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "of cedar-bay"}]),
            True,
        ),
        (Sign(field="status.phase", value="Running"), pod(phase="Running"), True),
        (Sign(field="status.phase", value="Running"), pod(phase="Pending"), False),
        (Sign(field="status.phase"), pod(), False),
        (Sign(field="status.phase", exists=False), pod(), True),
        (Sign(field="status.phase", exists=False), pod(phase="Running"), False),
        (Sign(field="status.phase", exists=False), None, False),
        (Sign(event="FailedScheduling", message="cannot"), pod(), True),
        (Sign(event="FailedScheduling", message="other"), pod(), False),
    ],
)
def test_a_sign_is_seen_when_it_is_there(sign: Sign, item: dict[str, Any] | None, seen: bool) -> None:
    assert sign.seen(item, lambda: [{"reason": "FailedScheduling", "message": "cannot allocate"}], ROLES) is seen


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"field": "a", "exists": True},
        {"field": "a", "exists": False, "value": 1},
        {"bound": True, "exists": True},
        {"event": "X", "reason": "Y"},
        {"condition": "X", "seconds": 0},
        {"bound": "yes?"},
    ],
)
def test_a_sign_says_one_thing(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Sign.model_validate(wrong)


def test_a_file_that_is_not_as_declared_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "fault.yaml"
    path.write_text("title: x\nfamily: F99\nsymptom: [{bound: true}]\nshelf: 3\n")
    with pytest.raises(BadFile, match=r"fault.yaml: family: Input should be .*F19'.*; .*shelf: Extra inputs are not permitted"):
        read(path, Fault)
    with pytest.raises(BadFile, match=r"there is no such file; every fault has fault.yaml, scene.py and golden.yaml"):
        read(tmp_path / "golden.yaml", Golden)


def test_a_golden_file_with_a_blocker_says_what_helps_and_what_a_fix_has_to_keep() -> None:
    base = {"verdict": "blocked", "cause": "c", "trap": "t", "blockers": [{"code": "NO_DEVICES"}]}
    with pytest.raises(ValueError, match="with a blocker there are fixes, not_fixes and intent"):
        Golden.model_validate_json(json.dumps(base))
    with pytest.raises(ValueError, match="no code NO_LUCK"):
        Golden.model_validate_json(json.dumps({**base, "blockers": [{"code": "NO_LUCK"}]}))


def test_a_fault_is_seen_on_a_release_of_its_own() -> None:
    known = entry("slice-without-devices").fault
    assert known.minors == ("1.34", "1.35", "1.36", "1.37")
    assert known.model_copy(update={"releases": "1.36"}).minors == ("1.36",)
    of_others = {**known.model_dump(mode="json"), "releases": "1.34-1.36"}
    with pytest.raises(ValueError, match=r"its plane is of 1.37, which isn't among its releases, 1.34-1.36"):
        Fault.model_validate_json(json.dumps(of_others))


def test_a_value_may_have_several_spellings() -> None:
    found = entry("nodes-less-their-daemons")
    recording = recordings.read(found, "1.37")
    assert asked.complaints(recording, found.golden.model_copy(update={"values": (("61.9", "61900m"),)})) == []
    wrong = found.golden.model_copy(update={"values": (("62.9", "63"), "no-such")})
    assert asked.complaints(recording, wrong) == ["the answer doesn't name '62.9' or '63'", "the answer doesn't name 'no-such'"]


def test_a_variant_is_drawn_by_the_seed_within_what_the_fault_allows() -> None:
    assert drawn("a", 7, Variants()) == drawn("a", 7, Variants())
    found = [drawn("a", seed, Variants()) for seed in range(200)]
    assert {entry.innocents for entry in found} == {0, 2, 50, 1000}
    assert (
        {entry.events_expired for entry in found}
        == {entry.old_condition for entry in found}
        == {entry.neighbour for entry in found}
        == {True, False}
    )
    assert len({entry.api_version for entry in found}) == 3
    strict = [
        drawn("a", seed, Variants(herd="none", events="needed", old_condition=False, distractors=False, neighbour=False))
        for seed in range(50)
    ]
    assert not any(
        entry.innocents or entry.events_expired or entry.old_condition or entry.distractors or entry.neighbour for entry in strict
    )
    assert {entry.accelerator.driver for entry in (drawn("a", seed, Variants(), drivers=("gpu.amd.com",)) for seed in range(50))} == {
        "gpu.amd.com"
    }


# --- changes --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accelerator", ACCELERATORS, ids=lambda entry: entry.shape)
def test_an_accelerator_is_as_its_driver_publishes_it(accelerator: Accelerator) -> None:
    scene = Scene(1)
    (node,) = scene.nodes(accelerator.shape)
    devices = scene.devices_of(node, accelerator.driver)
    assert len(devices) == 8
    assert {device["attributes"]["productName"]["string"] for device in devices} == {accelerator.product}
    assert {device["capacity"]["memory"]["value"] for device in devices} == {accelerator.memory}


def test_a_change_sets_takes_away_and_appends() -> None:
    item = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"list": [{"a": 1}], "gone": True}}
    change = Change(
        of="pod", set={"spec.list[0].a": "{number}", "spec.list[1]": {"a": 2}, 'spec.map["x/y"]': "{pod.name}"}, unset=("spec.gone",)
    )
    assert edited(item, change, ROLES)["spec"] == {"list": [{"a": 4}, {"a": 2}], "map": {"x/y": "cedar-bay"}}
    with pytest.raises(BadChange, match=r"there is no spec.other to take away"):
        edited(item, Change(of="pod", unset=("spec.other",)), ROLES)
    with pytest.raises(BadChange, match=r"spec.list\[4\].a leads nowhere in Pod p"):
        edited(item, Change(of="pod", set={"spec.list[4].a": 1}), ROLES)


def test_when_a_pod_ends_on_a_recording_its_claims_follow() -> None:
    scene = Scene(seed=3)
    (node,) = scene.nodes("p4d.24xlarge")
    holder = scene.running(node, ["gpu-0"])
    held = next(item for item in scene.objects if item["kind"] == "ResourceClaim")
    assert held["status"]["allocation"]
    roles = {"holder": Named.of(holder)}
    after = on_recording(scene.snapshot()["items"], [Change(of="holder", delete=True)], roles)
    assert not any(item["kind"] == "Pod" for item in after)
    (claim,) = [item for item in after if item["kind"] == "ResourceClaim"]
    assert not claim["status"]


def test_a_changed_template_gives_the_pod_another_claim() -> None:
    scene = Scene(seed=3)
    template = scene.template(request("gpu.nvidia.com", 8))
    waiting = scene.pod(template)
    change = Change(of="template", set={"spec.spec.devices.requests[0].exactly.count": 2})
    after = on_recording(scene.snapshot()["items"], [change], {"template": Named.of(template)})
    (claim,) = [item for item in after if item["kind"] == "ResourceClaim"]
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2
    (made,) = [item for item in after if item["kind"] == "Pod"]
    assert made["status"]["resourceClaimStatuses"] == [{"name": "devices-0", "resourceClaimName": claim["metadata"]["name"]}]
    assert waiting["metadata"]["name"] == made["metadata"]["name"]


def test_older_api_versions_are_read_as_the_present_one() -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaim",
        "spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "c", "count": 2}]}},
    }
    assert as_v1(claim)["spec"]["devices"]["requests"] == [{"name": "a", "exactly": {"deviceClassName": "c", "count": 2}}]
    piece = {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceSlice",
        "spec": {"devices": [{"name": "d", "basic": {"attributes": {}}}]},
    }
    assert as_v1(piece)["spec"]["devices"] == [{"name": "d", "attributes": {}}]


# --- intents --------------------------------------------------------------------------------------------------------------------------


def bound(devices: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    scene = Scene(seed=3)
    (node,) = scene.nodes("p4d.24xlarge")
    pod = scene.running(node, devices)
    return scene.objects, pod


def test_an_intent_is_kept_by_the_devices_that_the_pod_holds() -> None:
    items, pod = bound(["gpu-0", "gpu-1"])
    product = "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100-SXM4-40GB'"
    numa = "resource.kubernetes.io/numaNode"
    kept = Intent(devices=Devices(count=2, driver="gpu.nvidia.com", each=(product,), same=(numa,)), node={"kubernetes.io/os": "linux"})
    assert lost(kept, items, pod, {}) == []


def test_what_an_intent_lacks_is_told() -> None:
    items, pod = bound(["gpu-0", "gpu-7"])
    wanted = Intent(
        devices=Devices(
            count=3, each=("device.attributes['gpu.nvidia.com'].productName == 'H100'",), same=("resource.kubernetes.io/numaNode",)
        ),
        node={"topology.kubernetes.io/zone": "b"},
        requests={"cpu": "9"},
        untouched=("gone",),
    )
    told = lost(wanted, items, pod, {"gone": POD})
    assert [text.partition(" ")[0] for text in told] == ["it", "it", "it", "gpu-0,", "its", "Pod"]
    assert told[1:3] == ["it asks for 1 cpu, not 9", "it has 2 devices, not 3"]
    assert lost(wanted, items, {**pod, "spec": {}}, {})[0].endswith("isn't bound")


def test_the_attribute_in_which_devices_are_alike_may_be_a_role() -> None:
    roles = {"numa": "resource.kubernetes.io/numaNode"}
    wanted = Intent(devices=Devices(count=2, same=("{numa}",)))
    near, far = bound(["gpu-0", "gpu-1"]), bound(["gpu-0", "gpu-7"])
    assert lost(wanted, *near, roles) == []
    assert lost(wanted, *far, roles) == ["its devices have 2 values of resource.kubernetes.io/numaNode"]


def test_requests_are_what_all_containers_ask_for_in_whatever_spelling() -> None:
    items, pod = bound(["gpu-0"])
    parts = [
        {"resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}},
        {"resources": {"requests": {"cpu": "0.5"}}},
        {"resources": {}},
        {},
    ]
    pod = {**pod, "spec": {**pod["spec"], "containers": [{"name": "c", **part} for part in parts]}}
    assert lost(Intent(requests={"cpu": "2", "memory": "1024Mi"}), items, pod, {}) == []
    assert lost(Intent(requests={"cpu": "1500m"}), items, pod, {}) == ["it asks for 2 cpu, not 1500m"]
    assert lost(Intent(requests={"x/y": "1"}), items, pod, {}) == ["it asks for 0 x/y, not 1"]


# --- the shell ------------------------------------------------------------------------------------------------------------------------


def test_the_catalogue_page_is_that_of_the_shelf() -> None:
    assert catalogue.PAGE.read_text() == catalogue.page(), catalogue.COMMAND


def test_the_list_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [entry.name for entry in entries()]
    assert main(["list", "--family", "F9"]) == 0
    assert {line.split()[1] for line in capsys.readouterr().out.splitlines()} == {"F9"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["verify"], "verify: name faults, or --all; `list` prints them"),
        (["verify", "no-such"], "verify: no fault 'no-such'"),
        (
            ["inject", "slice-without-devices", "--context", "prod"],
            "inject: context prod isn't touched: nodes, slices and classes would be made",
        ),
        (["inject", "slice-without-devices", "--lab", "nowhere"], "inject: no lab named 'nowhere' is up"),
        (["clean", "--context", "prod"], "clean: context prod isn't touched"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(told)
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["verify", "--all", "--jobs", "0"], "argument --jobs: '0' isn't a whole number of 1 or more"),
        (["record", "--all", "--jobs", "-3"], "argument --jobs: '-3' isn't a whole number of 1 or more"),
        (["inject", "slice-without-devices", "--innocents", "-5"], "argument --innocents: '-5' isn't a whole number of -1 or more"),
        (["verify", "--all", "--innocents", "few"], "argument --innocents: 'few' isn't a whole number of -1 or more"),
        (["list", "--family", "F99"], "argument --family: invalid choice: 'F99' (choose from"),
        (["clean"], "one of the arguments --lab --context is required"),
        (["clean", "--lab", "a", "--context", "b"], "argument --context: not allowed with argument --lab"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_usage(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_the_families_that_may_be_asked_for_are_all_there_are() -> None:
    assert [family.value for family in Family] == list(FAMILIES)


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    """A kubeconfig whose server isn't there: nothing listens where this socket was."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    config = {
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}, {"name": "d", "context": {"cluster": "d", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}, {"name": "d", "cluster": {}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


@pytest.mark.parametrize("command", [["inject", "slice-without-devices"], ["clean"]])
@pytest.mark.parametrize(("context", "told"), [("c", "doesn't answer"), ("d", "names no server for context d")])
def test_a_cluster_that_cannot_be_reached_is_one_line(
    command: list[str], context: str, told: str, nobody: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--context", context, "--kubeconfig", str(nobody), "--this-cluster-is-disposable"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{command[0]}: ")
    assert told in said
    assert said.count("\n") == 1


def test_a_recording_that_is_not_whole_and_a_change_that_leads_nowhere_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "slice-without-devices"
    shutil.copytree(entry(folder.name).folder, folder)
    monkeypatch.setattr(actions, "entry", lambda name: Entry(folder))
    golden = yaml.safe_load((folder / "golden.yaml").read_text())
    golden["fixes"][0] |= {"where": "anywhere", "change": [{"of": "pod", "set": {"spec.containers[3].a": 1}}]}
    (folder / "golden.yaml").write_text(json.dumps(golden))
    assert main(["ask", folder.name]) == 1
    said = capsys.readouterr().err
    assert said.startswith("ask: slice-without-devices: spec.containers[3].a leads nowhere in Pod ")
    (folder / "recorded/1.37.roles.json").write_text("{")
    assert main(["ask", folder.name]) == 1
    assert "isn't whole" in (broken := capsys.readouterr().err)
    shutil.copy(entry(folder.name).folder / "recorded/1.37.roles.json", folder / "recorded/1.37.roles.json")
    packed = folder / "recorded/1.37.json.gz"
    good = packed.read_bytes()
    packed.write_bytes(good[:40] + bytes(byte ^ 255 for byte in good[40:60]) + good[60:])
    assert main(["ask", folder.name]) == 1
    assert "isn't whole" in capsys.readouterr().err
    packed.write_bytes(good)
    (folder / "recorded/1.37.roles.json").unlink()
    assert main(["ask", folder.name]) == 1
    missing = capsys.readouterr().err
    assert missing.endswith("roles.json: there is no such file; `python -m fault_injection record slice-without-devices` writes it anew\n")
    assert [text.count("\n") for text in (said, broken, missing)] == [1, 1, 1]


def test_help_loads_neither_the_product_nor_the_lab() -> None:
    code = "import sys; from fault_injection.__main__ import main\ntry: main(['verify', '--help'])\nexcept SystemExit: pass\n"
    code += "print([name for name in sys.modules if name.startswith(('k8s_topo_mcp', 'mcp', 'fault_injection.lab.lab'))])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_event_that_names_no_object_is_about_none() -> None:
    """kube-apiserver writes one of a ServiceCIDR without its name."""
    of = Named("v1", "Pod", "default", "p")
    events = [
        {"kind": "Event", "involvedObject": {"kind": "ServiceCIDR"}},
        {"kind": "Event", "involvedObject": {"kind": "Pod", "name": "p"}},
    ]
    assert recordings.Recording({"items": events}, {}, {}).events(of) == events[1:]


def test_a_release_of_no_fault_is_refused_and_not_a_run_of_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--all", "--release", "9.9"]) == 1
    assert "--release 9.9: no fault is so in it; there are 1.34, 1.35, 1.36, 1.37" in capsys.readouterr().err
