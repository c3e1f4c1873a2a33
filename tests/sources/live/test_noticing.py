"""ConfigMaps, RBAC objects and NetworkPolicies: noted by their metadata where the operator says so, and never read."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from fault_injection.replay import Faults, Server, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.journal import Remembering, open_journal
from k8s_topo_mcp.sources.live.clock import Clock, ServerTime
from k8s_topo_mcp.sources.live.credentials import Credentials
from k8s_topo_mcp.sources.live.door import Door
from k8s_topo_mcp.sources.live.errors import PathRefused
from k8s_topo_mcp.sources.live.kinds import METADATA, metadata_kinds
from k8s_topo_mcp.sources.live.noticing import LIST, WATCH, decode
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.live.traffic import Traffic
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view.past import METADATA_KINDS, MetadataChange

from .conftest import FOUR, QUICK, Opened, until

CANARY = "canary-value-91d4"
PLURALS = {"configmaps", "roles", "clusterroles", "rolebindings", "clusterrolebindings", "networkpolicies"}


def made(kind: str, name: str, namespace: str = "team", api_version: str = "v1", **content: Any) -> dict[str, Any]:
    last = {"kubectl.kubernetes.io/last-applied-configuration": CANARY, "note": CANARY}
    metadata = {"name": name, "annotations": last, "labels": {"secret": CANARY}, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **(content or {"data": {"password": CANARY}})}


RBAC = "rbac.authorization.k8s.io/v1"
EACH = [
    made("ConfigMap", "settings"),
    made("Role", "role", api_version=RBAC, rules=[{"verbs": [CANARY]}]),
    made("ClusterRole", "wide", "", api_version=RBAC, rules=[{"verbs": [CANARY]}]),
    made("RoleBinding", "bound", api_version=RBAC, subjects=[{"name": CANARY}]),
    made("ClusterRoleBinding", "all", "", api_version=RBAC, subjects=[{"name": CANARY}]),
    made("NetworkPolicy", "closed", api_version="networking.k8s.io/v1", spec={"podSelector": {"matchLabels": {"a": CANARY}}}),
]


def asked_for(server: Server) -> dict[str, set[str]]:
    """The Accept headers of requests for these kinds."""
    found: dict[str, set[str]] = {}
    for request in server.requests:
        plural = request.path.rpartition("/")[2]
        if plural in PLURALS:
            found.setdefault(plural, set()).add(request.headers["accept"])
    return found


@contextlib.contextmanager
def remembering(server: Server, folder: Path, also: list[str]) -> Generator[Remembering]:
    live = LiveSource(str(server.kubeconfig(folder / "config")), pace=QUICK, also=also)
    kinds = [kind.kind for kind in metadata_kinds(also)]
    source = Remembering(live, lambda name: open_journal(folder / "j.sqlite", name, live._time.now, metadata_kinds=kinds), rhythm=0.1)
    source.start()
    try:
        until("it remembers", lambda: _opened(source))
        yield source
    finally:
        source.close()


def _opened(source: Remembering) -> bool:
    source.view()
    return source.journal is not None


def inner(source: Remembering) -> LiveSource:
    assert isinstance(source._inner, LiveSource)
    return source._inner


def changes(source: Remembering) -> str:
    return ask(find("recent_changes"), source.view(), {}).report


def test_a_write_is_a_row_of_recent_changes_and_no_value_of_it_is_anywhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serve(FOUR) as server:
        for value in EACH:
            server.apply(value)
        with remembering(server, tmp_path, list(METADATA)) as source:
            until("all are watched", lambda: server.watching == len(inner(source)._reflectors))
            assert "ConfigMap" not in changes(source).replace("ConfigMaps", ""), "what was there is no change"
            for value in EACH:
                server.apply({**value, "metadata": {**value["metadata"], "generation": 2}})
            server.apply(made("ConfigMap", "new"))
            server.delete(EACH[-1])
            until("it is said", lambda: "NetworkPolicy team/closed" in changes(source) and "ConfigMap team/new" in changes(source))
            report = changes(source)
            for name in (
                "ConfigMap team/settings",
                "Role team/role",
                "ClusterRole wide",
                "RoleBinding team/bound",
                "ClusterRoleBinding all",
            ):
                assert f"{name} " in report
            assert "written (content not read)" in report
            assert "created (content not read)" in report
            assert "not read:" not in report
            one = ask(find("recent_changes"), source.view(), {"object": "ConfigMap/team/settings"}).report
            assert one.startswith("ConfigMap team/settings: 1 change ")
            assert ask(find("recent_changes"), source.view(), {"object": "ClusterRole/wide"}).report.startswith(
                "ClusterRole wide: 1 change "
            )
            view = source.view()
            assert not {kind.KIND for kind in view.kinds} & set(METADATA_KINDS), "they are no part of a view"
            assert asked_for(server) == {plural: {WATCH} for plural in PLURALS}
            assert source.journal is not None
            assert source.journal.flush()
            kept = b"".join(file.read_bytes() for file in tmp_path.glob("j.sqlite*"))
            assert b"settings" in kept
            assert CANARY.encode() not in kept
            reflectors = [entry for entry in inner(source)._reflectors.values() if entry.target.read.metadata_only]
            objects = [item.metadata for entry in reflectors for item in entry._objects.values()]
            assert len(objects) >= 6
            held = repr([vars(entry) for entry in reflectors])
            assert CANARY not in repr(objects) + held + report + caplog.text


def test_lists_ask_for_the_metadata_alone_too(opened: Opened) -> None:
    heard: list[MetadataChange] = []
    with serve(FOUR) as server:
        for value in EACH:
            server.apply(value)
        source = opened(server, pace=replace(QUICK, watch_list=False, page=1), also=list(METADATA))
        source.notice(heard.append)
        assert source.view().unreadable == ()
        until("all are watched", lambda: server.watching == len(source._reflectors))
        assert asked_for(server) == {plural: {LIST, WATCH} for plural in PLURALS}
        # What went while nobody could look is found by the next list.
        server.faults.on("status", "503", "configmaps")
        server.hang_up("configmaps")
        server.delete(EACH[0])
        server.compact()
        server.faults.off()
        until("the deletion is noted", lambda: [change.verb for change in heard] == ["deleted"])
        assert str(heard[0].object) == "ConfigMap team/settings"


def test_nothing_of_it_is_asked_for_by_default(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(EACH[0])
        source = opened(server)
        source.view()
        until("all are watched", lambda: server.watching == len(source._reflectors))
        assert asked_for(server) == {}


def test_what_is_named_and_not_granted_is_unreadable_with_its_rule(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden@roles.rbac.authorization.k8s.io")) as server:
        view = opened(server, also=["rbac"]).view()
        (entry,) = view.unreadable
        assert entry.kind == "Role"
        assert "Missing rule: roles.rbac.authorization.k8s.io: get, list, watch." in entry.said


def test_with_namespaces_it_is_watched_in_them(opened: Opened) -> None:
    heard: list[MetadataChange] = []
    with serve(FOUR, namespaces=["default", "team"]) as server:
        source = opened(server, namespaces=["default", "team"], also=["configmaps", "rbac"])
        source.notice(heard.append)
        assert not {"ConfigMap", "Role", "ClusterRole"} & {entry.kind for entry in source.view().unreadable}
        until("all are watched", lambda: server.watching == len(source._reflectors))
        server.apply(made("ConfigMap", "elsewhere", "other"))
        server.apply(made("ConfigMap", "seen", "team"))
        until("it is noted", lambda: heard)
        assert [str(change.object) for change in heard] == ["ConfigMap team/seen"]


def test_what_the_autoscaler_writes_all_the_time_is_not_noted(opened: Opened) -> None:
    heard: list[MetadataChange] = []
    with serve(FOUR) as server:
        source = opened(server, also=["configmaps"])
        source.notice(heard.append)
        source.view()
        until("all are watched", lambda: server.watching == len(source._reflectors))
        for number in range(3):
            server.apply(made("ConfigMap", "cluster-autoscaler-status", "kube-system", data={"status": str(number)}))
        server.apply(made("ConfigMap", "other", "kube-system"))
        until("the other is noted", lambda: heard)
        assert [change.object.name for change in heard] == ["other"]


def test_a_listener_that_fails_ends_nothing(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[MetadataChange] = []

    def fails(_change: MetadataChange) -> None:
        raise OSError("full")

    with serve(FOUR) as server:
        source = opened(server, also=["configmaps"])
        source.notice(fails)
        source.view()
        until("all are watched", lambda: server.watching == len(source._reflectors))
        server.apply(made("ConfigMap", "a"))
        until("it is logged", lambda: "could not be noted (OSError" in caplog.text)
        source._noticing[:] = [heard.append]
        server.apply(made("ConfigMap", "b"))
        until("the next is noted", lambda: heard)


@pytest.mark.parametrize(
    ("path", "accept", "passes"),
    [
        ("/api/v1/configmaps", LIST, True),
        ("/api/v1/namespaces/team/configmaps", LIST, True),
        ("/api/v1/configmaps", "application/json", False),
        ("/api/v1/configmaps", f"{LIST},application/json", False),
        ("/api/v1/configmaps", "*/*", False),
        ("/api/v1/namespaces/team/configmaps/settings", LIST, False),
        ("/api/v1/secrets", LIST, False),
        ("/apis/rbac.authorization.k8s.io/v1/roles", LIST, False),  # not named
    ],
)
def test_the_door_lets_nothing_but_the_metadata_of_what_was_named_pass(path: str, accept: str, passes: bool, tmp_path: Path) -> None:
    with serve(FOUR) as server:
        credentials = Credentials(str(server.kubeconfig(tmp_path / "config")))
        credentials.load()

        async def get(noted: tuple[str, ...]) -> None:
            door = Door(credentials, ServerTime(Clock()), Traffic(), noted=metadata_kinds(noted))
            try:
                await door.json(path, accept=accept, purpose="test")
            finally:
                await door.aclose()

        if passes:
            anyio.run(get, ("configmaps",))
            assert len(server.requests) == 1
        else:
            with pytest.raises(PathRefused):
                anyio.run(get, ("configmaps",))
        with pytest.raises(PathRefused):
            anyio.run(get, ())
        assert len(server.requests) == int(passes)


def test_of_a_whole_object_that_comes_all_the_same_four_fields_are_kept() -> None:
    whole = made("ConfigMap", "settings")
    whole["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    noted = decode(whole)
    assert CANARY not in repr(noted)
    assert (noted.namespace, noted.name, noted.metadata.uid, noted.metadata.resource_version) == ("team", "settings", "u", "7")


def test_the_kinds_are_those_that_history_knows() -> None:
    assert {kind.kind for kinds in METADATA.values() for kind in kinds} == set(METADATA_KINDS)


def test_permissions_for_it_are_made_only_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rbac"]) == 0
    plain = capsys.readouterr().out
    assert main(["rbac", "--also-watch", "networkpolicies,configmaps"]) == 0
    more = capsys.readouterr().out
    assert "# Of configmaps, networkpolicies nothing but the metadata is asked for" in more

    def granted(text: str) -> set[tuple[str, str]]:
        roles = [manifest for manifest in yaml.safe_load_all(text) if manifest["kind"] == "ClusterRole"]
        rules = [rule for role in roles for rule in role["rules"]]
        assert all(rule["verbs"] in (["get", "list", "watch"], ["get"]) for rule in rules)
        return {(group, plural) for rule in rules for group in rule.get("apiGroups", ()) for plural in rule.get("resources", ())}

    assert granted(more) - granted(plain) == {("", "configmaps"), ("networking.k8s.io", "networkpolicies")}
    assert main(["rbac", "--namespaces", "a", "--also-watch", "rbac"]) == 0
    found = {(manifest["kind"], plural) for manifest in yaml.safe_load_all(capsys.readouterr().out)
             for rule in manifest.get("rules", ()) for plural in rule.get("resources", ()) if "role" in plural}  # fmt: skip
    assert found == {("Role", "roles"), ("Role", "rolebindings"), ("ClusterRole", "clusterroles"), ("ClusterRole", "clusterrolebindings")}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["serve", "--demo", "--also-watch", "secrets"], "'secrets' isn't one of configmaps, rbac, networkpolicies, as in --also-watch "),
        (["rbac", "--also-watch", "secrets"], "'secrets' isn't one of configmaps, rbac, networkpolicies"),
        (["serve", "--demo", "--also-watch", "rbac"], "--also-watch is for a live cluster"),
        (["serve", "--also-watch", "rbac", "--journal", "none"], "nobody would learn of it"),
        (["serve", "--also-watch", "rbac", "--anonymize"], "nobody would learn of it"),
    ],
)
def test_what_cannot_be_meant_is_one_line(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
