"""The permissions that we ask for are those that the table of kinds needs, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from k8s_topo_mcp.objects import KINDS
from k8s_topo_mcp.sources.live import access
from k8s_topo_mcp.sources.live.kinds import READ

DEPLOY = Path(__file__).parents[3] / "deploy"
FILES = {
    "rbac.yaml": access.text(access.cluster_wide(), access.CLUSTER_WIDE),
    "rbac-namespaced.yaml": access.text(access.namespaced(["team-a", "team-b"]), access.NAMESPACED),
}


@pytest.mark.parametrize("name", FILES)
def test_the_manifests_in_the_repository_are_made_of_the_table(name: str, request: pytest.FixtureRequest) -> None:
    file = DEPLOY / name
    if request.config.getoption("--update-golden"):
        file.write_text(FILES[name], encoding="utf-8")
    assert file.read_text(encoding="utf-8") == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_nothing_may_be_written_and_nothing_secret_read(name: str) -> None:
    for manifest in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")):
        for rule in manifest.get("rules", ()):
            assert set(rule["verbs"]) <= {"get", "list", "watch"}
            assert "*" not in rule.get("resources", ())
            assert "*" not in rule.get("apiGroups", ())
            assert "rbac.authorization.k8s.io" not in rule.get("apiGroups", ())
            assert "secrets" not in rule.get("resources", ())
            if "configmaps" in rule.get("resources", ()):
                assert rule["resources"] == ["configmaps"]
                assert rule["resourceNames"] == ["cluster-autoscaler-status"]
                assert rule["verbs"] == ["get"]


def test_every_kind_that_is_decoded_is_read_and_may_be() -> None:
    granted = {(group, resource) for rule in access.rules() for group in rule["apiGroups"] for resource in rule["resources"]}
    assert granted == {(kind.group, kind.plural) for kind in READ}
    # The core events again, under another name: read once.
    assert {(kind.group, kind.kind) for kind in READ} == set(KINDS) - {("events.k8s.io", "Event")}


RULES = ("scheduling", "dra", "queueing", "scaleup", "topology", "diagnosis", "tools")
"""Rooms in which something is judged by what was read."""
TOLD_ONLY = {"CompositePodGroup"}
"""Whose changes recent_changes tells: what a group of groups decides isn't modelled, which its pods' answers say."""


def test_every_kind_that_may_be_read_is_read_by_a_rule() -> None:
    """What is only listed, stored and compared costs permissions and memory for nothing."""
    used: set[str] = set()
    for room in RULES:
        for file in (Path(access.__file__).parents[2] / room).rglob("*.py"):
            used |= {entry.id for entry in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(entry, ast.Name)}
    assert {kind.kind for kind in READ if kind.type.__name__ not in used} == TOLD_ONLY


def test_with_namespaces_only_kinds_without_one_are_granted_for_the_whole_cluster() -> None:
    manifests = access.namespaced(["team-a"])
    plurals = {kind.plural: kind.namespaced for kind in READ}
    for manifest in manifests:
        for rule in manifest.get("rules", ()):
            for resource in rule.get("resources", ()):
                assert plurals[resource] is (manifest["kind"] == "Role")
    assert {manifest["metadata"].get("namespace") for manifest in manifests if manifest["kind"] == "Role"} == {"team-a"}
