"""Which Kubernetes release a cluster runs, which gates are on, and how each of these is known.

Basis, from the surest: `given` by the user, `observed` (the server said so), `inferred` (from API versions served and fields that
survived), `assumed` (the release's default).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from .evidence import NO_EVIDENCE, Evidence, infer
from .gates import DEFAULTS, NEEDS_COMPATIBILITY, NEWEST, OLDEST, GateDefault, default_gates, nearest_known
from .version import ServerVersion, VersionError, parse_gates, parse_minor, read_server_version

Basis: TypeAlias = Literal["given", "observed", "inferred", "assumed"]


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a gate is on, and how that is known."""

    enabled: bool
    basis: Basis = "assumed"


NO_SUCH_GATE = Gate(False)


@dataclass(frozen=True, slots=True)
class Release:
    """A release and its gates.

    Attributes
    ----------
    minor
        The minor whose rules are used, 34 to 37.
    basis
        How the release is known.
    version
        As precisely as it is known: "1.37.2", or "1.37".
    gates
        State of each gate; ask through `enabled` or `gate`.
    note
        What a reader should know: that another release stands in, or what the inference rests on. "" for nothing.
    """

    minor: int
    basis: Basis = "assumed"
    version: str = ""
    gates: Mapping[str, Gate] = field(default_factory=dict[str, Gate])
    note: str = ""

    def enabled(self, name: str) -> bool:
        """Whether gate `name` is on. A gate that this release doesn't have is off."""
        return self.gate(name).enabled

    def gate(self, name: str) -> Gate:
        """State of one gate, and how it is known."""
        return self.gates.get(name, NO_SUCH_GATE)

    def with_gate(self, name: str, *, enabled: bool, basis: Basis) -> Release:
        """The release with one gate as it is given here."""
        return replace(self, gates={**self.gates, name: Gate(enabled, basis)})

    def __str__(self) -> str:
        return f"1.{self.minor}"


def release(minor: int, gates: Mapping[str, bool] | None = None) -> Release:
    """A release by its minor, with its default gates and those given."""
    return release_from(given_minor=minor, given_gates=gates)


def release_from(
    version_json: Mapping[str, Any] | None = None,
    metrics_text: str | None = None,
    given_minor: int | str | None = None,
    given_gates: Mapping[str, bool] | None = None,
    evidence: Evidence = NO_EVIDENCE,
) -> Release:
    """The release of a cluster from all that is known of it.

    Parameters
    ----------
    version_json
        The answer of /version, or of `kubectl version -o json`.
    metrics_text
        The `kubernetes_feature_enabled` lines of /metrics.
    given_minor
        What the user says: 37, "1.37", "v1.37.2". Wins over everything. If it contradicts `version_json`, gates observed on that
        server don't count.
    given_gates
        Gates that the user states; win over everything.
    evidence
        What the objects tell (`infer`).

    Raises
    ------
    VersionError
        For a version, given or served, that isn't one.
    """
    served = None if version_json is None else read_server_version(version_json)
    basis: Basis
    note = ""
    emulated = compatibility = None
    if given_minor is not None:
        minor, version, basis = *_given(given_minor), "given"
    elif served is not None:
        minor, version, basis = served.minor, served.text, "observed"
    elif evidence.minor is not None:
        minor, version, basis, note = evidence.minor, f"1.{evidence.minor}", "inferred", f"1.{evidence.minor} or newer: {evidence.why}"
    else:
        minor, version, basis, note = NEWEST, f"1.{NEWEST}", "assumed", f"the release isn't known; taken as 1.{NEWEST}"
    same_server = served is not None and served.minor == minor
    if served is not None and same_server:
        emulated, compatibility = served.emulated, served.compatibility
        if emulated is not None and emulated != minor:
            note = f"{version} emulates 1.{emulated}: gates as in 1.{nearest_known(emulated)}"
    known = nearest_known(minor)
    if known != minor:
        note = f"1.{minor} isn't modelled; judged as 1.{known}, the nearest known release"
    gates = {name: Gate(state.enabled) for name, state in default_gates(minor if emulated is None else emulated, compatibility).items()}
    if evidence.minor is None or evidence.minor <= known:  # fields of a newer release say nothing of the one that the user asks for
        gates.update((name, Gate(True, "inferred")) for name in evidence.gates if name in DEFAULTS[known])
    if metrics_text is not None and (served is None or same_server):
        gates.update((name, Gate(enabled, "observed")) for name, enabled in parse_gates(metrics_text).items())
    gates.update((name, Gate(enabled, "given")) for name, enabled in (given_gates or {}).items())
    return Release(known, basis, version, gates, note)


def _given(minor: int | str) -> tuple[int, str]:
    if isinstance(minor, str):
        return (int(minor), f"1.{int(minor)}") if minor.isdecimal() and len(minor) < 4 else parse_minor(minor)
    if not 0 < minor < 1000:
        raise VersionError(f"{minor} is not a minor of Kubernetes 1; right would be 37 or 1.37")
    return minor, f"1.{minor}"


__all__ = [
    "DEFAULTS",
    "NEEDS_COMPATIBILITY",
    "NEWEST",
    "NO_EVIDENCE",
    "OLDEST",
    "Basis",
    "Evidence",
    "Gate",
    "GateDefault",
    "Release",
    "ServerVersion",
    "VersionError",
    "default_gates",
    "infer",
    "nearest_known",
    "parse_gates",
    "parse_minor",
    "read_server_version",
    "release",
    "release_from",
]
