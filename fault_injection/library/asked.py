"""explain_pending asked about a recording, and its answer held against the golden file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools import simulate_scaleup
from k8s_topo_mcp.tools.explain_pending import Input, Output, answer, text
from k8s_topo_mcp.view import ClusterView

from .changes import on_recording
from .golden import Golden
from .recordings import Recording
from .roles import Roles, filled

Object = dict[str, Any]


def ask(items: Sequence[Object], golden: Golden, roles: Roles, detail: str = "short") -> Output:
    """What the tool answers to the user's question, on these objects."""
    view = _view(items)
    arguments = {name: filled(value, roles) for name, value in golden.ask.items()}
    return answer(view, Input.model_validate({**arguments, "detail": detail}))


def _view(items: Sequence[Object]) -> ClusterView:
    return load_text(json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(items)}))


def complaints(recording: Recording, golden: Golden) -> list[str]:
    """Where the answer isn't the golden one, each in words; none if it is right."""
    roles = recording.roles
    output = ask(recording.items, golden, roles)
    found: list[str] = []
    if output.verdict != golden.verdict:
        found.append(f"verdict {output.verdict!r}, golden {golden.verdict!r}")
    first = output.blocker
    if not golden.blockers:
        if first is not None:
            found.append(f"first blocker {first.code} {first.object or ''}, golden none")
    else:
        wanted = golden.blockers[0]
        if first is None or first.code != wanted.code:
            found.append(f"first blocker {first.code if first else 'none'}, golden {wanted.code}")
        elif wanted.object is not None and first.object != filled(wanted.object, roles):
            found.append(f"first blocker's object {first.object!r}, golden {filled(wanted.object, roles)!r}")
    behind = [(entry.code, entry.object) for entry in output.behind]
    for wanted in golden.blockers[1:]:
        own = None if wanted.object is None else filled(wanted.object, roles)
        if not any(code == wanted.code and own in (None, of) for code, of in behind):
            found.append(f"behind it {', '.join(code for code, _ in behind) or 'nothing'}, golden {wanted.code}{f' {own}' if own else ''}")
    said = text(output)
    for value in golden.values:
        spellings = [filled(text, roles) for text in ([value] if isinstance(value, str) else value)]
        if not any(text in said for text in spellings):
            found.append(f"the answer doesn't name {' or '.join(map(repr, spellings))}")
    return found + _on_groups(recording, golden) + _on_trials(recording, golden)


def _on_groups(recording: Recording, golden: Golden) -> list[str]:
    """simulate_scaleup's first obstacle of each group that the golden file speaks of."""
    if not golden.scaleup:
        return []
    pods = [filled(golden.ask["pod"], recording.roles)]
    output = simulate_scaleup.answer(_view(recording.items), simulate_scaleup.Input.model_validate({"pods": pods}))
    found: list[str] = []
    for wanted in golden.scaleup:
        group = filled(wanted.group, recording.roles)
        met = [row.obstacles[0].code for row in output.autoscalers if row.obstacles and (row.group or "").split()[-1:] == [group]]
        if met[:1] != [wanted.code]:
            found.append(f"simulate_scaleup: group {group} meets {met[0] if met else 'nothing'} first, golden {wanted.code}")
    return found


def _on_trials(recording: Recording, golden: Golden) -> list[str]:
    """What our model says of the golden changes: a fix must make the pod fit, a change that doesn't help mustn't."""
    found: list[str] = []
    for trial in golden.fixes:
        if trial.where == "anywhere":
            after = ask(on_recording(recording.items, trial.change, recording.roles), golden, recording.roles)
            if after.verdict != "fits now":
                code = f", {after.blocker.code}" if after.blocker else ""
                found.append(f"after the fix {trial.say!r} it says {after.verdict!r}{code}")
    for trial in golden.not_fixes:
        if trial.where == "anywhere" and not trial.loses:
            after = ask(on_recording(recording.items, trial.change, recording.roles), golden, recording.roles)
            if after.verdict == "fits now":
                found.append(f"after {trial.say!r}, which doesn't help, it says it fits")
    return found
