"""What each release of an autoscaler knows of claims for devices.

Cluster Autoscaler (cluster-autoscaler/docs/dra_support.md and pkg/config/flags): flag --enable-dynamic-resource-allocation since 1.32, off
unless given; on and locked since 1.35; adminAccess since 1.35, partitionable devices since 1.36; of other parts of DRA nothing is stated.
Karpenter (pkg/operator/options): before 1.7 claims aren't looked at; since 1.7 --ignore-dra-requests, true unless given, makes it skip pods
with claims; since 1.14 it has an allocator of its own for where that is false, which takes no firstAvailable and no distinctAttribute
(pkg/scheduling/dynamicresources/request.go) and knows no adminAccess and no taints. Providers of Karpenter are versioned with it, minor for
minor, as far as known.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..objects import SemVer
from .autoscaler import ClaimSupport
from .settings import Setting, Settings

FLAG = "enable-dynamic-resource-allocation"
IGNORE = "ignore-dra-requests"
IGNORE_VARIABLE = "IGNORE_DRA_REQUESTS"

_CLUSTER_AUTOSCALER: Mapping[str, str] = {"adminAccess": "1.35", "partitionable devices": "1.36"}
_KARPENTER: Mapping[str, str] = {"firstAvailable": "", "distinctAttribute": "", "adminAccess": "", "device taints": ""}


def of_cluster_autoscaler(version: SemVer | None, settings: Settings) -> ClaimSupport:
    """Whether this Cluster Autoscaler judges claims."""
    given = settings.get(FLAG, "")
    if version is None:
        if given.basis == "observed":
            return ClaimSupport("yes" if given.on else "no", f"{given.source}={given.value}", "observed", "" if given.on else "plain")
        return ClaimSupport("unknown", "its version isn't known", "assumed")
    minor = _minor(version)
    if minor >= (1, 35):
        return ClaimSupport("yes", "on since 1.35, can't be turned off", "default", "", _lacking(_CLUSTER_AUTOSCALER, minor))
    if minor < (1, 32):
        return ClaimSupport("no", "since 1.32 by flag", "default", "plain")
    if given.basis == "assumed" and settings.readable:
        return _unread(given)
    if given.on:
        return ClaimSupport("yes", f"{given.source}={given.value}", given.basis, "", _lacking(_CLUSTER_AUTOSCALER, minor))
    because = f"{given.source}={given.value or 'false'}"
    return ClaimSupport("no", because, given.basis, "plain" if minor < (1, 34) else "unknown")


def of_karpenter(version: SemVer | None, settings: Settings) -> ClaimSupport:
    """Whether this Karpenter judges claims."""
    given = settings.get(IGNORE, "true", IGNORE_VARIABLE)
    because = f"{given.source}={given.value}"
    minor = None if version is None else _minor(version)
    if minor is not None and minor < (1, 7):
        return ClaimSupport("no", "claims aren't looked at before 1.7", "default", "plain")
    if given.basis == "assumed" and settings.readable:
        return _unread(given)
    if given.on:
        return ClaimSupport("no", because, given.basis, "skipped" if minor is not None else "unknown")
    if minor is None:
        return ClaimSupport("unknown", "its version isn't known", "assumed")
    if minor < (1, 14):
        return ClaimSupport("no", "an allocator for devices exists since 1.14", "default", "plain")
    return ClaimSupport("yes", because, given.basis, "", _KARPENTER)


def _unread(given: Setting) -> ClaimSupport:
    return ClaimSupport("unknown", f"{given.source} has a value that can't be read", "assumed")


def _minor(version: SemVer) -> tuple[int, int]:
    return version.major, version.minor


def _lacking(since: Mapping[str, str], minor: tuple[int, int]) -> Mapping[str, str]:
    return {name: release for name, release in since.items() if _release(release) > minor}


def _release(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
