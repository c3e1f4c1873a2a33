"""The questions that every room asks of a view."""

from __future__ import annotations

from typing import Any

from k8s_topo_mcp.objects import DeviceId, Event, ObjectRef, Pod, PodGroup, ResourceClaim, ResourceClaimTemplate, decode
from k8s_topo_mcp.view import Add, ClusterView
from k8s_topo_mcp.view.indices import (
    admins_of_device,
    claims_of,
    claims_of_template,
    consumers_of,
    events_of,
    find_owner,
    find_pods,
    holders_of_device,
    nearest_names,
    owners_of,
    pending_pods,
    pods_nominated_to,
    pods_of_claim,
    pods_of_group,
    pods_of_owner,
    pods_on,
    slices_of_node,
    slices_of_pool,
    slices_without_node,
)


def pod(name: str, namespace: str = "n", status: dict[str, Any] | None = None, owner: str = "", **spec: Any) -> Pod:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner.split("/")[0], "name": owner.split("/")[1], "controller": True}]
    found = decode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status or {}})
    assert isinstance(found, Pod)
    return found


def claim(name: str, devices: list[str] | None = None, admin: bool = False, reserved: list[str] | None = None) -> ResourceClaim:
    status: dict[str, Any] = {"reservedFor": [{"resource": "pods", "name": entry, "uid": f"uid-{entry}"} for entry in reserved or []]}
    if devices is not None:
        results = [{"request": "r", "driver": "d", "pool": "p", "device": device, "adminAccess": admin} for device in devices]
        status["allocation"] = {"devices": {"results": results}}
    metadata = {"name": name, "namespace": "n"}
    found = decode({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}, "status": status})
    assert isinstance(found, ResourceClaim)
    return found


def event(name: str, time: str, message: str = "m", uid: str = "uid-a", **more: Any) -> Event:
    subject = {"kind": "Pod", "namespace": "n", "name": "a", "uid": uid}
    item = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "n"},
        "involvedObject": subject,
        "message": message,
    }
    found = decode({**item, "eventTime": time, **more})
    assert isinstance(found, Event)
    return found


def test_pods_on_a_node_are_those_that_still_hold_something() -> None:
    view = ClusterView([pod("a", nodeName="n1"), pod("b", nodeName="n1", status={"phase": "Succeeded"}), pod("c")])
    assert [found.name for found in pods_on(view, "n1")] == ["a"]
    assert [found.name for found in pending_pods(view)] == ["c"]


def test_nominated_pods_are_found_until_they_are_bound() -> None:
    nominated = {"nominatedNodeName": "n1"}
    view = ClusterView([pod("a", status=nominated), pod("b", status=nominated, nodeName="n1")])
    assert [found.name for found in pods_nominated_to(view, "n1")] == ["a"]


def test_a_pod_is_found_in_every_namespace() -> None:
    view = ClusterView([pod("a", "dev"), pod("a", "prod"), pod("b")])
    assert [found.namespace for found in find_pods(view, "a")] == ["dev", "prod"]


def test_the_claims_of_a_pod_are_named_generated_missing_or_not_needed() -> None:
    entries = [{"name": "named", "resourceClaimName": "mine"}]
    entries += [{"name": name, "resourceClaimTemplateName": "t"} for name in ("made", "waiting", "spare")]
    statuses = [{"name": "made", "resourceClaimName": "gone"}, {"name": "spare"}]
    extended = {"resourceClaimName": "ext", "requestMappings": []}
    user = pod("a", resourceClaims=entries, status={"resourceClaimStatuses": statuses, "extendedResourceClaimStatus": extended})
    mine, ext = claim("mine"), claim("ext")
    view = ClusterView([user, mine, ext])
    found = [(entry.name, entry.claim, entry.needed) for entry in claims_of(view, user)]
    assert found == [("mine", mine, True), ("gone", None, True), (None, None, True), (None, None, False), ("ext", ext, True)]
    assert pods_of_claim(view, mine) == (user,)
    assert pods_of_claim(view, ext) == (user,)


def test_a_reservation_for_an_earlier_pod_of_that_name_is_no_consumer() -> None:
    held = claim("c", ["x"], reserved=["a", "b"])
    other = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b", "namespace": "n", "uid": "another"}})
    assert isinstance(other, Pod)
    view = ClusterView([held, pod("a"), other])
    assert [found.name for found in consumers_of(view, held)] == ["a"]


def test_claims_of_a_template_are_found_through_its_pods() -> None:
    template = decode({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "n"}})
    assert isinstance(template, ResourceClaimTemplate)
    made = claim("a-x")
    statuses = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "a-x"}]}
    user = pod("a", resourceClaims=[{"name": "g", "resourceClaimTemplateName": "t"}], status=statuses)
    assert claims_of_template(ClusterView([template, made, user, claim("other")]), template) == (made,)


def test_admin_access_holds_nothing() -> None:
    view = ClusterView([claim("c", ["x", "y"]), claim("share", ["x"]), claim("admin", ["y"], admin=True), claim("free")])
    holders = holders_of_device(view)
    assert [holder.name for holder, _ in holders[DeviceId("d", "p", "x")]] == ["c", "share"]
    assert [holder.name for holder, _ in holders[DeviceId("d", "p", "y")]] == ["c"]
    assert [holder.name for holder, _ in admins_of_device(view)[DeviceId("d", "p", "y")]] == ["admin"]


def test_holders_are_counted_once_for_all_views_with_the_same_claims() -> None:
    view = ClusterView([claim("c", ["x"]), pod("a")])
    assert holders_of_device(view.with_edits(Add(pod("b")))) is holders_of_device(view)
    assert holders_of_device(ClusterView([])) == {}


def test_slices_are_found_by_pool_and_by_node() -> None:
    def piece(name: str, **spec: Any) -> Any:
        item = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}}
        return decode({**item, "spec": {"driver": "d", "pool": {"name": "p", "generation": 1}, **spec}})

    local, spread = piece("a", nodeName="n1"), piece("b", allNodes=True)
    view = ClusterView([local, spread])
    assert slices_of_pool(view, "d", "p") == (local, spread)
    assert slices_of_node(view, "n1") == (local,)
    assert slices_without_node(view) == (spread,)
    assert slices_of_node(view, "") == ()


def test_events_are_newest_first_and_repetitions_are_one() -> None:
    user = pod("a")
    events = [
        event("1", "2026-11-29T10:00:00Z", "same"),
        event("2", "2026-11-29T12:00:00Z", "same", series={"count": 5, "lastObservedTime": "2026-11-29T13:00:00Z"}),
        event("3", "2026-11-29T12:30:00Z", "other"),
        event("4", "2026-11-29T14:00:00Z", "of a pod before", uid="old"),
    ]
    found = events_of(ClusterView([user, *events]), user.ref)
    assert [(entry.message, entry.count) for entry in found] == [("same", 6), ("other", 1)]
    assert found[0].first == events[0].first
    assert found[0].last == events[1].last


def test_an_owner_is_found_by_kind_and_the_chain_is_followed() -> None:
    replicas = decode(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "r", "namespace": "n", "ownerReferences": [{"kind": "Deployment", "name": "d", "controller": True}]},
        }
    )
    assert replicas is not None
    user = pod("a", owner="ReplicaSet/r")
    view = ClusterView([user, replicas])
    assert find_owner(view, "ReplicaSet", "r", "n") is replicas
    assert [str(owner) for owner in owners_of(view, user)] == ["ReplicaSet n/r", "Deployment n/d"]
    assert pods_of_owner(view, ObjectRef("ReplicaSet", "n", "r")) == (user,)


def test_owners_that_own_each_other_end_the_chain() -> None:
    def owner(name: str, above: str) -> Any:
        metadata = {"name": name, "namespace": "n", "ownerReferences": [{"kind": "Job", "name": above, "controller": True}]}
        return decode({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata})

    view = ClusterView([owner("x", "y"), owner("y", "x")])
    assert len(owners_of(view, pod("a", owner="Job/x"))) <= 8


def test_members_of_a_group_are_found() -> None:
    group = decode({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "n"}})
    assert isinstance(group, PodGroup)
    view = ClusterView([group, pod("a", schedulingGroup={"podGroupName": "g"}), pod("b", "other", schedulingGroup={"podGroupName": "g"})])
    assert [found.full_name for found in pods_of_group(view, group)] == ["n/a"]


def test_nearest_names_prefer_what_was_begun_then_what_is_alike() -> None:
    view = ClusterView([pod("trainer-0"), pod("trainer-1"), pod("eval-0"), pod("eval-0", "dev")])
    assert nearest_names(view, Pod, "trainer") == ("n/trainer-0", "n/trainer-1")
    assert nearest_names(view, Pod, "dev/evl-0", 1) == ("dev/eval-0",)
    assert nearest_names(view, Pod, "xyzzy") == ()
    assert nearest_names(view, Pod, "") == ()
    assert nearest_names(ClusterView([]), Pod, "a") == ()
