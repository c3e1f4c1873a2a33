"""A bound pod that doesn't start: what the kubelet says of it, whose pod is to be repaired, where a new one fits."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import PluginPod, PluginSet, PluginUnknown, Published, Said
from k8s_topo_mcp.view import ClusterView, Unreadable
from tests.diagnosis.clusters import (
    DRIVER,
    Item,
    answered,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    held,
    node,
    pod,
    pool,
    request,
)

from .objects import CRASHING, daemon_set, event, of

PLUGIN_PATH = f"/var/lib/kubelet/plugins/{DRIVER}"
HERE = (node("n1"), node("n2"), node("n3"), device_class(), pool(gpus(2), "n1"), pool(gpus(2), "n2"), pool([], "n3"))
# pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod, cm/dra/manager.go PrepareResources, cm/dra/plugin/dra_plugin_manager.go GetPlugin
PREPARE = "Failed to prepare dynamic resources: prepare dynamic resources: "
UNREGISTERED = f"Failed to prepare dynamic resources: prepare dynamic resources: DRA driver {DRIVER} is not registered"
REFUSED = (
    "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim c: "
    "error creating MIG device: In use by another client"
)


def bound(**more: Any) -> Item:
    """Pod p on n1 since 14 minutes, in ContainerCreating."""
    conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-29T11:46:00Z"}, *more.pop("conditions", [])]
    state = more.pop("state", {"waiting": {"reason": "ContainerCreating"}})
    status = {"phase": "Pending", "conditions": conditions, "containerStatuses": [{"name": "main", "state": state}]}
    return pod("p", ("c",), on="n1", status=status, **more)


def allocated() -> Item:
    return held("c", ["gpu-0"], "n1", "p")


PLUGIN = daemon_set(desired=2, ready=1, path=PLUGIN_PATH)
PLUGIN_PODS = (of(PLUGIN, "kubelet-plugin-a", "n1", ready=False, **CRASHING), of(PLUGIN, "kubelet-plugin-b", "n2"))


def test_a_driver_that_is_not_registered_is_traced_to_its_pod_on_the_node() -> None:
    report = explained(
        cluster(*HERE, allocated(), bound(), PLUGIN, *PLUGIN_PODS, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED, count=41))
    )
    assert report.verdict == "not a scheduling problem"
    assert code(report) == "PREPARE_FAILED"
    assert report.cause is not None
    found = report.cause.finding
    assert (found.text("driver"), found.text("claim"), found.text("devices"), found.text("why")) == (
        DRIVER,
        "default/c",
        "gpu-0",
        "not registered",
    )
    said, plugin, its_pod, published = report.cause.evidence
    assert isinstance(said, Said)
    assert (said.count, said.age) == (41, 12)
    assert isinstance(plugin, PluginSet)
    assert (plugin.ready, plugin.desired, plugin.mark) == (1, 2, f"mounts {PLUGIN_PATH}")
    assert isinstance(its_pod, PluginPod)
    assert (its_pod.state, its_pod.restarts, its_pod.exit_code, its_pod.age) == ("CrashLoopBackOff", 31, 1, 40)
    assert published == Published(DRIVER, "n1", "n1", 1, 2)


def test_where_a_new_pod_would_fit_is_run_through_the_model() -> None:
    report = explained(
        cluster(*HERE, allocated(), bound(), PLUGIN, *PLUGIN_PODS, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED))
    )
    assert [(advice.text, advice.nodes) for advice in report.advice] == [
        ("repair kubelet-plugin-a: kubelet retries by itself, the pod may stay", ()),
        ("cordon n1, then delete the pod: created again it fits", ("n2",)),
    ]
    assert [advice.text for advice in report.vain][-1] == "deleting only the pod (n1 stays eligible)"
    assert report.look_at == ("kubectl -n gpu-dra logs kubelet-plugin-a --all-containers --previous",)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({}, "it doesn't tolerate taint example.com/reserved:NoSchedule of the node"),
        ({"nodeSelector": {"gpu": "yes"}}, "it asks for gpu=yes, and the node isn't so labelled"),
        ({"tolerations": [{"operator": "Exists"}]}, ""),
    ],
)
def test_what_keeps_the_drivers_pod_off_the_node_is_told(spec: Item, why: str) -> None:
    reserved = node("n1", taints=[{"key": "example.com/reserved", "effect": "NoSchedule"}])
    here = [reserved if (item["kind"], item["metadata"]["name"]) == ("Node", "n1") else item for item in HERE]
    plugin = daemon_set(path=PLUGIN_PATH, **spec)
    text = answered(cluster(*here, allocated(), bound(), plugin, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)))
    assert f"  its pod  none on n1{f': {why}' if why else ''}" in text.splitlines()
    assert f"onto n1{f' ({why})' if why else ''}: kubelet then retries by itself" in text


def test_a_new_pod_that_fits_nowhere_else_is_not_advised() -> None:
    full = held("other", ["gpu-0", "gpu-1"], "n2", "q")
    report = explained(
        cluster(
            *HERE, allocated(), full, pod("q", ("other",), on="n2"), bound(), event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)
        )
    )
    assert report.advice == ()


def test_the_answer_reads_as_one_story() -> None:
    text = answered(
        cluster(*HERE, allocated(), bound(), PLUGIN, *PLUGIN_PODS, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED, count=41))
    )
    lines = text.split("\n")
    assert lines[0] == (
        "default/p is scheduled: bound to n1 14 min ago, its claims are allocated. "
        f"The node fails to prepare the devices: driver {DRIVER} isn't registered with the kubelet. Not a scheduling problem."
    )
    assert f'  kubelet  FailedPrepareDynamicResources 41 times, last 12 s ago: "{UNREGISTERED}"' in lines
    assert "  its pod  on n1: kubelet-plugin-a CrashLoopBackOff, 31 restarts, last exit code 1, 40 s ago" in lines
    assert "would help (not checkable from the API)" in lines
    assert "  cordon n1, then delete the pod: created again it fits n2 (fit checked)" in lines


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (UNREGISTERED, "not registered"),
        (REFUSED, "refused"),
        (
            PREPARE + "pod p (uid-p) is not allowed to use ResourceClaim c (uid-c)",
            "not reserved",
        ),
        (
            PREPARE + "old ResourceClaim with same name c and different UID u still exists (previous pod force-deleted?!)",
            "old claim",
        ),
        (
            PREPARE + "NodePrepareResources: rpc error: code = DeadlineExceeded desc = x",
            "no answer",
        ),
        (PREPARE + "fetch ResourceClaim c: Unauthorized", "other"),
    ],
)
def test_what_the_kubelet_says_is_told_apart(text: str, why: str) -> None:
    report = explained(cluster(*HERE, allocated(), bound(), event(bound(), "FailedPrepareDynamicResources", text)))
    assert report.cause is not None
    assert report.cause.finding.text("why") == why


def test_of_several_claims_the_one_with_the_driver_in_question_is_named() -> None:
    nic = held("nic", ["nic-0"], "n1", "p", driver="nic.example.com")
    two = {**bound(), "spec": {**bound()["spec"], "resourceClaims": [{"name": n, "resourceClaimName": n} for n in ("c", "nic")]}}
    text = UNREGISTERED.replace(DRIVER, "nic.example.com")
    nics = pool([{"name": "nic-0"}], "n1", driver="nic.example.com")
    report = explained(cluster(*HERE, nics, allocated(), nic, two, event(two, "FailedPrepareDynamicResources", text)))
    assert report.cause is not None
    assert report.cause.finding.text("claim") == "default/nic"


def test_a_driver_without_a_recognisable_daemon_set_is_said_to_be_so() -> None:
    other = daemon_set("node-exporter", "monitoring", image="quay.io/prometheus/node-exporter:v1")
    report = explained(cluster(*HERE, allocated(), bound(), other, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)))
    assert report.cause is not None
    assert PluginUnknown(DRIVER, 1) in report.cause.evidence
    assert report.look_at == ("kubelet's log on n1, and the driver's",)


def test_the_newest_word_of_the_kubelet_counts() -> None:
    old = event(bound(), "FailedPrepareDynamicResources", UNREGISTERED, at="2026-11-29T11:50:00Z")
    new = event(bound(), "FailedMount", 'MountVolume.SetUp failed for volume "data" : secret "s" not found')
    report = explained(cluster(*HERE, allocated(), bound(), old, new))
    assert code(report) == "VOLUME_NOT_MOUNTED"


def test_a_sandbox_made_since_then_silences_what_was_said_before() -> None:
    ready = {"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-11-29T11:55:00Z"}
    old = event(bound(), "FailedPrepareDynamicResources", UNREGISTERED, at="2026-11-29T11:50:00Z")
    assert code(explained(cluster(*HERE, allocated(), bound(conditions=[ready]), old))) == ""


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("ImagePullBackOff", "IMAGE_NOT_PULLED"),
        ("ErrImagePull", "IMAGE_NOT_PULLED"),
        ("CreateContainerConfigError", "CONTAINER_NOT_STARTED"),
    ],
)
def test_a_container_that_got_further_is_no_matter_of_devices(reason: str, expected: str) -> None:
    waiting = {"waiting": {"reason": reason, "message": "Back-off pulling image"}}
    view = cluster(*HERE, allocated(), bound(state=waiting), event(bound(), "FailedPrepareDynamicResources", UNREGISTERED))
    assert code(explained(view)) == expected
    assert "Not a scheduling problem." in answered(view).split("\n")[0]


def test_a_node_that_is_not_ready_explains_the_silence() -> None:
    dead = {**node("n1"), "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}}
    assert code(explained(cluster(dead, node("n2"), allocated(), bound()))) == "NODE_NOT_READY"
    assert code(explained(cluster(node("n2"), allocated(), bound()))) == "NODE_GONE"


def test_a_device_that_is_not_published_any_more_is_a_dead_allocation() -> None:
    view = cluster(node("n1"), node("n2"), device_class(), pool(gpus(2), "n2"), allocated(), bound())
    report = explained(view)
    assert code(report) == "DEVICE_GONE"
    assert report.cause is not None
    assert Published(DRIVER, "n1", "n1", None, 0) in report.cause.evidence


GONE = (node("n1"), node("n2"), device_class(), pool(gpus(2), "n2"), allocated(), bound())


def test_a_device_that_is_gone_comes_before_what_the_kubelet_says_of_it() -> None:
    report = explained(cluster(*GONE, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)))
    assert code(report) == "DEVICE_GONE"
    assert report.cause is not None
    assert isinstance(report.cause.evidence[0], Said)
    assert [(advice.text, advice.nodes) for advice in report.advice] == [
        ("delete the pod (and create it again): its claims are allocated anew, and it fits", ("n2",))
    ]


def test_a_driver_that_crashes_on_the_node_takes_its_slices_along_and_brings_them_back() -> None:
    report = explained(cluster(*GONE, PLUGIN, *PLUGIN_PODS, event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)))
    assert code(report) == "PREPARE_FAILED"
    assert report.advice[0].text == "repair kubelet-plugin-a: kubelet retries by itself, the pod may stay"


def test_a_driver_whose_pod_is_not_on_the_node_for_now_brings_its_slices_back() -> None:
    report = explained(cluster(*GONE, PLUGIN, PLUGIN_PODS[1], event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)))
    assert code(report) == "PREPARE_FAILED"
    assert report.advice[0].text == "get a pod of DaemonSet gpu-dra/kubelet-plugin onto n1: kubelet then retries by itself"


def test_of_a_driver_that_is_away_its_slices_say_nothing_before_the_kubelet_has_spoken() -> None:
    assert code(explained(cluster(*GONE, PLUGIN, PLUGIN_PODS[1]))) == ""
    assert code(explained(cluster(*GONE, PLUGIN, *PLUGIN_PODS))) == "PREPARE_FAILED"
    assert code(explained(cluster(*GONE, PLUGIN, of(PLUGIN, "kubelet-plugin-a", "n1")))) == "DEVICE_GONE"


BETWEEN: Item = {
    "restartCount": 4,
    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-29T11:59:20Z"}},
}


@pytest.mark.parametrize(
    ("container", "state"),
    [
        (CRASHING, "CrashLoopBackOff, 31 restarts, last exit code 1, 40 s ago"),
        (BETWEEN, "running, not ready, 4 restarts, last exit code 137 (OOMKilled), 40 s ago"),
        ({"state": {"waiting": {"reason": "ImagePullBackOff"}}}, "ImagePullBackOff"),
    ],
    ids=["it crashes", "it was started again just now", "its image can't be pulled"],
)
def test_a_driver_that_does_not_stay_up_is_told_though_no_event_says_so(container: Item, state: str) -> None:
    text = answered(cluster(*HERE, allocated(), bound(), PLUGIN, of(PLUGIN, "kubelet-plugin-a", "n1", ready=False, **container)))
    lines = text.split("\n")
    assert lines[0] == (
        "default/p is scheduled: bound to n1 14 min ago, its claims are allocated. No event says why its containers don't start, "
        f"but driver {DRIVER}, which has to prepare its devices there, doesn't stay up. Not a scheduling problem."
    )
    assert f"  its pod  on n1: kubelet-plugin-a {state}" in lines
    assert "  repair kubelet-plugin-a: kubelet retries by itself, the pod may stay" in lines
    assert "kubelet  " not in text


def test_a_driver_that_only_comes_up_or_was_up_when_it_was_needed_is_not_to_blame() -> None:
    coming = of(PLUGIN, "kubelet-plugin-a", "n1", ready=False, state={"waiting": {"reason": "ContainerCreating"}})
    assert code(explained(cluster(*HERE, allocated(), bound(), PLUGIN, coming))) == ""
    assert code(explained(cluster(*HERE, allocated(), bound(), PLUGIN, of(PLUGIN, "kubelet-plugin-a", "n1", **BETWEEN)))) == ""
    prepared = bound(conditions=[{"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-11-29T11:55:00Z"}])
    assert code(explained(cluster(*HERE, allocated(), prepared, PLUGIN, *PLUGIN_PODS))) == ""


def crashed(finished: str, **more: Any) -> Item:
    return {"restartCount": 1, "lastState": {"terminated": {"exitCode": 255, "reason": "Unknown", "finishedAt": finished}}, **more}


def test_a_driver_that_ended_once_long_ago_is_not_to_blame_though_it_is_not_ready_now() -> None:
    long_ago = of(PLUGIN, "kubelet-plugin-a", "n1", ready=False, **crashed("2026-10-30T12:00:00Z"))
    assert code(explained(cluster(*HERE, allocated(), bound(), PLUGIN, long_ago))) == ""
    of_late = of(PLUGIN, "kubelet-plugin-a", "n1", ready=False, **crashed("2026-11-29T11:55:00Z"))
    assert code(explained(cluster(*HERE, allocated(), bound(), PLUGIN, of_late))) == "PREPARE_FAILED"


BACKING_OFF: Item = {"waiting": {"reason": "ImagePullBackOff"}}
INITIALIZING: Item = {"waiting": {"reason": "PodInitializing"}}


@pytest.mark.parametrize(
    ("states", "init", "expected"),
    [
        ([{"running": {}}, BACKING_OFF], [], ""),
        ([BACKING_OFF, {"waiting": {"reason": "CrashLoopBackOff"}}], [], "PREPARE_FAILED"),
        ([INITIALIZING], [{"waiting": {"reason": "CrashLoopBackOff"}}], "PREPARE_FAILED"),
        ([INITIALIZING], [{"running": {}}], ""),
        ([{"running": {}}], [BACKING_OFF], ""),
    ],
    ids=["one of two", "all", "one before them", "one before them runs", "a sidecar beside them"],
)
def test_whichever_container_is_the_driver_it_is_down_only_where_that_is_plain(states: list[Item], init: list[Item], expected: str) -> None:
    plugin = of(PLUGIN, "kubelet-plugin-a", "n1", ready=False)
    for kind, status, all_of in (("containers", "containerStatuses", states), ("initContainers", "initContainerStatuses", init)):
        plugin["spec"][kind] = [{"name": f"{kind}-{place}"} for place in range(len(all_of))]
        plugin["status"][status] = [{"name": f"{kind}-{place}", "state": state, "ready": False} for place, state in enumerate(all_of)]
    assert code(explained(cluster(*HERE, allocated(), bound(), PLUGIN, plugin))) == expected


@pytest.mark.parametrize(("on", "phase", "expected"), [("n1", "Running", ""), ("n1", "Pending", "PREPARE_FAILED")])
def test_a_claim_with_which_another_pod_of_the_node_runs_is_prepared(on: str, phase: str, expected: str) -> None:
    shared = allocated()
    shared["status"]["reservedFor"].append({"resource": "pods", "name": "q", "uid": "uid-q"})
    other = pod("q", ("c",), on=on, status={"phase": phase})
    assert code(explained(cluster(*HERE, shared, bound(), other, PLUGIN, *PLUGIN_PODS))) == expected


def test_a_driver_that_is_kept_off_the_node_does_not_bring_its_slices_back() -> None:
    elsewhere = daemon_set(path=PLUGIN_PATH, nodeSelector={"kubernetes.io/hostname": "n2"})
    assert code(explained(cluster(*GONE, elsewhere))) == "DEVICE_GONE"


@pytest.mark.parametrize("driver", [(PLUGIN,), ()], ids=["no pod there", "no DaemonSet is known"])
def test_a_pool_that_is_there_without_the_device_is_the_drivers_word(driver: tuple[Item, ...]) -> None:
    assert code(explained(without_daemon_sets(cluster(*GONE, *driver, pool(gpus(2)[1:], "n1")), not driver))) == "DEVICE_GONE"


def test_where_daemon_sets_cannot_be_read_missing_slices_are_not_taken_for_a_device_that_is_gone() -> None:
    said = event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)
    assert code(explained(without_daemon_sets(cluster(*GONE)))) == ""
    assert code(explained(without_daemon_sets(cluster(*GONE, said)))) == "PREPARE_FAILED"
    assert code(explained(cluster(*GONE, said))) == "DEVICE_GONE"


SOME_PLUGINS = (daemon_set("plugin-a", path=PLUGIN_PATH), daemon_set("plugin-b", path=PLUGIN_PATH))


@pytest.mark.parametrize(
    "seen", [(daemon_set("node-exporter", "monitoring", image="quay.io/prometheus/node-exporter:v1"),), SOME_PLUGINS], ids=["none", "two"]
)
def test_where_no_daemon_set_is_recognised_as_the_drivers_it_may_be_away(seen: tuple[Item, ...]) -> None:
    """Which of them is the driver's, if any, isn't known, and neither is how its pod on the node is."""
    said = event(bound(), "FailedPrepareDynamicResources", UNREGISTERED)
    assert code(explained(cluster(*GONE, *seen))) == ""
    assert code(explained(cluster(*GONE, *seen, said))) == "PREPARE_FAILED"
    assert code(explained(cluster(*GONE, *seen, pool(gpus(2)[1:], "n1")))) == "DEVICE_GONE"


def without_daemon_sets(view: ClusterView, unread: bool = True) -> ClusterView:
    """The cluster, whose DaemonSets can't be read."""
    missing = (*view.unreadable, *((Unreadable("DaemonSet", "403"),) if unread else ()))
    items = [item for kind in view.kinds for item in view.all(kind)]
    return ClusterView(items, release=view.release, now=view.now, source=view.source, unreadable=missing)


@pytest.mark.parametrize(("of", "expected"), [(1, "DEVICE_GONE"), (2, "PREPARE_FAILED")])
def test_of_a_pool_only_the_newest_generation_counts_once_all_of_it_is_published(of: int, expected: str) -> None:
    older, newer = pool(gpus(2), "n1"), pool(gpus(2)[1:], "n1", generation=2, count=of, name="newer")
    report = explained(
        cluster(*HERE[:4], older, newer, HERE[5], allocated(), bound(), event(bound(), "FailedPrepareDynamicResources", UNREGISTERED))
    )
    assert code(report) == expected


def test_a_new_pod_that_needs_what_another_holds_is_said_to_with_whose_end_is_enough() -> None:
    full = held("other", ["gpu-0", "gpu-1"], "n2", "q")
    report = explained(cluster(*GONE, full, pod("q", ("other",), on="n2")))
    (advice,) = report.advice
    assert advice.text.startswith("releasing claim default/other (pod default/q), and delete the pod")
    assert advice.nodes == ("n2",)
    assert report.vain[-1].text == "deleting the pod alone: a new one fits nowhere now"


def test_a_claim_that_others_use_is_given_back_only_when_none_of_them_does() -> None:
    users = [{"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in ("p", "q")]
    shared = {**allocated(), "status": {**allocated()["status"], "reservedFor": users}}
    report = explained(cluster(*GONE[:4], shared, bound(), pod("q", ("c",), on="n1")))
    assert code(report) == "DEVICE_GONE"
    assert report.advice[0].text.startswith("delete the pod and the 1 more that use claim c")


def test_without_any_complaint_a_bound_pod_is_just_starting() -> None:
    report = explained(cluster(*HERE, allocated(), bound()))
    assert (report.verdict, report.cause) == ("not a scheduling problem", None)


def test_a_named_claim_that_another_pod_shares_stays_where_it_is() -> None:
    shared = claim(
        "c",
        request("r", 1),
        status={**allocated()["status"], "reservedFor": [{"resource": "pods", "name": n, "uid": f"uid-{n}"} for n in ("p", "q")]},
    )
    report = explained(
        cluster(*HERE, shared, bound(), pod("q", ("c",), on="n1"), event(bound(), "FailedPrepareDynamicResources", UNREGISTERED))
    )
    assert report.advice == ()
