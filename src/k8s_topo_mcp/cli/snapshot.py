"""`snapshot`: what a bug report needs of a cluster and nothing else, in one file; with --anonymize under aliases."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing, nullcontext
from pathlib import Path

from k8s_topo_mcp.cli import exits, source

HELP = "Write a snapshot: the fields that are read, version and gates; no environment, no secrets. --anonymize replaces names."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("out", metavar="OUT", help="file ending in .json or .json.gz, a folder, or - for stdout")
    parser.add_argument("--anonymize", action="store_true", help="put aliases in place of names; the same one for the same name")
    parser.add_argument(
        "--alias-table",
        metavar="FILE",
        help="keep the aliases in FILE (mode 0600), for next time and to translate back",
    )
    parser.add_argument("--force", action="store_true", help="replace OUT")
    source.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, write, and say what was written."""
    from k8s_topo_mcp.sources.snapshot.alias_table import AliasTable
    from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser, anonymised
    from k8s_topo_mcp.sources.snapshot.errors import NoTable, NotWritten
    from k8s_topo_mcp.sources.snapshot.write import entries, write
    from k8s_topo_mcp.sources.source import SourceError

    if options.alias_table and not options.anonymize:
        return exits.refuse("--alias-table keeps the aliases of --anonymize; give both.")
    if options.before:
        return exits.refuse("--before is for answers, and a snapshot holds none; leave it out, and give it with the question.")
    try:
        view, facts, items = source.raw(options)
        if options.anonymize:
            with closing(AliasTable(Path(options.alias_table))) if options.alias_table else nullcontext() as table:
                found = list(anonymised(facts, items, Anonymiser(table.aliases if table is not None else None)))
        else:
            found = entries(facts, items)
        size = write(options.out, found, stdout=sys.stdout.buffer, force=options.force)
    except (source.NoSource, NotWritten, NoTable) as error:
        return exits.refuse(str(error))
    except SourceError as error:
        return exits.refuse(str(error), source.status_of(error))
    kinds = len({item.get("kind") for item in items})
    inside = "under aliases; read it before you publish it" if options.anonymize else "with the cluster's names; --anonymize replaces them"
    print(f"{options.out}: {len(items):,} objects of {kinds} kinds, {size:,} bytes, {inside}", file=sys.stderr)
    return exits.ANSWERED_IN_PART if view.unreadable else exits.ANSWERED
