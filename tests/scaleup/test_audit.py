"""Whether scale-up for devices can work at all: the missing piece for each wish and group."""

from __future__ import annotations

from typing import Any

from k8s_topo_mcp.findings import finding
from k8s_topo_mcp.scaleup.audit import Readiness
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import Fit
from tests.diagnosis.clusters import Item, cluster, gpus, pool

from .scenes import (
    BUSY,
    GROUP,
    asking,
    audit,
    cluster_autoscaler,
    codes,
    group,
    in_status,
    karpenter,
    node_pool,
    ready,
    status,
    unschedulable,
)

ALIVE = (cluster_autoscaler(), status(in_status()))


def judged(*items: Item, groups: Any = None, simulate: Any = None, **more: Any) -> tuple[Readiness, ...]:
    view = cluster(*items)
    return audit(view, [group(view, **more)] if groups is None else groups, autoscalers(view), simulate)


def told(rows: tuple[Readiness, ...]) -> list[tuple[str, int, str, list[str]]]:
    return [(str(row.demand), len(row.pods), row.ready, codes(row.missing)) for row in rows]


def test_a_group_with_a_live_node_and_an_autoscaler_that_judges_claims_is_ready() -> None:
    assert told(judged(*BUSY, *ALIVE, *asking())) == [("1 gpu", 1, "yes", [])]


def test_pods_that_ask_for_the_same_are_one_wish_and_others_are_apart() -> None:
    pods = (*asking(name="a"), *asking(name="b"), *asking(2, name="c"), unschedulable("plain", ()))
    assert [row[:2] for row in told(judged(*BUSY, *ALIVE, *pods))] == [("1 gpu", 2), ("2 gpu", 1)]


def test_what_passes_by_itself_is_not_missing() -> None:
    full = status(in_status(ready=5, target=5, scale_up={"status": "Backoff", "backoffInfo": {"errorCode": "X"}}))
    assert told(judged(*BUSY, cluster_autoscaler(), full, *asking()))[0][2:] == ("yes", [])


def test_an_empty_group_lacks_a_device_model() -> None:
    rows = judged(ready("other", of="others"), BUSY[1], *ALIVE, *asking(), of="other")
    assert told(rows)[0][2:] == ("no", ["NO_DEVICE_MODEL"])


def test_karpenter_ignores_claims_and_an_unknown_device_model_stays_behind() -> None:
    rows = judged(*BUSY, karpenter(), node_pool(), *asking(), kind="Karpenter NodePool", confidence="observed")
    assert told(rows)[0][2:] == ("no", ["CLAIMS_IGNORED", "NO_DEVICE_MODEL"])
    on = (karpenter("--ignore-dra-requests=false"), node_pool())
    judging = judged(*BUSY, *on, *asking(), kind="Karpenter NodePool", confidence="observed")
    assert told(judging)[0][2:] == ("unknown", ["NO_DEVICE_MODEL"])


def test_without_groups_or_autoscaler_nothing_can_grow() -> None:
    assert told(judged(*BUSY, *asking(), groups=[]))[0][2:] == ("no", ["NO_NODE_GROUP"])
    assert told(judged(*BUSY, *asking()))[0][2:] == ("no", ["NO_AUTOSCALER"])


def test_nodes_of_a_group_with_different_devices_cannot_stand_for_each_other() -> None:
    alike = (ready("n2"), pool(gpus(1), "n2"))
    other = (ready("n2"), pool(gpus(2), "n2"))
    assert told(judged(*BUSY, *ALIVE, *asking(), *alike))[0][2:] == ("yes", [])
    rows = judged(*BUSY, *ALIVE, *asking(), *other)
    assert told(rows)[0][2:] == ("no", ["GROUP_NODES_DIFFER"])
    assert rows[0].missing[0].finding.values["nodes"] == ("n1", "n2")


def test_a_simulation_that_refuses_is_a_missing_piece() -> None:
    refusal = Fit("t", 0, (finding("NO_DEVICES", None, "", device_class="gpu"),))
    rows = judged(*BUSY, *ALIVE, *asking(), simulate=lambda group, pods: (refusal,))
    assert told(rows)[0][2:] == ("no", ["NEW_NODE_REFUSED"])


def test_each_group_has_its_own_autoscaler() -> None:
    view = cluster(*BUSY, *ALIVE, karpenter("--ignore-dra-requests=false"), node_pool("pool"), *asking())
    groups = [group(view), group(view, kind="Karpenter NodePool", name="pool")]
    found = audit(view, groups, autoscalers(view))
    assert [(row.group.name, row.autoscaler.kind) for row in found if row.group and row.autoscaler] == [
        (GROUP, "Cluster Autoscaler"),
        ("pool", "Karpenter"),
    ]
