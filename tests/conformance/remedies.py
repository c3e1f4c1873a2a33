"""Remedies against the real allocator: random problems are diagnosed, and every changed problem that ours judged is judged by upstream too.

    compared, differences = compare_remedies("1.37", seed=7, count=300)

A remedy that is offered must make the real allocator say yes on the node named; one that is listed as not helping must not. Changes of
another release, and of things that a row doesn't have (a pod, a node's labels), are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from traceback import format_exception
from typing import Any

from k8s_topo_mcp.diagnosis.new_nodes import TWIN
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Change
from k8s_topo_mcp.dra.allocation import allocate, allocate_in_every_order
from k8s_topo_mcp.dra.features import allocator_features
from k8s_topo_mcp.dra.outcome import Aborted, Allocated
from k8s_topo_mcp.dra.variants import variant
from k8s_topo_mcp.objects import ClaimSpec, DeviceClass, DeviceToleration, ExactRequest, ResourceClaim, ResourceSlice
from k8s_topo_mcp.scaleup.template import new_names
from k8s_topo_mcp.view import Add, Replace

from ..diagnosis.random_pods import view_of
from ..oracle.client import Oracle
from ..oracle.generate import problems
from .comparison import Row, problem_of
from .live import RUNS_UNORDERED, UNDECIDED

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One changed problem: what was changed, whether ours says that it then fits, and the row that asks upstream."""

    text: str
    fits: bool
    row: Row


def compare_remedies(minor: str, seed: int, count: int) -> tuple[int, list[tuple[Row, str]]]:
    """How many changes were compared over `count` random problems, and those on which the two differ, as (row, why)."""
    cases: list[Case] = []
    compared = 0
    differences: list[tuple[Row, str]] = []
    for row in islice(problems(seed, minor), count):
        try:
            cases += cases_of(row, int(minor.partition(".")[2]))
        except Exception as error:  # a crash of ours is a difference like another, and doesn't end the run
            compared += 1
            differences.append((row, f"ours: {'; '.join(format_exception(error)[-2:])}"))
    with Oracle(minor) as oracle:
        for case, answer in zip(cases, oracle.allocate([case.row for case in cases]), strict=True):
            if answer.get("errorKind") in UNDECIDED or answer.get("dropped"):
                continue
            compared += 1
            answers = [answer, *(answer.get("variants") or [])]
            always = all(entry.get("results") is not None and entry.get("error") is None for entry in answers)
            if always != case.fits and not (always and _depends_on_order(case.row, int(minor.partition(".")[2]))):
                said = "fits" if case.fits else "doesn't help"
                differences.append(({**case.row, **answer}, f"ours: {case.text}: {said}; theirs: {json.dumps(answer)[:300]}"))
    return compared, differences


def _depends_on_order(row: Row, minor: int) -> bool:
    """Whether some order of the pools finds nothing or fails: the runs needn't have shown it, and such a change isn't offered."""
    problem, node = problem_of(row, minor)
    return not all(isinstance(outcome, Allocated) for outcome in allocate_in_every_order(problem, node))


def cases_of(row: Row, minor: int) -> Iterator[Case]:
    """Every change that the diagnosis of a row tried, as a row of its own."""
    if len({claim["metadata"]["name"] for claim in row["claims"]}) < len(row["claims"]):
        return  # no cluster has two claims of one name, and a view has the last of them
    view, pod = view_of(row, minor)
    features = frozenset(name for name, on in row["features"].items() if on)
    if allocator_features(view.release) != features:
        return  # the scheduler of this release never asks with these switches
    if row["allocatedShared"] and "ConsumableCapacity" not in features:
        return  # without the gate the scheduler takes a shared device as held whole, and never hands it over as shared
    report = explain_pending(view, pod)
    for trial in (*report.remedies, *report.not_helping):
        if trial.change.text.startswith("releasing any single"):
            continue
        if not trial.nodes and _adds(trial.change) and isinstance(allocate(*problem_of(row, minor)), Aborted):
            continue  # the node that is there still ends the attempt; upstream is asked of the new one alone
        changed = changed_row(row, trial.change)
        if changed is None:
            continue
        # Our view has slices by name, and where a release takes them as listed the order can decide.
        changed["slices"] = sorted(changed["slices"], key=lambda entry: entry["metadata"]["name"])
        chosen = variant(minor, features)
        changed["runs"] = 1 if chosen is not None and chosen.ordered else RUNS_UNORDERED
        yield Case(trial.change.text, bool(trial.nodes), changed)


def _adds(change: Change) -> bool:
    return any(isinstance(edit, Add) for edit in change.edits)


def changed_row(row: Row, change: Change) -> Row | None:
    """The row with the change made; None for a change that a row can't express."""
    changed: Row = {**row, "id": f"{row['id']}: {change.text}"}
    if change.release is not None:
        return None
    if change.releases:
        released = _released(changed, {claim.name for claim in change.releases})
        if released is None:
            return None
        changed = released
    if _adds(change):
        return _twin(row, changed, change) if all(isinstance(edit, Add) for edit in change.edits) else None
    for edit in change.edits:
        item = edit.object
        if isinstance(edit, Replace) and isinstance(item, ResourceClaim):
            changed["claims"] = [
                {**claim, "spec": spec_of(item.spec)} if claim["metadata"]["name"] == item.name else claim for claim in changed["claims"]
            ]
        elif isinstance(edit, Replace) and isinstance(item, DeviceClass):
            selectors = [{"cel": {"expression": selector.expression}} for selector in item.selectors]
            changed["classes"] = [
                {**entry, "spec": {**entry["spec"], "selectors": selectors}} if entry["metadata"]["name"] == item.name else entry
                for entry in changed["classes"]
            ]
        else:
            return None
    return changed


def _released(row: Row, names: set[str]) -> Row | None:
    """Without what these holders hold; they are numbered as `random_pods` numbers them. None where another share of a device stays: a row
    has what all shares of a device consume together."""
    gone = [entry for place, entry in enumerate(row["allocatedShared"]) if f"sharer-{place}" in names]
    left = [entry for place, entry in enumerate(row["allocatedShared"]) if f"sharer-{place}" not in names]
    if any(_same(one, other) for one in gone for other in left):
        return None
    return {
        **row,
        "allocated": [entry for place, entry in enumerate(row["allocated"]) if f"holder-{place}" not in names],
        "allocatedShared": [entry for place, entry in enumerate(row["allocatedShared"]) if f"sharer-{place}" not in names],
        "consumed": [used for used in row["consumed"] if not any(_same(used, entry) for entry in gone)],
    }


def _same(one: Json, other: Json) -> bool:
    return all(one[key] == other[key] for key in ("Driver", "Pool", "Device"))


def _twin(row: Row, changed: Row, change: Change) -> Row:
    """The row asked on a node like its own, with slices like those that name it, beside all others. Which taints a new device doesn't have
    is taken from the change."""
    taints = {
        (edit.object.name, device.name): {(taint.key, taint.value, taint.effect) for taint in device.taints}
        for edit in change.edits
        if isinstance(edit.object, ResourceSlice)
        for device in edit.object.devices
    }
    name = row["node"]["metadata"]["name"]
    own = [entry for entry in row["slices"] if entry["spec"].get("nodeName") == name]
    names = new_names({entry["metadata"]["name"] for entry in own}, name, TWIN + name)
    pools = new_names({entry["spec"]["pool"]["name"] for entry in own}, name, TWIN + name)
    labels = {"kubernetes.io/hostname": name, **(row["node"]["metadata"].get("labels") or {})}
    metadata = {"name": TWIN + name, "labels": {**labels, "kubernetes.io/hostname": TWIN + name}}
    slices = [
        {
            **entry,
            "metadata": {**entry["metadata"], "name": names[entry["metadata"]["name"]]},
            "spec": {
                **entry["spec"],
                "nodeName": TWIN + name,
                "pool": {**entry["spec"]["pool"], "name": pools[entry["spec"]["pool"]["name"]]},
                **_devices(entry, names[entry["metadata"]["name"]], taints),
            },
        }
        for entry in own
    ]
    return {**changed, "node": {**row["node"], "metadata": metadata}, "slices": [*row["slices"], *slices]}


def _devices(entry: Json, name: str, taints: Mapping[tuple[str, str], set[tuple[str, str, str]]]) -> Json:
    """The devices of a slice with those of their taints that stay; `name`: what the slice is called there."""
    if "devices" not in entry["spec"]:
        return {}
    found: list[Json] = []
    for device in entry["spec"]["devices"]:
        staying = taints[name, device["name"]]
        kept = [taint for taint in device.get("taints") or () if (taint["key"], taint.get("value", ""), taint["effect"]) in staying]
        found.append({**device, "taints": kept} if device.get("taints") else device)
    return {"devices": found}


# --- from our objects to API JSON -------------------------------------------------------------------------------------------------


def spec_of(spec: ClaimSpec) -> Json:
    """A claim's spec as the API writes it."""
    requests: list[Json] = []
    for request in spec.requests:
        if request.exactly is not None:
            requests.append({"name": request.name, "exactly": _request(request.exactly)})
        else:
            requests.append(
                {"name": request.name, "firstAvailable": [{"name": entry.name, **_request(entry)} for entry in request.first_available]}
            )
    constraints = [
        _present(
            requests=list(constraint.requests), matchAttribute=constraint.match_attribute, distinctAttribute=constraint.distinct_attribute
        )
        for constraint in spec.constraints
    ]
    return {"devices": _present(requests=requests, constraints=constraints)}


def _request(request: ExactRequest) -> Json:
    return _present(
        deviceClassName=request.class_name,
        selectors=[{"cel": {"expression": selector.expression}} for selector in request.selectors],
        allocationMode=request.mode,
        count=request.count if request.mode == "ExactCount" else None,
        adminAccess=request.admin_access or None,
        tolerations=[_toleration(entry) for entry in request.tolerations],
        capacity={"requests": {name: str(amount) for name, amount in request.capacity.items()}} if request.capacity is not None else None,
        derivedAttributes=[{"name": entry.name, "expression": entry.expression} for entry in request.derived_attributes],
    )


def _toleration(entry: DeviceToleration) -> Json:
    return _present(key=entry.key, operator=entry.operator, value=entry.value, effect=entry.effect, tolerationSeconds=entry.seconds)


def _present(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value not in (None, [], "")}
