"""What an answer rests on, as every answer ends with it: cluster, source, age, release and gates, what couldn't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8s_topo_mcp.releases import default_gates
from k8s_topo_mcp.rendering import age, clean, fold, moment
from k8s_topo_mcp.tools.models import Basis, BasisGate, BasisRelease

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView

_SUREST = ("given", "observed", "inferred", "assumed")
_SAID = {"given": "as given", "observed": "as served", "inferred": "default, some seen in use", "assumed": "default (assumed)"}


def basis(view: ClusterView, cut: tuple[str, ...] = ()) -> Basis:
    """
    The basis of an answer from `view`.

    Parameters
    ----------
    cut : tuple of str
        What the answer left out to stay short, in words.
    """
    release, read = view.release, view.source.as_of
    defaults = default_gates(release.minor)
    unusual = tuple(
        BasisGate(name=name, value=gate.enabled, how=gate.basis)
        for name, gate in sorted(release.gates.items())
        # Every gate of a component is served; only those count that this model knows.
        if gate.basis != "assumed" and name in defaults and gate.enabled != defaults[name].enabled
    )
    known = {gate.basis for gate in release.gates.values()}
    return Basis(
        cluster=view.source.cluster or None,
        source=" ".join(part for part in (view.source.kind, view.source.name) if part) or "objects made by hand",
        as_of=None if read is None else moment(read),
        # A snapshot's moment is its own `now`: its age on the wall says nothing of the cluster it shows.
        age_s=max(0, int(view.now - read)) if read is not None and view.source.kind == "live" else None,
        release=BasisRelease(value=release.version or str(release), how=release.basis),
        gates=unusual,
        gates_how=next(how for how in _SUREST if how in known or how == "assumed"),
        unreadable=tuple(
            f"{missing.kind} ({clean(missing.reason, 80)})" if missing.reason else missing.kind for missing in view.unreadable
        ),
        notes=tuple(note for note in (release.note, *view.notes) if note),
        cut=cut,
    )


def line(basis: Basis) -> str:
    """The text after the label `basis`."""
    when = basis.as_of or ""
    if basis.age_s is not None:
        when = f"{age(basis.age_s)} old"
    cluster = f"cluster {basis.cluster}, " if basis.cluster else ""
    how = "" if basis.release.how in ("observed", "given") else f" ({basis.release.how})"
    gates = f"gates {_SAID[basis.gates_how or 'assumed']}"
    if basis.gates:
        gates += ", not default: " + fold([f"{gate.name}={str(gate.value).lower()}" for gate in basis.gates])
    parts = [f"{cluster}{basis.source}{', ' if when else ''}{when}", f"Kubernetes {basis.release.value}{how}, {gates}"]
    if basis.unreadable:
        parts.append(f"unreadable: {fold(basis.unreadable)}")
    parts.extend(basis.notes[:2])
    if basis.cut:
        parts.append(f"left out: {fold(basis.cut)}")
    return " · ".join(parts)
