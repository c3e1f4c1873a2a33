"""Which autoscalers run here.

Cluster Autoscaler is seen by its Deployment, its Lease (--lease-resource-name, cluster-autoscaler unless told otherwise), its status
ConfigMap, which it writes at each scan, and its events; Karpenter by its Deployment, its Lease (karpenter-leader-election), its NodePools
and its events. A cloud that runs one (GKE, AKS, EKS Auto Mode) shows no Deployment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..objects import ClusterAutoscalerStatus, Deployment, Event, Lease, Node, NodePool, SemVer
from ..objects.autoscaler_status import STATUS_NAMESPACE
from ..view import ClusterView
from ..view.leases import is_live, read_at
from .ages import seconds_since
from .autoscaler import Autoscaler, Kind, Sign, State
from .claim_support import of_cluster_autoscaler, of_karpenter
from .events import Sender
from .settings import Settings, parse

STALE = 600.0
"""Seconds after which a status is no sign of life any more: --max-inactivity's default, after which Cluster Autoscaler restarts itself."""

LEASES: dict[Kind, str] = {"Cluster Autoscaler": "cluster-autoscaler", "Karpenter": "karpenter-leader-election"}
PROGRAMS: dict[Kind, str] = {"Cluster Autoscaler": "cluster-autoscaler", "Karpenter": "karpenter"}

_TAG = re.compile(r":v?(\d+(?:\.\d+){1,2}[^/@]*)(?:@|\Z)")

CLOUDS = (("cloud.google.com/gke-nodepool", "GKE"), ("kubernetes.azure.com/cluster", "AKS"), ("eks.amazonaws.com/nodegroup", "EKS"))
NODE_CLASSES = {"NodeClass": "EKS Auto Mode", "AKSNodeClass": "AKS"}
"""Who runs a Karpenter that shows no Deployment, by the kind of node class that its NodePools name."""


def autoscalers(view: ClusterView) -> tuple[Autoscaler, ...]:
    """All that are seen, those with a Deployment first; two of one kind where two Deployments run it."""
    return view.memo("autoscalers", lambda: (*_of_kind(view, "Cluster Autoscaler"), *_of_kind(view, "Karpenter")))


def _of_kind(view: ClusterView, kind: Kind) -> Iterator[Autoscaler]:
    programs = _programs(view, kind)
    for deployment in programs:
        yield _deployed(view, kind, deployment)
    if not programs:
        signs = tuple(_traces(view, kind))
        if signs:
            settings = Settings()
            support = (of_cluster_autoscaler if kind == "Cluster Autoscaler" else of_karpenter)(None, settings)
            state, message = _state(view, kind, signs, None)
            yield Autoscaler(kind, None, None, settings, state, signs, support, _run_by(view, kind), message)


def _deployed(view: ClusterView, kind: Kind, deployment: Deployment) -> Autoscaler:
    program = deployment.autoscaler
    assert program is not None
    settings = parse(program.words, program.variables)
    version = version_of(program.image)
    if program.guessed:  # another program's version and defaults would not be this one's
        settings, version = replace(settings, readable=False), None
    if kind == "Karpenter" and version is not None and version.major == 0:
        version = None  # a provider that isn't numbered as the core that it is built on
    support = of_cluster_autoscaler(version, settings) if kind == "Cluster Autoscaler" else of_karpenter(version, settings)
    what = "Deployment, by a part of its image's name" if program.guessed else "Deployment"
    signs = (Sign(deployment.ref, what, None, fresh=deployment.desired != 0), *_traces(view, kind))
    state, message = _state(view, kind, signs, deployment)
    return Autoscaler(kind, deployment.ref, version, settings, state, signs, support, "", message)


def serving_requests(view: ClusterView) -> Settings | None:
    """The settings of the Cluster Autoscaler that serves ProvisioningRequests, whichever autoscaler a pod's node group has: of several the
    one that is told to. None where none is seen."""
    found = [entry.settings for entry in autoscalers(view) if entry.kind == "Cluster Autoscaler"]
    return next((entry for entry in found if entry.get("enable-provisioning-requests", "false").on), found[0] if found else None)


def version_of(image: str) -> SemVer | None:
    """The version that an image's tag names, None where it names none."""
    found = _TAG.search(image)
    if found is None:
        return None
    try:
        return SemVer.parse_tolerant(found.group(1).replace("_", "+", 1))
    except ValueError:
        return None


def status(view: ClusterView) -> ClusterAutoscalerStatus | None:
    """The newest status that a Cluster Autoscaler wrote, None where there is none that can be read."""
    return next(iter(statuses(view)), None)


def statuses(view: ClusterView) -> tuple[ClusterAutoscalerStatus, ...]:
    """
    Those that can be read and that a Cluster Autoscaler wrote, newest first.

    Anybody who may write ConfigMaps in a namespace can make one of that name. A Cluster Autoscaler writes it where --namespace says
    (kube-system otherwise): there it is believed, in kube-system alone where one of them writes to that.
    """
    return view.memo("autoscaler statuses", lambda: _statuses(view))


def homes(view: ClusterView) -> frozenset[str]:
    """The namespaces in which a Cluster Autoscaler writes its status, and events about it."""
    found = frozenset(_home(entry) for entry in _programs(view, "Cluster Autoscaler"))
    return frozenset({STATUS_NAMESPACE}) if not found or STATUS_NAMESPACE in found else found


def _statuses(view: ClusterView) -> tuple[ClusterAutoscalerStatus, ...]:
    own = homes(view)
    found = [entry for entry in view.all(ClusterAutoscalerStatus) if entry.namespace in own and not entry.said.problem]
    return tuple(sorted(found, key=lambda entry: -(entry.written or 0.0)))


def _home(deployment: Deployment) -> str:
    program = deployment.autoscaler
    assert program is not None
    given = parse(program.words, program.variables).get("namespace", STATUS_NAMESPACE)
    return deployment.namespace if given.basis == "assumed" else given.value


def _programs(view: ClusterView, kind: Kind) -> list[Deployment]:
    return [entry for entry in view.all(Deployment) if entry.autoscaler is not None and entry.autoscaler.program == PROGRAMS[kind]]


# --- signs of life ----------------------------------------------------------------------------------------------------------------


def _traces(view: ClusterView, kind: Kind) -> Iterator[Sign]:
    moment = read_at(view)
    for lease in view.all(Lease):
        if lease.name == LEASES[kind]:
            yield Sign(lease.ref, "Lease", seconds_since(lease.renewed, moment), is_live(view, lease))
    if kind == "Cluster Autoscaler":
        said = status(view)
        if said is not None:
            age = seconds_since(said.written, view.now)
            yield Sign(said.ref, "status", age, age is None or age <= STALE)
    else:
        for pool in view.all(NodePool)[:1]:
            yield Sign(pool.ref, "NodePool")
    event = view.shared(Event, _OWN_EVENTS[kind])
    if event is not None:
        age = seconds_since(event.last, view.now)
        yield Sign(event.ref, f"event {event.reason}", age, age is not None and age <= STALE)


def _newest(events: Sequence[Event], sender: Sender) -> Event | None:
    return max((event for event in events if event.component == sender), key=lambda event: event.last or 0.0, default=None)


def _by_cluster_autoscaler(events: tuple[Event, ...]) -> Event | None:
    return _newest(events, "cluster-autoscaler")


def _by_karpenter(events: tuple[Event, ...]) -> Event | None:
    return _newest(events, "karpenter")


_OWN_EVENTS: dict[Kind, Callable[[tuple[Event, ...]], Event | None]] = {
    "Cluster Autoscaler": _by_cluster_autoscaler,
    "Karpenter": _by_karpenter,
}


def _state(view: ClusterView, kind: Kind, signs: Sequence[Sign], deployment: Deployment | None) -> tuple[State, str]:
    """Alive by one fresh sign with a time; dead where those with a time are all old, or nothing is to run. Events alone say nothing of a
    death: an autoscaler with nothing to do is silent."""
    if deployment is not None and deployment.desired == 0:
        return "dead", "its Deployment is scaled to 0"
    said = status(view) if kind == "Cluster Autoscaler" else None
    timed = [sign for sign in signs if sign.age is not None]
    if any(sign.fresh for sign in timed):
        starting = said is not None and said.said.state == "Initializing"
        return ("starting", said.said.message) if starting and said is not None else ("alive", "")
    beating = [sign for sign in timed if sign.what in ("Lease", "status")]
    return ("dead", "") if beating else ("unknown", "")


def _run_by(view: ClusterView, kind: Kind) -> str:
    """Who is taken to run an autoscaler that shows no Deployment, "" where nothing hints at it."""
    if kind == "Karpenter":
        kinds = (pool.spec.node_class.kind for pool in view.all(NodePool) if pool.spec.node_class is not None)
        return next((NODE_CLASSES[name] for name in kinds if name in NODE_CLASSES), "")
    node = next(iter(view.all(Node)), None)
    return next((cloud for label, cloud in CLOUDS if node is not None and label in node.metadata.labels), "")
