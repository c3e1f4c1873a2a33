"""Nodes that refuse a pod for other reasons than devices: the cause, what waits behind it, what opens a node."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.findings import Finding

from .clusters import (
    DRIVER,
    Item,
    answered,
    asking,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    held,
    helping,
    node,
    pod,
    pool,
    request,
    vain,
)

TAINT = {"key": "team", "value": "b", "effect": "NoSchedule"}
DEVICES = (device_class(), pool(gpus(2)))
TWIN = "another-node-like-n1"


def test_a_cordoned_node_is_opened_by_uncordoning_it() -> None:
    report = explained(cluster(node("n1", unschedulable=True), *DEVICES, *asking()))
    assert code(report) == "NODE_UNSCHEDULABLE"
    assert helping(report) == {"node n1 uncordoned": ("n1",)}


def test_a_node_taint_is_opened_by_a_toleration_but_not_by_more_such_nodes() -> None:
    report = explained(cluster(node("n1", taints=[TAINT]), *DEVICES, *asking()))
    assert code(report) == "UNTOLERATED_TAINT"
    assert helping(report) == {"toleration for node taint team=b:NoSchedule": ("n1",)}
    assert "more nodes of this shape" in vain(report)


def test_what_would_still_block_behind_a_taint_is_told_and_the_toleration_then_does_not_help() -> None:
    report = explained(cluster(node("n1", taints=[TAINT]), *DEVICES, *asking(request("r", 5))))
    assert [found.code for found in report.behind] == ["NOT_ENOUGH_DEVICES"]
    assert helping(report) == {}
    assert "toleration for node taint team=b:NoSchedule" in vain(report)


def test_what_would_still_block_is_told_in_the_order_in_which_nodes_show_it() -> None:
    port = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}, "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    nodes = [node(name, taints=[TAINT]) for name in ("n1", "n2", "n3")]
    servers = [pod(f"server-{name}", on=name, containers=[{**port["containers"][0], "resources": {}}]) for name in ("n1", "n3")]
    report = explained(cluster(*nodes, *servers, pod("busy", on="n2", requests={"cpu": "8"}), pod("p", **port)))
    assert code(report) == "UNTOLERATED_TAINT"
    assert [found.code for found in report.behind] == ["HOST_PORT_TAKEN", "INSUFFICIENT_RESOURCE"]


def test_a_node_selector_that_no_node_has_is_opened_by_leaving_it_out() -> None:
    report = explained(cluster(node("n1"), *DEVICES, *asking(request(), nodeSelector={"zone": "a"})))
    assert code(report) == "NODE_AFFINITY_MISMATCH"
    assert helping(report) == {"nodeSelector zone=a removed": ("n1",)}


def test_too_little_cpu_names_the_most_that_is_free_and_a_node_more_helps() -> None:
    items = (
        node("n1"),
        node("n2"),
        *DEVICES,
        pool(gpus(2), "n2"),
        pod("a", on="n1", requests={"cpu": "4"}),
        pod("b", on="n2", requests={"cpu": "3"}),
    )
    report = explained(cluster(*items, *asking(request(), requests={"cpu": "6"})))
    assert code(report) == "INSUFFICIENT_RESOURCE"
    assert report.cause is not None
    assert report.cause.finding.text("free") == "5"
    assert helping(report) == {
        "cpu 6 → 5": ("n2",),
        "pod default/b ends (3 cpu)": ("n2",),
        "pod default/a ends (4 cpu)": ("n1",),
        "more nodes of this shape": (TWIN,),
    }


def test_more_cpu_than_a_whole_node_has_is_not_helped_by_more_such_nodes() -> None:
    report = explained(cluster(node("n1"), *DEVICES, *asking(request(), requests={"cpu": "16"})))
    assert code(report) == "RESOURCE_TOO_LARGE"
    assert helping(report) == {"cpu 16 → 8": ("n1",)}
    assert "more nodes of this shape" in vain(report)


def test_a_node_without_a_pod_slot_left_is_helped_by_one_more() -> None:
    report = explained(cluster(node("n1", allocatable={"pods": "1"}), *DEVICES, pod("a", on="n1"), *asking()))
    assert code(report) == "TOO_MANY_PODS"
    assert helping(report) == {"more nodes of this shape": (TWIN,)}


def test_a_claim_that_is_bound_to_another_node_fits_once_it_is_deallocated() -> None:
    items = (node("n1"), *DEVICES, node("n2"), pool(gpus(1), "n2"), held("c", ["gpu-0"], "n2"))
    report = explained(cluster(*items, pod("p", ("c",), nodeSelector={"kubernetes.io/hostname": "n1"})))
    assert code(report) == "CLAIM_ALLOCATED_ELSEWHERE"
    assert helping(report) == {"claim default/c deallocated": ("n1",)}


# --- which of several reasons is the blocker --------------------------------------------------------------------------------------


def others(count: int = 3) -> list[Item]:
    return [item for place in range(count) for item in (node(f"other{place}"), pool(gpus(2), f"other{place}"))]


def test_of_equally_few_reasons_the_one_of_the_node_that_the_pod_asks_for_is_named() -> None:
    """Three nodes lack the label, one has it and is cordoned: the pod means that one."""
    here = (node("n1", labels={"team": "b"}, unschedulable=True), *DEVICES, *others())
    report = explained(cluster(*here, *asking(request(), nodeSelector={"team": "b"})))
    assert code(report) == "NODE_UNSCHEDULABLE"
    assert next(iter(helping(report).items())) == ("node n1 uncordoned", ("n1",))


def test_a_tainted_node_that_affinity_asks_for_is_offered_by_toleration() -> None:
    terms = [{"matchExpressions": [{"key": "team", "operator": "In", "values": ["b"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    here = (node("n1", labels={"team": "b"}, taints=[TAINT]), *DEVICES, *others())
    report = explained(cluster(*here, *asking(request(), affinity=affinity)))
    assert code(report) == "UNTOLERATED_TAINT"
    assert helping(report) == {"toleration for node taint team=b:NoSchedule": ("n1",)}
    change = report.remedies[0].change
    assert (change.field, change.after) == ("spec.tolerations", "{key: team, operator: Exists, effect: NoSchedule}")


def test_a_node_with_too_few_devices_is_not_nearer_than_one_that_lacks_a_label() -> None:
    here = (node("n1", labels={"team": "b"}, unschedulable=True), device_class(), pool(gpus(1)), *others())
    report = explained(cluster(*here, *asking(request("r", 2), nodeSelector={"team": "b"})))
    assert code(report) == "NODE_AFFINITY_MISMATCH"


def test_the_taint_that_comes_with_a_cordon_goes_with_it() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    report = explained(cluster(node("n1", unschedulable=True, taints=[taint]), *DEVICES, *asking()))
    assert code(report) == "NODE_UNSCHEDULABLE"
    assert helping(report) == {"node n1 uncordoned": ("n1",)}


def test_a_node_that_is_not_ready_is_to_be_repaired_and_not_tolerated() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    report = explained(cluster(node("n1", taints=taints), *DEVICES, *asking()))
    assert code(report) == "UNTOLERATED_TAINT"
    assert [text for text in helping(report) if "toleration" in text] == []
    assert helping(report)["node n1 no longer unreachable"] == ("n1",)


def test_two_taints_are_tolerated_together() -> None:
    second = {"key": "maintenance", "effect": "NoExecute"}
    report = explained(cluster(node("n1", taints=[TAINT, second]), *DEVICES, *asking()))
    assert helping(report) == {"tolerations for node taints team=b:NoSchedule, maintenance:NoExecute": ("n1",)}


def test_a_cordon_and_a_taint_are_taken_away_together() -> None:
    report = explained(cluster(node("n1", unschedulable=True, taints=[TAINT]), *DEVICES, *asking()))
    both = "node n1 uncordoned and toleration for node taint team=b:NoSchedule"
    assert helping(report) == {both: ("n1",)}
    assert [str(about) for about in report.remedies[0].change.objects] == ["Node n1", "Pod default/p"]


def test_where_devices_are_short_on_open_nodes_a_closed_one_that_has_them_is_offered() -> None:
    here = (node("n1"), *DEVICES, held("h", ["gpu-0", "gpu-1"], "n1"), node("n2", unschedulable=True), pool(gpus(2), "n2"))
    report = explained(cluster(*here, *asking()))
    assert code(report) == "DEVICES_IN_USE"
    assert helping(report)["node n2 uncordoned"] == ("n2",)


def test_a_label_value_that_nodes_have_is_offered_for_a_misspelt_one() -> None:
    report = explained(cluster(node("n1", labels={"zone": "eu-west-1a"}), *DEVICES, *asking(request(), nodeSelector={"zone": "eu-west1a"})))
    assert helping(report) == {"nodeSelector zone eu-west1a → eu-west-1a": ("n1",), "nodeSelector zone=eu-west1a removed": ("n1",)}
    assert report.remedies[0].change.field == "spec.nodeSelector.zone"


# --- filters that look at other pods ------------------------------------------------------------------------------------------------


def ports(number: int) -> list[Item]:
    return [{"name": "main", "ports": [{"containerPort": number, "hostPort": number}]}]


def test_a_host_port_in_use_is_changed_or_its_holder_ends() -> None:
    report = explained(cluster(node("n1"), *DEVICES, pod("a", on="n1", containers=ports(80)), *asking(request(), containers=ports(80))))
    assert code(report) == "HOST_PORT_TAKEN"
    assert set(helping(report)) == {"hostPort 80 → 81", "hostPort 80 removed", "pod default/a ends", "more nodes of this shape"}
    first = report.remedies[0].change
    assert (first.field, first.before, first.after) == ("spec.containers[0].ports[0].hostPort", "80", "81")


def near(kind: str, app: str = "x") -> Item:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def labelled(name: str, **more: Item) -> Item:
    return pod(name, on="n1", metadata={"labels": {"app": "x"}}, **more)


def test_anti_affinity_is_dropped_or_the_pod_that_it_avoids_ends() -> None:
    report = explained(cluster(node("n1"), *DEVICES, labelled("a"), *asking(request(), **near("podAntiAffinity"))))
    assert code(report) == "POD_ANTI_AFFINITY"
    dropped = "podAntiAffinity over kubernetes.io/hostname removed"
    assert {dropped, "pod default/a ends", "more nodes of this shape"} == set(helping(report))
    assert report.remedies[0].change.field == "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"


def test_a_pod_that_avoids_this_one_ends() -> None:
    shy = labelled("a", **near("podAntiAffinity", "y"))
    items = (node("n1"), *DEVICES, shy, *asking(request(), metadata={"labels": {"app": "y"}}))
    report = explained(cluster(*items))
    assert code(report) == "REFUSED_BY_POD"
    assert "pod default/a ends" in helping(report)


def test_affinity_to_a_pod_that_is_nowhere_is_dropped() -> None:
    report = explained(cluster(node("n1"), *DEVICES, *asking(request(), **near("podAffinity", "nobody"))))
    assert code(report) == "POD_AFFINITY_UNMET"
    assert helping(report) == {"podAffinity over kubernetes.io/hostname removed": ("n1",)}


def spread(**more: Item | str) -> Item:
    own = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}
    return {"topologySpreadConstraints": [{**own, **more}], "metadata": {"labels": {"app": "x"}}}


def test_a_spread_over_a_tainted_zone_is_opened_by_honouring_taints_more_skew_or_preferring() -> None:
    nodes = (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"}, taints=[TAINT]))
    report = explained(cluster(*nodes, *DEVICES, labelled("a"), labelled("b"), *asking(request(), **spread())))
    assert code(report) == "SPREAD_SKEW"
    fits = helping(report)
    assert fits["nodeTaintsPolicy Ignore → Honor"] == ("n1",)
    assert fits["maxSkew 1 → 3"] == ("n1",)
    assert fits["whenUnsatisfiable DoNotSchedule → ScheduleAnyway"] == ("n1",)
    assert report.remedies[1].change.field == "spec.topologySpreadConstraints[0].maxSkew"


def test_a_spread_over_a_label_that_no_node_has_is_only_preferred() -> None:
    report = explained(cluster(node("n1"), *DEVICES, *asking(request(), **spread())))
    assert code(report) == "SPREAD_KEY_MISSING"
    assert helping(report) == {"whenUnsatisfiable DoNotSchedule → ScheduleAnyway": ("n1",)}


# --- volumes ------------------------------------------------------------------------------------------------------------------------


def storage_class(name: str, mode: str = "WaitForFirstConsumer", provisioner: str = "csi.example.com") -> Item:
    item = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return {**item, "provisioner": provisioner, "volumeBindingMode": mode}


def volume_claim(name: str, of: str, storage: str = "10Gi", **metadata: Item) -> Item:
    spec = {"storageClassName": of, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    item = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec, "status": {"phase": "Pending"}}
    return {**item, "metadata": {"name": name, "namespace": "default", **metadata}}


def volume(name: str, of: str, storage: str) -> Item:
    spec = {"storageClassName": of, "accessModes": ["ReadWriteOnce"], "capacity": {"storage": storage}, "local": {"path": "/x"}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec, "status": {"phase": "Available"}}


def mounting(name: str) -> Item:
    return pod("p", volumes=[{"name": "cache", "emptyDir": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": name}}])


def test_an_unbound_claim_of_an_immediate_class_gets_a_class_that_waits() -> None:
    items = (node("n1"), storage_class("now", "Immediate"), storage_class("later"), volume_claim("data", "now"), mounting("data"))
    report = explained(cluster(*items))
    assert code(report) == "VOLUME_CLAIMS_UNBOUND"
    assert answered(cluster(*items)).split("\n")[0].endswith(": it wants its PersistentVolumeClaims bound first; data is not yet.")
    assert helping(report) == {"storageClassName now → later of PersistentVolumeClaim default/data": ("n1",)}
    assert report.remedies[0].change.field == "spec.storageClassName"


def test_a_volume_claim_that_does_not_exist_is_named_with_the_one_that_was_meant() -> None:
    report = explained(cluster(node("n1"), storage_class("later"), volume_claim("data-0", "later"), mounting("data-O")))
    assert code(report) == "VOLUME_CLAIM_MISSING"
    assert helping(report) == {"claimName data-O → data-0": ("n1",)}
    assert report.remedies[0].change.field == "spec.volumes[name=data].persistentVolumeClaim.claimName"


def test_a_claim_larger_than_any_local_volume_asks_for_what_is_there() -> None:
    local = storage_class("local", provisioner="kubernetes.io/no-provisioner")
    items = (node("n1"), local, volume("v", "local", "5Gi"), volume_claim("data", "local"), mounting("data"))
    report = explained(cluster(*items))
    assert code(report) == "NO_VOLUME_TO_BIND"
    assert helping(report) == {"storage 10Gi → 5Gi of PersistentVolumeClaim default/data": ("n1",)}


def test_a_claim_that_was_given_to_a_cordoned_node_can_be_taken_back() -> None:
    selected = volume_claim("data", "later", annotations={"volume.kubernetes.io/selected-node": "gone"})
    report = explained(cluster(node("n1"), storage_class("later"), selected, mounting("data")))
    assert code(report) == "NO_VOLUME_TO_BIND"
    assert helping(report) == {"PersistentVolumeClaim default/data no longer given to gone": ("n1",)}


def test_the_domain_with_the_fewest_pods_is_the_one_named() -> None:
    nodes = (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"}), node("n3", labels={"zone": "c"}, taints=[TAINT]))
    there = [pod(f"q{place}", on=on, metadata={"labels": {"app": "x"}}) for place, on in enumerate(("n1", "n1", "n2"))]
    report = explained(cluster(*nodes, *DEVICES, pool(gpus(2), "n2"), *there, *asking(request(), **spread())))
    assert report.cause is not None
    found: Finding = report.cause.finding
    assert (found.text("value"), found.number("pods")) == ("b", 1)
    assert "maxSkew 1 → 2" in helping(report)


def test_nodes_without_devices_that_nothing_closes_do_not_hide_what_closes_those_that_have_some() -> None:
    view = cluster(node("n1", taints=[TAINT]), node("plain"), *DEVICES, *asking())
    report = explained(view)
    assert code(report) == "UNTOLERATED_TAINT"
    assert helping(report) == {"toleration for node taint team=b:NoSchedule": ("n1",)}
    assert "what the claims ask for is on 1 node (n1), closed by the blocker; 1 node that passes" in answered(view)


def test_of_nodes_with_devices_those_that_another_filter_closes_are_counted_apart() -> None:
    nodes = (node("n1", taints=[TAINT]), node("n2", taints=[TAINT]), node("n3", unschedulable=True), node("plain"))
    view = cluster(*nodes, *DEVICES, pool(gpus(2), "n2"), pool(gpus(2), "n3"), *asking())
    assert code(explained(view)) == "UNTOLERATED_TAINT"
    assert "on 3 nodes (n1, n2, n3), 2 of them closed by the blocker, 1 by another filter; 1 node that passes" in answered(view)


def test_of_nodes_with_devices_those_with_another_taint_are_closed_by_another_filter() -> None:
    other = {"key": "rack", "value": "r1", "effect": "NoSchedule"}
    nodes = (node("n1", taints=[TAINT]), node("n2", taints=[other]), node("plain"))
    said = answered(cluster(*nodes, *DEVICES, pool(gpus(2), "n2"), *asking()))
    assert "on 2 nodes (n1, n2), 1 of them closed by the blocker, 1 by another filter; 1 node that passes" in said


NOT_A100 = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "model", "operator": "NotIn", "values": ["a100"]}]}]}
BY_AFFINITY = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": NOT_A100}}}


@pytest.mark.parametrize("asked", [{"nodeSelector": {"model": "h100"}}, BY_AFFINITY])
def test_nodes_that_the_pod_leaves_out_itself_are_not_to_blame_for_devices_that_the_others_lack(asked: Item) -> None:
    nodes = (node("h1", labels={"model": "h100"}), node("n1", labels={"model": "a100"}))
    assert code(explained(cluster(*nodes, *DEVICES, *asking(**asked)))) == "NO_DEVICES"


def test_a_node_that_is_left_out_and_tainted_is_left_out() -> None:
    nodes = (node("h1", labels={"model": "h100"}), node("n1", taints=[TAINT]))
    assert code(explained(cluster(*nodes, *DEVICES, *asking(nodeSelector={"model": "h100"})))) == "NO_DEVICES"


@pytest.mark.parametrize("selectors", [(), (f'device.attributes["{DRIVER}"].model == "x"',)])
def test_where_closed_nodes_have_devices_none_are_missed_but_on_the_open_ones(selectors: tuple[str, ...]) -> None:
    asked = {"nodeSelector": {"model": "h100"}} if not selectors else {}
    nodes = (node("h1", labels={"model": "h100"}), node("n1", taints=[TAINT]))
    view = cluster(*nodes, *DEVICES, *asking(request("r", 1, *selectors), **asked))
    assert code(explained(view)) == "NO_DEVICES"
    assert "no ResourceSlice offers any device on a node that passes every other filter." in answered(view)


def test_behind_what_closes_the_nodes_with_devices_it_is_told_that_these_are_held() -> None:
    holder = pod("a", ("full",), on="n1")
    items = (node("n1", taints=[TAINT]), node("plain"), *DEVICES, held("full", ["gpu-0", "gpu-1"], pod="a"), holder, *asking())
    report = explained(cluster(*items))
    assert code(report) == "UNTOLERATED_TAINT"
    assert [found.code for found in report.behind] == ["DEVICES_IN_USE"]


def test_where_a_node_that_nothing_closes_has_devices_of_the_class_they_decide() -> None:
    few = pool(gpus(1), "n2")
    report = explained(cluster(node("n1", taints=[TAINT]), node("n2"), *DEVICES, few, *asking(request("r", 2))))
    assert code(report) == "NOT_ENOUGH_DEVICES"
