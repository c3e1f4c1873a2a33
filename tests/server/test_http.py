"""Streamable HTTP, by a real server process and the official client: who gets in, what is asked, how it ends."""

from __future__ import annotations

import json
import re
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from starlette.applications import Starlette

from k8s_topo_mcp.server.http import Address, Gate, checked, checked_beside, scraped
from k8s_topo_mcp.server.metrics import Metrics
from k8s_topo_mcp.server.tokens import Tokens
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.sources.source import Once, SourceError
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from tests.server.running import COMMAND, GANG, PATIENCE, Running, get, running

pytestmark = pytest.mark.anyio
ERAS = ("auto", "legacy")
TOKEN, OTHER = "a-token-for-the-tests-0123456789", "another-token-0123456789abcdef00"
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def plain() -> Iterator[Running]:
    """A server on loopback, without tokens."""
    with running("--snapshot", str(GANG), "--metrics", "127.0.0.1:0") as server:
        server.wait_ready()
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path, Path]]:
    """A server with tokens and an audit file."""
    folder = tmp_path_factory.mktemp("guarded")
    tokens, audit = folder / "tokens", folder / "audit.jsonl"
    tokens.write_text(f"# who may ask\nalice {TOKEN}\n")
    tokens.chmod(0o600)
    with running("--snapshot", str(GANG), "--token-file", str(tokens), "--audit", str(audit)) as server:
        server.wait_ready()
        yield server, tokens, audit


@asynccontextmanager
async def client(url: str, era: str, token: str | None = None) -> AsyncIterator[Client]:
    if token is None:
        async with Client(f"{url}/mcp", mode=era) as found:
            yield found
        return
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=era) as found,
    ):
        yield found


def post(url: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/mcp", json=CALL, headers={**ACCEPT, **headers}, trust_env=False, timeout=PATIENCE)


def text(said: Any) -> str:
    return "\n".join(part.text for part in said.content if isinstance(part, TextContent))


@pytest.mark.parametrize("era", ERAS)
async def test_both_eras_get_the_answers_that_stdio_gives(plain: Running, era: str) -> None:
    wanted = ask(find("explain_pending"), load([str(GANG)]), {})
    async with client(plain.url, era) as asking:
        assert {tool.name for tool in (await asking.list_tools()).tools} >= {"explain_pending", "topology_graph"}
        said = await asking.call_tool("explain_pending", {})
        assert text(said) == wanted.report
        assert said.structured_content == wanted.structured()
        wrong = await asking.call_tool("explain_pending", {"podd": "x"})
        assert wrong.is_error


def test_it_says_at_the_start_whose_permissions_callers_have(plain: Running) -> None:
    assert "Every caller sees what this server's account sees" in plain.said("serving MCP on ")


@pytest.mark.parametrize("host", ["evil.example.com", "evil.example.com:80", "127.0.0.1.evil.example.com", "127.0.0.1:80@evil.example.com"])
def test_another_host_name_is_refused(plain: Running, host: str) -> None:
    assert post(plain.url, Host=host).status_code == 421
    assert get(f"{plain.url}/metrics", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example.com", "null", "http://127.0.0.1.evil.example.com"])
def test_another_origin_is_refused(plain: Running, origin: str) -> None:
    assert post(plain.url, Origin=origin).status_code == 403


def test_its_own_origin_is_let_in(plain: Running) -> None:
    assert post(plain.url, Origin=plain.url).status_code == 200


def test_a_body_beyond_the_limit_is_refused(plain: Running) -> None:
    answer = httpx.post(
        f"{plain.url}/mcp",
        content=b"x" * (1 << 21),
        headers={**ACCEPT, "Content-Type": "application/json"},
        trust_env=False,
        timeout=PATIENCE,
    )
    assert answer.status_code == 413


def test_probes_answer_whatever_host_they_name(plain: Running) -> None:
    for path in ("/healthz", "/readyz"):
        answer = get(f"{plain.url}{path}", headers={"Host": "10.1.2.3:8080"})
        assert (answer.status_code, answer.text) == (200, "ok\n")


def test_it_is_not_ready_before_the_cluster_was_read(tmp_path: Path) -> None:
    snapshot = tmp_path / "cluster.json"
    with running("--snapshot", str(snapshot)) as server:
        assert get(f"{server.url}/healthz").status_code == 200
        assert get(f"{server.url}/readyz").status_code == 503
        snapshot.write_bytes(GANG.read_bytes())
        server.wait_ready()


# --- tokens -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN}],
)
@pytest.mark.parametrize("path", ["/mcp", "/metrics", "/anything"])
def test_without_the_token_nothing_is_said(guarded: tuple[Running, Path, Path], header: dict[str, str], path: str) -> None:
    answer = get(f"{guarded[0].url}{path}", headers=header)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("era", ERAS)
async def test_with_the_token_both_eras_get_in_and_are_written_down(guarded: tuple[Running, Path, Path], era: str) -> None:
    server, _, audit = guarded
    before = audit.read_text() if audit.exists() else ""
    async with client(server.url, era, TOKEN) as asking:
        await asking.call_tool("explain_pending", {"pod": "default/nobody", "secret": "CANARY-argument"})
        await asking.call_tool("claim_feasibility", {"manifest": "kind: Secret\ndata: {a: CANARY-manifest}"})
        await asking.call_tool("topology_graph", {"scope": "x\x1b[31m\u202e" + "y" * 500})
        await asking.call_tool("no_such_tool", {"a": "b"})
        await asking.call_tool("explain_pending", {})
    text = audit.read_text()[len(before) :]
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["tool"] for line in lines] == [
        "explain_pending",
        "claim_feasibility",
        "topology_graph",
        "(no such tool)",
        "explain_pending",
    ]
    assert [line["status"] for line in lines] == ["refused", "refused", "refused", "refused", "answered"]
    assert {(line["caller"], line["token"]) for line in lines} == {("127.0.0.1", "alice")}
    assert lines[0]["arguments"] == {"pod": "default/nobody", "secret": "(15 characters)"}
    assert lines[1]["arguments"] == {"manifest": "(39 characters)"}
    assert lines[4]["size"] > 500
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}Z", lines[0]["time"])
    assert "CANARY" not in text
    assert TOKEN not in text
    assert "\\u001b" not in text
    assert "\\u202e" not in text
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600


def test_the_token_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"alice {TOKEN}\n")
    tokens = Tokens(str(path))
    assert tokens.name_of(TOKEN) == "alice"
    assert tokens.name_of(TOKEN[:-1]) is None
    assert tokens.name_of("") is None
    (tmp_path / "new").write_text(f"bob {OTHER}\n{TOKEN}x\n")
    (tmp_path / "new").replace(path)
    assert (tokens.name_of(TOKEN), tokens.name_of(OTHER), tokens.name_of(f"{TOKEN}x")) == (None, "bob", "token-2")
    path.unlink()
    assert tokens.name_of(OTHER) is None
    path.write_text(f"bob {OTHER}\n")
    assert tokens.name_of(OTHER) == "bob"


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "has no token"), ("short\n", "fewer than 16"), (f"a b {TOKEN}\n", "a name and a token"), (f"a {TOKEN}\na {OTHER}\n", "twice")],
)
def test_a_token_file_that_cannot_be_meant_is_one_line(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(content)
    with pytest.raises(SourceError, match=said) as caught:
        Tokens(str(path))
    assert TOKEN not in str(caught.value)


def test_a_token_file_that_others_can_read_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    Tokens(str(path))
    assert "mode 0644" in caplog.text
    assert TOKEN not in caplog.text


# --- where it listens -------------------------------------------------------------------------------------------------------------


def test_what_others_can_reach_does_not_start_without_tokens_and_names(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"{TOKEN}\n")
    for address in ("0.0.0.0:0", "[::]:0", "10.1.2.3:0"):
        done = subprocess.run([*COMMAND, "serve", "--http", address, "--snapshot", str(GANG)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--token-file" in done.stderr
        assert done.stderr.count("\n") == 1
        open_to_all = ["--http", "127.0.0.1:0", "--metrics", address, "--snapshot", str(GANG)]
        done = subprocess.run([*COMMAND, "serve", *open_to_all], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: --metrics: ")
        assert done.stderr.count("\n") == 1
    tokens = Tokens(str(tmp_path / "tokens"))
    with pytest.raises(SourceError, match="--allowed-host"):
        checked(Address("0.0.0.0", 0), tokens, ())
    settings = checked(Address("0.0.0.0", 0), tokens, ["topo.example.com"])
    assert settings.allowed_hosts == ["topo.example.com", "topo.example.com:*"]
    with pytest.raises(SourceError, match="bare host name"):
        checked(Address("127.0.0.1", 0), None, ["https://topo.example.com"])


@pytest.mark.parametrize("address", ["8080", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", ""])
def test_an_address_that_cannot_be_one_is_one_line(address: str) -> None:
    with pytest.raises(SourceError, match="HOST:PORT"):
        Address.parse(address, "--http")


def test_a_port_that_is_taken_is_one_line(plain: Running) -> None:
    address = plain.url.removeprefix("http://")
    done = subprocess.run([*COMMAND, "serve", "--http", address, "--snapshot", str(GANG)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "can't be listened on" in done.stderr
    assert done.stderr.count("\n") == 1


# --- numbers ----------------------------------------------------------------------------------------------------------------------


async def test_metrics_say_what_waits_what_is_free_and_what_was_asked(plain: Running) -> None:
    async with client(plain.url, "auto") as asking:
        await asking.call_tool("explain_pending", {})
        await asking.call_tool("explain_pending", {"podd": "x"})
    for url in (plain.url, plain.beside):
        said = get(f"{url}/metrics").text
        assert re.search(r'^k8s_topo_pending_pods\{code="\w+"\} \d', said, re.MULTILINE)
        assert re.search(r'^k8s_topo_devices\{device_class="gpu.nvidia.com",state="free"\} \d', said, re.MULTILINE)
        assert re.search(r'^k8s_topo_largest_free\{device_class="gpu.nvidia.com"\} \d', said, re.MULTILINE)
        assert re.search(r"^k8s_topo_stranded_devices \d", said, re.MULTILINE)
        assert re.search(r'^k8s_topo_calls_total\{status="refused",tool="explain_pending"\} [1-9]', said, re.MULTILINE)
        assert re.search(r'^k8s_topo_call_seconds_count\{tool="explain_pending"\} [1-9]', said, re.MULTILINE)
        assert "trainer" not in said
    assert httpx.post(f"{plain.beside}/mcp", json=CALL, headers=ACCEPT, trust_env=False, timeout=PATIENCE).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "topo.example.com"])
def test_metrics_that_others_can_reach_need_the_tokens(tmp_path: Path, host: str) -> None:
    address = Address(host, 9090)
    with pytest.raises(SourceError, match=r"^--metrics: .* can be reached from elsewhere; give --token-file FILE, or bind 127\.0\.0\.1$"):
        checked_beside(address, None, ())
    file = tmp_path / "tokens"
    file.write_text(f"scraper {TOKEN}\n")
    file.chmod(0o600)
    tokens = Tokens(str(file))
    assert checked_beside(address, tokens, ())[1] is tokens
    assert checked_beside(Address("127.0.0.1", 9090), tokens, ())[1] is None  # who is on this machine needs none


@pytest.mark.parametrize("host", ["evil.example.com", "10.1.2.3:9090", "127.0.0.1.evil.example.com"])
def test_metrics_on_loopback_answer_to_names_of_this_machine(plain: Running, host: str) -> None:
    assert get(f"{plain.beside}/metrics", headers={"Host": host}).status_code == 421
    assert get(f"{plain.beside}/metrics", headers={"Origin": "https://evil.example.com"}).status_code == 403
    port = plain.beside.rpartition(":")[2]
    assert get(f"{plain.beside}/metrics", headers={"Host": f"localhost:{port}"}).status_code == 200


async def test_metrics_behind_the_tokens_say_nothing_without_one(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"scraper {TOKEN}\n")
    file.chmod(0o600)
    metrics = Metrics(Once(lambda: load([str(GANG)])), [])
    asked = checked_beside(Address("0.0.0.0", 9090), Tokens(str(file)), ())
    transport = httpx.ASGITransport(Gate(Starlette(routes=[scraped(metrics)]), *asked))
    async with httpx.AsyncClient(transport=transport, base_url="http://10.1.2.3:9090") as scraper:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            refused = await scraper.get("/metrics", headers=header)
            assert (refused.status_code, refused.text) == (401, "a bearer token is needed\n")
        answer = await scraper.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert "k8s_topo_pending_pods" in answer.text


# --- the end ----------------------------------------------------------------------------------------------------------------------


def test_who_has_read_where_it_serves_may_end_it() -> None:
    """A signal that comes before the loop runs; a container's first process wouldn't even get it."""
    server = Running("--snapshot", str(GANG))
    assert server.stop() == 0
    assert len(server.lines) == 1


def test_sigterm_ends_it_in_order() -> None:
    server = Running("--snapshot", str(GANG))
    assert post(server.url).status_code == 200
    assert server.stop() == 0
    assert not [line for line in server.lines if "Traceback" in line or "Error" in line], server.lines
    with pytest.raises(httpx.TransportError):
        post(server.url)
