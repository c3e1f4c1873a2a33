"""ComputeDomains: who has joined, what the pod's node lacks, another domain on the node, a channel template that nobody made.

Objects as in sigs.k8s.io/dra-driver-nvidia-gpu issue 767 (a domain that stays without status), the kubelet's text as in its issues 1162
(node not ready) and 504 (domain not ready), put into k8s.io/kubernetes pkg/kubelet/cm/dra/manager.go's frame.
"""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Absent, Members, PluginPod, PluginSet, Said
from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.objects import COMPUTE_DOMAIN_LABEL, ComputeDomain, ComputeDomainClique, ComputeDomainNode, DecodeError, decode
from tests.diagnosis.clusters import Item, answered, claim, cluster, code, device_class, explained, node, pod, pool, request

from .objects import CRASHING, daemon_set, event, of, workload

DRIVER = "compute-domain.nvidia.com"
UID = "bb555a3a-a499-4c91-97a7-f07965c600ea"
OTHER = "0df751bf-10dd-485c-945f-b1a2cc4ae56d"
CHANNEL = "inference-channel"
FRAME = (
    "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim p-channel-8gwxw: "
    "error preparing devices for claim default/p-channel-8gwxw:4914da61-1a20-42b3-bf26-981025df4289: prepare devices failed: "
    "error applying config: "
)
NODE_NOT_READY = FRAME + "error asserting ComputeDomain Ready: current node not ready in ComputeDomain"
DOMAIN_NOT_READY = FRAME + "error asserting ComputeDomain Ready: ComputeDomain not Ready"
TAKEN = FRAME + "error adding Node label for ComputeDomain: label already exists for a different ComputeDomain"


def domain(
    *nodes: tuple[str, str], name: str = "inference-cd", uid: str = UID, number: int = 2, status: str = "NotReady", **head: Any
) -> Item:
    joined = [{"name": own, "ipAddress": "10.0.0.1", "cliqueID": "5f3.2", "index": n, "status": s} for n, (own, s) in enumerate(nodes)]
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": name, "namespace": "default", "uid": uid, **head},
        "spec": {"numNodes": number, "channel": {"allocationMode": "Single", "resourceClaimTemplate": {"name": CHANNEL}}},
        "status": {"status": status, "nodes": joined},
    }


def clique(*daemons: tuple[str, str]) -> Item:
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomainClique",
        "metadata": {"name": f"{UID}.5f3.2", "namespace": "nvidia-dra-driver-gpu", "labels": {COMPUTE_DOMAIN_LABEL: UID}},
        "daemons": [{"nodeName": own, "ipAddress": "10.0.0.1", "cliqueID": "5f3.2", "index": 0, "status": s} for own, s in daemons],
    }


def template(name: str = CHANNEL) -> Item:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [request("channel", of="compute-domain-default-channel.nvidia.com")]}}},
    }


def user(name: str = "p", on: str = "n1", **more: Any) -> Item:
    """A pod with a channel of the domain: bound and in ContainerCreating, or waiting for a node."""
    status: Item = {"phase": "Pending", "conditions": more.pop("conditions", [])}
    if on:
        status["conditions"] += [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-29T11:46:00Z"}]
        status["containerStatuses"] = [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]
        status["resourceClaimStatuses"] = [{"name": "channel", "resourceClaimName": f"{name}-channel-8gwxw"}]
    claims = [{"name": "channel", "resourceClaimTemplateName": CHANNEL}]
    return pod(name, on=on, status=status, resourceClaims=claims, **more)


def channel(of_pod: str = "p", on: str = "n1") -> Item:
    result = {"request": "channel", "driver": DRIVER, "pool": on, "device": "channel-0"}
    status = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": of_pod, "uid": f"uid-{of_pod}"}],
    }
    owner = [{"apiVersion": "v1", "kind": "Pod", "name": of_pod, "uid": f"uid-{of_pod}", "controller": True}]
    asked = request("channel", of="compute-domain-default-channel.nvidia.com")
    return claim(f"{of_pod}-channel-8gwxw", asked, status=status, ownerReferences=owner)


def channels(on: str) -> Item:
    return pool([{"name": "channel-0", "attributes": {"type": {"string": "channel"}, "id": {"int": 0}}}], on, driver=DRIVER)


CLASS = device_class("compute-domain-default-channel.nvidia.com", f"device.driver == '{DRIVER}'")
LABELLED = {COMPUTE_DOMAIN_LABEL: UID}
HERE = (node("n1", labels=LABELLED), node("n2", labels=LABELLED), node("n3"), CLASS, *(channels(f"n{n}") for n in (1, 2, 3)), template())
DAEMONS = daemon_set("inference-cd-ld8wh", "nvidia-dra-driver-gpu", desired=2, ready=1, nodeSelector=LABELLED)


def waiting(*items: Item, said: str = NODE_NOT_READY) -> Report:
    own = user()
    return explained(
        cluster(*HERE, own, channel(), *items, *((event(own, "FailedPrepareDynamicResources", said, count=9),) if said else ()))
    )


def absent(report: Report) -> list[str]:
    assert report.cause is not None
    return [seen.what for seen in report.cause.evidence if isinstance(seen, Absent)]


def values(report: Report) -> dict[str, Any]:
    assert report.cause is not None
    return dict(report.cause.finding.values)


def test_a_bound_pod_is_told_which_members_are_ready_and_which_nodes_lack() -> None:
    report = waiting(domain(("n2", "Ready"), ("n1", "NotReady")), user("q", "n2"), channel("q", "n2"))
    assert (report.verdict, code(report)) == ("not a scheduling problem", "COMPUTE_DOMAIN_NOT_READY")
    assert report.cause is not None
    assert report.cause.finding.object is not None
    assert str(report.cause.finding.object) == "ComputeDomain default/inference-cd"
    assert (values(report)["ready"], values(report)["wanted"], values(report)["lacking"]) == (1, 2, ("n1",))
    said, who, *_ = report.cause.evidence
    assert isinstance(said, Said)
    assert isinstance(who, Members)
    assert (who.wanted, who.ready, who.lacking) == (2, ("n2",), (("n1", "NotReady"),))


def test_the_daemon_on_its_node_is_named_with_its_log() -> None:
    items = (DAEMONS, of(DAEMONS, "inference-cd-ld8wh-a", "n1", ready=False, **CRASHING), of(DAEMONS, "inference-cd-ld8wh-b", "n2"))
    report = waiting(domain(("n2", "Ready")), user("q", "n2"), channel("q", "n2"), *items)
    assert report.cause is not None
    plugin, its_pod = report.cause.evidence[2:]
    assert isinstance(plugin, PluginSet)
    assert (plugin.ready, plugin.desired) == (1, 2)
    assert isinstance(its_pod, PluginPod)
    assert its_pod.state == "CrashLoopBackOff"
    assert report.advice[0].text.startswith("repair inference-cd-ld8wh-a:")
    assert report.look_at[0] == "kubectl -n nvidia-dra-driver-gpu logs inference-cd-ld8wh-a --all-containers"


def tainted(*taints: Item, tolerations: tuple[Item, ...] = (), labels: Item = LABELLED) -> Report:
    """The only member's node with taints, of which the domain's DaemonSet tolerates none but its own."""
    rest = [item for item in HERE if (item["kind"], item["metadata"]["name"]) != ("Node", "n1")]
    daemons = daemon_set("inference-cd-ld8wh", "nvidia", desired=0, nodeSelector=LABELLED, tolerations=list(tolerations))
    own = user(tolerations=[{"operator": "Exists"}])
    complaint = event(own, "FailedPrepareDynamicResources", NODE_NOT_READY)
    return explained(cluster(*rest, node("n1", labels=labels, taints=list(taints)), domain(number=1), daemons, own, channel(), complaint))


def kept_off(report: Report) -> str:
    assert report.cause is not None
    return next(entry.kept_off for entry in report.cause.evidence if isinstance(entry, PluginPod))


RESERVED = {"key": "example.com/reserved", "value": "train", "effect": "NoSchedule"}


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_that_the_domains_daemon_does_not_tolerate_is_named_with_its_daemon_set(effect: str) -> None:
    report = tainted({**RESERVED, "effect": effect})
    taint = f"example.com/reserved=train:{effect}"
    assert code(report) == "COMPUTE_DOMAIN_NOT_READY"
    assert kept_off(report) == f"it doesn't tolerate taint {taint} of the node"
    told = f"tolerate taint {taint}, as later drivers do, or take it off the node: the kubelet tries again"
    assert [advice.text for advice in report.advice] == [f"let DaemonSet nvidia/inference-cd-ld8wh {told}"]


def test_all_taints_in_the_daemons_way_are_named() -> None:
    report = tainted(RESERVED, {"key": "gpu", "effect": "NoExecute"})
    assert kept_off(report) == "it doesn't tolerate taints example.com/reserved=train:NoSchedule and gpu:NoExecute of the node"


@pytest.mark.parametrize(
    ("taint", "tolerations"),
    [
        ({**RESERVED, "effect": "PreferNoSchedule"}, ()),
        (RESERVED, ({"operator": "Exists"},)),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, ()),  # the DaemonSet controller tolerates it for its pods
    ],
)
def test_a_taint_that_keeps_no_daemon_away_is_not_blamed(taint: Item, tolerations: tuple[Item, ...]) -> None:
    report = tainted(taint, tolerations=tolerations)
    assert (kept_off(report), report.advice) == ("", ())


def test_while_the_node_lacks_the_domains_label_its_taint_is_not_what_keeps_the_daemon_away() -> None:
    report = tainted(RESERVED, labels={})
    assert (kept_off(report), report.advice) == ("", ())
    assert any(text.startswith("n1 lacks label") for text in absent(report))


def test_the_answer_is_readable_and_small() -> None:
    own = user()
    items = (domain(("n2", "Ready")), user("q", "n2"), channel("q", "n2"), event(own, "FailedPrepareDynamicResources", NODE_NOT_READY))
    text = answered(cluster(*HERE, own, channel(), *items))
    assert text.splitlines()[0] == (
        "default/p is scheduled: bound to n1 14 min ago, its claims are allocated. It waits for its ComputeDomain default/inference-cd: "
        "1 of 2 nodes are ready, not n1. Not a scheduling problem."
    )
    assert '"… error asserting ComputeDomain Ready: current node not ready in ComputeDomain"' in text
    assert "members  ready: n2 · hasn't joined: n1 (spec.numNodes 2)" in text
    assert len(text) < 1800


def test_a_node_that_only_a_clique_knows_to_be_ready_counts() -> None:
    report = waiting(domain(("n2", "NotReady")), clique(("n2", "Ready"), ("n1", "NotReady")), user("q", "n2"), channel("q", "n2"))
    assert (values(report)["ready"], values(report)["lacking"]) == (1, ("n1",))


def test_a_driver_that_awaits_the_whole_domain_leads_to_pods_without_a_node() -> None:
    report = waiting(domain(("n1", "Ready"), number=3), user("q", ""), said=DOMAIN_NOT_READY)
    assert (values(report)["awaits"], values(report)["ready"], values(report)["wanted"]) == ("all nodes", 1, 3)
    assert [advice.text for advice in report.advice] == [
        "get pods of the domain scheduled that aren't bound yet: q",
        "1 more pod of the domain, on other nodes",
    ]
    assert "spec.numNodes is 3, but the pods that use template inference-channel are 2" in absent(report)


AGAIN = (
    "make StatefulSet default/w again with podManagementPolicy: Parallel: as it is, it makes its next pod once p is ready, "
    "and that waits for the domain"
)
ONE_MORE = "1 more pod of the domain, on other nodes"
ORDERED: Item = {"podManagementPolicy": "OrderedReady"}


@pytest.mark.parametrize(
    ("number", "spec", "others", "advice"),
    [
        (2, ORDERED, (), [AGAIN]),
        (2, {"podManagementPolicy": "Parallel"}, (), [ONE_MORE]),
        (2, {}, (), [ONE_MORE]),
        (2, {**ORDERED, "replicas": 1}, (), [ONE_MORE]),
        (3, ORDERED, ("q",), [ONE_MORE]),
        (4, ORDERED, (), [AGAIN, "2 more pods of the domain beyond those that it then makes, on other nodes"]),
    ],
    ids=["in order", "side by side", "not told which", "of one pod", "all are made", "too few"],
)
def test_pods_that_are_made_one_after_the_other_wait_for_each_other(
    number: int, spec: Item, others: tuple[str, ...], advice: list[str]
) -> None:
    owner = workload("StatefulSet", **{"replicas": 2, **spec})
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w", "uid": "uid-w", "controller": True}
    own = user(metadata={"ownerReferences": [reference]})
    more = [item for name in others for item in (user(name, "n2", metadata={"ownerReferences": [reference]}), channel(name, "n2"))]
    said = event(own, "FailedPrepareDynamicResources", DOMAIN_NOT_READY, count=9)
    report = explained(cluster(*HERE, own, channel(), *more, domain(number=number), owner, said))
    assert [entry.text for entry in report.advice] == advice


def test_a_label_that_is_not_there_yet_is_evidence() -> None:
    plain = tuple(item for item in HERE if item["metadata"]["name"] != "n1" or item["kind"] != "Node")
    own = user()
    report = explained(cluster(*plain, node("n1"), domain(), own, channel(), event(own, "FailedPrepareDynamicResources", NODE_NOT_READY)))
    assert any(text.startswith(f"n1 lacks label {COMPUTE_DOMAIN_LABEL}={UID}") for text in absent(report))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((domain(),), "COMPUTE_DOMAIN_NOT_READY"),
        ((domain(("n1", "Ready")),), ""),
        ((domain(status="Ready", number=0),), ""),  # the host's own daemons may be used: nothing is known of them
        ((domain(status="Ready", number=0), DAEMONS), "COMPUTE_DOMAIN_NOT_READY"),
        ((), ""),
    ],
)
def test_where_the_kubelet_says_nothing_yet_the_members_decide(items: tuple[Item, ...], expected: str) -> None:
    assert code(waiting(*items, said="")) == expected


def test_a_pod_whose_devices_are_prepared_waits_for_no_domain() -> None:
    ready = user(conditions=[{"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-11-29T11:50:00Z"}])
    assert code(explained(cluster(*HERE, ready, channel(), domain()))) == ""


def test_other_trouble_of_the_same_driver_stays_what_it_is() -> None:
    unregistered = "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver compute-domain.nvidia.com is not registered"
    report = waiting(domain(), said=unregistered)
    assert (code(report), values(report)["why"]) == ("PREPARE_FAILED", "not registered")


def test_without_domains_in_the_snapshot_it_is_said_what_to_list() -> None:
    report = waiting()
    assert code(report) == "PREPARE_FAILED"
    assert any("list computedomains.resource.nvidia.com too" in text for text in absent(report))


def in_the_way(*items: Item) -> Report:
    nodes = [node("n1", labels={COMPUTE_DOMAIN_LABEL: OTHER}), node("n2", labels={COMPUTE_DOMAIN_LABEL: OTHER}), node("n3")]
    rest = [item for item in HERE if item["kind"] != "Node"]
    other = domain(("n1", "Ready"), name="training", uid=OTHER)
    other["spec"]["channel"]["resourceClaimTemplate"]["name"] = "training-channel"
    own = user()
    complaint = event(own, "FailedPrepareDynamicResources", TAKEN)
    return explained(cluster(*nodes, *rest, domain(), other, own, channel(), complaint, *items))


def test_a_node_of_another_domain_is_told_with_the_domain_and_a_node_that_is_free() -> None:
    report = in_the_way()
    assert (code(report), values(report)["holder"]) == ("COMPUTE_DOMAIN_NODE_TAKEN", "default/training")
    assert absent(report) == ["no pod of default/training is on n1: the label was left behind"]
    assert [advice.nodes for advice in report.advice] == [("n3",)]


def test_the_pod_that_keeps_the_node_in_the_other_domain_is_named() -> None:
    claims = [{"name": "channel", "resourceClaimTemplateName": "training-channel"}]
    report = in_the_way(pod("trainer", on="n1", resourceClaims=claims))
    assert report.advice[0].text.startswith("default/trainer ends:")
    assert absent(report) == []


# pkg/controller/resourceclaim/controller.go handleClaim
NO_TEMPLATE = f'PodResourceClaim channel: resource claim template "{CHANNEL}": resourceclaimtemplate.resource.k8s.io "{CHANNEL}" not found'


def test_a_template_that_is_missing_is_said_to_be_the_domains() -> None:
    rest = [item for item in HERE if item["kind"] != "ResourceClaimTemplate"]
    own = user(on="")
    view = cluster(*rest, domain(), own, event(own, "FailedResourceClaimCreation", NO_TEMPLATE, component="resource_claim"))
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked", "TEMPLATE_MISSING")
    assert absent(report) == [
        "ComputeDomain default/inference-cd makes template inference-channel: its controller, compute-domain-controller, hasn't"
    ]
    assert report.look_at == ("kubectl -n default describe computedomains.resource.nvidia.com inference-cd",)


def test_a_domain_in_another_namespace_makes_no_template_here() -> None:
    rest = [item for item in HERE if item["kind"] != "ResourceClaimTemplate"]
    far = domain(namespace="infra")
    report = explained(cluster(*rest, far, user(on="")))
    assert absent(report) == ["ComputeDomain infra/inference-cd makes a template of that name, but in namespace infra"]


def test_a_missing_template_of_nobody_is_left_as_it_is() -> None:
    rest = [item for item in HERE if item["kind"] != "ResourceClaimTemplate"]
    report = explained(cluster(*rest, user(on="")))
    assert (code(report), absent(report)) == ("TEMPLATE_MISSING", [])


def test_an_unbound_pod_is_not_held_by_its_domain() -> None:
    own = user(on="")
    own["status"]["resourceClaimStatuses"] = [{"name": "channel", "resourceClaimName": "c"}]
    owner = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}]
    made = claim("c", request("channel", of="compute-domain-default-channel.nvidia.com"), ownerReferences=owner)
    assert explained(cluster(*HERE, domain(), own, made)).verdict == "fits now"


# --- decoders -------------------------------------------------------------------------------------------------------------------


def test_both_versions_of_a_domain_decode() -> None:
    first = decode(domain(("n1", "Ready")))
    assert isinstance(first, ComputeDomain)
    assert (first.template, first.num_nodes, first.status) == (CHANNEL, 2, "NotReady")
    assert first.nodes == (ComputeDomainNode("n1", "5f3.2", "Ready"),)
    later = domain(annotations={"resource.nvidia.com/computedomain-num-nodes": "4"}, number=0)
    later["apiVersion"] = "resource.nvidia.com/v1beta2"
    del later["spec"]["numNodes"]
    second = decode(later)
    assert isinstance(second, ComputeDomain)
    assert second.num_nodes == 4


def test_a_number_that_is_no_number_is_an_error_with_its_path() -> None:
    wrong = domain()
    wrong["spec"]["numNodes"] = "2"
    with pytest.raises(DecodeError, match=r"spec\.numNodes"):
        decode(wrong)


def test_a_clique_knows_its_domain() -> None:
    found = decode(clique(("n1", "Ready")))
    assert isinstance(found, ComputeDomainClique)
    assert (found.domain, found.daemons) == (UID, (ComputeDomainNode("n1", "5f3.2", "Ready"),))
