"""Pods with claims, on an autoscaler that doesn't judge claims, or not what these claims use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..findings import finding
from ..objects import Pod
from ..view import ClusterView
from .autoscaler import Autoscaler, ClaimSupport
from .demand import device_demand, features_of
from .karpenter_words import ignores_claims
from .obstacle import Certainty, certainty_of
from .passing_over import Check, Passed
from .template import NodeTemplate

REMEDIES = {
    "Cluster Autoscaler": "Cluster Autoscaler 1.35 or newer, where claims are always judged",
    "Karpenter": "Karpenter 1.14 or newer with --ignore-dra-requests=false, and a provider that describes devices",
}


def claims_ignored(view: ClusterView, autoscaler: Autoscaler) -> Check:
    """Pods with claims where claims aren't judged: skipped, or taken as pods without any. Karpenter may have said of a pod that it is
    skipped; where all that is seen of it says otherwise, it isn't known which of the two still holds."""
    support = autoscaler.claims

    def check(pod: Pod) -> Passed | None:
        if not (pod.resource_claims or device_demand(view, pod).by_class):
            return None
        said = autoscaler.kind == "Karpenter" and ignores_claims(view, pod)
        if support.judged == "yes" and not said:
            return None
        found = finding(
            "CLAIMS_IGNORED",
            autoscaler.about,
            "spec.template.spec.containers" if autoscaler.ref is not None else "",
            autoscaler=autoscaler.kind,
            version=autoscaler.version_text,
            setting=_setting(support, said),
            effect="skipped" if said else support.effect or "unknown",
        )
        known: Mapping[str, Certainty] = {"yes": "unknown", "no": certainty_of(support.basis), "unknown": "likely" if said else "unknown"}
        return Passed(found, known[support.judged], REMEDIES[autoscaler.kind])

    return check


def _setting(support: ClaimSupport, said: bool) -> str:
    """What shows it: a setting that turns claims off before the autoscaler's word; against the word a setting that turns them on."""
    if not said or support.judged == "no":
        return support.because
    against = f", though {support.because}" if support.judged == "yes" and support.because else ""
    return f"as it says of the pod{against}"


def feature_ignored(view: ClusterView, autoscaler: Autoscaler, templates: Iterable[NodeTemplate]) -> Check:
    """Pods whose claims, or whose devices on a new node, use a part of DRA that this version doesn't know."""
    lacking = autoscaler.claims.lacking
    published = features_of(entry for template in templates for entry in template.slices)

    def check(pod: Pod) -> Passed | None:
        wanted = device_demand(view, pod) if lacking else None
        if wanted is None or not wanted.claims:
            return None
        feature = next((name for name in sorted(wanted.features | published) if name in lacking), None)
        if feature is None:
            return None
        since = lacking[feature]
        found = finding(
            "CLAIM_FEATURE_IGNORED",
            autoscaler.about,
            "",
            autoscaler=autoscaler.kind,
            version=autoscaler.version_text,
            feature=feature,
            since=since,
        )
        newer = f"{autoscaler.kind} {since} or newer" if since else f"claims without {feature}"
        return Passed(found, certainty_of(autoscaler.claims.basis), newer)

    return check
