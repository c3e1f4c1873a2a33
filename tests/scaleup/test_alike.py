"""Which nodes are as good as each other."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.scaleup.alike import Alike
from k8s_topo_mcp.scheduling.placing import Placing

from ..diagnosis.clusters import DRIVER, Item, cluster, device_class, gpu, gpus, held, node, pod, pool, taint_rule
from .templates import plain, pods

RULES = {"DRADeviceTaints": True, "DRADeviceTaintRules": True}


def kinds(*items: Item, **more: Any) -> list[list[str]]:
    view = cluster(device_class(), node("n1"), node("n2"), node("n3"), plain("p", "1"), *items, **more)
    waiting = pods(view)
    return Alike(view, waiting, {}).classes(["n1", "n2", "n3"], Placing(view, waiting))


def of_hosts(*names: str) -> Item:
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(names)}]}
    return {"nodeSelectorTerms": [term]}


def on_each(*names: str) -> list[Item]:
    return [pool(gpus(2), name) for name in names]


def nominated(on: str) -> Item:
    return plain("q", "1", status={"phase": "Pending", "nominatedNodeName": on})


ALIKE = [["n1", "n2", "n3"]]
FIRST = [["n1"], ["n2", "n3"]]


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([], ALIKE),
        (on_each("n1", "n2", "n3"), ALIKE),
        (on_each("n2", "n3"), FIRST),
        ([pool(gpus(1), "far", nodeSelector=of_hosts("n1"))], FIRST),
        ([pool(gpus(1), "far", allNodes=True)], ALIKE),
        (
            [
                pool(
                    [gpu("gpu-0", nodeSelector=of_hosts("n1")), gpu("gpu-1", allNodes=True)],
                    "far",
                    perDeviceNodeSelection=True,
                )
            ],
            FIRST,
        ),
        ([*on_each("n1", "n2", "n3"), taint_rule("broken", "bad", driver=DRIVER, pool="n1")], FIRST),
        ([*on_each("n1", "n2", "n3"), taint_rule("all", "bad", driver=DRIVER)], ALIKE),
        ([nominated("n1")], FIRST),
        ([*on_each("n1", "n2", "n3"), held("c", ["gpu-0"], "n1")], FIRST),
        (
            [pool(gpus(1), name, name=f"s-{name}", count=2, nodeName=name) for name in ("n2", "n3")]
            + [pool(gpus(1), "n1", count=2), pool(gpus(1), "n1", name="far", count=2, allNodes=True)],
            FIRST,
        ),
        ([pod(f"run-{name}", on=name) for name in ("n1", "n2", "n3")], ALIKE),
        (
            [
                pod("run-n1", on="n1", metadata={"deletionTimestamp": "2026-11-29T11:59:00Z", "finalizers": ["example.com/wait"]}),
                *(pod(f"run-{name}", on=name) for name in ("n2", "n3")),
            ],
            FIRST,
        ),
    ],
    ids=[
        "bare", "own devices", "none on one", "slices by labels", "slices for all", "devices by labels", "rule on one", "rule on all",
        "nominated", "in use", "pool beside others", "pods", "pod on its way out",
    ],
)  # fmt: skip
def test_nodes_are_alike_if_the_scheduler_reads_the_same_of_them(items: list[Item], found: list[list[str]]) -> None:
    assert kinds(*items, gates=RULES) == found
