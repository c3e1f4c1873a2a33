"""Where a pod may, should and may not run: affinity, tolerations, topology spread (k8s.io/api/core/v1)."""

from __future__ import annotations

from functools import lru_cache
from sys import intern

from .decoding import Json, each, integer, mapping, nested, optional_integer, string, strings
from .label_selector import LabelSelector, decode_label_selector
from .node_selector import NodeSelector, NodeSelectorTerm, decode_node_selector, decode_term
from .record import value_record


@value_record()
class PreferredTerm:
    """A node that fits `term` is worth `weight` more."""

    weight: int
    term: NodeSelectorTerm


@value_record()
class NodeAffinity:
    """Which nodes a pod must and should run on."""

    required: NodeSelector | None = None
    preferred: tuple[PreferredTerm, ...] = ()


@value_record()
class PodAffinityTerm:
    """Pods that match `selector`, in `namespaces` and those of `namespace_selector` (neither: the pod's own), within one value of
    `topology_key`. `match_label_keys` and `mismatch_label_keys` are already merged into `selector` by the API server of stored pods."""

    topology_key: str
    selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@value_record()
class WeightedPodAffinityTerm:
    """A term of preferred affinity."""

    weight: int
    term: PodAffinityTerm


@value_record()
class PodAffinity:
    """Which pods a pod must and should be near to (or away from, as `anti`)."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()


NO_NODE_AFFINITY = NodeAffinity()
NO_POD_AFFINITY = PodAffinity()


@value_record()
class Affinity:
    """spec.affinity; `anti` is podAntiAffinity."""

    node: NodeAffinity = NO_NODE_AFFINITY
    pod: PodAffinity = NO_POD_AFFINITY
    anti: PodAffinity = NO_POD_AFFINITY


NO_AFFINITY = Affinity()


@value_record()
class Toleration:
    """A toleration of node taints. An empty `key` with Exists tolerates everything, an empty `effect` every effect."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None = None

    def __str__(self) -> str:
        what = f"{self.key}={self.value}" if self.operator == "Equal" else f"{self.key or '*'} {self.operator} {self.value}".rstrip()
        return f"{what}:{self.effect}" if self.effect else what


@value_record()
class TopologySpreadConstraint:
    """Policies are as the API's defaults: Honor for node affinity, Ignore for node taints."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _preferred(source: Json) -> PreferredTerm:
    return PreferredTerm(integer(source, "weight"), decode_term(mapping(source, "preference")))


def _node_affinity(source: Json) -> NodeAffinity:
    return NodeAffinity(nested(source, _REQUIRED, decode_node_selector), each(source, _PREFERRED, _preferred))


def _pod_term(source: Json) -> PodAffinityTerm:
    return PodAffinityTerm(
        intern(string(source, "topologyKey")),
        nested(source, "labelSelector", decode_label_selector),
        strings(source, "namespaces"),
        nested(source, "namespaceSelector", decode_label_selector),
        strings(source, "matchLabelKeys"),
        strings(source, "mismatchLabelKeys"),
    )


def _weighted(source: Json) -> WeightedPodAffinityTerm:
    return WeightedPodAffinityTerm(integer(source, "weight"), _pod_term(mapping(source, "podAffinityTerm")))


def _pod_affinity(source: Json) -> PodAffinity:
    return PodAffinity(each(source, _REQUIRED, _pod_term), each(source, _PREFERRED, _weighted))


def decode_affinity(source: Json) -> Affinity:
    """An Affinity out of its JSON."""
    return Affinity(
        nested(source, "nodeAffinity", _node_affinity) or NO_NODE_AFFINITY,
        nested(source, "podAffinity", _pod_affinity) or NO_POD_AFFINITY,
        nested(source, "podAntiAffinity", _pod_affinity) or NO_POD_AFFINITY,
    )


@lru_cache(maxsize=4096)
def _shared_toleration(key: str, operator: str, value: str, effect: str, seconds: int | None) -> Toleration:
    return Toleration(key, operator, value, effect, seconds)


def decode_toleration(source: Json) -> Toleration:
    """A Toleration out of its JSON."""
    return _shared_toleration(
        string(source, "key"),
        string(source, "operator") or "Equal",
        string(source, "value"),
        string(source, "effect"),
        optional_integer(source, "tolerationSeconds"),
    )


def decode_spread(source: Json) -> TopologySpreadConstraint:
    """A TopologySpreadConstraint out of its JSON."""
    return TopologySpreadConstraint(
        integer(source, "maxSkew"),
        intern(string(source, "topologyKey")),
        intern(string(source, "whenUnsatisfiable")),
        nested(source, "labelSelector", decode_label_selector),
        optional_integer(source, "minDomains"),
        string(source, "nodeAffinityPolicy") or "Honor",
        string(source, "nodeTaintsPolicy") or "Ignore",
        strings(source, "matchLabelKeys"),
    )
