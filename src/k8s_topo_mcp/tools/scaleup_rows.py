"""The rows that simulate_scaleup answers with: what would do, what an autoscaler would, the gap of a gang, one wish of the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from k8s_topo_mcp.diagnosis.cause import find_cause
from k8s_topo_mcp.diagnosis.scaling import Option
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.queueing.topology_assignment import Assigned
from k8s_topo_mcp.rendering import age, clean, plural, quoted
from k8s_topo_mcp.scaleup import capacity_buffers, provisioning_requests
from k8s_topo_mcp.scaleup.ages import seconds_since
from k8s_topo_mcp.scaleup.annotated_devices import why_not_known
from k8s_topo_mcp.scaleup.audit import in_groups
from k8s_topo_mcp.scaleup.autoscaler import Autoscaler
from k8s_topo_mcp.scaleup.autoscalers import autoscalers, serving_requests
from k8s_topo_mcp.scaleup.demand import DeviceDemand
from k8s_topo_mcp.scaleup.fit import Fit, fit_of, fits_of
from k8s_topo_mcp.scaleup.gang_gap import gang_gap
from k8s_topo_mcp.scaleup.group_events import last_word
from k8s_topo_mcp.scaleup.karpenter_words import word_on_one
from k8s_topo_mcp.scaleup.node_counts import NodeCounts, at_least
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.obstacle import Obstacle, would_act
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.scaleup.own_groups import open_groups, own_groups, serving
from k8s_topo_mcp.scaleup.passing_over import Passed
from k8s_topo_mcp.scaleup.survey import Surveyed, survey
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.scheduling.gang_scheduling import Gang
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.tools import scaleup_text, wording
from k8s_topo_mcp.tools.names import named
from k8s_topo_mcp.tools.scaleup_models import Counts, Gap, ObstacleRow, Scaler, WishRow, WouldDo
from k8s_topo_mcp.view import ClusterView

PLACES = 3
"""Places that Kueue has assigned that are told."""
OBSTACLES = 3
"""Obstacles that are told of one group, in order."""


def counts(found: NodeCounts) -> Counts:
    """How many nodes it takes."""
    if found.scheduler is not None:
        why = ""
    elif found.nowhere:
        why = f"no number of them: {clean(found.nowhere[0].full_name, 120)} fits on none"
    elif found.least is None:
        why = "no number of them is enough"
    elif found.undecided:
        why = f"not known of {plural(len(found.undecided), 'pod')}: {clean(found.unknown, 160)}"
    else:
        why = clean(found.unknown, 160) or f"not with up to {found.tried}"
    some = None if found.all_ways or found.scheduler is None else found.ways
    skipped = True if found.scheduler is not None and not found.fewest else None
    return Counts(at_least=found.least, sure=found.scheduler, tie=found.tie or None, ways=some, skipped=skipped, why=why or None)


def _group(group: NodeGroup, template: str) -> str:
    return group.kind if group.name == template else f"{group.kind} {group.name}"


def would_do(entry: Option) -> WouldDo:
    """One kind of node that starts all pods."""
    change = entry.change
    return WouldDo(
        name=clean(entry.template.name, 80),
        group=clean(_group(entry.group, entry.template.name), 120) if entry.group is not None else None,
        needed=counts(entry.counts),
        change=clean(change.text, 200) if change is not None else None,
        object=named(change.about) if change is not None else None,
        field=(change.field or None) if change is not None else None,
        apply=clean(change.apply, 240) if change is not None else None,
        left_over=(scaleup_text.left_over(entry.left_over) or None) if entry.left_over is not None else None,
    )


def obstacle(entry: Obstacle | Passed) -> ObstacleRow:
    """One obstacle in words."""
    expected, actual = wording.wanted_and_found(entry.finding)
    return ObstacleRow(
        code=entry.finding.code,
        object=named(entry.finding.object),
        field=clean(entry.finding.field, 120) or None,
        what=clean(f"{expected}; {actual}" if actual else expected, 240),
        certainty=entry.certainty,
        removed_by=clean(entry.removed_by, 160) or None,
    )


def assigned(found: Iterable[Assigned]) -> tuple[str, ...]:
    """The nodes that Kueue has assigned, with how many of the pods; most pods first."""
    places = Counter((entry.workload.full_name, entry.domain, entry.to_come) for entry in found)
    rows = [
        f"by Kueue, {plural(count, 'pod')} of Workload {clean(name, 100)} to {clean(domain, 120)}"
        f"{' once its gate is removed' if to_come else ''}: elsewhere {'it starts' if count == 1 else 'they start'} on no node"
        for (name, domain, to_come), count in places.most_common(PLACES)
    ]
    return (*rows, f"and {plural(len(places) - PLACES, 'place')} more") if len(places) > PLACES else tuple(rows)


def requests(view: ClusterView) -> tuple[ObstacleRow, ...]:
    """ProvisioningRequests and CapacityBuffers that don't have what they ask for, and why."""
    known = autoscalers(view)
    standings = (*provisioning_requests.standings(view, serving_requests(view)), *capacity_buffers.standings(view, known))
    return tuple(obstacle(entry.unmet) for entry in standings if entry.unmet is not None)


def seen(view: ClusterView) -> tuple[Scaler, ...]:
    """The autoscalers that run here, by themselves."""
    return tuple(_scaler(entry) for entry in autoscalers(view))


def scalers(view: ClusterView, groups: Sequence[NodeGroup], pods: Sequence[Pod]) -> tuple[Scaler, ...]:
    """What the autoscaler of each group would do for the pods; without any autoscaler, that there is none."""
    known = autoscalers(view)
    if not known:
        return (Scaler(kind="none seen here: nobody adds nodes by itself"),)
    return tuple(_of_group(view, group, serving(group, known), pods) for group in groups) or tuple(_scaler(entry) for entry in known)


def _of_group(view: ClusterView, group: NodeGroup, found: Autoscaler | None, pods: Sequence[Pod]) -> Scaler:
    met = obstacles(view, found, group, pods, fits_of(view, group, pods))
    own = Scaler(kind="no autoscaler of it is seen") if found is None else _scaler(found)
    return own.model_copy(
        update={
            "group": clean(f"{group.kind} {group.name}", 120),
            "sizes_from": clean(f"{group.said.source} ({group.said.confidence})", 160) if group.said is not None else None,
            "said": _said(view, found, pods) if found is not None else None,
            "would_act": would_act(met),
            "obstacles": tuple(obstacle(entry) for entry in met[:OBSTACLES]),
        }
    )


def _said(view: ClusterView, autoscaler: Autoscaler, pods: Sequence[Pod]) -> str | None:
    """What the autoscaler last said of the pods: in an event, with whom it is about and how old it is; of Karpenter, which repeats itself,
    only what still holds."""
    found = last_word(view, pods) if autoscaler.kind == "Cluster Autoscaler" else word_on_one(view, pods)
    if found is None:
        return None
    pod, event = found
    since = seconds_since(event.last, view.now)
    when = "" if since is None else f", {age(since)} ago"
    return f"{event.reason} of {clean(pod.full_name, 120)}{when}: {quoted(event.message, 200)}"


def _scaler(found: Autoscaler) -> Scaler:
    support = found.claims
    judged = {"yes": "judges claims", "no": "does not judge claims", "unknown": "not known whether it judges claims"}[support.judged]
    return Scaler(
        kind=found.kind + (f" (run by {found.run_by})" if found.run_by else ""),
        version=found.version_text or None,
        state=None if found.state == "alive" else found.state,
        claims=clean(f"{judged} ({support.because})" if support.because else judged, 120),
    )


def gap(view: ClusterView, gang: Gang, group: NodeGroup, template: NodeTemplate) -> Gap:
    """The gang with an autoscaler that judges each pod by itself, and adds nodes of that kind."""
    limit = None if group.max_size is None or group.size is None else max(0, group.max_size - group.size)
    found = gang_gap(view, gang, template, limit)
    if found.unknown:
        return Gap(group=clean(f"{gang.ref.kind} {gang.name}", 120), nodes_of=clean(group.name, 80), unknown=clean(found.unknown, 200))
    return Gap(
        group=clean(f"{gang.ref.kind} {gang.name}", 120),
        nodes_of=clean(group.name, 80),
        added=found.added,
        starts=found.starts,
        still_wait=found.waiting,
        idle=(scaleup_text.left_over(found.idle) or None) if found.added and not found.starts else None,
        atomic=counts(found.atomic),
        avoided=found.avoided,
    )


def wish_row(view: ClusterView, wish: DeviceDemand, pods: tuple[Pod, ...], groups: Sequence[NodeGroup]) -> WishRow:
    """Pods that ask alike: which groups' nodes take them, and who could make these. Each kind of node is judged empty, by itself."""
    if place(view, pods[0]).fitting:
        return WishRow(what=clean(str(wish), 120), pods=len(pods), example=clean(pods[0].full_name, 120), fits_now=True)
    owners = [(group, template) for group in groups for template in group.templates]
    found = survey(view, pods, [template for _, template in owners])
    taking = [(entry.at_least, group, entry) for (group, _), entry in zip(owners, found, strict=True) if entry.pods("fits")]
    taking.sort(key=lambda row: row[0])
    known = autoscalers(view)
    doing = dict.fromkeys(group for _, group, _ in taking)
    refused = [
        (template, why_not_known(view, group, template, pods))
        for (group, template), entry in zip(owners, found, strict=True)
        if not entry.pods("fits") and not entry.pods("unknown")
    ]
    vain = {template for template, why in refused if not why}
    dark = _not_known(found) or next((why for _, why in refused if why), None)
    own = own_groups(view, groups, known)
    unjudged = [group for group, _ in open_groups(own, doing, vain)]
    could = tuple(dict.fromkeys((*doing, *unjudged))) or tuple(groups)
    by_group: dict[NodeGroup, list[Surveyed]] = {}
    for (group, _), entry in zip(owners, found, strict=True):
        by_group.setdefault(group, []).append(entry)

    def fits(group: NodeGroup, some: Sequence[Pod]) -> tuple[Fit, ...]:
        return tuple(fit_of(entry.only(some)) for entry in by_group.get(group, ()))

    judged = in_groups(view, wish, pods, could, known, fits) if known else ()
    ready = [entry.group.name for entry in judged if entry.ready == "yes" and entry.group is not None]
    nearest = None if ready else min(judged, key=lambda entry: (entry.group not in own, len(entry.missing)), default=None)
    return WishRow(
        what=clean(str(wish), 120),
        pods=len(pods),
        example=clean(pods[0].full_name, 120),
        would_do=tuple(
            WouldDo(
                name=clean(entry.template.name, 80),
                group=clean(_group(group, entry.template.name), 120),
                needed=Counts(at_least=max(least, at_least(view, pods, entry.template))),
            )
            for least, group, entry in taking[:2]
        ),
        not_known=None if taking else dark,
        why=None if taking or dark else _why(view, found),
        ready=tuple(clean(name, 80) for name in ready[:4]),
        missing_at=clean(nearest.group.name, 80) if nearest is not None and nearest.group is not None else None,
        missing=tuple(obstacle(entry) for entry in nearest.missing[:2]) if nearest is not None else (),
    )


def _not_known(found: Sequence[Surveyed]) -> str | None:
    """Why it isn't known whether some kind of node takes them."""
    return next((clean(on.why, 240) for entry in found for on in entry.verdicts if on.verdict == "unknown"), None)


def _why(view: ClusterView, found: Sequence[Surveyed]) -> str | None:
    """Why no kind of node takes them, by the first that refuses."""
    refused = next((on for entry in found for on in entry.verdicts if on.verdict == "refused"), None)
    cause = find_cause(view, refused.placement) if refused is not None else None
    return clean("; ".join(wording.wanted_and_found(cause.finding, cause)), 240) if cause is not None else None
