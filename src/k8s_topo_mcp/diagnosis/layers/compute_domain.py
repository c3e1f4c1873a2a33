"""A pod that waits for its ComputeDomain (NVIDIA's DRA driver): nodes that share GPU memory through IMEX daemons.

The domain's controller makes the ResourceClaimTemplate for channels, and a DaemonSet for nodes that carry the domain's label. A channel can
be allocated on any node; the driver sets the label when it prepares the channel, and refuses to prepare it until the daemon of that node is
ready (older versions: until all of spec.numNodes are). Source: sigs.k8s.io/dra-driver-nvidia-gpu cmd/compute-domain-kubelet-plugin
computedomain.go AssertComputeDomainReady, AddNodeLabel, device_state.go; cmd/compute-domain-controller computedomain.go
calculateGlobalStatus, cdstatus.go (members come from cliques first). Up to its issue 305 the DaemonSet tolerated no taint of a node, since
then all (templates/compute-domain-daemon.tmpl.yaml).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...findings import finding
from ...objects import (
    COMPUTE_DOMAIN_LABEL,
    ComputeDomain,
    ComputeDomainClique,
    ComputeDomainNode,
    DaemonSet,
    Event,
    Node,
    ObjectRef,
    Pod,
    StatefulSet,
    Taint,
)
from ...scheduling.node_affinity import matches
from ...view import ClusterView
from ...view.indices import pods_of_owner, pods_using_template
from ..evidence import Absent, Advice, Evidence, Held, Members, PluginSet, Said, said
from ..plugins import daemon_set, pod_on, taints_between, taints_in_words
from .new_pod import new_pod_fits

DRIVER = "compute-domain.nvidia.com"
NOT_READY = "error asserting ComputeDomain Ready: "
OF_THE_NODE = "current node not ready in ComputeDomain"
OF_ALL_NODES = "ComputeDomain not Ready"
LABELLING = "error adding Node label for ComputeDomain: "
TAKEN = LABELLING + "label already exists for a different ComputeDomain"
SHOWN = 4

_VAIN = (Advice("more devices or nodes"), Advice("changing the claim: a channel can be allocated on any node"))


def look(view: ClusterView, pod: Pod, event: Event | None = None) -> Held | None:
    """What the pod's domain lacks on its node: by what the kubelet says, or where it says nothing yet, by the domain's members."""
    domain = domain_of(view, pod)
    if domain is None:
        return None
    if event is not None:
        if TAKEN in event.message:
            return _taken(view, pod, domain, event)
        return _unready(view, pod, domain, event) if _waits(event.message) else None
    started = pod.condition("PodReadyToStartContainers")
    if started is not None and started.holds:
        return None
    own = members(view, domain).get(pod.node_name)
    managed = domain.status == "NotReady" or _daemons(view, domain) is not None  # else the host's own daemons may be used
    return _unready(view, pod, domain, None) if managed and not (own is not None and own.ready) else None


def unread(view: ClusterView, event: Event) -> tuple[Evidence, ...]:
    """That the domain the kubelet speaks of isn't here to be judged."""
    if not _waits(event.message) or view.count(ComputeDomain):
        return ()
    return (Absent("no ComputeDomain was read, so its members can't be told: list computedomains.resource.nvidia.com too"),)


def _end_of(view: ClusterView, event: Event) -> Said:
    """The event with the end of its message, where the driver's own words stand after all that wraps them."""
    at = max(event.message.rfind(start) for start in (NOT_READY, LABELLING))
    return said(view, event if at <= 0 else replace(event, message=f"… {event.message[at:]}"))


def _waits(message: str) -> bool:
    return NOT_READY + OF_THE_NODE in message or NOT_READY + OF_ALL_NODES in message


# --- the domain and its members ---------------------------------------------------------------------------------------------------


def _template(domain: ComputeDomain) -> Iterable[tuple[str, str]]:
    return ((domain.namespace, domain.template),) if domain.template else ()


def _name(domain: ComputeDomain) -> Iterable[str]:
    return (domain.template,) if domain.template else ()


def _uid(domain: ComputeDomain) -> Iterable[str]:
    return (domain.metadata.uid,) if domain.metadata.uid else ()


def _domain(clique: ComputeDomainClique) -> Iterable[str]:
    return (clique.domain,) if clique.domain else ()


def domain_of(view: ClusterView, pod: Pod) -> ComputeDomain | None:
    """The domain whose channel template the pod names."""
    index = view.index(ComputeDomain, _template)
    found = (index.get((pod.namespace, entry.template_name or ""), ()) for entry in pod.resource_claims)
    return next((domain for domains in found for domain in domains), None)


def members(view: ClusterView, domain: ComputeDomain) -> Mapping[str, ComputeDomainNode]:
    """Nodes that have joined, by name. A node is ready if its clique or the domain's status says so, as the driver takes it."""
    found = {entry.name: entry for entry in domain.nodes}
    for clique in view.index(ComputeDomainClique, _domain).get(domain.metadata.uid, ()):
        for entry in clique.daemons:
            if entry.name not in found or not found[entry.name].ready:
                found[entry.name] = entry
    return found


def _daemons(view: ClusterView, domain: ComputeDomain) -> PluginSet | None:
    """The DaemonSet that runs the domain's daemons."""
    uid = domain.metadata.uid
    for entry in view.all(DaemonSet):
        if uid and entry.template is not None and entry.template.node_selector.get(COMPUTE_DOMAIN_LABEL) == uid:
            return PluginSet(DRIVER, entry.ref, "its node selector names the domain", entry.desired, entry.ready or 0)
    return None


# --- what it lacks ----------------------------------------------------------------------------------------------------------------


def _unready(view: ClusterView, pod: Pod, domain: ComputeDomain, event: Event | None) -> Held:
    whole = event is not None and NOT_READY + OF_ALL_NODES in event.message
    users = [own for own in pods_using_template(view, domain.namespace, domain.template) if not own.is_terminal]
    joined = members(view, domain)
    wanting = dict.fromkeys([pod.node_name, *(own.node_name for own in users if own.node_name), *joined])
    ready = tuple(name for name in wanting if name in joined and joined[name].ready)
    lacking = tuple(name for name in wanting if name not in ready)
    found = finding(
        "COMPUTE_DOMAIN_NOT_READY",
        domain.ref,
        "status.nodes",
        domain=domain.full_name,
        node=pod.node_name,
        ready=len(ready),
        wanted=max(domain.num_nodes, len(wanting)),
        lacking=lacking,
        awaits="all nodes" if whole else "its node",
    )
    states = tuple((name, "NotReady" if name in joined else "hasn't joined") for name in lacking)
    seen: list[Evidence] = [*((_end_of(view, event),) if event is not None else ()), Members(domain.ref, domain.num_nodes, ready, states)]
    seen += _on_node(view, pod, domain)
    waiting = [own for own in users if own.is_pending] if whole else []
    lack = domain.num_nodes - len(users) if whole else 0
    if lack > 0:
        seen.append(Absent(f"spec.numNodes is {domain.num_nodes}, but the pods that use template {domain.template} are {len(users)}"))
    helps = (*_repair(view, pod, domain), *_place(waiting), *(_more_pods(view, pod, lack) if lack > 0 else ()))
    again = Advice("deleting the pod: a new one waits for the domain likewise")
    return Held(found, tuple(seen), helps, (*_VAIN, again), _look_at(view, pod, domain))


def _place(waiting: list[Pod]) -> tuple[Advice, ...]:
    if not waiting:
        return ()
    names = ", ".join(own.name for own in waiting[:SHOWN]) + (f" and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else "")
    return (Advice(f"get pods of the domain scheduled that aren't bound yet: {names}"),)


def _on_node(view: ClusterView, pod: Pod, domain: ComputeDomain) -> tuple[Evidence, ...]:
    """The domain's daemon on the pod's node, and the label that brings it there."""
    seen: list[Evidence] = []
    node = view.get(Node, pod.node_name)
    uid = domain.metadata.uid
    labelled = node is None or not uid or node.metadata.labels.get(COMPUTE_DOMAIN_LABEL) == uid
    if not labelled:
        what = f"{pod.node_name} lacks label {COMPUTE_DOMAIN_LABEL}={uid}, which the driver sets when it prepares a channel there"
        seen.append(Absent(what))
    daemons = _daemons(view, domain)
    if daemons is not None:
        state = pod_on(view, daemons, pod.node_name)
        seen += [daemons, state if labelled else replace(state, kept_off="")]
    elif view.count(DaemonSet):
        seen.append(Absent("the domain's controller has made no DaemonSet for it"))
    return tuple(seen)


def _more_pods(view: ClusterView, pod: Pod, lack: int) -> tuple[Advice, ...]:
    """Where the domain waits for pods that don't exist: a StatefulSet that goes by order makes its next pod only once this one is ready
    (kubernetes pkg/controller/statefulset/stateful_set_control.go processReplica, monotonic), which it isn't before the domain is."""
    owner = pod.metadata.controller
    made_by = view.get(StatefulSet, owner.name, pod.namespace) if owner is not None and owner.kind == "StatefulSet" else None
    unmade = 0
    if made_by is not None and made_by.desired is not None and made_by.parallel is False:
        unmade = max(0, made_by.desired - sum(not own.is_terminal for own in pods_of_owner(view, made_by.ref)))
    helps: list[Advice] = []
    if made_by is not None and unmade:
        again = f"make StatefulSet {made_by.full_name} again with podManagementPolicy: Parallel"
        helps.append(Advice(f"{again}: as it is, it makes its next pod once {pod.name} is ready, and that waits for the domain"))
    more = lack - unmade
    if more > 0:
        beyond = " beyond those that it then makes" if unmade else ""
        helps.append(Advice(f"{more} more pod{'s' if more > 1 else ''} of the domain{beyond}, on other nodes"))
    return tuple(helps)


def _repair(view: ClusterView, pod: Pod, domain: ComputeDomain) -> tuple[Advice, ...]:
    daemons = _daemons(view, domain)
    state = None if daemons is None else pod_on(view, daemons, pod.node_name)
    if daemons is None or state is None or state.ready:
        return ()
    if state.pod is not None:
        return (Advice(f"repair {state.pod.name}: the kubelet tries again by itself, the pod may stay"),)
    taints = _in_its_way(view, daemons, pod.node_name)
    return (_tolerate(daemons, taints),) if taints else ()


def _in_its_way(view: ClusterView, daemons: PluginSet, name: str) -> tuple[Taint, ...]:
    """The taints of a node on which the domain's daemon would run but for these."""
    entry, node = daemon_set(view, daemons), view.get(Node, name)
    if entry is None or entry.template is None or node is None or not matches(entry.template, node):
        return ()
    return taints_between(view, entry, node)


def _tolerate(daemons: PluginSet, taints: Sequence[Taint]) -> Advice:
    own = f"{daemons.daemon_set.namespace}/{daemons.daemon_set.name}"
    it = "it" if len(taints) == 1 else "them"
    what = f"tolerate {taints_in_words(taints)}, as later drivers do, or take {it} off the node"
    return Advice(f"let DaemonSet {own} {what}: the kubelet tries again")


def _look_at(view: ClusterView, pod: Pod, domain: ComputeDomain) -> tuple[str, ...]:
    described = f"kubectl -n {domain.namespace} describe computedomains.resource.nvidia.com {domain.name}"
    daemons = _daemons(view, domain)
    state = None if daemons is None else pod_on(view, daemons, pod.node_name)
    if state is None or state.pod is None:
        return (described,)
    return f"kubectl -n {state.pod.namespace} logs {state.pod.name} --all-containers", described


def _taken(view: ClusterView, pod: Pod, domain: ComputeDomain, event: Event) -> Held:
    """The node already belongs to another domain: it can be in one at a time."""
    node = view.get(Node, pod.node_name)
    uid = node.metadata.labels.get(COMPUTE_DOMAIN_LABEL, "") if node is not None else ""
    other = next(iter(view.index(ComputeDomain, _uid).get(uid, ())), None)
    about = node.ref if node is not None else ObjectRef("Node", "", pod.node_name)
    found = finding(
        "COMPUTE_DOMAIN_NODE_TAKEN",
        about,
        f"metadata.labels[{COMPUTE_DOMAIN_LABEL}]",
        domain=domain.full_name,
        node=pod.node_name,
        holder=other.full_name if other is not None else uid,
    )
    users = () if other is None else pods_using_template(view, other.namespace, other.template)
    here = [own for own in users if own.node_name == pod.node_name and not own.is_terminal]
    seen: list[Evidence] = [_end_of(view, event)]
    if other is not None and not here:
        seen.append(Absent(f"no pod of {other.full_name} is on {pod.node_name}: the label was left behind"))
    helps = [Advice(f"{own.full_name} ends: the label goes with its channel, and the kubelet tries again by itself") for own in here[:1]]
    free = tuple(name for name in new_pod_fits(view, pod, cordoned=True) if _open_to(view, name, domain))
    if free:
        helps.append(Advice(f"cordon {pod.node_name}, then delete the pod: a new one fits nodes of no other domain", free))
    return Held(found, tuple(seen), tuple(helps), _VAIN, _look_at(view, pod, domain))


def _open_to(view: ClusterView, name: str, domain: ComputeDomain) -> bool:
    node = view.get(Node, name)
    return node is not None and node.metadata.labels.get(COMPUTE_DOMAIN_LABEL, domain.metadata.uid) == domain.metadata.uid


# --- its template -----------------------------------------------------------------------------------------------------------------


def maker_of(view: ClusterView, namespace: str, template: str) -> tuple[tuple[Evidence, ...], tuple[Advice, ...], tuple[str, ...]]:
    """Whose a missing template is: the domain that is to make it, or one that makes it in another namespace. (seen, helps, look at)"""
    found = view.index(ComputeDomain, _template).get((namespace, template), ())
    if found:
        domain = found[0]
        if domain.metadata.deleted is not None:
            return (Absent(f"ComputeDomain {domain.full_name} makes template {template}, but is being deleted"),), (), ()
        what = f"ComputeDomain {domain.full_name} makes template {template}: its controller, compute-domain-controller, hasn't"
        helps = Advice("repair the controller of NVIDIA's DRA driver: the template and the claim then appear, the pod may stay")
        return (Absent(what),), (helps,), (f"kubectl -n {namespace} describe computedomains.resource.nvidia.com {domain.name}",)
    elsewhere = view.index(ComputeDomain, _name).get(template, ())
    if elsewhere:
        domain = elsewhere[0]
        what = f"ComputeDomain {domain.full_name} makes a template of that name, but in namespace {domain.namespace}"
        return (Absent(what),), (Advice(f"a ComputeDomain in namespace {namespace}: its channels are for pods there"),), ()
    return (), (), ()
