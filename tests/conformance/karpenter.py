"""Our verdict on a node to come against that of Karpenter's own DRA allocator.

    python -m tests.conformance.karpenter compare SEED COUNT      builds the Go oracle, compares random templates
    python -m tests.conformance.karpenter record SEED COUNT       writes rows with their answers to tests/recordings/karpenter/

Ours goes through `scaleup.template` and the matching core of 1.37: claims fit, don't, or it is unknown. Where they differ a cause must
account for it: `as_karpenter` asks ours what Karpenter asks itself, one cause or several at a time, and the smallest set of causes with
which ours says what Karpenter says explains the row. What none explains is a failure. docs/karpenter-differences.md tells them to a reader.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Literal

from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Allocated, Outcome, Undetermined, Unknown
from k8s_topo_mcp.dra.prepared import pools_of, prepare
from k8s_topo_mcp.dra.problem import AllocationProblem, TargetNode
from k8s_topo_mcp.dra.selectors import chain, chain_verdicts
from k8s_topo_mcp.objects import ApiObject, AttributeBinding, Node, ResourceClaim, ResourceSlice, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scaleup.template import NodeTemplate, added
from k8s_topo_mcp.scheduling.dynamic_resources import problem_of
from k8s_topo_mcp.view import ClusterView

from ..oracle.karpenter.generate import NODE, rows

RECORDED = Path(__file__).parents[1] / "recordings" / "karpenter" / "1.14.jsonl.gz"
Row = dict[str, Any]
Verdict = Literal["fits", "no", "unknown"]
Id = tuple[str, str, str]

ALTERNATIVES = "alternatives refused"
EXHAUSTED = "an empty counter closes its pool"
LONE = "a binding of one device"
PUBLISHED = "bound devices that publish the value"
DIFFERENT = "bindings are taken to differ"
UNSEEN = "selectors see no bound attribute"
OVERDRAWN = "an overdrawn counter"
NOTHING = "all of nothing"
ERROR = "a selector that fails is no match"
SHARES = "two shares of a device for one request"
EXCLUSIVE = "capacity of a device that isn't shared"
ANOTHER = "another choice beside all"

CAUSES = (UNSEEN, LONE, PUBLISHED, DIFFERENT, OVERDRAWN, NOTHING, ERROR, SHARES, EXCLUSIVE, ANOTHER)
"""What `as_karpenter` can do; ALTERNATIVES and EXHAUSTED are seen in Karpenter's answers."""

MOST_CAUSES = 4
_REFUSED = "only Exactly requests are supported"
_SHADOW, _FROZEN = "karpenter.example/shadow", "karpenter.example"
_ROOM = "1Pi"


@dataclass(slots=True)
class Compared:
    """What came of it: `agree` by verdict, `causes` of differences, how many searches Karpenter gave up, and what nothing explains.

    `alone`: where one cause is enough, our verdict, whether Karpenter finds room, and the cause.
    """

    agree: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    explained: int = 0
    alone: list[tuple[Verdict, bool, str]] = field(default_factory=list)
    given_up: int = 0
    unexplained: list[str] = field(default_factory=list)

    @property
    def compared(self) -> int:
        return sum(self.agree.values()) + self.explained + len(self.unexplained)

    @property
    def summary(self) -> str:
        agree = ", ".join(f"{number} {verdict}" for verdict, number in sorted(self.agree.items()))
        causes = "; ".join(f"{name} {number}" for name, number in sorted(self.causes.items()))
        return (
            f"{self.compared} templates compared: {agree} in both, {self.explained} differ for known causes ({causes}), "
            f"{len(self.unexplained)} unexplained; {self.given_up} past Karpenter's 5 s"
        )


# --- ours ---


def template_of(row: Row) -> NodeTemplate:
    """The row's node to come. A binding has a name, since its devices are in several slices."""
    slices: list[ResourceSlice] = []
    for item in row["template"]:
        entry = _object(item)
        assert isinstance(entry, ResourceSlice)
        own = [
            AttributeBinding(binding["attribute"], frozenset(names), f"binding {number}")
            for number, binding in enumerate(row["bindings"])
            if (names := [each["device"] for each in binding["devices"] if (each["driver"], each["pool"]) == (entry.driver, entry.pool)])
        ]
        slices.append(replace(entry, bindings=tuple(own)) if entry.devices else entry)
    node = _object({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": row["labels"]}})
    assert isinstance(node, Node)
    return NodeTemplate("template", node, tuple(slices))


def asked(row: Row) -> tuple[AllocationProblem, TargetNode]:
    """The row's claims in its cluster, with one node of its template."""
    template = template_of(row)
    objects = [_object(item) for name in ("slices", "held", "classes", "claims") for item in row[name]]
    view = ClusterView(objects, release=release(37)).with_edits(*added(template, [f"{NODE}-1"]))
    names = {claim["metadata"]["name"] for claim in row["claims"]}
    claims = tuple(claim for claim in view.all(ResourceClaim) if claim.name in names)
    node = next(node for node in view.all(Node))
    return problem_of(view, claims), TargetNode(node.name, node.metadata.labels)


def verdict_of(outcome: Outcome) -> Verdict:
    """An aborted attempt adds no node, as one without a solution."""
    return "fits" if isinstance(outcome, Allocated) else "unknown" if isinstance(outcome, Unknown) else "no"


def ours(row: Row) -> Verdict:
    return verdict_of(allocate(*asked(row))) if row["claims"] else "fits"


def _object(item: Row) -> ApiObject:
    found = decode(item)
    assert found is not None
    return found


# --- what Karpenter does otherwise ---


def applicable(row: Row) -> list[str]:
    """The causes that can have to do with this row."""
    text = json.dumps(row["claims"])
    devices = [device for item in (*row["template"], *row["slices"]) for device in item["spec"].get("devices", ())]
    bound = {_id(each) for binding in row["bindings"] for each in binding["devices"]}
    attributes = {binding["attribute"] for binding in row["bindings"]}
    published = {each for each, device in _devices(row["template"]) if attributes & device.get("attributes", {}).keys()}
    found = {
        LONE: any(len(binding["devices"]) < 2 for binding in row["bindings"]),
        PUBLISHED: bool(bound & published),
        DIFFERENT: bool(bound),
        UNSEEN: any(name.partition("/")[2] in text for name in attributes),
        OVERDRAWN: bool(_overdrawn(row)),
        NOTHING: '"All"' in text,
        ERROR: "selectors" in text,
        SHARES: any(device.get("allowMultipleAllocations") for device in devices),
        EXCLUSIVE: '"capacity"' in text,
        ANOTHER: '"All"' in text and '"constraints"' in text,
    }
    return [name for name in CAUSES if found[name]]


def as_karpenter(row: Row, causes: frozenset[str]) -> Row | None:
    """The row so that ours judges it as Karpenter does in these respects; None where ours can't be asked so."""
    row = deepcopy(row)
    if OVERDRAWN in causes:
        for counter, taken in _overdrawn(row):
            counter["value"] = str(taken)  # nothing is left of it, and no more is gone
    if causes & {LONE, PUBLISHED, DIFFERENT, UNSEEN}:
        _bind(row, causes)
    if causes & {NOTHING, ERROR, EXCLUSIVE} and not _freeze(row, causes):
        return None
    if SHARES in causes:
        _split(row)
    if ANOTHER in causes:
        _all_first(row)
    return row


def _all_first(row: Row) -> None:
    """Requests for all devices before those that leave a choice, so that no choice is made that they can't bear."""
    for item in row["claims"]:
        item["spec"]["devices"]["requests"].sort(key=lambda request: request.get("exactly", {}).get("allocationMode") != "All")


def _bind(row: Row, causes: frozenset[str]) -> None:
    """Bindings as Karpenter reads them: in a shadow of the attribute where selectors or values are concerned."""
    given = [binding for binding in row["bindings"] if LONE not in causes or len(binding["devices"]) > 1]
    devices = dict(_devices([*row["template"], *row["slices"]]))
    bindings: list[Row] = []
    for attribute in dict.fromkeys(binding["attribute"] for binding in row["bindings"]):
        shadowed = bool(causes & {DIFFERENT, UNSEEN})
        if shadowed:
            for device in devices.values():
                if attribute in device.get("attributes", {}):
                    device["attributes"][_SHADOW] = device["attributes"][attribute]
            for constraint in (each for claim in row["claims"] for each in claim["spec"]["devices"].get("constraints", ())):
                if constraint["matchAttribute"] == attribute:
                    constraint["matchAttribute"] = _SHADOW
        for number, group in enumerate(_joined([binding for binding in given if binding["attribute"] == attribute])):
            values = [devices[each]["attributes"][attribute] for each in group if attribute in devices[each].get("attributes", {})]
            if PUBLISHED in causes:
                group = [each for each in group if attribute not in devices[each].get("attributes", {})]
                values = []
            members = [dict(zip(("driver", "pool", "device"), each, strict=True)) for each in group]
            if DIFFERENT in causes:
                for each in group:
                    attributes = devices[each].setdefault("attributes", {})
                    attributes[_SHADOW] = values[0] if values else {"string": f"group {number}"}
            elif shadowed:
                bindings.append({"attribute": _SHADOW, "devices": members})
            if UNSEEN not in causes:
                bindings.append({"attribute": attribute, "devices": members})
    row["bindings"] = bindings


def _joined(bindings: list[Row]) -> list[list[Id]]:
    groups: list[list[Id]] = []
    for binding in bindings:
        own = [_id(each) for each in binding["devices"]]
        touching = [group for group in groups if set(group) & set(own)]
        groups = [group for group in groups if group not in touching]
        groups.append(list(dict.fromkeys(each for group in (*touching, own) for each in group)))
    return groups


def _freeze(row: Row, causes: frozenset[str]) -> bool:
    """Each request gets the list of the devices that pass its selectors; False where ours can't say of all."""
    problem, node = asked(row)
    prepared = prepare(problem)
    entries = [entry for pool in pools_of(prepared, node) if pool.usable for entry in pool.slices]
    for item, claim in zip(row["claims"], sorted_like(row, problem), strict=True):
        devices = item["spec"]["devices"]
        kept: list[Row] = []
        for source, request in zip(devices["requests"], claim.spec.requests, strict=True):
            if request.exactly is None:
                return False
            selectors = chain(prepared.environment, problem.classes[request.exactly.class_name], request.exactly.selectors)
            passing: list[str] = []
            for entry in entries:
                for device, verdict in zip(entry.devices, chain_verdicts(entry, selectors), strict=True):
                    if isinstance(verdict, Undetermined) or (verdict not in (True, False) and ERROR not in causes):
                        return False
                    if verdict is True:
                        passing.append(f"{entry.driver}/{entry.pool.replace(f'{NODE}-1', NODE)}/{device.name}")
            if NOTHING in causes and not passing and request.exactly.mode == "All":
                continue
            source["exactly"]["deviceClassName"] = "any"
            source["exactly"]["selectors"] = [{"cel": {"expression": f'device.attributes["{_FROZEN}"].id in {json.dumps(passing)}'}}]
            kept.append(source)
        devices["requests"] = kept
        names = {source["name"] for source in kept}
        _restrict(devices, lambda name, names=names: [name] if name in names else [])
    row["claims"] = [item for item in row["claims"] if item["spec"]["devices"]["requests"]]
    named = {name for item in row["claims"] for each in item["spec"]["devices"]["requests"] for name in _capacities(each)}
    for key, device in _devices([*row["template"], *row["slices"]]):
        device.setdefault("attributes", {})[f"{_FROZEN}/id"] = {"string": "/".join(key)}
        if EXCLUSIVE in causes and not device.get("allowMultipleAllocations"):
            device.setdefault("capacity", {}).update({name: {"value": _ROOM} for name in named})
    return True


def sorted_like(row: Row, problem: AllocationProblem) -> list[ResourceClaim]:
    """The problem's claims in the row's order."""
    by_name = {claim.name: claim for claim in problem.claims}
    return [by_name[item["metadata"]["name"]] for item in row["claims"]]


def _capacities(request: Row) -> Iterable[str]:
    return request["exactly"].get("capacity", {}).get("requests", {})


def _split(row: Row) -> None:
    """A request for several devices becomes several for one, which may share a device."""
    for item in row["claims"]:
        devices = item["spec"]["devices"]
        names: dict[str, list[str]] = {}
        made: list[Row] = []
        for request in devices["requests"]:
            count = request.get("exactly", {}).get("count", 1)
            names[request["name"]] = [f"{request['name']}-{number}" for number in range(count)] if count > 1 else [request["name"]]
            for name in names[request["name"]]:
                one = deepcopy(request) | {"name": name}
                if count > 1:
                    one["exactly"]["count"] = 1
                made.append(one)
        devices["requests"] = made
        _restrict(devices, lambda name, names=names: names[name])


def _overdrawn(row: Row) -> list[tuple[Row, int]]:
    """The counters of the cluster's pools of which allocated devices take more than there is, with what they take."""
    held = {_id(each) for each in (*row["allocated"], *row["consumed"])}
    taken: Counter[tuple[str, str, str, str]] = Counter()
    for key, device in _devices(row["slices"]):
        for use in device.get("consumesCounters", ()) if key in held else ():
            for name, counter in use["counters"].items():
                taken[*key[:2], use["counterSet"], name] += int(counter["value"])
    return [
        (counter, amount)
        for item in row["slices"]
        for counter_set in item["spec"].get("sharedCounters", ())
        for name, counter in counter_set["counters"].items()
        if (amount := taken[item["spec"]["driver"], item["spec"]["pool"]["name"], counter_set["name"], name]) > int(counter["value"])
    ]


def _restrict(devices: Row, named: Any) -> None:
    """Constraints on what has become of their requests; one whose requests are gone goes too."""
    kept: list[Row] = []
    for constraint in devices.get("constraints", ()):
        before = constraint.get("requests")
        if before:
            constraint["requests"] = [name for each in before for name in named(each)]
        if not before or constraint["requests"]:
            kept.append(constraint)
    devices["constraints"] = kept


def _devices(slices: Iterable[Row]) -> Iterator[tuple[Id, Row]]:
    for item in slices:
        spec = item["spec"]
        for device in spec.get("devices", ()):
            yield (spec["driver"], spec["pool"]["name"], device["name"]), device


def _id(item: Row) -> Id:
    return item["driver"], item["pool"], item["device"]


def with_spare_counters(row: Row) -> Row | None:
    """The row with one unit more of every counter of the cluster's pools: none of its devices fits for that. None without counters.

    If Karpenter then says something else, a counter that was used up has kept it from devices that don't draw from it.
    """
    found = deepcopy(row)
    counters = [
        counter
        for item in found["slices"]
        for counter_set in item["spec"].get("sharedCounters", ())
        for counter in counter_set["counters"].values()
    ]
    for counter in counters:
        counter["value"] = str(int(counter["value"]) + 1)
    return found if counters else None


# --- comparing ---


def explanation(row: Row, answer: Row, again: Row | None) -> tuple[str, ...] | None:
    """The fewest causes with which ours says what Karpenter says; () if it does as it is, None if nothing explains it."""
    if (
        answer["kind"] == "refused"
        and _REFUSED in answer["error"]
        and any("firstAvailable" in request for claim in row["claims"] for request in claim["spec"]["devices"]["requests"])
    ):
        return () if ours(row) == "no" else (ALTERNATIVES,)
    wanted = [((), _said(answer)), *([((EXHAUSTED,), _said(again))] if again is not None and _said(again) != _said(answer) else [])]
    possible = applicable(row)
    known: dict[frozenset[str], Verdict | None] = {}
    for number in range(MOST_CAUSES + 1):
        for seen, verdict in wanted:
            for causes in combinations(possible, number - len(seen)) if number >= len(seen) else ():
                chosen = frozenset(causes)
                if chosen not in known:
                    changed = as_karpenter(row, chosen) if chosen else row
                    known[chosen] = None if changed is None else ours(changed)
                if known[chosen] == verdict:
                    return (*seen, *causes)
    return None


def _said(answer: Row) -> Verdict | None:
    return {"allocated": "fits", "none": "no", "refused": "no"}.get(answer["kind"])  # type: ignore[return-value]


def compare_rows(answered: Iterable[tuple[Row, Row, Row | None]]) -> Compared:
    """Rows with Karpenter's answers, the second one with spare counters where that was asked."""
    found = Compared()
    for row, answer, again in answered:
        if answer["kind"] == "timeout":
            found.given_up += 1
            continue
        causes = explanation(row, answer, again)
        if causes is None:
            found.unexplained.append(
                f"{row['id']}: ours {ours(row)}, Karpenter {answer['kind']} {answer.get('error', '')}\n{json.dumps(row)}"
            )
        elif causes:
            found.explained += 1
            found.causes.update(causes)
            if len(causes) == 1:
                found.alone.append((ours(row), answer["kind"] == "allocated", causes[0]))
        else:
            found.agree[_said(answer) or ""] += 1
    return found


def answered(seed: int, count: int) -> Iterator[tuple[Row, Row, Row | None]]:
    """Random rows with Karpenter's answers; those that have counters in the cluster and find nothing are asked again."""
    from ..oracle.karpenter.client import judge

    made = list(islice(rows(seed), count))
    answers = list(judge(made))
    again = {
        row["id"]: spare
        for row, answer in zip(made, answers, strict=True)
        if answer["kind"] == "none" and (spare := with_spare_counters(row))
    }
    second = {answer["id"]: answer for answer in judge(again.values())}
    for row, answer in zip(made, answers, strict=True):
        yield row, answer, second.get(row["id"])


def compare_karpenter(seed: int, count: int) -> Compared:
    """`count` random templates, live."""
    return compare_rows(answered(seed, count))


def recorded() -> Iterator[tuple[Row, Row, Row | None]]:
    """The recorded rows with Karpenter's answers."""
    with gzip.open(RECORDED, "rt") as file:
        for line in file:
            entry = json.loads(line)
            yield entry["row"], entry["answer"], entry.get("again")


def record(seed: int, count: int) -> int:
    """Write random rows down with Karpenter's answers, without the times they took."""
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with RECORDED.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        for row, answer, again in answered(seed, count):
            entry = {"row": row, "answer": _timeless(answer), **({"again": _timeless(again)} if again else {})}
            file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            written += 1
    return written


def _timeless(answer: Row) -> Row:
    return {key: value for key, value in answer.items() if key != "seconds"}


def main(arguments: list[str]) -> int:
    command, seed, count = arguments[0], int(arguments[1]), int(arguments[2])
    if command == "record":
        print(f"{record(seed, count)} rows in {RECORDED}")
        return 0
    found = compare_karpenter(seed, count)
    for text in found.unexplained[:10]:
        print(text)
    print(found.summary)
    return 1 if found.unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
