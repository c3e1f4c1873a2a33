"""Why Karpenter doesn't make a node of a NodePool, in the order in which it asks.

pkg/controllers/provisioning of sigs.k8s.io/karpenter: NewScheduler leaves out NodePools that are static, not ready (ValidationSucceeded,
NodeClassReady) or being deleted, and those without an instance type; then pods are tried on nodes and NodeClaims that exist, then on a new
NodeClaim of each NodePool (scheduling/scheduler.go addToNewNodeClaim: limits; nodeclaim.go CanAdd: taints, requirements, volumes, devices,
topology, instance types). What happens after a NodeClaim was made (launch, registration) shows in its conditions and events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..findings import finding
from ..objects import Event, NodeClaim, NodePool, Pod, Requirement
from ..objects.karpenter import NODE_POOL_LABEL
from ..objects.node import HOSTNAME
from ..scheduling.taint_toleration import tolerated
from ..view import ClusterView
from ..view.indices import events_of
from .ages import age_text
from .events import with_reason
from .fit import Fit
from .karpenter_labels import well_known
from .karpenter_words import NO_DEVICES, refusal
from .misfits import no_device_model, told_devices
from .node_group import NodeGroup
from .node_pools import claims_of_pools
from .obstacle import Obstacle
from .on_the_way import room_on
from .passing_over import Check, Passed, nobody
from .template import newer

RECENT = 600.0
"""Seconds for which an event of a failed launch, or of a NodePool without instance types, is taken to be still so: Karpenter repeats them
while they are (dedupe 1 min), and a cloud's lack of a machine is remembered for minutes."""

CONDITIONS = ("ValidationSucceeded", "NodeClassReady", "Ready")
STAGES = ("Launched", "Registered", "Initialized")


def pool_of(view: ClusterView, group: NodeGroup) -> NodePool | None:
    """The NodePool of a group."""
    return view.get(NodePool, group.name)


def left_out(view: ClusterView, pool: NodePool, pods: int) -> Iterator[Obstacle]:
    """Why the NodePool isn't looked at for any pod."""
    if pool.replicas is not None:
        why = finding("NODE_POOL_STATIC", pool.ref, "spec.replicas", pool=pool.name, replicas=pool.replicas)
        yield Obstacle(why, "certain", "another NodePool, without spec.replicas", pods, pods)
    said = [entry for entry in map(pool.condition, CONDITIONS) if entry is not None]
    unready = next((entry for entry in said if not entry.holds), None)
    if unready is not None:
        why = finding(
            "NODE_POOL_NOT_READY",
            pool.ref,
            f"status.conditions[{unready.type}]",
            pool=pool.name,
            condition=unready.type,
            reason=unready.reason,
            message=unready.message,
        )
        yield Obstacle(why, "certain", _repair(pool, unready.type), pods, pods)
    elif not said:
        why = finding(
            "NODE_POOL_NOT_READY", pool.ref, "status.conditions", pool=pool.name, condition="Ready", reason="no condition yet", message=""
        )
        yield Obstacle(why, "certain", "a first look of Karpenter's controllers", pods, pods)
    if pool.metadata.deleted is not None:
        why = finding("NODE_POOL_ENDING", pool.ref, "metadata.deletionTimestamp", pool=pool.name)
        yield Obstacle(why, "certain", "another NodePool", pods, pods)
    own = (entry for entry in events_of(view, pool.ref) if (entry.component, entry.reason) == ("karpenter", "NoCompatibleInstanceTypes"))
    event = _recent(view, own)
    if event is not None:
        where, since = "spec.template.spec.requirements", age_text(view, event.last)
        why = finding("NO_INSTANCE_TYPE", pool.ref, where, pool=pool.name, message=event.message, age=since)
        yield Obstacle(why, "likely", "requirements that some instance type meets", pods, pods)


def _repair(pool: NodePool, condition: str) -> str:
    node_class = pool.spec.node_class
    if condition == "NodeClassReady" and node_class is not None:
        return f"{node_class.kind} {node_class.name} ready"
    return f"a NodePool {pool.name} that is valid" if condition == "ValidationSucceeded" else "what its conditions name"


# --- nodes on the way -------------------------------------------------------------------------------------------------------------


def in_flight(view: ClusterView, pool: NodePool, group: NodeGroup, pods: Sequence[Pod], fits: Sequence[Fit]) -> Iterator[Obstacle]:
    """NodeClaims of the NodePool that aren't initialized: Karpenter counts on them before it makes another."""
    claims = [entry for entry in claims_of_pools(view).get(pool.name, ()) if entry.metadata.deleted is None and waits_for(entry)]
    room = room_on(view, group, pods, fits, len(claims)) if claims else 0
    if room == 0:
        return
    first = claims[0]
    taken, certainty = (len(pods), "likely") if room is None else (min(len(pods), room), "certain")
    names = f"NodeClaim {first.name}" if len(claims) == 1 else f"{len(claims)} NodeClaims, such as {first.name},"
    waits = waits_for(first)
    age = age_text(view, first.metadata.created)
    why = finding("NODE_CLAIM_IN_FLIGHT", first.ref, "status.conditions", node_claims=names, waits=waits, age=age)
    yield Obstacle(why, certainty, f"{waits} of {first.name}", taken, len(pods))


def waits_for(claim: NodeClaim) -> str:
    """The first stage that a NodeClaim hasn't reached, with its reason; "" where it is initialized (lifecycle/initialization.go gives
    reasons such as StartupTaintsExist, ResourceNotRegistered and DRADriverPoolsNotPublished)."""
    for stage in STAGES:
        condition = claim.condition(stage)
        if condition is None or not condition.holds:
            said = "" if condition is None else ": ".join(part for part in (condition.reason, condition.message) if part)
            return f"{stage} ({said})" if said else stage
    return ""


# --- a new node -------------------------------------------------------------------------------------------------------------------


def untolerated(pool: NodePool) -> Check:
    """Pods that don't tolerate a taint that the NodePool's nodes keep; start-up taints don't count. PreferNoSchedule doesn't either: it is
    relaxed."""
    taints = [entry for entry in pool.spec.taints if entry.effect != "PreferNoSchedule"]

    def check(pod: Pod) -> Passed | None:
        for taint in taints:
            if not tolerated(pod.tolerations, taint, True):
                found = finding("NODE_POOL_TAINT", pool.ref, "spec.template.spec.taints", pool=pool.name, taint=str(taint))
                return Passed(found, "certain", f"a toleration for {taint} in the pod")
        return None

    return check


def incompatible(pool: NodePool) -> Check:
    """Pods whose node selector and every term of required affinity ask for labels that the NodePool's nodes can't have. A label that a
    NodePool says nothing of is refused unless it is well known: then Karpenter takes it that a node may have it (karpenter_labels)."""
    offered: dict[str, list[Requirement]] = {}
    labels = {**pool.spec.labels, NODE_POOL_LABEL: pool.name}
    for entry in (*pool.spec.requirements, *(Requirement(key, "In", (value,)) for key, value in labels.items())):
        key = newer(entry.key)
        offered.setdefault(key, []).append(replace(entry, key=key))

    def clash(asked: Iterable[Requirement]) -> tuple[Requirement, str] | None:
        for entry in asked:
            key = newer(entry.key)
            if key == HOSTNAME:
                if entry.operator == "In":
                    return entry, f"a {HOSTNAME} of its own, not known before it is there"
                continue
            given = offered.get(key)
            if given is None:
                if not well_known(key) and entry.operator in ("In", "Exists", "Gt", "Lt"):
                    return entry, f"no label {entry.key}"
                continue
            if any(_disjoint(replace(entry, key=key), other) for other in given):
                return entry, "; ".join(str(other) for other in given)
        return None

    def check(pod: Pod) -> Passed | None:
        if not pod.node_selector and pod.affinity.node.required is None:
            return None
        selector = tuple(Requirement(key, "In", (value,)) for key, value in pod.node_selector.items())
        required = pod.affinity.node.required
        terms = [term.expressions for term in required.terms] if required is not None else [()]
        clashes = [clash((*selector, *term)) for term in terms]
        if not clashes or any(entry is None for entry in clashes):
            return None
        asked, given = next(entry for entry in clashes if entry is not None)
        found = finding(
            "NODE_POOL_REQUIREMENT", pool.ref, "spec.template.spec.requirements", pool=pool.name, requirement=given, asked=str(asked)
        )
        return Passed(found, "certain", f"a NodePool whose nodes have {asked}")

    return check


def _disjoint(one: Requirement, other: Requirement) -> bool:
    """Whether no value meets both, as far as finite lists of values tell."""
    for first, second in ((one, other), (other, one)):
        if first.operator == "In":
            return not any(second.holds({second.key: value}) for value in first.values)
        if first.operator == "DoesNotExist":
            return second.operator in ("In", "Exists", "Gt", "Lt")
    return False


def unknown_devices(view: ClusterView, pool: NodePool | None, group: NodeGroup, pods: tuple[Pod, ...]) -> Check:
    """Pods with claims, where nothing shows that Karpenter's provider describes devices for the NodePool's instance types. Live nodes
    don't, it never copies them. What does are a file that says what the provider offers, and a NodeClaim that was made for devices."""
    made = () if pool is None else claims_of_pools(view).get(pool.name, ())
    if told_devices(group, "declared") or any(claim.dra_drivers for claim in made):
        return nobody

    def refused_so() -> bool:
        return any(NO_DEVICES in refusal(view, pod) for pod in pods)

    said = view.memo(("no instance type has the devices", pods), refused_so)
    why = "Karpenter takes them from its provider, for each instance type, and that isn't in the API"
    remedy = "a provider that describes the devices of its instance types"
    return no_device_model(view, group, "likely" if said else "unknown", "Karpenter says so of a pod" if said else why, remedy)


# --- after the NodeClaim was made -------------------------------------------------------------------------------------------------


def launches(view: ClusterView, pool: NodePool, pods: int) -> Iterator[Obstacle]:
    """What happened to the last nodes that the NodePool made: no machine to be had, or machines that don't join."""
    event = _recent(view, (entry for entry in with_reason(view, "karpenter", "InsufficientCapacityError") if _of_pool(view, entry, pool)))
    if event is not None:
        why = finding("INSUFFICIENT_CAPACITY", event.regarding, "", pool=pool.name, message=event.message, age=age_text(view, event.last))
        more = "machines in the cloud, or a NodePool that allows more instance types, zones or capacity types"
        yield Obstacle(why, "likely", more, pods, pods)
    healthy = pool.condition("NodeRegistrationHealthy")
    if healthy is not None and healthy.status == "False":
        why = finding(
            "NODES_DO_NOT_REGISTER",
            pool.ref,
            "status.conditions[NodeRegistrationHealthy]",
            pool=pool.name,
            reason=healthy.reason,
            message=healthy.message,
        )
        yield Obstacle(why, "likely", "a node class with which machines join the cluster", pods, pods)


def _of_pool(view: ClusterView, event: Event, pool: NodePool) -> bool:
    """A NodeClaim's event belongs to the NodePool of that claim, or, once the claim is gone, by its generated name."""
    claim = view.get(NodeClaim, event.regarding.name)
    return claim.node_pool == pool.name if claim is not None else event.regarding.name.rpartition("-")[0] == pool.name


def _recent(view: ClusterView, events: Iterable[Event]) -> Event | None:
    return next((entry for entry in events if entry.last is not None and view.now and view.now - entry.last <= RECENT), None)
