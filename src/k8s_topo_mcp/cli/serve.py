"""`serve`: the MCP server on stdin and stdout, or over HTTP."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from k8s_topo_mcp.cli import exits, journal, source
from k8s_topo_mcp.cli.ending import end_at_signals

if TYPE_CHECKING:
    from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
    from k8s_topo_mcp.sources.source import Source

HELP = "Serve MCP on stdio, or over HTTP with --http. A snapshot is read by the first call, a live cluster is watched from the start."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    group = parser.add_argument_group("serving")
    group.add_argument("--http", metavar="HOST:PORT", help="Streamable HTTP at /mcp; anything but loopback needs the next two options")
    group.add_argument("--token-file", metavar="FILE", help="bearer tokens, one a line: NAME TOKEN; read again when it changes")
    group.add_argument("--allowed-host", metavar="NAME", action="append", default=[], help="a name by which clients reach the server")
    group.add_argument(
        "--metrics",
        metavar="HOST:PORT",
        help="/metrics on an address of its own; loopback needs no token there",
    )
    group.add_argument("--audit", metavar="FILE", help="a JSON line a call; default: none on stdio, stderr with --http; - is stderr")
    group.add_argument("--anonymize", action="store_true", help="answer, and be asked, with aliases in place of names")
    group.add_argument("--alias-table", metavar="FILE", help="keep the aliases in FILE (mode 0600), for next time and to translate back")
    group.add_argument(
        "--also-watch", metavar="KINDS",
        help="configmaps, rbac, networkpolicies: have the journal note when one was written; by metadata alone, never values; "
        "needs `rbac --also-watch`; default: none",
    )  # fmt: skip
    source.add_arguments(parser)
    journal.add_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves, or the signal comes."""
    if "-" in options.snapshot and not options.http:
        return exits.refuse("serve speaks MCP on stdin, so --snapshot can't be -.")
    for name in ("token_file", "allowed_host", "metrics"):
        if getattr(options, name) and not options.http:
            return exits.refuse(f"--{name.replace('_', '-')} is for --http HOST:PORT; give both.")
    if options.anonymize and options.journal not in (None, journal.NONE):
        return exits.refuse("--journal keeps real names, --anonymize gives none; give one of them.")
    if options.alias_table and not options.anonymize:
        return exits.refuse("--alias-table keeps the aliases of --anonymize; give both.")
    if options.also_watch and (options.anonymize or options.journal == journal.NONE):
        return exits.refuse("--also-watch is for the journal, and without one (--journal none, --anonymize) nobody would learn of it.")
    # Before the SDK does it: a log line is one line, not a framed panel.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    from k8s_topo_mcp.sources.source import SourceError

    try:
        with _anonymiser(options) as anonymiser:
            cluster = source.chosen(options, watch=True, anonymiser=anonymiser, also=source.also_watched(options.also_watch))
            live = source.is_live(options)
            journal.check(options, live)
            if live and options.before:
                raise source.NoSource("--before is for a snapshot, or for a single question; serve on a live cluster keeps a journal.")
            status = _over_http(options, cluster) if options.http else _on_stdio(options, cluster)
    except (source.NoSource, SourceError) as error:
        return exits.refuse(str(error))
    return status


def _on_stdio(options: argparse.Namespace, cluster: Source) -> int:
    from k8s_topo_mcp.server import build
    from k8s_topo_mcp.server.audit import Audit

    if sys.stdin.isatty():
        print("k8s-topo-mcp speaks MCP on stdin and stdout; a client starts it (see README). Ctrl-C ends it.", file=sys.stderr)
    # Nothing is half written: answers are whole lines, the journal commits.
    end_at_signals()
    build(journal.kept(cluster, options), told=Audit(_audited(options)) if options.audit else None).run("stdio")
    return exits.ANSWERED


def _over_http(options: argparse.Namespace, cluster: Source) -> int:
    from k8s_topo_mcp.server import build, http
    from k8s_topo_mcp.server.audit import Audit
    from k8s_topo_mcp.server.calls import Call
    from k8s_topo_mcp.server.metrics import Metrics
    from k8s_topo_mcp.server.tokens import Tokens
    from k8s_topo_mcp.tools.catalogue import TOOLS

    address = http.Address.parse(options.http, "--http")
    beside = http.Address.parse(options.metrics, "--metrics") if options.metrics else None
    tokens = Tokens(options.token_file) if options.token_file else None
    http.checked(address, tokens, options.allowed_host)
    audit = Audit(_audited(options))
    metrics = Metrics(cluster, [tool.name for tool in TOOLS])

    def told(call: Call) -> None:
        audit(call)
        metrics(call)

    cluster = journal.kept(cluster, options)
    server = build(cluster, told=told)
    http.run(server, cluster, metrics, address, tokens=tokens, hosts=options.allowed_host, metrics_at=beside, say=_say)
    audit.close()
    return exits.ANSWERED


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _audited(options: argparse.Namespace) -> str | None:
    return None if options.audit in (None, "-") else options.audit


@contextmanager
def _anonymiser(options: argparse.Namespace) -> Generator[Anonymiser | None]:
    """What gives aliases, if there are to be any; its table is kept as they are made. Raises SnapshotError for a table that can't be."""
    if not options.anonymize:
        yield None
        return
    from k8s_topo_mcp.sources.snapshot.alias_table import AliasTable
    from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser

    if not options.alias_table:
        yield Anonymiser()
        return
    with closing(AliasTable(Path(options.alias_table))) as table:
        yield Anonymiser(table.aliases)
