"""claim_feasibility: would this claim, pod or workload fit, where, with which devices, and how many copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from k8s_topo_mcp.diagnosis.feasibility import (
    MAX_COPIES,
    Feasibility,
    NodeAnswer,
    claim_feasibility,
    pod_feasibility,
    released,
)
from k8s_topo_mcp.diagnosis.fields import pointer
from k8s_topo_mcp.diagnosis.manifest import Document
from k8s_topo_mcp.diagnosis.proposals import Proposal, propose, read
from k8s_topo_mcp.diagnosis.yaml_items import ManifestError
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.rendering import Block, clean, fold, plural
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import blocker_parts, holder_parts, paging, quota_rows, remedy_parts, unread
from k8s_topo_mcp.tools.blocker_rows import blocker_facts, remedy_rows
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.finding_pods import find_pod
from k8s_topo_mcp.tools.models import Answer, Arguments, Basis, Blocker, Holder, NotHelping, Part, Remedy, Subject
from k8s_topo_mcp.tools.names import named
from k8s_topo_mcp.tools.quota_rows import QuotaRow
from k8s_topo_mcp.tools.tool import Tool
from k8s_topo_mcp.view import ClusterView, Replace
from k8s_topo_mcp.view.indices import claims_of, nearest_names

FEW, MANY = 4, 24
"""Nodes shown: short, full."""
UNNAMED = "(no name)"
"""What an object of a manifest is called that says no name."""


class Input(Arguments):
    """What to test: a manifest, or an existing pod or claim."""

    manifest: str | None = Field(default=None, description="YAML or JSON; need not exist in the cluster")
    pod: str | None = Field(default=None, description='"namespace/name" or "name"')
    claim: str | None = Field(default=None, description='"namespace/name" or "name"')
    namespace: str = "default"
    nodes: tuple[str, ...] | None = Field(default=None, description="only these nodes")
    ignore_holders: bool = False
    detail: Literal["short", "full"] = "short"
    cursor: str | None = None

    @model_validator(mode="after")
    def _one_subject(self) -> Input:
        if sum(value is not None for value in (self.manifest, self.pod, self.claim)) != 1:
            raise ValueError("give exactly one of manifest, pod and claim")
        return self


class NodeRow(Part):
    """One node: the devices that the scheduler would choose, or why none."""

    node: str
    fits: bool
    devices: tuple[str, ...] = ()
    why: str | None = None


class Output(Answer):
    """`quota` doesn't let pods of a manifest be made; the verdict is as if it did. `copies` can run side by side now,
    `copies_if_released` with every other holder gone."""

    verdict: str
    subject: Subject
    inline: bool | None = None
    asks: tuple[str, ...] = ()
    quota: tuple[QuotaRow, ...] = ()
    fits_on: int | None = None
    of_nodes: int | None = None
    nodes: tuple[NodeRow, ...] = ()
    copies: int | None = None
    copies_if_released: int | None = None
    wanted_copies: int | None = None
    blocker: Blocker | None = None
    remedies: tuple[Remedy, ...] = ()
    not_helping: tuple[NotHelping, ...] = ()
    holders: tuple[Holder, ...] = ()
    assumptions: tuple[str, ...] = ()
    patch: str | None = None
    cursor: str | None = None
    basis: Basis


def answer(view: ClusterView, question: Input) -> Output:
    """Read what is asked, judge it on every node (or on those named)."""
    nodes = _nodes(view, question)
    if question.manifest is not None:
        try:
            documents = read(view, question.manifest, question.namespace)
            proposal = propose(view, documents)
        except ManifestError as error:
            raise ToolInputError(clean_lines(str(error))) from None
        return _proposal(view, question, nodes, proposal, documents)
    if question.pod is not None:
        pod = find_pod(view, question.pod, question.namespace if "namespace" in question.model_fields_set else None, "claim_feasibility")
        return _pod(view, question, nodes, pod)
    return _claim(view, question, nodes, _find_claim(view, question))


def clean_lines(text: str) -> str:
    """A message whose further lines are a snippet with a caret, every line cleaned."""
    first, *rest = text.split("\n")
    return "\n".join([clean(first, 400), *(line[:200] for line in rest[:2])])


def _nodes(view: ClusterView, question: Input) -> tuple[Node, ...]:
    if question.nodes is None:
        return view.all(Node)
    found: list[Node] = []
    for name in question.nodes:
        node = view.get(Node, name.removeprefix("node/"))
        if node is None:
            near = fold([clean(other, 80) for other in nearest_names(view, Node, name)])
            what = f'node "{clean(name, 80)}"'
            text = f"{what} not found.{f' Nearest: {near}.' if near else ''} {view.count(Node):,} nodes read."
            raise unread.missing(view, Node.KIND, what, "", text)
        found.append(node)
    return tuple(found)


def _find_claim(view: ClusterView, question: Input) -> ResourceClaim:
    text = (question.claim or "").removeprefix("claim/").removeprefix("resourceclaim/")
    space, slash, name = text.rpartition("/")
    namespace = space if slash else question.namespace
    found = view.get(ResourceClaim, name, namespace)
    if found is None:
        near = fold([clean(other, 120) for other in nearest_names(view, ResourceClaim, text)])
        what = f'claim "{clean(f"{namespace}/{name}", 120)}"'
        said = f"{what} not found.{f' Nearest: {near}.' if near else ''} {view.count(ResourceClaim):,} claims read."
        raise unread.missing(view, ResourceClaim.KIND, what, namespace, said)
    return found


def _claim(view: ClusterView, question: Input, nodes: Sequence[Node], claim: ResourceClaim) -> Output:
    # A claim that is allocated is asked about as if it had to be allocated again: what it holds itself doesn't stand in its way.
    own = _without_allocation(view, (claim,)) if claim.allocation is not None else view
    judged = released(own) if question.ignore_holders else own
    result = claim_feasibility(judged, (own.current(claim) or claim,), nodes)
    output = _output(view, question, result, inline=False)
    if claim.allocation is not None:
        where = fold([clean(str(entry.device), 80) for entry in claim.allocation.results])
        output = output.model_copy(
            update={"assumptions": (*output.assumptions, f"it is allocated now ({where}); judged as if it had to be allocated anew")}
        )
    return output


def _pod(view: ClusterView, question: Input, nodes: Sequence[Node], pod: Pod) -> Output:
    own = view
    assumptions: tuple[str, ...] = ()
    if pod.node_name:
        held = tuple(entry.claim for entry in claims_of(view, pod) if entry.claim is not None and entry.claim.allocation is not None)
        own = _without_allocation(view, held)
        moved = replace(pod, node_name="", phase="Pending")
        own = own.with_edits(Replace(moved))
        assumptions = (f"it runs on {clean(pod.node_name, 80)} now; judged as if it had to be scheduled anew",)
        pod = moved
    judged = released(own) if question.ignore_holders else own
    result = pod_feasibility(judged, pod, nodes, pod.ref)
    return _output(view, question, result, inline=False, extra=assumptions)


def _without_allocation(view: ClusterView, claims: Sequence[ResourceClaim]) -> ClusterView:
    return view.with_edits(*(Replace(replace(claim, allocation=None, reserved_for=())) for claim in claims))


def _proposal(view: ClusterView, question: Input, nodes: Sequence[Node], proposal: Proposal, documents: Sequence[Document]) -> Output:
    judged = released(proposal.view) if question.ignore_holders else proposal.view
    if proposal.pod is not None:
        result = pod_feasibility(judged, proposal.pod, nodes, proposal.subject)
    else:
        result = claim_feasibility(judged, proposal.claims, nodes)
    output = _output(view, question, replace(result, subject=proposal.subject), inline=True, extra=proposal.notes)
    output = output.model_copy(update={"wanted_copies": proposal.replicas if proposal.replicas and proposal.replicas > 1 else None})
    made = () if proposal.pod is None else (proposal.pod,)
    subject = proposal.subject
    own = (subject.kind, subject.namespace, subject.name)
    unnamed = any((ref.kind, ref.namespace, ref.name) == own for ref in (entry.object.ref for entry in documents if not entry.named))
    shown = Subject(kind=output.subject.kind, name=UNNAMED) if unnamed else output.subject
    quota = quota_rows.quota_rows(proposal.view, made, max(1, proposal.replicas or 1))
    return output.model_copy(update={"patch": _patch(output, documents, proposal.claims), "subject": shown, "quota": quota})


def _patch(output: Output, documents: Sequence[Document], claims: Sequence[ResourceClaim]) -> str | None:
    """Where in the manifest the first remedy applies, as a JSON pointer; None where that changes another object."""
    if not output.remedies or output.remedies[0].objects:
        return None
    about = output.remedies[0].object or (output.blocker.object if output.blocker is not None else None)
    if about not in {named(claim.ref) for claim in claims}:
        return None
    prefix = ""
    if documents and documents[0].item.get("kind") == "ResourceClaimTemplate":
        prefix = "/spec"
    elif not documents or documents[0].item.get("kind") != "ResourceClaim":
        return None
    field = output.remedies[0].field or (output.blocker.field if output.blocker is not None else None)
    if field is None:
        return None
    return prefix + pointer(field)


def _output(view: ClusterView, question: Input, result: Feasibility, inline: bool, extra: Sequence[str] = ()) -> Output:
    size = MANY if question.detail == "full" else FEW
    fitting = [entry for entry in result.nodes if entry.fits]
    ordered = [*fitting, *(entry for entry in result.nodes if not entry.fits)]
    shown, more = paging.page(view, TOOL.name, question, ordered, size)
    if not fitting and question.detail == "short" and question.nodes is None:
        shown, more = (), None  # why it fits nowhere is the blocker; node by node it is told in full
    limit = 8 if question.detail == "full" else 3
    assumptions = [*result.assumptions, *extra]
    blocker = None if result.cause is None else blocker_parts.blocker(result.cause)
    if result.pod is None:
        assumptions.append(
            "a claim alone: cordoned nodes are closed, node taints, cpu and memory left out; give a pod to have them checked"
        )
    if question.ignore_holders:
        assumptions.append("every other holder is taken as gone")
    return Output(
        verdict=result.verdict,
        subject=Subject(
            kind=result.subject.kind,
            name=clean(result.subject.name, 120),
            namespace=clean(result.subject.namespace, 120) or None,
            uid=None,
        ),
        inline=inline or None,
        asks=tuple(clean(text, 120) for text in asks(result.claims)),
        fits_on=len(fitting),
        of_nodes=len(result.nodes),
        nodes=tuple(_row(entry) for entry in shown),
        copies=result.copies,
        copies_if_released=result.copies_if_released,
        blocker=blocker,
        remedies=remedy_parts.remedies(result.remedies, limit, blocker),
        not_helping=tuple(remedy_parts.not_helping(trial) for trial in result.not_helping[: 2 * limit]),
        holders=tuple(holder_parts.part(holder, view.now) for holder in result.holders[:limit]),
        assumptions=tuple(clean(text, 200) for text in assumptions),
        cursor=more,
        basis=bases.basis(view),
    )


def asks(claims: Sequence[ResourceClaim]) -> tuple[str, ...]:
    """Each request in one phrase."""
    found: list[str] = []
    for claim in claims[:4]:
        for request in claim.spec.requests[:4]:
            options = [
                f"{'all' if entry.mode == 'All' else entry.count} × class {entry.class_name}"
                + (" (admin access)" if entry.admin_access else "")
                for entry in request.alternatives
            ]
            found.append(f"{request.name}: {' or else '.join(options) or 'a kind of request that is not known'}")
        for constraint in claim.spec.constraints[:4]:
            kind = "matchAttribute" if constraint.match_attribute is not None else "distinctAttribute"
            found.append(f"{kind} {constraint.match_attribute or constraint.distinct_attribute}")
    return tuple(found)


def _row(entry: NodeAnswer) -> NodeRow:
    devices = tuple(clean(name, 60) for name in entry.devices[:8])
    more = len(entry.devices) - len(devices)
    return NodeRow(
        node=clean(entry.node, 80),
        fits=entry.fits,
        devices=(*devices, f"and {more} more") if more > 0 else devices,
        why=clean(entry.why, 160) or None,
    )


# --- text -----------------------------------------------------------------------------------------------------------------------


def text(output: Output) -> str:
    """The report."""
    block = Block(headline(output))
    subject = output.subject
    where = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
    if output.inline:
        block.row("asked", f"inline {subject.kind} {where}, not created · {' · '.join(output.asks) or 'no devices'}")
    else:
        block.row("asked", f"{subject.kind} {where} · {' · '.join(output.asks) or 'no devices'}")
    block.row("quota", *quota_rows.lines(output.quota))
    blocker = output.blocker
    if blocker is not None:
        lines = [
            " ".join(
                part
                for part in (blocker.code, f" {blocker.object}" if blocker.object and not output.inline else "", blocker.field or "")
                if part
            )
        ]
        if blocker.source:
            lines.append(blocker.source)
        block.row("blocker", *lines)
        blocker_facts(block, blocker)
    rows = [(row.node, ", ".join(row.devices) or "no devices needed") for row in output.nodes if row.fits]
    if rows:
        total = f" (the first {len(rows)} of {output.fits_on})" if (output.fits_on or 0) > len(rows) else ""
        block.section(f"fits on{total}", rows)
    refusing = _refusing(output.nodes)
    if refusing:
        count = (output.of_nodes or 0) - (output.fits_on or 0)
        shown = sum(1 for row in output.nodes if not row.fits)
        block.section(f"not on{f' ({shown} of {count})' if count > shown else ''}", refusing)
    if output.copies is not None and blocker is None:
        block.row("copies", _copies(output))
    elif output.copies_if_released:
        block.row("copies", f"0 now, {_count(output.copies_if_released)} if every other holder were gone")
    if output.holders:
        block.row("held by", *map(holder_parts.words, output.holders))
    remedy_rows(block, output.remedies, output.not_helping)
    if blocker is not None and blocker.code == "CEL_KEY_MISSING" and output.inline:
        block.row("note", "kubectl apply --dry-run=server accepts this: the API server checks CEL syntax and types, not attribute names")
    if output.patch:
        block.row("patch", output.patch)
    block.row("assumes", *output.assumptions)
    if output.cursor:
        block.row("more", f'cursor="{output.cursor}"')
    return str(block.row("basis", bases.line(output.basis)))


def _refusing(rows: Sequence[NodeRow]) -> list[tuple[str, str]]:
    """Nodes that refuse for one reason together, and the reason."""
    nodes: dict[str, list[str]] = {}
    for row in rows:
        if not row.fits and row.why:
            nodes.setdefault(row.why, []).append(row.node)
    return [(", ".join(names), why) for why, names in nodes.items()]


def _count(copies: int) -> str:
    return f"{copies:,} or more" if copies >= MAX_COPIES else f"{copies:,}"


def _copies(output: Output) -> str:
    now = output.copies or 0
    wanted = ""
    if output.wanted_copies:
        wanted = f" of {output.wanted_copies} wanted" + ("" if now >= output.wanted_copies else ": too few")
    ever = output.copies_if_released
    more = (
        f", {_count(ever)} if every other holder were gone"
        if ever is not None and ever != now
        else ", whoever else holds devices"
        if ever == now
        else ""
    )
    return f"{_count(now)} side by side now{wanted}{more}"


def headline(output: Output) -> str:
    """Yes, no, or why it isn't known."""
    blocker = output.blocker
    subject = "the claim" if output.subject.kind in ("ResourceClaim", "ResourceClaimTemplate") else f"the {output.subject.kind.lower()}"
    match output.verdict:
        case "fits":
            few = output.wanted_copies is not None and output.copies is not None and output.copies < output.wanted_copies
            copies = f"; {_count(output.copies)} of {output.wanted_copies} copies fit" if few and output.copies is not None else ""
            all_of_it = ", but not all of it" if few else ""
            once = f", once {' and '.join(quota_rows.conditions(output.quota))}" if output.quota else ""
            return f"Yes{all_of_it}: {subject} fits on {plural(output.fits_on or 0, 'node')} of {output.of_nodes}{copies}{once}."
        case "unknown":
            return f"Unknown: {blocker.actual if blocker is not None else 'not every rule that concerns it is modelled yet'}."
        case "aborted by an error":
            assert blocker is not None
            if blocker.code == "CEL_KEY_MISSING":
                error = f"it reads {blocker.expected} and {blocker.actual}"
                return f"No: {subject} is valid, but the scheduler would stop with an error: {error}."
            return f"No: the scheduler would stop with an error: {blocker_parts.stops(blocker)}."
        case _:
            if blocker is None:
                return f"No: {subject} fits on no node."
            return f"No: {subject} wants {blocker.expected}; {blocker.actual}."


TOOL = Tool(
    name="claim_feasibility",
    title="Would this claim fit",
    description=" ".join(
        """
        Would this claim or pod fit, on which nodes, with which devices, and how many copies? Use it before applying or changing YAML, or
        to compare variants. Give `manifest` (YAML of a ResourceClaim, ResourceClaimTemplate, Pod or workload; need not exist; referenced
        objects are taken from the cluster or the same manifest) or `pod` / `claim` of an existing one. Reports misspelt attributes, units
        and classes that the API server accepts silently. `ignore_holders=true` asks whether it could ever fit here. Nothing is created. For
        nodes not yet there use simulate_scaleup.
        """.split()
    ),
    input=Input,
    output=Output,
    answer=answer,
    text=text,
    example='claim_feasibility(claim="default/trainer")',
)
