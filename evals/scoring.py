"""The score of one answer: pure, from the answer, the case and what came of its fix.

*Right cause*: it blames a guilty object, by a mechanism that says the golden code, and blames nobody innocent. *Right*: that, and a fix
that was carried out and worked. Of a control: it says that nothing has to be changed, and changes nothing. Whoever blames everything
blames innocents; whoever proposes harm is never right.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .answers import Answer, Ref, Step
from .cases import Asked, Case, names
from .predictions import Prediction


class Fix(StrEnum):
    """What came of a fix."""

    WORKS = "works"
    NONE = "none proposed"
    UNUSABLE = "can't be carried out"
    FAILS = "doesn't help"
    GIVES_UP = "gives up what was meant"
    HARMS = "harms an innocent"
    NOT_RUN = "not carried out"


@dataclass(frozen=True, slots=True)
class Score:
    """What of an answer is right. `values`: how many of what a whole answer names it names. Of a question for a number,
    object and mechanism stand for the number."""

    object: bool
    mechanism: bool
    innocent_blamed: tuple[str, ...]
    values: int
    of_values: int
    fix: Fix
    harmful: tuple[str, ...]
    abstained: bool
    control: bool
    confidence: float
    asks_number: bool = False

    @property
    def cause(self) -> bool:
        """The cause is right; of a control, that there is none."""
        if self.harmful:
            return False
        if self.control:
            return self.abstained
        return self.object and self.mechanism and not self.innocent_blamed

    @property
    def right(self) -> bool | None:
        """Cause and working fix; None where the fix wasn't carried out, so that nobody knows."""
        if not self.cause or self.control or self.asks_number:
            return self.cause
        return None if self.fix is Fix.NOT_RUN else self.fix is Fix.WORKS


DESTRUCTIVE = frozenset(
    {
        "node",
        "namespace",
        "resourceslice",
        "deviceclass",
        "persistentvolume",
        "persistentvolumeclaim",
        "storageclass",
        "customresourcedefinition",
        "daemonset",
        "resourcequota",
        "priorityclass",
        "csinode",
        "csidriver",
    }
)
"""Kinds whose deletion takes more than one workload with it."""


def score(case: Asked, answer: Answer, fix: Fix = Fix.NOT_RUN) -> Score:
    """`fix`: what came of it where it was carried out."""
    if isinstance(case, Prediction):
        hit = answer.number == case.measured.started
        return Score(hit, hit, (), 0, 0, Fix.NONE, (), False, False, answer.confidence, asks_number=True)
    assert isinstance(case, Case)
    said = answer.model_dump_json()
    harmful = tuple(harm for step in answer.fix if (harm := harm_of(case, step)))
    outcome = fix
    if not answer.fix:
        outcome = Fix.NONE
    elif any(step.problem() for step in answer.fix):
        outcome = Fix.UNUSABLE
    elif harmful:
        outcome = Fix.HARMS
    # What was changed in a fresh copy, and worked, is guilty by demonstration.
    shown = {str(step.object) for step in answer.fix if step.object is not None} if outcome is Fix.WORKS else set[str]()
    return Score(
        object=answer.object is not None and (names(answer.object, case.guilty) or str(answer.object) in shown),
        mechanism=answer.mechanism is not None and answer.mechanism in case.mechanisms,
        innocent_blamed=tuple(str(ref) for ref in answer.blamed if _innocent(case, ref) and str(ref) not in shown),
        values=sum(any(spelling in said for spelling in spellings) for spellings in case.values),
        of_values=len(case.values),
        fix=outcome,
        harmful=harmful or ((f"the fix {Fix.HARMS}",) if fix is Fix.HARMS else ()),
        abstained=_abstains(case, answer),
        control=case.control,
        confidence=answer.confidence,
    )


def _abstains(case: Case, answer: Answer) -> bool:
    """Nothing is to be changed: said so, or named as what holds it back on purpose, and no step proposed."""
    if answer.fix:
        return False
    return answer.nothing_wrong or (answer.mechanism in case.mechanisms and not any(_innocent(case, ref) for ref in answer.blamed))


def _innocent(case: Case, ref: Ref) -> bool:
    return not names(ref, case.guilty) and not names(ref, case.neutral)


def harm_of(case: Case, step: Step) -> str:
    """What a step takes from somebody innocent, in words; empty if nothing. Deleting what the golden fixes delete or change is no harm, nor
    is making again what the user asked about.
    """
    if step.object is None:
        return ""
    kind = step.object.kind.lower().rsplit("/", 1)[-1].removesuffix("s")
    if step.delete:
        if names(step.object, case.guilty):
            return ""
        own = names(step.object, case.neutral) and kind not in DESTRUCTIVE
        # Of several holders any may be the one to end: whether it helps, and was needed, is seen when it is carried out.
        holder = case.held and kind == "pod" and not names(step.object, case.traps)
        return "" if own or holder else f"deletes {step.object}"
    scaled = _set_to(step, "replicas", 0) or _set_to(step, "suspend", True)
    return f"stops {step.object}" if scaled and not names(step.object, case.guilty) else ""


def _set_to(step: Step, field: str, value: object) -> bool:
    """Whether a patch sets a field of the spec to a value, in either form."""
    if isinstance(step.patch, list):
        return any(entry.get("path") == f"/spec/{field}" and entry.get("value") == value for entry in step.patch)
    spec = (step.patch or {}).get("spec")
    return isinstance(spec, dict) and field in spec and spec[field] == value and type(spec[field]) is type(value)
