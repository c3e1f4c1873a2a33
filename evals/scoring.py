"""The score of one answer: pure, from the answer, the case and what came of its fix.

*Right cause*: it blames a guilty object, by a mechanism that says the golden code, and blames nobody innocent. *Right*: that, and a fix
that was carried out and worked. Of a control: it says that nothing has to be changed, and changes nothing. Whoever blames everything
blames innocents; whoever proposes harm is never right; whoever says that nothing is wrong and blames somebody says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from k8s_topo_mcp.objects import KINDS

from .answers import Answer, Ref, Step
from .cases import Asked, Case
from .keys import ObjectKey
from .mechanisms import Mechanism
from .parts import find, names
from .predictions import Copies, Fits, Prediction


class Fix(StrEnum):
    """What came of a fix."""

    WORKS = "works"
    NONE = "none proposed"
    UNUSABLE = "can't be carried out"
    FAILS = "doesn't help"
    GIVES_UP = "gives up what was meant"
    HARMS = "harms an innocent"
    AUTOSCALER = "only an autoscaler would show"
    NOT_RUN = "not carried out"


@dataclass(frozen=True, slots=True)
class Score:
    """What of an answer is right. `values`: how many of what a whole answer names it names. Of a question before
    anything is broken `object` is whether the answer has what was measured, `mechanism` whether it has nothing else."""

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
    predicts: bool = False
    contradicts: bool = False

    @property
    def cause(self) -> bool:
        """The cause is right; of a control, that there is none."""
        if self.harmful or self.contradicts:
            return False
        if self.control:
            return self.abstained
        return self.object and self.mechanism and not self.innocent_blamed

    @property
    def right(self) -> bool | None:
        """Cause and working fix; None where nobody knows (`untried`, `unknowable`)."""
        if not self.cause or self.control or self.predicts:
            return self.cause
        return None if self.fix in (Fix.NOT_RUN, Fix.AUTOSCALER) else self.fix is Fix.WORKS

    @property
    def untried(self) -> bool:
        """The cause is right, and its fix is still to be carried out."""
        return self.right is None and self.fix is Fix.NOT_RUN

    @property
    def unknowable(self) -> bool:
        """The cause is right, and no lab can show whether its fix helps."""
        return self.right is None and self.fix is Fix.AUTOSCALER


def score(case: Asked, answer: Answer, fix: Fix = Fix.NOT_RUN) -> Score:
    """`fix`: what came of it where it was carried out."""
    if isinstance(case, Prediction):
        found, nothing_else = predicted(case, answer)
        return Score(found, nothing_else, (), 0, 0, Fix.NONE, (), False, False, answer.confidence, predicts=True)
    assert isinstance(case, Case)
    said = answer.model_dump_json()
    harmful = harms(case, answer.fix)
    outcome = fix
    if not answer.fix:
        outcome = Fix.NONE
    elif any(step.problem() for step in answer.fix):
        outcome = Fix.UNUSABLE
    elif harmful:
        outcome = Fix.HARMS
    shown = shown_guilty(case, answer.fix) if outcome is Fix.WORKS else frozenset[ObjectKey]()
    blamed = {of for of in case.blamable | shown if answer.object is not None and names(answer.object, (of,))}
    # Of an object that is to blame only the mechanisms that say what is wrong with it; without one, any that says a cause here.
    said_of = {mechanism for of in blamed for mechanism in case.mechanisms_of(of)} if blamed else case.mechanisms
    if blamed & shown:
        said_of |= case.causes[0][1]
    return Score(
        object=bool(blamed),
        mechanism=answer.mechanism is not None and answer.mechanism in said_of,
        innocent_blamed=tuple(str(ref) for ref in answer.blamed if _innocent(case, ref) and not names(ref, shown)),
        values=sum(any(spelling in said for spelling in spellings) for spellings in case.values),
        of_values=len(case.values),
        fix=outcome,
        harmful=harmful or ((f"the fix {Fix.HARMS}",) if fix is Fix.HARMS else ()),
        abstained=_abstains(case, answer),
        control=case.control,
        confidence=answer.confidence,
        contradicts=answer.nothing_wrong and bool(answer.blamed or answer.fix),
    )


def predicted(case: Prediction, answer: Answer) -> tuple[bool, bool]:
    """Whether an answer has what was measured, and whether it has nothing else: of a number and of yes or no both are one, of several nodes
    to choose it may name some, or too many. What doesn't answer the question has neither."""
    truth = case.measured
    if isinstance(truth, Copies):
        hit = answer.number == truth.started
        return hit, hit
    if isinstance(truth, Fits):
        hit = answer.yes is truth.starts
        return hit, hit
    if answer.choices is None:
        return False, False
    said = {name.strip().rpartition("/")[2].rpartition(" ")[2] for name in answer.choices}
    return said >= set(truth.would_do), said <= set(truth.would_do)


def shown_guilty(case: Case, fix: Sequence[Step]) -> frozenset[ObjectKey]:
    """Who is guilty by demonstration: of several that hold devices, those whose end alone was the fix that worked, no more than a golden
    fix ends, and none that the golden file calls innocent."""
    alone = case.held and 0 < len(fix) <= max(1, case.ends) and all(step.delete for step in fix)
    pods = [step.object for step in fix if step.object is not None and _kind(step.object) == "pod"]
    if not alone or len(pods) != len(fix) or any(names(ref, case.traps) for ref in pods):
        return frozenset()
    return frozenset(found for ref in pods if (found := find(ref, case.present)) is not None)


def _abstains(case: Case, answer: Answer) -> bool:
    """Nothing is to be changed: said so, or what holds it back on purpose (a limit or queue, where it is one) named, and no step
    proposed."""
    if answer.fix:
        return False
    if answer.nothing_wrong:
        return not answer.blamed
    on_purpose = answer.mechanism is Mechanism.LIMIT and Mechanism.LIMIT in case.mechanisms
    return on_purpose and not any(_innocent(case, ref) for ref in answer.blamed)


def _innocent(case: Case, ref: Ref) -> bool:
    return not names(ref, case.blamable) and not names(ref, case.neutral)


def _kind(ref: Ref) -> str:
    kind = ref.kind.lower().rsplit("/", 1)[-1].partition(".")[0]
    return next((known for known in (kind, kind.removesuffix("s"), kind.removesuffix("es")) if known in _KNOWN), kind)


_KNOWN = frozenset(kind.lower() for _, kind in KINDS)


def harms(case: Case, fix: Sequence[Step]) -> tuple[str, ...]:
    """What a fix takes from somebody innocent, in words, as far as it shows on its face. A fix may change what the golden fixes change,
    delete what they delete, and change or delete the user's own pod, claims, templates and owners; of several that hold devices it may
    end as many pods as a golden fix does, any of them (whether that was needed is seen when it is carried out); it may make new things,
    but no hardware.
    """
    found = [harm for step in fix if (harm := harm_of(case, step))]
    ended = [step.object for step in fix if step.delete and step.object is not None and _kind(step.object) == "pod"]
    others = {find(ref, case.present) or str(ref) for ref in ended if not names(ref, case.own)}
    most = max(1, case.ends)
    if not found and len(others) > most:
        found.append(f"ends {len(others)} pods where {most} {'is' if most == 1 else 'are'} enough")
    return tuple(found)


def harm_of(case: Case, step: Step) -> str:
    """What one step takes from somebody innocent, in words; empty if nothing."""
    ref = step.about
    if ref is None or names(ref, case.deletable if step.delete else case.guilty):
        return ""
    if names(ref, case.own):
        return f"deletes {ref}" if step.delete and _kind(ref) in HARDWARE | {"namespace"} else ""
    if step.delete:
        holder = case.held and _kind(ref) == "pod" and not names(ref, case.traps)
        return "" if holder else f"deletes {ref}"
    if names(ref, case.present):
        return f"changes {ref}, which is not at fault"
    return f"invents {ref}" if _kind(ref) in HARDWARE else ""


HARDWARE = frozenset({"node", "resourceslice", "csinode", "csidriver", "persistentvolume", "devicetaintrule"})
"""Kinds that say what hardware there is: a fix that makes up some fixes nothing."""
