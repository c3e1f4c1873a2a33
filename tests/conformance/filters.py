"""Our filters against the real scheduler's, node by node: which plugin refuses first, how, with which reasons; and the sentence of it all.

    python -m tests.conformance.filters compare SEED COUNT [MINOR]      builds the Go oracle, compares random rows
    python -m tests.conformance.filters record SEED COUNT [MINOR]       writes rows with their answers to tests/recordings/filters/

A row says what it is in `tests/oracle/scheduler/client.py`. `tests/conformance/test_filters.py` compares the recorded ones without Go.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

from k8s_topo_mcp.dra.outcome import Aborted, Unknown
from k8s_topo_mcp.objects import ApiObject, Pod, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scheduling.dynamic_resources import error_message
from k8s_topo_mcp.scheduling.placement import NodePlacement, Placement, place
from k8s_topo_mcp.scheduling.sentence import predict
from k8s_topo_mcp.view import ClusterView

RECORDED = Path(__file__).parents[1] / "recordings" / "filters"
NEWEST = "1.37"
Row = dict[str, Any]

PLUGINS = {
    "NODE_NAME_MISMATCH": "NodeName",
    "NODE_UNSCHEDULABLE": "NodeUnschedulable",
    "UNTOLERATED_TAINT": "TaintToleration",
    "NODE_AFFINITY_MISMATCH": "NodeAffinity",
    "NODE_AFFINITY_CONFLICT": "NodeAffinity",
    "HOST_PORT_TAKEN": "NodePorts",
    "INSUFFICIENT_RESOURCE": "NodeResourcesFit",
    "RESOURCE_TOO_LARGE": "NodeResourcesFit",
    "TOO_MANY_PODS": "NodeResourcesFit",
    "VOLUME_CLAIM_MISSING": "VolumeRestrictions",
    "DISK_CONFLICT": "VolumeRestrictions",
    "CLAIM_OF_ONE_POD": "VolumeRestrictions",
    "VOLUME_LIMIT": "NodeVolumeLimits",
    "CSI_DRIVER_MISSING": "NodeVolumeLimits",
    "VOLUME_CLAIM_NOT_CREATED": "VolumeBinding",
    "VOLUME_CLAIM_LOST": "VolumeBinding",
    "VOLUME_CLAIM_BEING_DELETED": "VolumeBinding",
    "VOLUME_CLAIM_OTHER_OWNER": "VolumeBinding",
    "VOLUME_CLAIMS_UNBOUND": "VolumeBinding",
    "VOLUME_NODE_AFFINITY": "VolumeBinding",
    "NO_VOLUME_TO_BIND": "VolumeBinding",
    "STORAGE_SHORT": "VolumeBinding",
    "VOLUME_MISSING": "VolumeZone",
    "VOLUME_ZONE": "VolumeZone",
    "NODE_FEATURE_MISSING": "NodeDeclaredFeatures",
    "SPREAD_KEY_MISSING": "PodTopologySpread",
    "SPREAD_SKEW": "PodTopologySpread",
    "POD_AFFINITY_UNMET": "InterPodAffinity",
    "POD_ANTI_AFFINITY": "InterPodAffinity",
    "REFUSED_BY_POD": "InterPodAffinity",
}
"""Who says it first. VOLUME_MISSING is VolumeZone's for the whole pod, and VolumeBinding's for a node."""

CODES = {"unschedulable": "Unschedulable", "unresolvable": "UnschedulableAndUnresolvable"}
_LISTS = (
    "nodes",
    "pods",
    "namespaces",
    "persistentVolumeClaims",
    "persistentVolumes",
    "storageClasses",
    "csiNodes",
    "csiDrivers",
    "csiStorageCapacities",
    "volumeAttachments",
    "podDisruptionBudgets",
    "deviceClasses",
    "resourceSlices",
    "resourceClaims",
)


def compare_filters(seed: int, count: int, minor: str = NEWEST) -> tuple[int, list[str]]:
    """How many verdicts (one a node, or one for a pod that is refused as a whole, and one a sentence) the live oracle gave, and all
    differences from ours."""
    return compare_rows(answered(seed, count, minor), minor)


def answered(seed: int, count: int, minor: str) -> Iterator[tuple[Row, Row]]:
    """Random rows with the real answers."""
    from tests.oracle.scheduler.client import judge
    from tests.oracle.scheduler.generate import generate

    asked, rows = tee(generate(seed, count, minor))
    return zip(rows, judge(asked, minor), strict=True)


def compare_rows(rows: Iterable[tuple[Row, Row]], minor: str) -> tuple[int, list[str]]:
    """The same for rows that have their answers."""
    compared = 0
    differences: list[str] = []
    for row, real in rows:
        placement = placed(row, minor)
        ours, theirs = verdicts(placement), _answered(real)
        compared += len({*ours, *theirs})
        for name in sorted({*ours, *theirs}):
            own, real_one = ours.get(name), theirs.get(name)
            if own != real_one:
                differences.append(f"{row['id']} {row['theme']} {name}: ours {own}, real {real_one}")
        if "sentence" in real:
            texts = predict(placement).texts
            compared += 1
            if real["sentence"] not in texts:
                differences.append(f"{row['id']} {row['theme']}: ours {texts}, real {real['sentence']!r} ({real.get('nominated', '')})")
    return compared, differences


def _answered(real: Row) -> Row:
    """By node, or "*" for the whole pod. Of several resources the order isn't defined upstream."""
    if "preFilter" in real:
        return {"*": real["preFilter"]}
    if "nodes" in real:
        return {name: said | {"reasons": said["reasons"] and sorted(said["reasons"])} for name, said in real["nodes"].items()}
    return {"error": real.get("error")}


def placed(row: Row, minor: str) -> Placement:
    """The row's pod on the row's nodes, as we see it."""
    pod = _object(row["pod"])
    assert isinstance(pod, Pod)
    objects = [_object(item) for name in _LISTS for item in row.get(name) or ()]
    view = ClusterView([pod, *objects], release=release(int(minor.partition(".")[2])))
    return place(view, pod)


def verdicts(placement: Placement) -> dict[str, Any]:
    """Our own answer in the oracle's form: by node, or "*" for the whole pod."""
    if placement.pod_wide:
        found = placement.pod_wide[0]
        plugin = PLUGINS.get(found.code, "DynamicResources")
        return {"*": {"plugin": plugin, "code": CODES[found.status], "reasons": [placement.message]}}
    return {name: _verdict(entry) for name, entry in placement.nodes.items() if not entry.left_out}


def _verdict(entry: NodePlacement) -> dict[str, Any]:
    if isinstance(entry.outcome, Unknown) and not entry.refusing:
        return {"plugin": "", "code": "unknown", "reasons": [entry.outcome.why]}
    if isinstance(entry.outcome, Aborted) and not entry.refusing:
        return {"plugin": "DynamicResources", "code": "Error", "reasons": [error_message(entry.outcome)]}
    reasons = sorted(entry.reasons)
    if not reasons:
        return {"plugin": "", "code": "Success", "reasons": None}
    if not entry.refusing:
        return {"plugin": "DynamicResources", "code": CODES["unresolvable"], "reasons": reasons}
    code = entry.refusing[0][0].code
    plugin = "VolumeBinding" if code == "VOLUME_MISSING" else PLUGINS[code]
    return {"plugin": plugin, "code": CODES["unschedulable" if entry.preemption_may_help else "unresolvable"], "reasons": reasons}


def _object(item: Row) -> ApiObject:
    found = decode(item)
    assert found is not None
    return found


def recorded(minor: str) -> Iterator[tuple[Row, Row]]:
    """The recorded rows with the real answers."""
    with gzip.open(RECORDED / f"{minor}.jsonl.gz", "rt") as file:
        for line in file:
            entry = json.loads(line)
            yield entry["row"], entry["answer"]


def record(seed: int, count: int, minor: str) -> int:
    """Write random rows down with the real answers."""
    RECORDED.mkdir(parents=True, exist_ok=True)
    written = 0
    with open(RECORDED / f"{minor}.jsonl.gz", "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        for row, answer in answered(seed, count, minor):
            file.write(json.dumps({"row": row, "answer": answer}, separators=(",", ":")).encode() + b"\n")
            written += 1
    return written


def main(arguments: list[str]) -> int:
    command, seed, count = arguments[0], int(arguments[1]), int(arguments[2])
    minor = arguments[3] if len(arguments) > 3 else NEWEST
    if command == "record":
        print(f"{record(seed, count, minor)} rows in {RECORDED / minor}.jsonl.gz")
        return 0
    kinds: Counter[str] = Counter()

    def counted() -> Iterator[tuple[Row, Row]]:
        for row, real in answered(seed, count, minor):
            kinds.update(f"{entry['plugin'] or 'fits'}: {' + '.join(entry['reasons'] or ())}".rstrip(": ")[:100] for entry in _said(real))
            kinds.update([_tail(real["sentence"])] if "sentence" in real else [])
            yield row, real

    compared, differences = compare_rows(counted(), minor)
    for kind, times in sorted(kinds.items()):
        print(f"{times:7d}  {kind}")
    for line in differences[:20]:
        print(line)
    print(f"{minor}: {compared} verdicts compared, {len(differences)} differences")
    return 1 if differences else 0


def _said(real: Row) -> list[Row]:
    return [entry for entry in _answered(real).values() if entry]


def _tail(sentence: str) -> str:
    """What follows the counts, without numbers."""
    return "preemption: " + re.sub(r"\d+", "N", sentence.partition(". ")[2])[:140]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
