"""Runs attempts: each with a replay server of its own on a free port and an empty home, several side by side, none twice."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fault_injection import replay

from . import isolation
from .agents import Agent
from .arms import Arm
from .cases import Asked, Split, fingerprint
from .records import Folder, Outcome, Record, Size, identity, short
from .tasks import PROMPT, STOPPING, NotReached, Task, Told

METRIC = (
    "Right at 120 seconds: the share of cases whose last answer by then blames the right object by the right mechanism, blames nobody"
    " innocent, and proposes a fix that was carried out in a fresh copy of the cluster and worked; of controls: that nothing has to be"
    " changed. Attempts whose fix only an autoscaler could judge are left out. Pending faults and DRA faults apart. Beside it, per case"
    " that is right: seconds, tokens and characters read."
)
"""The primary metric, part of every run's description from before its first attempt."""

CONFIDENT = 0.8
"""From this confidence on a wrong answer is confident and wrong. Fixed before the first run."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One agent in one arm at one case, for the n-th time."""

    case: Asked
    arm: Arm | None
    agent: Agent
    repeat: int
    size: Size = "unknown"

    @property
    def arm_name(self) -> str:
        return self.arm.name if self.arm is not None else "none"

    @property
    def id(self) -> str:
        return identity(self.case.name, self.arm_name, self.agent.kind, self.agent.model, self.repeat)


def attempts(
    cases: Sequence[Asked], arms: Sequence[Arm], agents: Sequence[Agent], repeats: int, sizes: Mapping[str, Size] | None = None
) -> list[Attempt]:
    """All attempts; an agent that uses no arm makes one per case and repeat. Case by case: a run that is cut short has compared arms.
    `sizes` of models, by their names."""
    return [
        Attempt(case, arm, agent, repeat, (sizes or {}).get(agent.model, "unknown"))
        for repeat in range(repeats)
        for case in cases
        for agent in agents
        for arm in (arms if agent.uses_arms else (None,))
    ]


def share(found: Sequence[Attempt], index: int, of: int) -> list[Attempt]:
    """One shard of `of`, `index` from 1: every of-th case with all its attempts, so that arms stay comparable within a shard."""
    names = sorted({attempt.case.name for attempt in found})
    own = set(names[index - 1 :: of])
    return [attempt for attempt in found if attempt.case.name in own]


def describe(folder: Folder, cases: Sequence[Asked], split: Split, arms: Sequence[Arm], seconds: float, repeats: int) -> None:
    """run.json: everything that a reader needs to run it again."""
    folder.describe(
        {
            "metric": METRIC,
            "confident": CONFIDENT,
            "prompt": PROMPT,
            "seconds": seconds,
            "repeats": repeats,
            "split": split,
            "cases": {case.name: case.seed for case in cases},
            "fingerprint": fingerprint(cases),
            "arms": {arm.name: arm.model_dump(mode="json") for arm in arms},
        }
    )


def run(
    todo: Sequence[Attempt],
    folder: Folder,
    seconds: float,
    jobs: int,
    tell: Callable[[Record], None],
    isolated: isolation.Wanted = "none",
    recordings: Path | None = None,
) -> int:
    """What isn't on record yet; gives how many attempts were made. An arm or agent that can't be run is recorded as not run. `recordings`:
    the folder of recordings from elsewhere, if cases are from one."""
    apart = _Apart(isolated, folder.path, recordings)
    left = [attempt for attempt in todo if not folder.has(attempt.id)]
    STOPPING.clear()

    def one(attempt: Attempt) -> None:
        if STOPPING.is_set():
            return
        record = _attempt(attempt, folder.path, seconds, apart)
        if STOPPING.is_set():
            return  # it was cut short by us: it isn't on record, and is made again
        folder.add(record)
        tell(record)

    with ThreadPoolExecutor(jobs, thread_name_prefix="attempt") as pool:
        waiting = [pool.submit(one, attempt) for attempt in left]
        try:
            for future in waiting:
                future.result()
        except BaseException:
            STOPPING.set()
            for future in waiting:
                future.cancel()
            raise
    return len(left)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Whether attempts are to be isolated. Hidden are repositories, the run's folder, and that of recordings from elsewhere."""

    wanted: isolation.Wanted
    folder: Path
    recordings: Path | None

    def shell(self, task: Task) -> contextlib.AbstractContextManager[isolation.Box]:
        """The box of a model's commands. Raises NotIsolated where there can't be one, on entering it too."""
        return isolation.shell(task.home.parent, self._hidden(), task.environment())

    def program(self, task: Task, files: Iterable[Path]) -> contextlib.AbstractContextManager[isolation.Box]:
        """The box of a program, of which these are the files. Raises as `shell` does."""
        sources = [place / "src" for place in isolation.repositories()] if task.arm.brings_ours else []
        return isolation.program(task.home.parent, self._hidden(), (*files, Path(sys.prefix), *sources), task.environment())

    def _hidden(self) -> tuple[Path, ...]:
        elsewhere = () if self.recordings is None else (self.recordings.resolve(),)
        found = (*isolation.repositories(), self.folder.resolve(), *elsewhere)
        return tuple(place for place in dict.fromkeys(found) if not any(other in place.parents for other in found))


def _attempt(attempt: Attempt, folder: Path, seconds: float, apart: _Apart) -> Record:
    case, arm, agent = attempt.case, attempt.arm, attempt.agent
    lacking = agent.missing() or (arm.missing() if arm is not None else None)
    if lacking is not None:
        return _record(attempt, Told(outcome="not run", why=lacking), 0.0, 0, None)
    exposed = agent.files is not None or (arm is not None and (arm.shell or arm.brings_others))
    told, writes = Told(by=case.answered_by), 0
    # What an agent left running may still write into its home: that is no reason to lose the attempt.
    with tempfile.TemporaryDirectory(prefix="k8s-topo-mcp-eval-", ignore_cleanup_errors=True) as home, contextlib.ExitStack() as stack:
        kubeconfig, own = Path(home) / "kubeconfig", Path(home) / "home"
        own.mkdir()
        server = None
        task = Task(case, arm or _NOTHING, kubeconfig, own, seconds)
        try:
            if arm is not None:
                server = stack.enter_context(replay.serve(str(case.snapshot)))
                server.kubeconfig(kubeconfig)
            if exposed:
                told.isolation = _isolated(attempt, task, apart, stack)
            task.begin()
            agent.run(task, told)
        except Exception as error:
            # An agent is somebody else's program: whatever it does ends this attempt alone.
            reason: BaseException = error
            while isinstance(reason, BaseExceptionGroup):
                reason = reason.exceptions[0]
            told.outcome = "not run" if isinstance(reason, NotReached) else "failed"
            told.why = f"{type(reason).__name__}: {reason}"[:500]
        # What a program said last is heard a moment after it has ended.
        spent = max(told.ended if told.ended is not None else task.clock(), *(timed.at for timed in told.answers), 0.0)
        told.answers = [timed for timed in told.answers if timed.at <= seconds]
        if server is not None:
            writes = len(server.writes)
        path = _write_transcript(folder, attempt, task, told)
    return _record(attempt, told, min(spent, seconds) if told.outcome == "out of time" else spent, writes, path)


def _isolated(attempt: Attempt, task: Task, apart: _Apart, stack: contextlib.ExitStack) -> str:
    """Put the attempt's commands into a box, or say why not. Raises NotReached where they must be in one."""
    if apart.wanted == "none":
        return f"{isolation.NOT}: not asked for"
    try:
        files = attempt.agent.files
        if files is not None:
            task.box = stack.enter_context(apart.program(task, files))
        elif task.arm.shell:
            task.box = stack.enter_context(apart.shell(task))
        if files is None and task.arm.brings_others:
            task.box_of_servers = stack.enter_context(apart.program(task, ()))
    except isolation.NotIsolated as error:
        if apart.wanted == "required":
            raise NotReached(f"{isolation.NOT}: {error}") from None
        return f"{isolation.NOT}: {error}"
    return isolation.NAMESPACES


_NOTHING = Arm(name="none", title="nothing")


def _record(attempt: Attempt, told: Told, spent: float, writes: int, transcript: str | None) -> Record:
    outcome: Outcome = told.outcome or ("answered" if told.answers else "no answer")
    return Record(
        case=attempt.case.name,
        seed=attempt.case.seed,
        arm=attempt.arm_name,
        agent=attempt.agent.kind,
        model=attempt.agent.model,
        repeat=attempt.repeat,
        size=attempt.size,
        outcome=outcome,
        why=told.why,
        seconds=round(spent, 3),
        model_seconds=None if told.model_seconds is None else round(told.model_seconds, 3),
        answers=tuple(told.answers),
        tokens_in=told.tokens_in,
        tokens_out=told.tokens_out,
        cost=told.cost,
        tool_calls=told.tool_calls,
        characters=told.characters,
        refused_writes=writes,
        isolation=told.isolation,
        transcript=transcript,
    )


def _write_transcript(folder: Path, attempt: Attempt, task: Task, told: Told) -> str | None:
    """Where the transcript is, from the folder; None where nothing was said but the answer."""
    if not told.transcript:
        return None
    target = folder / "transcripts" / f"{short(attempt.id)}.json"
    content = {"question": attempt.case.question, "prompt": task.prompt, "events": told.transcript}
    # What an agent's environment shows of this machine is no part of a result.
    text = json.dumps(content, indent=1, ensure_ascii=False).replace(str(task.home.parent), "/attempt").replace(sys.executable, "python")
    for name, value in os.environ.items():
        if len(value) >= 8 and any(word in name.upper() for word in ("KEY", "TOKEN", "SECRET", "PASSWORD")):
            text = text.replace(value, "[left out]")
    target.write_text(text + "\n", encoding="utf-8", errors="replace")
    return f"transcripts/{target.name}"
