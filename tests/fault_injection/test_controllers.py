"""Controllers beside a lab, without building or running one: what they are built from, how they are installed and called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fault_injection.lab import Lab, LabError, controllers
from fault_injection.lab.controllers import PROGRAMS, karpenter, kueue
from fault_injection.lab.controllers.programs import Edit, Program, edited


def test_a_controller_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(LabError, match="no controller 'volcano'; there are kueue, karpenter"):
        controllers.start(Lab(), "volcano", {})


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_build_is_kept_by_all_that_it_is_made_of(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fault_injection.lab.controllers.programs.go_version", lambda: "go1.26.8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = program.folder
    assert folder.is_relative_to(tmp_path)
    assert folder.name.startswith(f"{program.name}-{program.version}-")
    assert not program.is_built
    others = [Program(**{**fields(program), "sum": "h1:other"}), Program(**{**fields(program), "edits": (Edit("a.go", "b", "c", 1),)})]
    assert len({folder, *(other.folder for other in others)}) == 3
    monkeypatch.setattr("fault_injection.lab.controllers.programs.go_version", lambda: "go1.27.0")
    assert program.folder != folder


def fields(program: Program) -> dict[str, Any]:
    return {name: getattr(program, name) for name in program.__slots__}


def test_a_source_that_looks_otherwise_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text('listen(":%d"); listen(":%d")')
    edited(tmp_path, (Edit("main.go", '":%d"', '"127.0.0.1:%d"', 2),))
    assert (tmp_path / "main.go").read_text() == 'listen("127.0.0.1:%d"); listen("127.0.0.1:%d")'
    with pytest.raises(LabError, match=r"main\.go has '\":%d\"' 0 times, not 2: it isn't the source"):
        edited(tmp_path, (Edit("main.go", '":%d"', '"127.0.0.1:%d"', 2),))


def test_manifests_are_read_by_name_and_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Program, "folder", tmp_path)
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds/b.yaml").write_text("---\nkind: B\n---\n")
    (tmp_path / "crds/a.yaml").write_text("kind: A\n---\nkind: C\n")
    assert [item["kind"] for item in kueue.PROGRAM.documents("crds")] == ["A", "C", "B"]
    assert [item["kind"] for item in kueue.PROGRAM.documents("crds/b.yaml")] == ["B"]
    for path in ("crds/c.yaml", "other"):
        with pytest.raises(LabError, match=r"there are no manifests; remove .* and it is built anew"):
            list(kueue.PROGRAM.documents(path))


def test_kueue_listens_on_this_machine_alone_with_its_gates_on(tmp_path: Path) -> None:
    mapping = {"name": "devices", "deviceClassNames": ["gpu.example.com"]}
    made = kueue.configuration({"deviceClassMappings": [mapping]}, 4001, 4002, tmp_path)
    assert json.loads(json.dumps(made)) == made
    assert made["health"] == {"healthProbeBindAddress": "127.0.0.1:4001"}
    assert made["webhook"] == {"host": "127.0.0.1", "port": 4002, "certDir": str(tmp_path)}
    assert made["metrics"] == {"bindAddress": "0"}
    assert made["featureGates"]["DynamicResourceAllocation"] is made["featureGates"]["DRAExtendedResources"] is True
    assert made["featureGates"]["VisibilityOnDemand"] is False
    assert made["resources"] == {"deviceClassMappings": [mapping]}


def test_kueue_has_no_setting_that_it_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="Kueue's resources have no deviceClasses; they have deviceClassMappings, exclude"):
        kueue.configuration({"deviceClasses": []}, 1, 2, tmp_path)


def webhook(name: str, group: str) -> dict[str, Any]:
    service = {"name": "webhook-service", "namespace": "system", "path": f"/{name}"}
    return {"name": name, "clientConfig": {"service": service}, "rules": [{"apiGroups": [group], "resources": ["all"]}]}


def test_the_webhooks_of_kueue_and_of_jobs_are_installed_and_lead_to_this_machine() -> None:
    hooks = [webhook("queue", "kueue.x-k8s.io"), webhook("job", "batch"), webhook("pod", ""), webhook("ray", "ray.io")]
    manifest = {"kind": "MutatingWebhookConfiguration", "metadata": {"name": "mutating-webhook-configuration"}, "webhooks": hooks}
    (made,) = kueue.webhook_configurations([manifest], 4002)
    assert made["metadata"]["name"] == "kueue-mutating-webhook-configuration"
    assert [hook["name"] for hook in made["webhooks"]] == ["queue", "job"]
    assert made["webhooks"][1]["clientConfig"] == {
        "service": {"namespace": "kueue-system", "name": kueue.service()["metadata"]["name"], "path": "/job", "port": 4002}
    }
    assert kueue.service()["spec"] == {"type": "ExternalName", "externalName": "127.0.0.1"}


def test_kinds_of_kueue_that_have_a_conversion_keep_it_and_the_others_have_none() -> None:
    bases = yaml.safe_load_all("{metadata: {name: a.x}, spec: {group: x}}\n---\n{metadata: {name: b.x}, spec: {group: x}}")
    conversion = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": {"path": "/convert"}}, "conversionReviewVersions": ["v1"]},
    }
    patches = [{"metadata": {"name": "b.x"}, "spec": {"conversion": conversion}}, {"metadata": {"name": "a.x"}}]
    one, other = kueue.definitions(bases, patches, 4002)
    assert one["spec"] == {"group": "x"}
    assert other["spec"]["conversion"]["webhook"]["conversionReviewVersions"] == ["v1"]
    assert other["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 4002


def test_karpenters_provider_has_the_machines_that_a_scene_tells() -> None:
    (made,) = karpenter.instance_types({"large.example": {"cpu": "96", "memory": "64Gi", "pods": "110"}})
    assert made["name"] == "large.example"
    assert made["resources"] == {"cpu": "96", "memory": "64Gi", "pods": "110"}
    assert {entry["key"]: entry["values"] for entry in made["offerings"][0]["Requirements"]} == {
        "karpenter.sh/capacity-type": ["on-demand"],
        "topology.kubernetes.io/zone": [karpenter.ZONE],
    }


def test_karpenters_ports_are_not_a_scenes_to_say() -> None:
    assert karpenter.flags(("--ignore-dra-requests=false",)) == ["--ignore-dra-requests=false"]
    with pytest.raises(LabError, match="--metrics-port=8080 is the lab's to say"):
        karpenter.flags(("--metrics-port=8080",))


def test_karpenter_has_no_setting_that_it_does_not_know() -> None:
    with pytest.raises(LabError, match="Karpenter has no setting nodes; it has flags and types"):
        karpenter.start(Lab(), {"nodes": 3})
