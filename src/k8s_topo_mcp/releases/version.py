"""Kubernetes version strings and the answer of /version, as they come: "v1.37.2", "1.36+", "v1.34.2-eks-ecaa3a6", "v1.35.1+k3s1",
"v0.0.0-master+$Format:%H$" (a binary without a version stamp, whose minor still says 37)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

_VERSION = re.compile(r"\s*[vV]?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![\d])")
_NUMBER = re.compile(r"\s*(\d{1,4})\+?\s*\Z")


class VersionError(ValueError):
    """A version that can't be one of Kubernetes: says what was read and what would be right."""


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """What an API server says of itself. `emulated` and `compatibility` are minors, None where it doesn't say."""

    minor: int
    text: str
    emulated: int | None = None
    compatibility: int | None = None


def parse_minor(text: str) -> tuple[int, str]:
    """Minor and readable form ("1.37", "1.37.2") of a version string. Raises VersionError."""
    found = _VERSION.match(text)
    if found is None or found.group(1) != "1":
        raise VersionError(f"{_shown(text)} is not a Kubernetes version; right would be 1.37 or v1.37.2")
    patch = found.group(3)
    return int(found.group(2)), f"1.{int(found.group(2))}" + ("" if patch is None else f".{int(patch)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _minor(source: Mapping[str, Any], key: str) -> int | None:
    value = source.get(key)
    if type(value) is int:
        return value if 0 <= value < 10_000 else None
    found = _NUMBER.match(value) if isinstance(value, str) else None
    return None if found is None else int(found.group(1))


def read_server_version(answer: Mapping[str, Any]) -> ServerVersion:
    """The version out of /version, `kubectl version -o json`, or the server's half of that. Raises VersionError."""
    if isinstance(answer.get("serverVersion"), dict):
        answer = cast(Mapping[str, Any], answer["serverVersion"])
    elif "clientVersion" in answer:
        raise VersionError("it has clientVersion alone; serverVersion is missing (was kubectl version run without a cluster?)")
    git = answer.get("gitVersion")
    minor, text = None, ""
    if isinstance(git, str):
        try:
            minor, text = parse_minor(git)
        except VersionError:
            minor = None
    major = _minor(answer, "major")
    if minor is None and major in (1, None):  # no stamp: the number beside it still says which release this is
        minor = _minor(answer, "minor")
        text = f"1.{minor}"
    if minor is None:
        raise VersionError(
            f"neither gitVersion {_shown(str(git))} nor minor {_shown(str(answer.get('minor')))} names a release such as v1.37.2"
        )
    return ServerVersion(minor, text, _minor(answer, "emulationMinor"), _minor(answer, "minCompatibilityMinor"))


def parse_gates(text: str) -> Mapping[str, bool]:
    """The `kubernetes_feature_enabled` lines of /metrics, or plain `Name=true` lines and lists as in --feature-gates."""
    found: dict[str, bool] = {}
    for line in text.splitlines():
        metric = _METRIC.match(line)
        if metric is not None:
            found[metric.group(1)] = float(metric.group(2)) != 0
            continue
        if line.startswith("#") or "{" in line:
            continue
        for part in line.removeprefix("--feature-gates=").split(","):
            flag = _FLAG.match(part)
            if flag is not None:
                found[flag.group(1)] = flag.group(2).lower() == "true"
    return found


_METRIC = re.compile(r'\s*kubernetes_feature_enabled\{[^}]*?\bname="(\w{1,100})"[^}]*\}\s+([01](?:\.0+)?(?:e\+00)?)(?:\s|\Z)')
_FLAG = re.compile(r"\s*([A-Z]\w{1,100})\s*[=:]\s*(true|false)\s*\Z", re.IGNORECASE)
