"""The rows below a blocker, and those of changes that help or don't: the same in every answer that has them."""

from __future__ import annotations

from collections.abc import Sequence

from k8s_topo_mcp.rendering import Block, fold, ranges
from k8s_topo_mcp.tools.models import Blocker, NotHelping, Remedy

LONG = 60
"""Characters of node names above which they are folded."""


def blocker_facts(block: Block, blocker: Blocker) -> None:
    """The lines under a blocker: funnel, largest group, nearest miss, what is published."""
    if blocker.nodes:
        block.row("nodes", f"{blocker.nodes} pass every other filter", inner=True)
    if blocker.stages:
        block.row(
            "devices",
            " → ".join(f"{stage.name} {stage.left}" if number else f"{stage.left}" for number, stage in enumerate(blocker.stages)),
            inner=True,
        )
    if blocker.largest is not None:
        group = blocker.largest
        free = (
            f"{group.free} free with one {group.attribute} on a node"
            if group.free != group.all
            else f"{group.all} with one {group.attribute} on any node"
        )
        ever = f"; {group.all} if every claim were released" if group.free != group.all else "; the same if every claim were released"
        block.row("largest", free + ever, inner=True)
    if blocker.nearest is not None:
        near = blocker.nearest
        example = f" ({near.example})" if near.example else ""
        short = f": {near.short_by} short" if near.short_by else ""
        block.row("nearest", f"{near.value} on {near.count} devices{example}{short}", inner=True)
    if blocker.published:
        block.row("published", ", ".join(_by_domain(blocker.published)), inner=True)
    for fact in blocker.facts:
        block.row(fact.about, fact.text, inner=True)


def _by_domain(names: Sequence[str]) -> list[str]:
    """Qualified names of one domain together: `resource.kubernetes.io/{numaNode, pcieRoot}`."""
    domains: dict[str, list[str]] = {}
    for name in names:
        domain, _, own = name.rpartition("/")
        domains.setdefault(domain, []).append(own)
    return [
        f"{domain}/{{{', '.join(own)}}}" if domain and len(own) > 1 else ", ".join(f"{domain}/{name}" if domain else name for name in own)
        for domain, own in domains.items()
    ]


def remedy_rows(block: Block, remedies: Sequence[Remedy], vain: Sequence[NotHelping], before: str = "") -> None:
    """What helps and what doesn't: first what was re-run, then what can't be. `before`: what has to be done beside it, in words."""
    rows = [(entry.change, _where_or_how_many(entry)) for entry in remedies if entry.checked]
    block.section(f"{before}fits if (each checked)", rows)
    block.section("would help (not checkable from the API)", [(_advised(entry),) for entry in remedies if not entry.checked])
    for title, checked in (("does not help (each checked)", True), ("does not help", False)):
        words = [f"{entry.change}{f': {entry.why}' if entry.why else ''}" for entry in vain if bool(entry.checked) is checked]
        block.section(title, [(" · ".join(words),)] if words else [])
    how = list(dict.fromkeys(entry.apply for entry in remedies if entry.apply))
    if how:
        block.row("apply", *how[:2])


def _advised(entry: Remedy) -> str:
    return f"{entry.change} {where(entry.nodes, entry.examples)} (fit checked)" if entry.nodes else entry.change


def _where_or_how_many(entry: Remedy) -> str:
    return where(entry.nodes or 0, entry.examples) if entry.of is None else f"{entry.starts} of {entry.of} start"


def where(nodes: int, examples: Sequence[str]) -> str:
    """Nodes by name; consecutive names as a range where that is shorter."""
    compact = ranges(examples)
    more = f" and {nodes - len(examples):,} more" if nodes > len(examples) else ""
    return (", ".join(compact) + more) if len(compact) < len(examples) and len(", ".join(examples)) > LONG else fold(examples, total=nodes)
