"""Random allocation problems as pods: the rows of the oracle's generator, turned into a cluster of one node that our diagnosis reads."""

from __future__ import annotations

import json
from typing import Any

from k8s_topo_mcp.dra.features import GATES, SPLIT_IN_1_34
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.view import ClusterView

from .clusters import MOMENT, WHOLE, Item, node, pod

Row = dict[str, Any]
SHARE = "a1b2c3d4-0000-4000-8000-0000000000"


def gates_of(row: Row) -> dict[str, bool]:
    """The feature gates that give the row's switches, and no others."""
    on = {name for name, value in row["features"].items() if value}
    gates = {gate: name in on for name, several in GATES.items() for gate in several}
    split = {gate: name in on for name, gate in SPLIT_IN_1_34.items() if "1.34" in row["id"]}
    return {**gates, **split, "DynamicResourceAllocation": True}


def items_of(row: Row) -> list[Item]:
    """The row as API objects: what it says is allocated becomes claims that hold it, and one pod asks for its claims."""
    name = row["node"]["metadata"]["name"]
    place = node(name, labels=row["node"]["metadata"].get("labels") or {})
    declared = (row["node"].get("status") or {}).get("declaredFeatures")
    if declared:
        place["status"]["declaredFeatures"] = declared
    claims = [{**_typed("ResourceClaim", claim), "metadata": {**claim["metadata"], "namespace": "default"}} for claim in row["claims"]]
    return [
        place,
        *(_typed("ResourceSlice", entry) for entry in row["slices"]),
        *(_typed("DeviceClass", entry) for entry in row["classes"]),
        *claims,
        *(_holder(place, entry) for place, entry in enumerate(row["allocated"])),
        *_sharers(row["allocatedShared"], row["consumed"]),
        pod("p", tuple(claim["metadata"]["name"] for claim in row["claims"])),
    ]


def view_of(row: Row, minor: int) -> tuple[ClusterView, Pod]:
    """The cluster of a row, and its pod."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [WHOLE, *items_of(row)]})
    view = load_text(text, version=f"1.{minor}", gates=gates_of(row), as_of=MOMENT, name="random")
    found = view.get(Pod, "p", "default")
    assert found is not None
    return view, found


def _typed(kind: str, item: Item) -> Item:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, **item}


def _result(entry: Item) -> Item:
    return {"request": "r", "driver": entry["Driver"], "pool": entry["Pool"], "device": entry["Device"]}


def _held(name: str, result: Item) -> Item:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    return _typed(
        "ResourceClaim",
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
            "status": {"allocation": {"devices": {"results": [result]}}},
        },
    )


def _holder(place: int, entry: Item) -> Item:
    return _held(f"holder-{place}", _result(entry))


def _sharers(entries: list[Item], consumed: list[Item]) -> list[Item]:
    """The claims that share devices: what a row says is consumed of a device in all is what its first sharer consumes."""
    amounts = {tuple(_result(used).values()): used["Consumed"] for used in consumed}
    found: list[Item] = []
    for place, entry in enumerate(entries):
        own = amounts.pop(tuple(_result(entry).values()), None)
        consumes = {} if own is None else {"consumedCapacity": own}
        found.append(_held(f"sharer-{place}", {**_result(entry), "shareID": f"{SHARE}{place:02}", **consumes}))
    return found
