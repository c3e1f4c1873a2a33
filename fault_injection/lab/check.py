"""`lab check`: explain_pending against the real scheduler, one pod at a time on a quiet cluster.

For a pod that the scheduler refuses: its first PodScheduled condition against our cross-check, then every remedy that we offer, carried out
as told on a fresh copy of the pod, until it binds. For a pod that it binds: whether we said so, and on one of our nodes. Disagreements are
printed with both sentences, and kept as snapshots if asked.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time  # noqa: TID251 - how long pods take is what is measured
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fault_injection.scenes import Scene
from k8s_topo_mcp.dra.effort import effort
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling.placement import place, target
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.explain_pending import Input, Output, answer
from k8s_topo_mcp.view import ClusterView

from . import as_told
from .build import say
from .cases import CAUSES, FITTING, Case, Hardware, cluster
from .client import Object
from .errors import ApiError, LabError
from .lab import Lab
from .random_cases import at_random
from .told import NotUnderstood, remedies_of

SILENT = 3.0
"""Seconds after which a pod counts as one of which the scheduler says nothing."""
PATIENT = 20.0
"""The same where a word is expected: a busy machine may need long."""
BINDS = 25.0
"""Seconds in which a remedy must let the pod bind: a refused pod waits up to 10 s for its next attempt."""
TIMED_OUT = "timed out trying to allocate devices"
LONG = 100_000
"""Steps of a search that a machine with nothing else to do ends within a second."""
GATE = "lab.example.com/look-first"
REFUSED = ("Unschedulable", "SchedulerError")


@dataclass(slots=True)
class Result:
    """What was compared, and what disagreed. `agreed`: the pods about which nothing did, and the remedies that helped."""

    pods: int = 0
    remedies: int = 0
    agreed: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[str] = field(default_factory=list[str])
    too_slow: list[str] = field(default_factory=list[str])
    not_carried_out: list[str] = field(default_factory=list[str])


def check(lab: Lab, seed: int = 1, keep: Path | None = None, at_random_too: int = 0, known: bool = True) -> int:
    """The whole comparison; the exit code says whether all agreed. Without `known` only pods at random, and none of their remedies."""
    result = compare(lab, seed, keep, at_random_too, known)
    for text in result.not_carried_out:
        sys.stdout.write(f"NOT CARRIED OUT  {text}\n")
    for text in result.too_slow:
        sys.stdout.write(f"TOO SLOW HERE  {text}\n")
    for text in result.disagreements:
        sys.stdout.write(f"DISAGREES  {text}\n")
    told = ", ".join(f"{count} {verdict}" for verdict, count in result.verdicts.most_common())
    sys.stdout.write(
        f"{result.pods} pods compared with Kubernetes {lab.release} ({told}), {result.remedies} remedies carried out, "
        f"{len(result.disagreements)} disagreements\n"
    )
    return 1 if result.disagreements else 0


def compare(lab: Lab, seed: int = 1, keep: Path | None = None, at_random_too: int = 0, known: bool = True) -> Result:
    run = Run(lab, seed, keep)
    for case in (*FITTING, *CAUSES) if known else ():
        run.one(case)
    for _ in range(at_random_too):
        run.one(at_random(run.draw), remedies=known and run.draw.random() < 0.1)
    return run.result


class Run:
    """One cluster and what was found in it so far."""

    def __init__(self, lab: Lab, seed: int, keep: Path | None) -> None:
        self.lab = lab
        self.keep = keep
        self.result = Result()
        self.draw = random.Random(seed)
        self.scene = Scene(seed, release=lab.release)
        self.hardware: Hardware = cluster(self.scene)
        began = time.monotonic()
        self.scene.apply(lab.client)
        self._settle()
        say(f"cluster of {len(lab.client.list('v1', 'Node'))} nodes applied in {time.monotonic() - began:.1f} s")

    def one(self, case: Case, remedies: bool = True) -> None:
        """Compare one pod, then its remedies."""
        self.result.pods += 1
        before = len(self.result.disagreements) + len(self.result.too_slow)
        try:
            with self._pod(case, gated=not case.silent) as pod:
                self._compare(case, pod, remedies)
        except (LabError, ApiError) as error:
            self._disagree(case, f"the lab failed: {error}")
        self.result.agreed += len(self.result.disagreements) + len(self.result.too_slow) == before

    # --- one pod ----------------------------------------------------------------------------------------------------------------

    def _compare(self, case: Case, pod: Object, remedies: bool) -> None:
        ours = self._fitting(pod)
        began = time.monotonic()
        if not case.silent:
            self.lab.client.patch(pod, {"spec": {"schedulingGates": None}})
        state = self._outcome(pod, SILENT if case.silent else PATIENT)
        took = time.monotonic() - began
        node = state["spec"].get("nodeName")
        if node:
            self.result.verdicts["bound"] += 1
            if node not in ours:
                self._disagree(case, f"bound to {node}; we say it fits on {', '.join(ours) or 'no node'}", pod)
            say(f"{case.title}: bound after {took:.2f} s, one of our {len(ours)} nodes")
            return
        told = self._explain(pod)
        self.result.verdicts[told.verdict] += 1
        match = told.scheduler.match if told.scheduler is not None else "none"
        predicted = told.scheduler.predicted if told.scheduler is not None else None
        if case.binds:
            self._disagree(case, f"was meant to bind: {_said(state)}", pod)
        elif (ours or match not in ("agrees", "one_of")) and self._was_long(pod, _said(state)):
            self.result.too_slow.append(f"{case.title}: {_said(state)}")
        elif ours:
            self._disagree(case, f"we say it fits on {', '.join(ours)}; it said {_said(state)!r}", pod)
        elif case.silent:
            if match != "none" or told.blocker is None:
                self._disagree(case, f"the scheduler says nothing; we say {told.verdict}, {match}", pod)
        elif match not in ("agrees", "one_of"):
            self._disagree(case, f"{match}\n    it said   {_said(state)!r}\n    we say    {predicted!r}", pod)
        code = told.blocker.code if told.blocker is not None else "-"
        done = self._remedies(case, told, pod) if remedies else []
        say(f"{case.title}: {match}, {code}, first word after {took:.2f} s" + (f"; {'; '.join(done)}" if done else ""))

    def _outcome(self, pod: Object, seconds: float) -> Object:
        """The pod once the scheduler bound or refused it, or after it was silent long enough."""
        limit = time.monotonic() + seconds
        metadata = pod["metadata"]

        def looked_at() -> Object | None:
            state = self.lab.client.get("v1", "Pod", metadata["name"], metadata["namespace"])
            refused = (_condition(state) or {}).get("reason") in REFUSED
            return state if refused or state["spec"].get("nodeName") or time.monotonic() > limit else None

        return self.lab.wait(f"a word on pod {metadata['name']}", looked_at, seconds + 30, 0.03)

    def _view(self) -> ClusterView:
        return load_text(json.dumps(self.lab.snapshot()))

    def _explain(self, pod: Object) -> Output:
        """What the tool answers."""
        return answer(self._view(), Input(pod=pod["metadata"]["name"], namespace=pod["metadata"]["namespace"], detail="full"))

    def _fitting(self, pod: Object) -> tuple[str, ...]:
        """The nodes on which the pod fits, we say."""
        view = self._view()
        found = view.get(Pod, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if found is None:
            raise LabError(f"pod {pod['metadata']['name']} isn't in the snapshot")
        placement = place(view, found)
        # An error on any node ends the attempt for all.
        return () if placement.aborted else tuple(entry.node.name for entry in placement.fitting)

    def _was_long(self, pod: Object, said: str) -> bool:
        """Whether the scheduler timed out on a node where its search is long: if it ends within 10 s is then up to the machine."""
        found = re.search(f"node (\\S+): {TIMED_OUT}", said)
        if found is None:
            return False
        view = self._view()
        own, node = view.get(Pod, pod["metadata"]["name"], pod["metadata"]["namespace"]), view.get(Node, found[1])
        problem = place(view, own).devices.problem_on(node) if own is not None and node is not None else None
        if problem is None or node is None:
            return False
        counted = effort(prepare(problem), target(node))
        return counted is not None and counted.steps >= LONG

    # --- remedies ---------------------------------------------------------------------------------------------------------------

    def _remedies(self, case: Case, told: Output, pod: Object) -> list[str]:
        """Carry out each remedy: the first on the pod itself, the others on copies."""
        done: list[str] = []
        for number, first in enumerate(remedies_of(told)):
            try:
                if number == 0:
                    done.append(self._remedy(told, first.change, pod))
                else:
                    with self._pod(case, gated=False) as copy:
                        self._outcome(copy, SILENT if case.silent else PATIENT)
                        done.append(self._remedy(self._explain(copy), first.change, copy))
            except NotUnderstood as error:
                self.result.not_carried_out.append(f"{case.title}: {error}")
            except (LabError, ApiError) as error:
                self._disagree(case, f"remedy {first.change!r}: {error}", pod)
        return done

    def _remedy(self, answered: Output, change: str, pod: Object) -> str:
        told = next((entry for entry in remedies_of(answered) if entry.change == change), None)
        if told is None:
            raise NotUnderstood(f"{change!r} isn't offered for a second pod like the first")
        began = time.monotonic()
        subject, undo = as_told.carry_out(self.lab, pod, told, [holder.claim for holder in answered.holders if holder.claim is not None])
        self.result.remedies += 1
        metadata = subject["metadata"]
        try:

            def bound() -> str | None:
                state = self.lab.client.get("v1", "Pod", metadata["name"], metadata["namespace"])
                return state["spec"].get("nodeName")

            try:
                node = self.lab.wait("it to bind", bound, BINDS)
            except LabError:
                state = self.lab.client.get("v1", "Pod", metadata["name"], metadata["namespace"])
                if self._was_long(subject, _said(state)):
                    self.result.too_slow.append(f"{metadata['name']}, remedy {change!r}: {_said(state)}")
                    return f"{change} → too slow here"
                raise LabError(f"doesn't bind in {BINDS:.0f} s; it said {_said(state)!r}") from None
            took = time.monotonic() - began
            if wrong := told.elsewhere(node):
                raise LabError(wrong)
        finally:
            as_told.gone(self.lab, subject)
            undo()
        self.result.agreed += 1
        return f"{change} → bound in {took:.1f} s"

    # --- the cluster --------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _pod(self, case: Case, gated: bool) -> Iterator[Object]:
        """The case's pod with what belongs to it, gone again at the end."""
        start = len(self.scene.objects)
        pod = case.make(self.scene, self.hardware)
        if gated:
            pod["spec"]["schedulingGates"] = [{"name": GATE}]
        self.scene.apply(self.lab.client)
        made = self.scene.objects[start:]
        try:
            if any("resourceClaimTemplateName" in entry for entry in pod["spec"].get("resourceClaims") or ()):
                self.lab.wait("claims from templates", lambda: self._claims_made(pod), 10, 0.02)
            for item in made:
                if item["kind"] == "PersistentVolumeClaim" and item["spec"].get("volumeName"):
                    self.lab.wait("its volume to be bound", lambda item=item: self._bound(item), 20, 0.02)
            yield pod
        finally:
            for item in reversed(made):
                self._delete(item)
            del self.scene.objects[start:]

    def _claims_made(self, pod: Object) -> bool:
        state = self.lab.client.get("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        return bool((state.get("status") or {}).get("resourceClaimStatuses"))

    def _bound(self, claim: Object) -> bool:
        state = self.lab.client.get("v1", "PersistentVolumeClaim", claim["metadata"]["name"], claim["metadata"]["namespace"])
        return (state.get("status") or {}).get("phase") == "Bound"

    def _delete(self, item: Object) -> None:
        metadata = item["metadata"]
        if self.lab.client.find(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", "default")) is not None:
            self.lab.client.delete(item)
            if item["kind"] in ("PersistentVolumeClaim", "PersistentVolume"):
                # Whether anybody still uses them the protection controllers find out in their own time.
                with suppress(ApiError):
                    self.lab.client.let_go(item)
            self.lab.wait(f"{metadata['name']} to be gone", lambda: self._absent(item), 60, 0.02)

    def _absent(self, item: Object) -> bool:
        metadata = item["metadata"]
        return self.lab.client.find(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", "default")) is None

    def _settle(self) -> None:
        """Until the stand-in has made all nodes ready and all pods run."""

        def settled() -> bool:
            nodes = self.lab.client.list("v1", "Node")
            pods = self.lab.client.list("v1", "Pod")
            unready = [node for node in nodes if any("not-ready" in taint["key"] for taint in node["spec"].get("taints") or ())]
            return not unready and all(pod["status"].get("phase") == "Running" for pod in pods)

        self.lab.wait("nodes and pods to be ready", settled, 30)

    def _disagree(self, case: Case, text: str, pod: Object | None = None) -> None:
        number = len(self.result.disagreements) + 1
        kept = ""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            target = self.keep / f"{number:02d}-{case.title.replace(' ', '-').replace(',', '')}.json"
            target.write_text(json.dumps(self.lab.snapshot(), indent=1) + "\n")
            kept = f"\n    snapshot  {target}"
        name = f" (pod {pod['metadata']['namespace']}/{pod['metadata']['name']})" if pod is not None else ""
        self.result.disagreements.append(f"{case.title}{name}: {text}{kept}")
        say(f"DISAGREES {case.title}{name}: {text}{kept}")


def _condition(pod: Object) -> Object | None:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == "PodScheduled"), None)


def _said(pod: Object) -> str:
    found = _condition(pod)
    return f"{found.get('reason')}: {found.get('message')}" if found is not None else "nothing"
