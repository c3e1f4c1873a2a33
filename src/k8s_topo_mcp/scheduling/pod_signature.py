"""What of a pod decides where it may run: pods with equal signatures get equal verdicts, so in each state of the cluster one of them is
judged.

Labels count where somebody's affinity or spread looks at them, names and namespaces where something is found by them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..objects import Pod, ResourceClaim
from ..view import ClusterView, derived
from ..view.indices import claims_of
from . import inter_pod_affinity, looks, node_ports, pod_topology_spread
from .extended_resources import is_extended
from .node_info import effective_requests
from .skip import Skip


def signature(view: ClusterView, pod: Pod) -> Hashable:
    """Everything of a pod that its placement depends on."""
    return (
        _claims(view, pod),
        derived(pod, "signature", lambda: _own(pod)),
        _among_pods(view, pod),
        view.release.enabled("GenericWorkload") and pod.scheduling_group is not None and (pod.namespace, pod.scheduling_group),
    )


def signatures(view: ClusterView, pods: Sequence[Pod], required: looks.Required | None = None) -> Mapping[int, Hashable]:
    """id of a pod -> signature, among pods that are placed one after another: then also what one of them may change for the others counts,
    which of their required terms and spreads mean it, and which unallocated claims it shares with others. What they would rather forbids no
    node and doesn't count."""
    meant = (looks.required(view, pods) if required is None else required).meant
    shared = shared_claims(view, pods)

    def among(pod: Pod) -> Hashable:
        own = [entry.claim.key if entry.claim is not None and entry.claim.key in shared else None for entry in claims_of(view, pod)]
        return signature(view, pod), meant[id(pod)], tuple(own)

    return {id(pod): among(pod) for pod in pods}


def shared_claims(view: ClusterView, pods: Sequence[Pod]) -> frozenset[tuple[str, str]]:
    """Claims without an allocation that several of the pods name."""
    seen: Counter[tuple[str, str]] = Counter()
    for pod in pods:
        seen.update({entry.claim.key for entry in claims_of(view, pod) if entry.claim is not None and entry.claim.allocation is None})
    return frozenset(key for key, count in seen.items() if count > 1)


def relates(pod: Pod) -> bool:
    """Whether the place of this pod decides over the places of others, or theirs over its own: then no node can be judged by itself."""
    return bool(pod.volumes) or looks.looks_around(pod)


def _own(pod: Pod) -> Hashable:
    """What stands in the pod itself."""
    requests = effective_requests(pod)
    containers: Hashable = ()
    if any(is_extended(name) for name in requests):  # a class may have to meet them, container by container
        containers = tuple(
            (tuple((name, str(amount)) for name, amount in container.requests.items()), container.is_sidecar)
            for container in (*pod.init_containers, *pod.containers)
        )
    return (
        tuple(sorted((name, str(amount)) for name, amount in requests.items())),  # as they are written: so they are told
        containers,
        tuple(sorted(pod.node_selector.items())),
        pod.affinity.node.required,
        pod.tolerations,
        pod.scheduler_name,
        pod.node_name,
        tuple(node_ports.host_ports(pod)),
        pod.needed_features,
        pod.priority,
        pod.preemption_policy,
        # The claim of an ephemeral volume has the pod's name in its own, so the volumes of two pods differ there.
        (pod.namespace, repr(pod.volumes)) if pod.volumes else (),
        (pod.metadata.uid, pod.full_name) if pod.nominated_node_name else (),  # a manifest's pod has no uid
    )


def _among_pods(view: ClusterView, pod: Pod) -> Hashable:
    """What rules between pods make of it: its own look at namespaces and labels, those of others at its labels."""
    labels = (pod.namespace, frozenset(pod.metadata.labels.items()))
    rules = (pod_topology_spread.required(pod), pod.affinity.pod.required, pod.affinity.anti.required)

    def refused() -> Hashable:
        found = inter_pod_affinity.prepare(view, pod)
        if isinstance(found, Skip):
            return ()
        return frozenset((key, frozenset(holders.items())) for key, holders in found.refused.items())  # with who refuses: it is told

    refusing = view.memo(("refused by", labels), refused)
    if any(rules) or view.index(Pod, _refuses_where_nominated):
        return (labels, repr(rules), refusing)
    return refusing


def _refuses_where_nominated(pod: Pod) -> Iterable[bool]:
    """Yields for a pod that counts as placed where it is nominated and might refuse others by their labels."""
    return (True,) if pod.nominated_node_name and not pod.node_name and pod.affinity.anti.required else ()


def _claims(view: ClusterView, pod: Pod) -> Hashable:
    """A claim counts by its content; one that isn't there, or is allocated, by its name too."""
    found: list[Hashable] = []
    for entry in claims_of(view, pod):
        claim = entry.claim
        if claim is None:
            template = entry.entry.template_name if entry.entry is not None else None
            found.append((pod.namespace, entry.name, template, entry.needed))
        elif claim.allocation is not None:
            found.append(claim.full_name)
        else:
            spec = derived(claim, "spec", lambda claim=claim: repr(claim.spec))
            generated = entry.entry is not None and entry.entry.template_name is not None
            found.append((spec, claim.metadata.deleted is not None, generated and _foreign(claim, pod)))
    return (tuple(found), pod.extended_resource_claim is not None)


def _foreign(claim: ResourceClaim, pod: Pod) -> bool:
    owner = claim.metadata.controller
    return owner is not None and owner.uid != pod.metadata.uid
