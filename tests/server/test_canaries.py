"""A live cluster full of secrets behind a server on HTTP: none of them, and neither token, in anything that leaves the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.types import TextContent

from fault_injection.replay import serve
from tests.server.running import GANG, get, running
from tests.server.test_http import TOKEN, client
from tests.sources.canaries import CANARIES, planted, secrets
from tests.sources.canaries import TOKEN as CLUSTER_TOKEN

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("more", [[], ["--anonymize"]], ids=["plain", "anonymous"])
async def test_no_secret_leaves_the_process(more: list[str], tmp_path: Path) -> None:
    found = json.loads(GANG.read_text(encoding="utf-8"))
    dump, tokens, audit = tmp_path / "dump.json", tmp_path / "tokens", tmp_path / "audit"
    dump.write_text(json.dumps({**found, "items": [*map(planted, found["items"]), *secrets()]}))
    tokens.write_text(f"alice {TOKEN}\n")
    tokens.chmod(0o600)
    out: list[str] = []
    with serve(str(dump), token=CLUSTER_TOKEN) as cluster:
        kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig", CLUSTER_TOKEN)
        options = ["--kubeconfig", str(kubeconfig), "--token-file", str(tokens), "--audit", str(audit), *more]
        with running(*options) as server:
            server.wait_ready()
            async with client(server.url, "auto", TOKEN) as asking:
                for tool in ("explain_pending", "topology_graph"):
                    said = await asking.call_tool(tool, {})
                    assert not said.is_error
                    out += [part.text for part in said.content if isinstance(part, TextContent)] + [json.dumps(said.structured_content)]
                out.append(str(await asking.read_resource("topo://overview")))
                out.append(str(await asking.call_tool("explain_pending", {"pod": "nobody/none"})))
            metrics = get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
            assert metrics.status_code == 200
            out.append(metrics.text)
            # The cluster forgets the token: what is said of that must not quote it.
            cluster.access.rotate("another-token")
            out.append(get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text)
        assert not cluster.writes
    out += [audit.read_text(), *server.lines]
    text = "\n".join(out)
    assert len(text) > 3000
    assert not [canary for canary in (*CANARIES, TOKEN, CLUSTER_TOKEN) if canary in text]
    if more:
        assert "llama" not in text
