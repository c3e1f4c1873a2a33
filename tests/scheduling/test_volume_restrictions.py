"""Disks and claims that allow one user. Cases: isVolumeConflict and PreFilter of plugins/volumerestrictions."""

from __future__ import annotations

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed, refusals
from .volumes import uses, volume, volume_claim

NODES = (node("n1"), node("n2"))


def gce(name: str = "d", read_only: bool = False) -> Item:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(name: str = "d", read_only: bool = False) -> Item:
    return {"awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


def iscsi(name: str = "iqn.d", portal: str = "1.1.1.1", read_only: bool = False) -> Item:
    return {"iscsi": {"iqn": name, "targetPortal": portal, "lun": 0, "readOnly": read_only}}


def rbd(*monitors: str, pool: str = "rbd", image: str = "i", read_only: bool = False) -> Item:
    return {"rbd": {"monitors": list(monitors), "pool": pool, "image": image, "readOnly": read_only}}


def mounting(name: str, source: Item, on: str = "") -> Item:
    return pod(name, on=on, volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("there", "wanted", "conflict"),
    [
        (gce(), gce(), True),
        (gce(), gce("e"), False),
        (gce(read_only=True), gce(read_only=True), False),
        (gce(read_only=True), gce(), True),
        (ebs(), ebs(), True),
        (ebs(read_only=True), ebs(read_only=True), True),
        (ebs(), gce(), False),
        (iscsi(), iscsi(), True),
        (iscsi(), iscsi(portal="2.2.2.2"), True),
        (iscsi(), iscsi("iqn.e"), False),
        (iscsi(read_only=True), iscsi(read_only=True), False),
        (rbd("a", "b"), rbd("b", "c"), True),
        (rbd("a"), rbd("b"), False),
        (rbd("a"), rbd("a", pool="p"), False),
        (rbd("a"), rbd("a", image="j"), False),
        (rbd("a", read_only=True), rbd("a", read_only=True), False),
        ({"emptyDir": {}}, {"emptyDir": {}}, False),
    ],
)
def test_which_disks_two_pods_of_a_node_may_not_share(there: Item, wanted: Item, conflict: bool) -> None:
    found = refusals(*NODES, mounting("a", there, "n1"), mounting("p", wanted))
    assert found == {"n1": ("DISK_CONFLICT",) if conflict else (), "n2": ()}


def one_pod(mode: str = "ReadWriteOncePod") -> tuple[Item, ...]:
    return (*NODES, volume("pv"), volume_claim("data", "pv", accessModes=[mode]))


def test_a_claim_for_one_pod_is_used_by_no_second_one_anywhere() -> None:
    items = (*one_pod(), pod("a", on="n1", volumes=uses("data")), pod("p", volumes=uses("data")))
    assert refusals(*items) == {"n1": ("CLAIM_OF_ONE_POD",), "n2": ("CLAIM_OF_ONE_POD",)}
    assert placed(*items).nodes["n1"].plain[0][0].text("holder") == "default/a"


@pytest.mark.parametrize(
    "items",
    [
        (*one_pod("ReadWriteOnce"), pod("a", on="n1", volumes=uses("data"))),
        (*one_pod(), pod("a", volumes=uses("data"))),
        (*one_pod(), pod("a", on="n1", volumes=uses("data"), status={"phase": "Succeeded"})),
        (*one_pod(), volume_claim("other", "pv2"), volume("pv2"), pod("a", on="n1", volumes=uses("other"))),
    ],
)
def test_when_it_is_free(items: tuple[Item, ...]) -> None:
    assert fitting(*items, pod("p", volumes=uses("data"))) == ("n1", "n2")


def test_a_nominated_user_counts_only_if_disks_have_to_be_looked_at_anyway() -> None:
    """PreFilter returns Skip while no running pod uses the claim; then the nominated one isn't told to the plugin."""
    chosen = pod("a", volumes=uses("data"), status={"phase": "Pending", "nominatedNodeName": "n1"})
    assert fitting(*one_pod(), chosen, pod("p", volumes=uses("data"))) == ("n1", "n2")
    both = pod("p", volumes=[*uses("data"), {"name": "v", **gce()}])
    assert refusals(*one_pod(), chosen, both) == {"n1": ("CLAIM_OF_ONE_POD",), "n2": ()}


def test_a_claim_that_is_missing_keeps_the_pod_from_all_nodes() -> None:
    found = placed(*NODES, pod("p", volumes=uses("gone")))
    assert [entry.code for entry in found.pod_wide] == ["VOLUME_CLAIM_MISSING"]
    assert found.message == 'persistentvolumeclaim "gone" not found'
