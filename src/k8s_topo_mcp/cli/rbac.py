"""`rbac`: the permissions that a server in a cluster needs, as manifests for `kubectl apply -f -`."""

from __future__ import annotations

import argparse

from k8s_topo_mcp.cli import exits

HELP = "Print the RBAC manifests for a server in the cluster: get, list and watch on what it reads, nothing else."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--namespaces", metavar="A,B", help="for a server that runs with the same --namespaces")
    parser.add_argument(
        "--account-namespace", metavar="NAME", default="k8s-topo-mcp", help="where the ServiceAccount is (default: k8s-topo-mcp)"
    )
    parser.add_argument("--also-watch", metavar="KINDS", help="for a server that runs with the same --also-watch")


def run(options: argparse.Namespace) -> int:
    """Print."""
    from k8s_topo_mcp.cli.source import NoSource, also_watched, namespace, namespaces
    from k8s_topo_mcp.sources.live import access

    try:
        names = namespaces(options.namespaces)
        also = also_watched(options.also_watch)
        home = namespace(options.account_namespace, "--account-namespace k8s-topo-mcp")
    except NoSource as error:
        return exits.refuse(str(error))
    head = access.NAMESPACED if names else access.CLUSTER_WIDE
    if also:
        head += "\n" + access.ALSO.format(", ".join(also))
    print(access.text(access.namespaced(names, home, also) if names else access.cluster_wide(home, also), head), end="")
    return exits.ANSWERED
