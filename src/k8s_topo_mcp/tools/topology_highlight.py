"""The claim or pod that a picture is asked to highlight: which devices it holds or could hold, and what stands in its way.

Held devices are read from allocations. What it could hold is what the scheduler's model would give it node by node: the same judgement as
claim_feasibility's, so that the two never say different things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from k8s_topo_mcp.diagnosis.feasibility import Standing, claim_standing, pod_standing, with_others, word_of
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.objects.resource_slice import DeviceId
from k8s_topo_mcp.rendering import Block, clean, plural
from k8s_topo_mcp.tools import blocker_parts
from k8s_topo_mcp.tools.blocker_rows import blocker_facts
from k8s_topo_mcp.tools.claim_feasibility import asks
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.models import Blocker, Part
from k8s_topo_mcp.topology.location import located
from k8s_topo_mcp.topology.nodes import NodeHardware
from k8s_topo_mcp.topology.scopes import Selection
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of

FEW = 4
"""Nodes and devices named."""
FACTS = 2
"""Facts behind a blocker that are repeated here; explain_pending has them all."""


class On(Part):
    """Devices of one node."""

    node: str
    devices: tuple[str, ...]
    more: int | None = None


class Highlight(Part):
    """`holds` is allocated now; `could_hold` what the scheduler would choose, by node; `blocker` what stands in the way on every node."""

    subject: str
    asks: tuple[str, ...] = ()
    holds: tuple[On, ...] = ()
    verdict: str | None = None
    could_hold: tuple[On, ...] = ()
    fits_on: int | None = None
    of_nodes: int | None = None
    blocker: Blocker | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lit:
    """A highlight, and what it says of single devices and nodes in the picture. `nodes` are those that matter for it."""

    highlight: Highlight
    devices: Mapping[DeviceId, str]
    chosen: Mapping[str, int]
    nodes: frozenset[str]

    def note(self, node: NodeHardware) -> str:
        """What is to be said of a node."""
        count = self.chosen.get(node.name)
        if count is None:
            return ""
        return f"{self.highlight.subject} fits here" + (f", would get {count}" if count else "")


def light(view: ClusterView, selection: Selection) -> Lit:
    """What is to be said of the pod or claim that was selected."""
    if selection.pod is not None:
        pod = selection.pod
        claims = tuple(entry.claim for entry in claims_of(view, pod) if entry.claim is not None)
        return _lit(view, f"pod {pod.full_name}", claims, pod)
    if selection.claim is not None:
        return _lit(view, f"claim {selection.claim.full_name}", (selection.claim,), None)
    raise ToolInputError(
        f"highlight takes a pod or a claim, not {clean(selection.path, 120)}. "
        'Right: topology_graph(highlight="pod/default/trainer-0") or highlight="claim/default/trainer".'
    )


def _lit(view: ClusterView, subject: str, claims: Sequence[ResourceClaim], pod: Pod | None) -> Lit:
    subject = clean(subject, 160)
    held = {result.id for claim in claims if claim.allocation is not None for result in claim.allocation.results}
    places = located(view, held)
    open_claims = [claim for claim in claims if claim.allocation is None]
    standing, note = _standing(view, open_claims, pod)
    names = {
        node.name: [part.name for device in devices for part in (device, *device.parts) if part.id in held] for node, devices in places
    }
    holds = tuple(_on(name, devices) for name, devices in list(names.items())[:FEW])
    fitting = [entry for entry in standing.nodes if entry.fits] if standing is not None else []
    highlight = Highlight(
        subject=subject,
        asks=tuple(clean(text, 120) for text in asks(open_claims)),
        holds=holds,
        verdict=_verdict(standing, pod, places),
        could_hold=tuple(_on(entry.node, entry.devices) for entry in fitting[:FEW]),
        fits_on=len(fitting) if standing is not None else None,
        of_nodes=view.count(Node) if standing is not None else None,
        blocker=_short(blocker_parts.blocker(standing.cause)) if standing is not None and standing.cause is not None else None,
        note=clean(note, 200) or None,
    )
    marks = {device: f"would go to {subject}" for entry in fitting for device in entry.taken}
    marks |= dict.fromkeys(held, f"highlighted: {subject}")
    matter = frozenset([node.name for node, _ in places] + [entry.node for entry in fitting])
    return Lit(highlight, marks, {entry.node: len(entry.taken) for entry in fitting}, matter)


def _standing(view: ClusterView, claims: Sequence[ResourceClaim], pod: Pod | None) -> tuple[Standing | None, str]:
    """How what isn't allocated yet stands; None where nothing is to be asked."""
    if pod is not None:
        if not pod.is_pending:
            return None, ""
        return pod_standing(view, pod, view.all(Node)), "; ".join(with_others(view, pod))
    if not claims:
        return None, ""
    return claim_standing(view, claims, view.all(Node)), "a claim alone: node taints, cpu and memory are left out"


def _verdict(standing: Standing | None, pod: Pod | None, places: Sequence[object]) -> str | None:
    if standing is not None:
        return "fits" if standing.cause is None else word_of(standing.cause)
    return "holds" if places else "ended" if pod is not None and pod.is_terminal else None


def _on(node: str, devices: Sequence[str]) -> On:
    named = tuple(clean(name, 60) for name in devices[: 2 * FEW])
    return On(node=clean(node, 80), devices=named, more=len(devices) - len(named) or None)


def _short(blocker: Blocker) -> Blocker:
    return blocker.model_copy(update={"facts": blocker.facts[:FACTS], "published": blocker.published[: 2 * FEW]})


def highlight_lines(highlight: Highlight) -> list[str]:
    """The highlight in words."""
    block = Block("")
    asked = f" asks {' · '.join(highlight.asks)}" if highlight.asks else ""
    holds = f" holds {'; '.join(_words(entry) for entry in highlight.holds)}" if highlight.holds else ""
    block.row("highlight", f"{highlight.subject}{holds}{asked}" + ("" if holds or asked else " holds and asks no device"))
    blocker = highlight.blocker
    if blocker is not None:
        nowhere = f"fits on none of {plural(highlight.of_nodes or 0, 'node')}"
        verdict = {"unknown": "unknown", "aborted by an error": "the scheduler stops with an error"}.get(highlight.verdict or "", nowhere)
        wanted = f"{blocker.expected} wanted, {blocker.actual}" if blocker.expected else f"{blocker.actual}"
        block.row("in the way", f"{verdict}: {wanted}", f"{blocker.code}  {blocker.field or ''}".rstrip())
        blocker_facts(block, blocker)
    elif highlight.fits_on is not None:
        more = f" and {highlight.fits_on - len(highlight.could_hold)} more" if highlight.fits_on > len(highlight.could_hold) else ""
        where = "; ".join(_words(entry) for entry in highlight.could_hold)
        block.row("could hold", f"fits on {highlight.fits_on} of {plural(highlight.of_nodes or 0, 'node')}: {where}{more}")
    if highlight.note:
        block.row("note", highlight.note)
    return str(block).split("\n")[1:]


def _words(entry: On) -> str:
    devices = ", ".join(entry.devices) + (f" and {entry.more} more" if entry.more else "")
    return f"{devices or 'no devices needed'} on {entry.node}"
