"""Two baselines without a model. `event-text`: what the scheduler's and controllers' own words suggest, read by fixed rules, nothing looked
at but the asked object's conditions and events. `first-answer`: explain_pending's first answer taken as it is; a regression figure, not
evidence, since cases, codes and tool have the same authors.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import yaml

from evals.answers import Answer, Ref, Step
from evals.cases import Case
from evals.keys import key
from evals.mechanisms import Mechanism, first_of_code
from evals.parts import find
from evals.predictions import Fits, Nodes, Prediction
from evals.tasks import Task, Told
from fault_injection.library import asked
from k8s_topo_mcp.diagnosis.fields import steps
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools import claim_feasibility, simulate_scaleup
from k8s_topo_mcp.tools.explain_pending import Output
from k8s_topo_mcp.tools.models import Remedy
from k8s_topo_mcp.tools.scaleup_models import Addition

Object = dict[str, Any]

_RULES: tuple[tuple[str, Mechanism, str], ...] = (
    (r"exceeded quota: (?P<name>[\w.-]+)", Mechanism.LIMIT, "ResourceQuota"),
    (r"admin access|admission|denied the request|is forbidden", Mechanism.REFUSED, "claim"),
    (r'resourceclaimtemplate[^"]*"(?P<name>[\w./-]+)"[^"]*not found', Mechanism.REFERENCE, "ResourceClaimTemplate"),
    (r'device class "?(?P<name>[\w.-]+)"? does not exist', Mechanism.REFERENCE, "DeviceClass"),
    (r'resourceclaim "(?P<name>[\w./-]+)" not found', Mechanism.REFERENCE, "ResourceClaim"),
    (r"is being deleted|waiting for .* to be (?:created|deleted)", Mechanism.REFERENCE, "claim"),
    (r"CEL runtime error|feature is disabled|too many|exceeds? the limit", Mechanism.REFUSED, "claim"),
    (r"scheduling gate", Mechanism.LIMIT, "Pod"),
    (r"untolerated taint|were unschedulable", Mechanism.KEPT_OUT, "Pod"),
    (r"volume node affinity", Mechanism.KEPT_OUT, "Pod"),
    (r"didn't match Pod's node affinity/selector", Mechanism.NOTHING_MATCHES, "Pod"),
    (r"cannot allocate all claims", Mechanism.HELD, "claim"),
    (r"Insufficient ", Mechanism.HELD, "Pod"),
)
"""Words, what they suggest, and whose fault that would be: of all that a text names, the first rule that fits."""


class Baseline:
    """Neither looks at what an arm offers."""

    uses_arms = False
    files = None

    def __init__(self, kind: str, model: str) -> None:
        self.kind, self.model = kind, ""

    def missing(self) -> str | None:
        return None

    def run(self, task: Task, told: Told) -> None:
        case = task.case
        if isinstance(case, Prediction):
            # Events say nothing of what isn't there yet.
            answer = None if self.kind == "event-text" else our_prediction(case)
        else:
            assert isinstance(case, Case)
            answer = of_events(case) if self.kind == "event-text" else of_our_first(case)
        told.tool_calls = told.characters = told.tokens_in = told.tokens_out = 0
        if answer is not None:
            told.answer(answer, task.clock())


def make(kind: str, model: str) -> Baseline:
    return Baseline(kind, model)


# --- event text -----------------------------------------------------------------------------------------------------------------------


def of_events(case: Case) -> Answer:
    """What the words suggest; no words of trouble: that nothing is wrong."""
    of = case.asked
    item = case.recording.find(of) or {}
    status = item.get("status") or {}
    said = [
        str(entry.get("message") or "")
        for entry in status.get("conditions") or ()
        if entry.get("status") != "True" or entry.get("type") in ("ReplicaFailure", "FailureTarget")
    ]
    said += [str(event.get("message") or "") for event in case.recording.events(of) if event.get("type") == "Warning"]
    words = " ".join(said)
    for pattern, mechanism, whose in _RULES:
        match = re.search(pattern, words)
        if match is not None:
            name = match.groupdict().get("name")
            return Answer(object=_whose(whose, name, item), mechanism=mechanism, found=words[:300], confidence=0.5)
    return Answer(nothing_wrong=True, confidence=0.5)


def _whose(kind: str, name: str | None, item: Object) -> Ref:
    metadata = item.get("metadata") or {}
    namespace = metadata.get("namespace")
    if name is not None:
        return Ref(kind=kind, name=name.rsplit("/", 1)[-1], namespace=None if kind == "DeviceClass" else namespace)
    statuses = (item.get("status") or {}).get("resourceClaimStatuses") or ()
    claims = [entry.get("resourceClaimName") for entry in [*((item.get("spec") or {}).get("resourceClaims") or ()), *statuses]]
    claim = next((found for found in claims if found), None)
    if kind == "claim" and claim:
        return Ref(kind="ResourceClaim", name=claim, namespace=namespace)
    return Ref(kind=str(item.get("kind") or "Pod"), name=str(metadata.get("name") or ""), namespace=namespace)


# --- our first answer -----------------------------------------------------------------------------------------------------------------


def of_our_first(case: Case) -> Answer:
    """explain_pending's answer in the form: the blocker and its object, the first remedy that keeps what was meant; where none does, the
    first that was checked, as a reader in a hurry would take it. Whether it gives up what was meant is seen when it is carried out."""
    output = asked.ask(case.recording.items, case.golden, case.recording.roles)
    blocker = output.blocker
    if blocker is None or _is_fine(output):
        return Answer(nothing_wrong=True, confidence=0.9)
    checked = sorted((entry for entry in output.remedies if entry.checked), key=lambda entry: entry.keeps_intent is False)
    remedy = checked[0] if checked else None
    if remedy is not None and (remedy.apply or "").startswith("nothing is to be changed"):
        return Answer(nothing_wrong=True, confidence=0.9)
    fix = steps_of(case, remedy, blocker.object, blocker.field) if remedy is not None else ()
    changed = [step.object for step in fix if step.object is not None and remedy is not None and remedy.keeps_intent is not False]
    own = ref_of(blocker.object) if blocker.object else None
    return Answer(
        object=changed[0] if changed else own,
        field=blocker.field,
        found=blocker.actual,
        needed=blocker.expected,
        mechanism=first_of_code(blocker.code),
        fix=fix,
        confidence=0.9,
    )


def our_prediction(case: Prediction) -> Answer:
    """claim_feasibility's answer about a manifest, simulate_scaleup's about nodes."""
    view = load_text(gzip.decompress(case.snapshot.read_bytes()).decode())
    measured = case.measured
    if isinstance(measured, Nodes):
        of = case.case.asked
        manifest = "---\n".join(candidate.manifest for candidate in measured.candidates)
        good = [
            candidate.name
            for candidate in measured.candidates
            if simulate_scaleup.answer(
                view,
                simulate_scaleup.Input(
                    pods=(f"{of.namespace}/{of.name}",),
                    template=manifest,
                    add=(Addition(group=candidate.name),),
                ),
            ).verdict
            == "starts"
        ]
        return Answer(choices=tuple(good), confidence=0.9)
    output = claim_feasibility.answer(view, claim_feasibility.Input(manifest=measured.manifest))
    copies = 0 if output.quota else output.copies  # what a quota doesn't let be made doesn't start
    if isinstance(measured, Fits):
        return Answer(yes=None if copies is None else copies > 0, confidence=0.9)
    return Answer(number=None if copies is None else min(copies, measured.of), confidence=0.9)


def _is_fine(output: Output) -> bool:
    """Whether the verdict itself says that nothing has to be changed."""
    return output.verdict in ("not pending", "fits now")


def ref_of(text: str) -> Ref:
    """ "Pod default/x" or "Node x" as a reference."""
    kind, _, full = text.partition(" ")
    namespace, _, name = full.rpartition("/")
    return Ref(kind=kind, name=name, namespace=namespace or None)


def steps_of(case: Case, remedy: Remedy, about: str | None, field: str | None) -> tuple[Step, ...]:
    """A remedy's change as steps; none for what isn't a change of objects that are all named, or is a component's to make."""
    if re.search(r"\band [\d,]+ more\b", remedy.change):
        return ()
    objects = [ref_of(text) for text in (remedy.objects or ((remedy.object or about or ""),)) if " " in text]
    path = remedy.field or (field if remedy.object in (None, about) else None)
    if objects and re.search(r"\bends?\b", remedy.change) and all(of.kind == "Pod" for of in objects):
        return tuple(Step(delete=True, object=of) for of in objects)
    template = re.search(r"replace ResourceClaimTemplate (?P<name>[\w./-]+)", remedy.apply or "")
    if template is not None and path is not None and path.startswith("spec.devices"):
        objects, path = [ref_of(f"ResourceClaimTemplate {template['name']}")], f"spec.{path}"
    if not objects or path is None:
        return ()
    if path == "status.allocation":
        return tuple(step for of in objects for step in _released(case, of, remedy.apply or ""))
    way = [str(step).replace("~", "~0").replace("/", "~1") for step in steps(path)]
    if way[0] == "status":
        return ()
    return tuple(step for of in objects if (step := _set(case, of, way, remedy.to)) is not None)


def _released(case: Case, claim: Ref, apply: str) -> tuple[Step, ...]:
    """What lets a claim's devices go: the end of the pods that have it; of a claim that nobody has, its own. Where `apply` speaks of
    reservations that aren't a pod's or of finalizers, they are taken out."""
    item = _item(case, claim)
    if "reservedFor" in apply or "finalizer" in apply:
        change: Object = {"status": {"reservedFor": []}} if "reservedFor" in apply else {"metadata": {"finalizers": None}}
        ends = (Step(delete=True, object=claim),) if re.search(r"\bdelete\b", apply) else ()
        return (Step(patch=change, object=claim), *ends)
    reserved = [] if item is None else (item.get("status") or {}).get("reservedFor") or []
    users = [user for user in reserved if find(Ref(kind="Pod", name=user["name"], namespace=claim.namespace), case.present)]
    if not users:
        return (Step(delete=True, object=claim),)
    return tuple(Step(delete=True, object=Ref(kind="Pod", name=user["name"], namespace=claim.namespace)) for user in users)


def _set(case: Case, of: Ref, way: list[str], to: str | None) -> Step | None:
    """A field as the remedy wants it: without a value it goes; what is given for a list is added to it, what is in braces is merged."""
    where = "/" + "/".join(way)
    if to is None:
        return Step(patch=[{"op": "remove", "path": where}], object=of)
    try:
        value = json.loads(json.dumps(yaml.safe_load(to)))
    except (yaml.YAMLError, TypeError, ValueError):
        value = to
    now: Any = _item(case, of)
    for part in way:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(now, list):
            now = now[int(part)] if part.isdigit() and int(part) < len(now) else None
        else:
            now = now.get(part) if isinstance(now, dict) else None
    if isinstance(now, str):
        value = to
    elif isinstance(now, list) and not isinstance(value, list):
        where += "/-"
    elif now is None and isinstance(value, dict) and way[-1].endswith("s"):
        value = [value]
    elif isinstance(now, dict) and isinstance(value, dict):
        value = {**now, **value}
    return Step(patch=[{"op": "add", "path": where, "value": value}], object=of)


def _item(case: Case, of: Ref) -> Object | None:
    found = find(of, case.present)
    for item in case.recording.items:
        if "metadata" in item and key(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace") or "") == found:
            return item
    return None
