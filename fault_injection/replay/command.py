"""`python -m fault_injection replay SNAPSHOT`: serve a snapshot as an API server until Ctrl-C.

Prints the URL and the path of a kubeconfig. A fault is written as NAME[=VALUE][@RESOURCE][#TIMES], as in `status=429:2@pods#3`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from fault_injection.refusal import refuse
from fault_injection.stopping import told_to_end, until_told
from k8s_topo_mcp.sources.snapshot import SnapshotError

from .churn import Churn
from .faults import FAULTS, Faults, UnknownFault
from .logs import BadLogs
from .server import serve


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        faults = Faults(*options.fault)
    except UnknownFault as error:
        return refuse("replay", str(error))
    token = options.token_file.read_text().strip() if options.token_file else options.token
    try:
        with (
            tempfile.TemporaryDirectory(prefix="k8s-topo-mcp-replay-") as folder,
            serve(
                options.snapshot,
                faults,
                token,
                options.port,
                namespaces=options.namespaces.split(",") if options.namespaces else None,
                tls=options.tls,
                history=options.history,
                bookmark_every=options.bookmarks,
            ) as server,
        ):
            faults.resolve(resource.name for resource in server.store.resources())
            stopping = told_to_end()  # who has read the address may end it
            sys.stdout.write(f"{server.url}\n{server.kubeconfig(options.kubeconfig or Path(folder) / 'kubeconfig')}\n")
            sys.stdout.flush()
            with Churn(server, options.churn, options.seed) if options.churn else contextlib.nullcontext() as churn:
                until_told(stopping)
                if churn is not None:
                    sys.stderr.write(f"replay: {churn.made} changes made\n")
            if server.writes:
                sys.stderr.write(f"replay: {len(server.writes)} writes refused\n")
    except (SnapshotError, UnknownFault, BadLogs) as error:
        return refuse("replay", str(error))
    except OSError as error:
        return refuse("replay", f"port {options.port}: {error.strerror}; --port 0 takes a free one")
    return 0


def _parser() -> argparse.ArgumentParser:
    width = max(len(fault.name) for fault in FAULTS)
    table = "\n".join(f"  {fault.name:{width}}  {fault.does}" for fault in FAULTS)
    parser = argparse.ArgumentParser(
        prog="python -m fault_injection replay",
        description=__doc__,
        epilog=f"faults:\n{table}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("snapshot", nargs="+", help="files and folders, as for the product")
    parser.add_argument("--port", type=int, default=0, help="by default a free one")
    parser.add_argument("--token", help="answer 401 without this bearer token")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="the same, from a file")
    parser.add_argument("--namespaces", metavar="A,B", help="let namespaced resources be read in these alone")
    parser.add_argument("--tls", action="store_true", help="serve HTTPS; the kubeconfig has the certificate")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="where to write it; by default into a temporary folder")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME[=VALUE][@RESOURCE][#TIMES]", help="may be repeated")
    parser.add_argument("--churn", type=float, default=0, metavar="N", help="N plausible object changes a second")
    parser.add_argument("--seed", type=int, default=1, help="of the churn")
    parser.add_argument("--history", type=int, default=10_000, metavar="N", help="changes of a resource that are remembered")
    parser.add_argument("--bookmarks", type=float, default=60.0, metavar="SECONDS", help="between the bookmarks of a watch")
    return parser
