"""Changes for a plain filter that refuses a node: of what the pod asks of a node, of the node, or of the pod that is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from ..findings import Finding
from ..objects import Container, Node, Pod, Quantity, Toleration
from ..objects.affinity import PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from ..objects.node_selector import NodeSelector
from ..queueing.topology_assignment import assigned
from ..scheduling.node_ports import host_ports
from ..scheduling.taint_toleration import BLOCKING, tolerated
from ..view import ClusterView, Edit, Replace
from ..view.indices import pods_on
from ..view.node_labels import label_values
from .changes import pod_apply
from .counted_devices import healthy_changes, mapping_changes
from .ends import ending, how_to_end
from .fields import below, flow
from .nearest import quantity_or_none
from .node_changes import CONDITION_TAINTS, UNSCHEDULABLE_TAINT, condition_changes, cordon_changes
from .report import Change
from .resource_users import ending_changes
from .volume_changes import volume_changes

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MOST_TOGETHER = 3
"""So many reasons against one node are taken away together."""

TRIED_PORTS = 100


def plain_changes(view: ClusterView, pod: Pod, found: Finding, nodes: Sequence[Node]) -> Iterator[Change]:
    """What would open one of these nodes, all of which a plain filter refuses for the same reason; the finding is one of theirs."""
    if not nodes:
        return
    node = _named(found, nodes)
    match found.code:
        case "NODE_UNSCHEDULABLE":
            yield from cordon_changes(node)
        case "UNTOLERATED_TAINT":
            yield from _taint_changes(view, pod, found.text("taint"), node)
        case "NODE_AFFINITY_MISMATCH" | "NODE_AFFINITY_CONFLICT":
            yield from _selector_changes(view, pod, node)
        case "NODE_NAME_MISMATCH":
            yield _changed(pod, replace(pod, node_name=""), "nodeName removed", "spec.nodeName", found.text("wanted"), "")
        case "INSUFFICIENT_RESOURCE" | "RESOURCE_TOO_LARGE":
            for value in dict.fromkeys((found.text("free"), found.text("allocatable"))):
                yield from resource_changes(pod, found.text("resource"), value)
            yield from ending_changes(view, found, nodes)
            yield from healthy_changes(view, found, nodes)
            yield from mapping_changes(view, found)
        case "HOST_PORT_TAKEN":
            yield from _port_changes(view, pod, found, nodes)
            yield from _without_holder(view, found)
        case "POD_AFFINITY_UNMET":
            yield from _term_changes(pod, "podAffinity", found.text("key"))
        case "POD_ANTI_AFFINITY":
            yield from _term_changes(pod, "podAntiAffinity", found.text("key"))
            yield from _without_holder(view, found)
        case "REFUSED_BY_POD" | "DISK_CONFLICT" | "CLAIM_OF_ONE_POD":
            yield from _without_holder(view, found)
        case "SPREAD_SKEW" | "SPREAD_KEY_MISSING":
            yield from _spread_changes(pod, found)
        case _:
            yield from volume_changes(view, pod, found)


def together(view: ClusterView, pod: Pod, findings: Sequence[Finding], node: Node) -> Iterator[Change]:
    """All reasons against one node taken away at once, each by its first change."""
    edits: dict[tuple[type, tuple[str, str]], Edit] = {}
    made: list[Change] = []
    for found in findings:
        change = next(plain_changes(view, pod, found, (node,)), None)
        if change is None:
            return
        made.append(change)
        view = view.with_edits(*change.edits)
        pod, node = view.current(pod) or pod, view.current(node) or node
        edits.update(((type(edit.object), edit.object.key), edit) for edit in change.edits)
    if 1 < len(made) <= MOST_TOGETHER:
        text = " and ".join(change.text for change in made)
        apply = "; ".join(dict.fromkeys(change.apply for change in made))
        about = made[0].about if len({change.about for change in made}) == 1 else None
        objects = tuple(dict.fromkeys(change.about for change in made if change.about is not None))
        keeps = all(change.keeps_intent for change in made)
        yield Change(text, about, "", "", "", tuple(edits.values()), keeps, apply, objects=objects if about is None else ())


def _named(found: Finding, nodes: Sequence[Node]) -> Node:
    """The node that the finding is about, if it is among them."""
    return next((node for node in nodes if node.ref == found.object), nodes[0])


def _changed(pod: Pod, after: Pod, text: str, field: str, was: str, to: str, keeps: bool = False) -> Change:
    """The pod as `after`, which needs a new pod."""
    return Change(text, pod.ref, field, was, to, (Replace(after),), keeps, pod_apply(pod))


def _without_holder(view: ClusterView, found: Finding) -> Iterator[Change]:
    """The pod that is in the way has ended."""
    namespace, _, name = found.text("holder").partition("/")
    holder = view.get(Pod, name, namespace)
    if holder is not None:
        yield Change(f"pod {holder.full_name} ends", holder.ref, "", "", "", ending(view, holder), True, how_to_end(view, holder))


# --- taints -------------------------------------------------------------------------------------------------------------------------


def _taint_changes(view: ClusterView, pod: Pod, taint: str, node: Node) -> Iterator[Change]:
    """Tolerate the taint, and all of the node's if there are more; what a node's condition puts there goes with the condition."""
    key, effect = _parts(taint)
    if key == UNSCHEDULABLE_TAINT:
        yield from cordon_changes(node)
        return
    if key.startswith(CONDITION_TAINTS):
        yield from condition_changes(node, key)
        return
    yield _tolerant(pod, ((key, effect),), f"toleration for node taint {taint}")
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    others = [entry for entry in node.taints if entry.effect in BLOCKING and not tolerated(pod.tolerations, entry, comparison)]
    if len(others) > 1:
        names = ", ".join(str(entry) for entry in others)
        yield _tolerant(pod, [(entry.key, entry.effect) for entry in others], f"tolerations for node taints {names}")


def _parts(taint: str) -> tuple[str, str]:
    rest, _, effect = taint.rpartition(":")
    return rest.partition("=")[0], effect


def _tolerant(pod: Pod, taints: Iterable[tuple[str, str]], text: str) -> Change:
    added = tuple(Toleration(key=key, operator="Exists", value="", effect=effect) for key, effect in taints)
    entries = [{"key": entry.key, "operator": "Exists", "effect": entry.effect} for entry in added]
    owner = pod.metadata.controller
    how = "tolerations of a pod may be added in place" if owner is None else f"add it to the pod template of {owner.kind} {owner.name}"
    edits = (Replace(replace(pod, tolerations=(*pod.tolerations, *added))),)
    return Change(text, pod.ref, "spec.tolerations", "", flow(entries if len(entries) > 1 else entries[0]), edits, True, how)


# --- which nodes the pod asks for -----------------------------------------------------------------------------------------------------


def _selector_changes(view: ClusterView, pod: Pod, node: Node) -> Iterator[Change]:
    """The labels that were meant, or none asked. Those that Kueue put there are no wish of the pod: it would put them there again."""
    own = assigned(view, pod)
    by_kueue = frozenset(own.selector) if own is not None else frozenset[str]()
    wrong = {key: value for key, value in pod.node_selector.items() if node.metadata.labels.get(key) != value and key not in by_kueue}
    required = pod.affinity.node.required
    for key, value in wrong.items():
        published = sorted(label_values(view, key))
        field = f"spec.nodeSelector{below(key)}"
        for near in get_close_matches(value, published, n=1, cutoff=0.7):
            if near != value:
                after = replace(pod, node_selector={**pod.node_selector, key: near})
                yield _changed(pod, after, f"nodeSelector {key} {value} → {near}", field, value, near, True)
        rest = {name: entry for name, entry in pod.node_selector.items() if name != key}
        yield _changed(pod, replace(pod, node_selector=rest), f"nodeSelector {key}={value} removed", field, value, "")
    free = replace(pod, affinity=replace(pod.affinity, node=replace(pod.affinity.node, required=None)))
    if required is not None:
        field = f"spec.affinity.nodeAffinity.{REQUIRED}"
        yield _changed(pod, free, "required node affinity removed", field, _described(required), "")
    if pod.node_selector and not by_kueue and (required is not None or len(wrong) > 1):
        text = "node selector and required node affinity removed" if required is not None else "node selector removed"
        yield _changed(pod, replace(free, node_selector={}), text, "spec.nodeSelector", flow(dict(pod.node_selector)), "")


def _described(selector: NodeSelector) -> str:
    terms = [", ".join(str(entry) for entry in (*term.expressions, *term.fields)) for term in selector.terms]
    return " or ".join(terms)


# --- amounts --------------------------------------------------------------------------------------------------------------------------


def resource_changes(pod: Pod, resource: str, value: str) -> Iterator[Change]:
    """The pod with a smaller request, where one container alone asks for the resource."""
    amount = quantity_or_none(value)
    groups = (("containers", pod.containers), ("initContainers", pod.init_containers))
    asking = [
        (f"spec.{field}[{place}].resources", container)
        for field, containers in groups
        for place, container in enumerate(containers)
        if resource in container.requests
    ]
    if amount is None or amount.value <= 0 or len(asking) != 1 or not amount < asking[0][1].requests[resource]:
        return
    field, container = asking[0]
    before, after = str(container.requests[resource]), str(value)
    text = f"{resource} {before} → {value}"
    if "/" in resource:  # of these, limits must equal requests
        before, after = (flow({"limits": {resource: each}, "requests": {resource: each}}) for each in (before, after))
    else:
        field = f"{field}.requests{below(resource)}"
    yield _changed(pod, _with_request(pod, container, resource, amount), text, field, before, after)


def _with_request(pod: Pod, container: Container, resource: str, amount: Quantity) -> Pod:
    changed = replace(container, requests={**container.requests, resource: amount})
    return _with_container(pod, container, changed)


def _with_container(pod: Pod, container: Container, changed: Container) -> Pod:
    return replace(
        pod,
        containers=tuple(changed if entry is container else entry for entry in pod.containers),
        init_containers=tuple(changed if entry is container else entry for entry in pod.init_containers),
    )


# --- ports ----------------------------------------------------------------------------------------------------------------------------


def _port_changes(view: ClusterView, pod: Pod, found: Finding, nodes: Sequence[Node]) -> Iterator[Change]:
    """Another host port that is free on the node, or none."""
    number, protocol = found.text("port").split("/")
    for group, containers in (("containers", pod.containers), ("initContainers", pod.init_containers)):
        for place, container in enumerate(containers):
            for position, port in enumerate(container.ports):
                if str(port.host_port) != number or (port.protocol or "TCP") != protocol or pod.host_network:
                    continue
                field = f"spec.{group}[{place}].ports[{position}].hostPort"
                for other in (_free_port(view, pod, found, nodes, port.host_port, protocol), 0):
                    ports = (*container.ports[:position], replace(port, host_port=other), *container.ports[position + 1 :])
                    after = _with_container(pod, container, replace(container, ports=ports))
                    text = f"hostPort {number} → {other}" if other else f"hostPort {number} removed"
                    yield _changed(pod, after, text, field, number, str(other) if other else "")
                return


def _free_port(view: ClusterView, pod: Pod, found: Finding, nodes: Sequence[Node], number: int, protocol: str) -> int:
    """The next port that nobody has on the finding's node; 0 for none near."""
    there = (pod, *pods_on(view, _named(found, nodes).name))
    taken = {port for other in there for _, kind, port in host_ports(other) if kind == protocol}
    return next((port for port in range(number + 1, min(number + TRIED_PORTS, 65536)) if port not in taken), 0)


# --- other pods -----------------------------------------------------------------------------------------------------------------------


def _term_changes(pod: Pod, kind: str, key: str) -> Iterator[Change]:
    """Without the required terms over a topology key: each by itself, then all."""
    own = pod.affinity.pod if kind == "podAffinity" else pod.affinity.anti
    concerned = [place for place, term in enumerate(own.required) if term.topology_key == key]
    for place in concerned:
        term = own.required[place]
        text = f"{kind} over {key} removed" if len(concerned) == 1 else f"{kind} over {key} to {_meant(term)} removed"
        rest = (*own.required[:place], *own.required[place + 1 :])
        field = f"spec.affinity.{kind}.{REQUIRED}[{place}]"
        yield _changed(pod, _with_terms(pod, kind, rest), text, field, flow({"topologyKey": key}), "")
    if len(own.required) > 1:
        text = f"all required terms of {kind} removed"
        yield _changed(pod, _with_terms(pod, kind, ()), text, f"spec.affinity.{kind}.{REQUIRED}", f"{len(own.required)} terms", "")


def _with_terms(pod: Pod, kind: str, terms: tuple[PodAffinityTerm, ...]) -> Pod:
    affinity = pod.affinity
    if kind == "podAffinity":
        return replace(pod, affinity=replace(affinity, pod=PodAffinity(terms, affinity.pod.preferred)))
    return replace(pod, affinity=replace(affinity, anti=PodAffinity(terms, affinity.anti.preferred)))


def _meant(term: PodAffinityTerm) -> str:
    return str(term.selector) if term.selector is not None else "no pod"


# --- spread ---------------------------------------------------------------------------------------------------------------------------


def _spread_changes(pod: Pod, found: Finding) -> Iterator[Change]:
    """Leave out nodes that the pod can't use anyway, allow more skew, or prefer instead of require."""
    for place, own in enumerate(pod.topology_spread):
        if own.topology_key != found.text("key") or own.when_unsatisfiable != "DoNotSchedule":
            continue
        field = f"spec.topologySpreadConstraints[{place}]"
        if found.code == "SPREAD_SKEW":
            if own.node_taints_policy != "Honor":
                after = _with_spread(pod, place, replace(own, node_taints_policy="Honor"))
                text = "nodeTaintsPolicy Ignore → Honor"
                yield _changed(pod, after, text, f"{field}.nodeTaintsPolicy", own.node_taints_policy, "Honor", True)
            skew = found.number("pods") + 1 - found.number("least")
            if own.max_skew < skew:
                after = _with_spread(pod, place, replace(own, max_skew=skew))
                yield _changed(pod, after, f"maxSkew {own.max_skew} → {skew}", f"{field}.maxSkew", str(own.max_skew), str(skew))
        after = _with_spread(pod, place, replace(own, when_unsatisfiable="ScheduleAnyway"))
        text = "whenUnsatisfiable DoNotSchedule → ScheduleAnyway"
        yield _changed(pod, after, text, f"{field}.whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway")


def _with_spread(pod: Pod, place: int, changed: TopologySpreadConstraint) -> Pod:
    return replace(pod, topology_spread=(*pod.topology_spread[:place], changed, *pod.topology_spread[place + 1 :]))
