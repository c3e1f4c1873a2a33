"""Who we are to the API server, and that nobody learns it from us."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fault_injection.replay import Server, serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.live import credentials as module
from k8s_topo_mcp.sources.live.credentials import Credentials, CredentialsError
from k8s_topo_mcp.sources.live.errors import foreign
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.source import SourceError
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find

from .conftest import FAR, FOUR, QUICK, Opened, pod, same, until

CANARY = "canary-b7e1f0a94c2d4e7f9a55c1d2e3f4a5b6"

PLUGIN = """\
import json, os, pathlib, sys
folder = pathlib.Path(os.environ["PLUGIN_FOLDER"])
with (folder / "ran").open("a") as file:
    file.write("x")
{does}
token = (folder / "token").read_text()
status = {{"token": token}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


class Plugin:
    """A kubeconfig whose user is an exec plugin."""

    def __init__(self, server: Server, folder: Path, does: str = "") -> None:
        self.folder = folder
        self.path = server.kubeconfig(folder / "config", "unused")
        program = folder / "plugin.py"
        program.write_text(PLUGIN.format(does=does))
        config = json.loads(self.path.read_text())
        config["users"][0]["user"] = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": [str(program)],
                "env": [{"name": "PLUGIN_FOLDER", "value": str(folder)}, {"name": "PLUGIN_SECRET", "value": CANARY}],
                "interactiveMode": "Never",
            }
        }
        self.path.write_text(json.dumps(config))

    def says(self, token: str) -> None:
        (self.folder / "token").write_text(token)

    @property
    def runs(self) -> int:
        ran = self.folder / "ran"
        return len(ran.read_text()) if ran.exists() else 0


def open_(path: Path, **options: Any) -> LiveSource:
    source = LiveSource(str(path), pace=replace(QUICK, first=options.pop("first", QUICK.first)), **options)
    source.start()
    return source


def test_a_plugin_runs_when_the_source_starts_and_again_when_its_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AGAIN", 0.0)
    with serve(FOUR, token="first") as server:
        plugin = Plugin(server, tmp_path)
        plugin.says("first")
        source = LiveSource(str(plugin.path), pace=QUICK)
        assert plugin.runs == 0
        source.start()
        try:
            assert source.view().unreadable == ()
            assert plugin.runs == 1
            plugin.says("second")
            server.rotate("second")
            server.hang_up()
            server.apply(pod("late"))
            until("the view has what the server has", lambda: same(source, server))
            assert plugin.runs >= 2
            assert source.view().unreadable == ()
        finally:
            source.close()


def test_one_refused_token_makes_the_plugin_run_once_for_all_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(FOUR, token="first") as server:
        plugin = Plugin(server, tmp_path)
        plugin.says("first")
        source = open_(plugin.path)
        try:
            source.view()
            until("every kind is watched", lambda: server.watching == len(source._reflectors))
            plugin.says("second")
            server.rotate("second")
            source._credentials._loaded = float("-inf")  # long ago
            server.hang_up()
            until("the plugin ran again", lambda: plugin.runs > 1)
            until("every kind is watched again", lambda: server.watching == len(source._reflectors))
            assert plugin.runs == 2
        finally:
            source.close()


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (f"sys.stderr.write('no session; token={CANARY}\\n'); sys.exit(3)", "exec: process returned 3. no session; token=***"),
        (f"print('{CANARY}'); sys.exit(0)", "exec: failed to decode process output"),
        ("print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1beta1', 'kind': 'ExecCredential', 'status': {}})); sys.exit(0)",
         "exec: plugin api version client.authentication.k8s.io/v1beta1 does not match"),
        ("print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential', 'status': {}})); sys.exit(0)",
         "exec: missing token or clientCertificateData field in plugin output"),
        ("sys.stderr.write('\\x1b[31m' + 'long ' * 10_000); sys.exit(1)", "exec: process returned 1."),
    ],
)  # fmt: skip
def test_a_plugin_that_fails_is_one_line_without_secrets(
    does: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve(FOUR, token="first") as server:
        plugin = Plugin(server, tmp_path, does)
        source = open_(plugin.path)
        try:
            with pytest.raises(SourceError) as error:
                source.view()
        finally:
            source.close()
    text = str(error.value)
    assert text.startswith(f"credentials of replay: {said}")
    assert len(text) < 400
    assert "\x1b" not in text
    out, err = capfd.readouterr()
    assert CANARY not in text + caplog.text + out + err


def test_a_plugin_that_is_not_there_is_named(tmp_path: Path) -> None:
    with serve(FOUR) as server:
        plugin = Plugin(server, tmp_path)
        config = json.loads(plugin.path.read_text())
        config["users"][0]["user"]["exec"]["command"] = "no-such-plugin"
        plugin.path.write_text(json.dumps(config))
        with pytest.raises(CredentialsError, match="no-such-plugin"):
            Credentials(str(plugin.path)).load()


def test_a_plugin_that_hangs_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with serve(FOUR, token="first") as server:
        plugin = Plugin(server, tmp_path, "import time\nwhile not (folder / 'end').exists(): time.sleep(0.05)")
        source = open_(plugin.path, first=1.5)
        try:
            until("it runs", lambda: plugin.runs)
            with pytest.raises(SourceError, match="no answer from what gives the credentials"):
                source.view()
        finally:
            (tmp_path / "end").touch()
            source.close()


def test_a_plugin_gets_nothing_of_our_stdin(tmp_path: Path) -> None:
    """As the server has it while it serves: fd 0 is the null device."""
    import subprocess

    with serve(FOUR, token="first") as server:
        plugin = Plugin(server, tmp_path, "(folder / 'stdin').write_text(sys.stdin.read())")
        plugin.says("first")
        initialize = {
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        }  # fmt: skip
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "explain_pending", "arguments": {}}}
        process = subprocess.Popen(
            [sys.executable, "-m", "k8s_topo_mcp", "serve", "--kubeconfig", str(plugin.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(initialize) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == 1
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n" + json.dumps(call) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert "live replay" in answer["result"]["content"][0]["text"]
        finally:
            process.stdin.close()
            process.wait(FAR)
        assert (tmp_path / "stdin").read_text() == ""
        assert plugin.runs == 1


def test_tls_with_the_kubeconfigs_own_ca(opened: Opened) -> None:
    with serve(FOUR, tls=True, token="first") as server:
        assert opened(server).view().unreadable == ()


@pytest.mark.parametrize("change", ["no-ca", "other-name"])
def test_a_certificate_that_does_not_fit_is_one_line(change: str, tmp_path: Path) -> None:
    with serve(FOUR, tls=True) as server:

        def edit(cluster: dict[str, Any]) -> None:
            if change == "no-ca":
                cluster.pop("certificate-authority-data")
            else:
                cluster["tls-server-name"] = "other.example"

        path = _edited(server, tmp_path, edit)
        source = open_(path)
        try:
            with pytest.raises(SourceError, match="certificate verify failed"):
                source.view()
        finally:
            source.close()


@pytest.mark.parametrize("setting", [{"insecure-skip-tls-verify": True}, {"tls-server-name": "localhost"}])
def test_settings_of_tls_are_followed(setting: dict[str, Any], tmp_path: Path) -> None:
    def change(cluster: dict[str, Any]) -> None:
        cluster.update(setting)
        if "insecure-skip-tls-verify" in setting:
            cluster.pop("certificate-authority-data")

    with serve(FOUR, tls=True) as server:
        source = open_(_edited(server, tmp_path, change))
        try:
            assert source.view().unreadable == ()
        finally:
            source.close()


def _edited(server: Server, folder: Path, change: Any) -> Path:
    path = server.kubeconfig(folder / "config")
    config = json.loads(path.read_text())
    change(config["clusters"][0]["cluster"])
    path.write_text(json.dumps(config))
    return path


def test_impersonation_is_followed_as_kubectl_does(tmp_path: Path) -> None:
    with serve(FOUR) as server:
        path = server.kubeconfig(tmp_path / "config")
        config = json.loads(path.read_text())
        config["users"][0]["user"] = {"as": "viewer", "as-groups": ["a", "b"], "as-uid": "7", "as-user-extra": {"Scope/x": ["y"]}}
        path.write_text(json.dumps(config))
        source = open_(path, watch=False)
        try:
            source.view()
        finally:
            source.close()
        assert {request.headers.get("impersonate-user") for request in server.requests} == {"viewer"}
        assert {request.headers.get("impersonate-uid") for request in server.requests} == {"7"}
        assert {request.headers.get("impersonate-extra-scope%2fx") for request in server.requests} == {"y"}
        assert all("impersonate-group" in request.headers for request in server.requests)


@pytest.mark.parametrize(
    ("environment", "configured", "host", "proxy"),
    [
        ({}, None, "https://api.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, None, "https://api.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1", "https://api.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example"}, None, "https://api.example:6443", None),
        ({"HTTPS_PROXY": "http://p:1"}, None, "https://127.0.0.1:6443", None),
        ({"HTTPS_PROXY": "http://p:1"}, None, "https://localhost:6443", None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "http://own:2", "https://api.example", "http://own:2"),
        ({"HTTP_PROXY": "http://p:1"}, None, "https://api.example", None),
    ],
)
def test_proxies_of_kubeconfig_and_environment(
    environment: dict[str, str], configured: str | None, host: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert module._proxy(host, configured) == proxy


def test_a_proxy_that_is_away_is_named_without_its_password(tmp_path: Path) -> None:
    with serve(FOUR) as server:
        path = _edited(server, tmp_path, lambda cluster: cluster.update({"proxy-url": f"http://user:{CANARY}@127.0.0.1:9"}))
        source = open_(path)
        try:
            with pytest.raises(SourceError) as error:
                source.view()
        finally:
            source.close()
        assert "can't be reached" in str(error.value)
        assert CANARY not in str(error.value)
        assert server.requests == []


def test_the_account_of_a_pod_is_used_and_its_token_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes.config import incluster_config

    with serve(FOUR, tls=True, token="first") as server:
        kubeconfig = json.loads(server.kubeconfig(tmp_path / "config").read_text())
        import base64

        token, certificate = tmp_path / "token", tmp_path / "ca.crt"
        token.write_text("first\n")
        certificate.write_bytes(base64.b64decode(kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]))
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(certificate))
        monkeypatch.setattr(module, "_ACCOUNT", token)
        monkeypatch.setattr(module, "_AGAIN", 0.0)
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
        source = LiveSource(pace=QUICK)
        source.start()
        try:
            view = source.view()
            assert view.source.name == "in-cluster"
            assert view.unreadable == ()
            token.write_text("second\n")
            server.rotate("second")
            server.hang_up()
            server.apply(pod("late"))
            until("the view has what the server has", lambda: same(source, server))
        finally:
            source.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "isn't a kubeconfig"),
        ("x", "isn't a kubeconfig; right would be a mapping"),
        ("a: [", "while parsing"),
        ("[]", "isn't a kubeconfig"),
        ("clusters: []\ncontexts: []\nusers: []\n", "has no current context; right would be --context NAME"),
        ("current-context: a\nclusters: []\ncontexts: [{name: b, context: {cluster: c}}]\nusers: []\n", "has no context 'a'; it has b"),
        ("current-context: b\nclusters: []\ncontexts: [{name: b, context: {cluster: c}}]\nusers: []\n", "Expected object with name c"),
    ],
)  # fmt: skip
def test_a_kubeconfig_that_cannot_be_meant_so_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(CredentialsError) as error:
        Credentials(str(path)).load()
    assert "\n" not in str(error.value)
    assert said in str(error.value)


def test_a_context_can_be_chosen(opened: Opened, tmp_path: Path) -> None:
    with serve(FOUR) as server:
        path = server.kubeconfig(tmp_path / "config")
        config = json.loads(path.read_text())
        config["contexts"].append({"name": "other", "context": {"cluster": "east", "user": "replay"}})
        config["clusters"].append({**config["clusters"][0], "name": "east"})
        path.write_text(json.dumps(config))
        source = open_(path, context="other", watch=False)
        try:
            view = source.view()
            assert (view.source.name, view.source.cluster) == ("other", "east")
        finally:
            source.close()
        with pytest.raises(CredentialsError, match="has no context 'none'; it has replay, other"):
            Credentials(str(path), "none").load()


def test_no_credential_is_in_any_answer_log_or_representation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with serve(FOUR, token=CANARY) as server:
        waiting = pod("waits")
        waiting["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": CANARY}]
        waiting["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": CANARY}
        server.apply(waiting)
        path = server.kubeconfig(tmp_path / "config", CANARY)
        source = open_(path)
        said: list[str] = []
        try:
            view = source.view()
            tool = find("explain_pending")
            said += [json.dumps(ask(tool, view, asked).structured()) for asked in ({}, {"pod": "default/waits"})]
            server.rotate("another")
            server.hang_up()
            until("it is said", lambda: any(entry.trouble or entry.refusal for entry in source._reflectors.values()))
            said += [*source.view().notes, *(entry.reason for entry in source.view().unreadable)]
            said += [repr(source), repr(source._credentials), repr(source.view().source), str(vars(source._reflectors[("", "Pod", "")]))]
        finally:
            source.close()
        server.access.rotate("another")
        bad = open_(path)
        try:
            with pytest.raises(SourceError) as error:
                bad.view()
            said.append(str(error.value))
        finally:
            bad.close()
        assert main(["explain", "--kubeconfig", str(path)]) == 4
    out, err = capfd.readouterr()
    # httpx and its parts log requests at DEBUG; never their headers' values.
    assert CANARY not in "\n".join([*said, caplog.text, out, err])


def test_files_of_the_official_client_are_for_us_alone(tmp_path: Path) -> None:
    with serve(FOUR, tls=True) as server:
        credentials = Credentials(str(server.kubeconfig(tmp_path / "config")))
        credentials.load()
        authority = Path(credentials._configuration.ssl_ca_cert)
        assert stat.S_IMODE(authority.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer ***"),
        ("token=abcdefghijkl; next", "token=***; next"),
        ('{"access_token": "x", "password": "hunter22"}', '{"access_token": "x", "password": "***"}'),
        ("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln is bad", "*** is bad"),
        ("http://user:pw@proxy:1 refused", "http://***@proxy:1 refused"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "***"),
        ("x" * 1000, "x" * 239 + "…"),
        ("No such file or directory: '/home/someone/.kube/cache/very-long-name-of-a-file-1'", None),
    ],
)
def test_foreign_text_is_made_fit_to_be_shown(text: str, shown: str | None) -> None:
    assert foreign(text) == (text if shown is None else shown)
