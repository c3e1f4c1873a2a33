"""Whether a pod's claims can be bound on a node. Cases: plugins/volumebinding (volume_binding.go, binder.go) and
component-helpers storage/volume FindMatchingVolume."""

from __future__ import annotations

from typing import Any

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed, refusals
from .volumes import storage_class, uses, volume, volume_claim

ZONE = "topology.kubernetes.io/zone"
A, B = (node(name, labels={ZONE: name}) for name in ("a", "b"))
NODES = (A, B)
MANUAL = storage_class("manual", "kubernetes.io/no-provisioner")
DELETED = {"deletionTimestamp": "2026-11-29T11:59:00Z", "finalizers": ["x/y"]}


def reached(*items: Item, claims: tuple[str, ...] = ("data",)) -> tuple[str, ...]:
    return fitting(*NODES, *items, pod("p", volumes=uses(*claims)))


def waiting(name: str = "data", of: str = "manual", **more: Any) -> Item:
    return volume_claim(name, storage_class=of, **more)


def local(name: str = "pv", size: str = "10Gi", zone: str = "a", **spec: Any) -> Item:
    return volume(name, size, zones=(zone,), storageClassName="manual", **spec)


# --- the pod as a whole -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "code", "said"),
    [
        ((volume_claim("data"),), "VOLUME_CLAIMS_UNBOUND", "pod has unbound immediate PersistentVolumeClaims"),
        (
            (storage_class("now", mode="Immediate"), waiting(of="now")),
            "VOLUME_CLAIMS_UNBOUND",
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        ((waiting(of="gone"),), "VOLUME_CLAIMS_UNBOUND", "pod has unbound immediate PersistentVolumeClaims"),
        (
            (volume_claim("data", "pv") | {"status": {"phase": "Lost"}},),
            "VOLUME_CLAIM_LOST",
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
        ),
        ((MANUAL, waiting(metadata=DELETED)), "VOLUME_CLAIM_BEING_DELETED", 'persistentvolumeclaim "data" is being deleted'),
    ],
)
def test_what_keeps_a_pod_from_every_node(items: tuple[Item, ...], code: str, said: str) -> None:
    found = placed(*NODES, *items, pod("p", volumes=uses("data")))
    assert [entry.code for entry in found.pod_wide] == [code]
    assert found.message == said


def ephemeral() -> Item:
    return pod("p", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])


@pytest.mark.parametrize(
    ("items", "code", "said"),
    [
        ((), "VOLUME_CLAIM_NOT_CREATED", 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"'),
        (
            (volume_claim("p-scratch"),),
            "VOLUME_CLAIM_OTHER_OWNER",
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
        ),
    ],
)
def test_the_claim_of_an_ephemeral_volume_is_the_pod_s_own(items: tuple[Item, ...], code: str, said: str) -> None:
    found = placed(*NODES, *items, ephemeral())
    assert [entry.code for entry in found.pod_wide] == [code]
    assert found.message == said


# --- bound claims -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zones", "found"), [((), ("a", "b")), (("a",), ("a",)), (("a", "b"), ("a", "b")), (("c",), ())])
def test_a_bound_volume_is_reached_from_where_its_node_affinity_says(zones: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert reached(volume("pv", zones=zones), volume_claim("data", "pv")) == found


def test_the_reason_names_the_conflict_and_no_eviction_helps() -> None:
    found = placed(*NODES, volume("pv", zones=("a",)), volume_claim("data", "pv"), pod("p", volumes=uses("data"))).nodes["b"]
    ((finding, reason),) = found.plain
    assert (finding.code, finding.status, reason) == (
        "VOLUME_NODE_AFFINITY",
        "unresolvable",
        "node(s) didn't match PersistentVolume's node affinity",
    )


# --- claims that wait for their pod ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "found"),
    [
        (local(), ("a",)),
        (local(size="9Gi"), ()),
        (local(size="11Gi"), ("a",)),
        (volume("pv", zones=("a",), storageClassName="other"), ()),
        (local(volumeMode="Block"), ()),
        (local(accessModes=["ReadOnlyMany"]), ()),
        (local(accessModes=["ReadWriteOnce", "ReadOnlyMany"]), ("a",)),
        (local(volumeAttributesClassName="gold"), ()),
        (local() | {"status": {"phase": "Released"}}, ()),
        (local(claimRef={"namespace": "default", "name": "other"}), ()),
        (local(claimRef={"namespace": "default", "name": "data"}), ("a",)),
        (local(claimRef={"namespace": "default", "name": "data", "uid": "another"}), ()),
        (local(accessModes=["ReadOnlyMany"], claimRef={"namespace": "default", "name": "data"}), ("a",)),
    ],
)
def test_which_volume_a_claim_can_be_bound_to(there: Item, found: tuple[str, ...]) -> None:
    assert reached(MANUAL, there, waiting()) == found


def test_a_volume_that_is_being_deleted_is_not_bound() -> None:
    leaving = local()
    leaving["metadata"] |= DELETED
    assert reached(MANUAL, leaving, waiting()) == ()


@pytest.mark.parametrize(("label", "found"), [("fast", ("a",)), ("slow", ())])
def test_a_claim_may_select_by_labels(label: str, found: tuple[str, ...]) -> None:
    there = local()
    there["metadata"]["labels"] = {"kind": label}
    assert reached(MANUAL, there, waiting(selector={"matchLabels": {"kind": "fast"}})) == found


def test_a_volume_serves_one_claim_and_the_smaller_claim_takes_the_smaller_volume() -> None:
    claims = (waiting("big", size="20Gi"), waiting("small", size="5Gi"))
    assert reached(MANUAL, local("pv-1", "10Gi"), local("pv-2", "20Gi"), *claims, claims=("big", "small")) == ("a",)
    assert reached(MANUAL, local("pv-2", "20Gi"), *claims, claims=("big", "small")) == ()
    assert reached(MANUAL, local("pv-1", "20Gi"), local("pv-2", "30Gi", zone="b"), *claims, claims=("big", "small")) == ()


def topology(*zones: str) -> Item:
    return {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}]}


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (storage_class("manual"), ("a", "b")),
        (storage_class("manual", **topology("a")), ("a",)),
        (storage_class("manual", **topology("a", "b")), ("a", "b")),
        (storage_class("manual", **topology("c")), ()),
        (storage_class("manual", "kubernetes.io/no-provisioner"), ()),
    ],
)
def test_where_a_class_makes_the_volume(chosen: Item, found: tuple[str, ...]) -> None:
    assert reached(chosen, waiting()) == found


def test_a_claim_that_was_given_to_a_node_stays_there() -> None:
    given = waiting(metadata={"annotations": {"volume.kubernetes.io/selected-node": "b"}})
    assert reached(storage_class("manual"), given) == ("b",)


def driver(counts: bool = True) -> Item:
    spec = {"storageCapacity": counts}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example.com"}, "spec": spec}


def capacity(amount: str | None, zone: str = "a", maximum: str | None = None, of: str = "manual") -> Item:
    found: Item = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"{of}-{zone}", "namespace": "kube-system"},
        "storageClassName": of,
        "nodeTopology": {"matchLabels": {ZONE: zone}},
    }
    return found | ({"capacity": amount} if amount else {}) | ({"maximumVolumeSize": maximum} if maximum else {})


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ((driver(), capacity("10Gi")), ("a",)),
        ((driver(), capacity("9Gi")), ()),
        ((driver(), capacity("10Gi"), capacity("99Gi", "b")), ("a", "b")),
        ((driver(), capacity("99Gi", maximum="9Gi")), ()),
        ((driver(), capacity("9Gi", maximum="10Gi")), ("a",)),
        ((driver(), capacity(None)), ()),
        ((driver(), capacity("99Gi", of="other")), ()),
        ((driver(),), ()),
        ((driver(counts=False),), ("a", "b")),
        ((), ("a", "b")),
    ],
)
def test_a_driver_that_counts_storage_needs_room_for_the_volume(items: tuple[Item, ...], found: tuple[str, ...]) -> None:
    assert reached(storage_class("manual"), *items, waiting()) == found


def test_too_little_storage_has_its_own_reason() -> None:
    found = placed(*NODES, storage_class("manual"), driver(), waiting(), pod("p", volumes=uses("data"))).nodes["a"]
    ((finding, reason),) = found.plain
    assert (finding.code, finding.text("asked"), reason) == ("STORAGE_SHORT", "10Gi", "node(s) did not have enough free storage")


def test_bound_and_waiting_claims_are_judged_together() -> None:
    items = (*NODES, MANUAL, volume("pv", zones=("a",)), volume_claim("bound", "pv"), waiting())
    assert refusals(*items, pod("p", volumes=uses("bound", "data"))) == {
        "a": ("NO_VOLUME_TO_BIND",),
        "b": ("VOLUME_NODE_AFFINITY", "NO_VOLUME_TO_BIND"),
    }
