"""How many CSI volumes a node attaches. Cases: Filter, filterAttachableVolumes and getNodeVolumeAttachmentInfo of
plugins/nodevolumelimits/csi.go."""

from __future__ import annotations

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed, refusals
from .volumes import csi, csi_node, storage_class, uses, volume, volume_claim

N1 = node("n1")
DRIVER = "csi.example.com"


def bound(*names: str, driver: str = DRIVER) -> tuple[Item, ...]:
    """Claims with a volume each, whose handle is the name."""
    return tuple(item for name in names for item in (volume(f"pv-{name}", **csi(name, driver)), volume_claim(name, f"pv-{name}")))


def attachment(volume_name: str, on: str = "n1", driver: str = DRIVER) -> Item:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": f"{volume_name}-{on}"},
        "spec": {"attacher": driver, "nodeName": on, "source": {"persistentVolumeName": volume_name}},
        "status": {"attached": True},
    }


BUSY = (*bound("a", "b"), pod("x", on="n1", volumes=uses("a", "b")))


@pytest.mark.parametrize(
    ("limit", "wanted", "room"),
    [
        (None, ("c",), True),
        (3, ("c",), True),
        (2, ("c",), False),
        (3, ("c", "d"), False),
        (2, ("a",), True),
        (2, ("a", "b"), True),
        (2, ("a", "c"), False),
        (0, ("c",), False),
    ],
)
def test_a_volume_counts_once_however_many_pods_of_the_node_use_it(limit: int | None, wanted: tuple[str, ...], room: bool) -> None:
    items = (N1, csi_node(limit=limit), *BUSY, *bound("c", "d"), pod("p", volumes=uses(*wanted)))
    assert fitting(*items) == (("n1",) if room else ())


@pytest.mark.parametrize(
    ("more", "room"),
    [
        ((attachment("pv-z"), volume("pv-z", **csi("z"))), False),
        ((attachment("pv-a"),), True),
        ((attachment("pv-z", on="n2"), volume("pv-z", **csi("z"))), True),
        ((attachment("pv-z", driver="other"), volume("pv-z", **csi("z", "other"))), True),
        ((attachment("pv-z"),), True),
    ],
)
def test_volumes_that_are_still_attached_count_too(more: tuple[Item, ...], room: bool) -> None:
    assert fitting(N1, csi_node(limit=3), *BUSY, *bound("c"), *more, pod("p", volumes=uses("c"))) == (("n1",) if room else ())


def test_the_limit_is_that_of_the_driver() -> None:
    items = (N1, csi_node(limit=2), *BUSY, *bound("c", driver="other"), pod("p", volumes=uses("c")))
    assert fitting(*items) == ("n1",)


def test_without_a_csi_node_nothing_is_known_of_limits() -> None:
    assert fitting(N1, *BUSY, *bound("c"), pod("p", volumes=uses("c"))) == ("n1",)


@pytest.mark.parametrize(("provisioner", "room"), [(DRIVER, False), ("other", True)])
def test_a_claim_that_waits_counts_for_the_driver_of_its_class(provisioner: str, room: bool) -> None:
    waiting = (storage_class("late", provisioner), volume_claim("c", storage_class="late"))
    assert fitting(N1, csi_node(limit=2), *BUSY, *waiting, pod("p", volumes=uses("c"))) == (("n1",) if room else ())


def test_the_finding_has_the_counts() -> None:
    ((finding, reason),) = placed(N1, csi_node(limit=2), *BUSY, *bound("c"), pod("p", volumes=uses("c"))).nodes["n1"].plain
    assert {name: finding.values[name] for name in ("driver", "asked", "attached", "limit")} == {
        "driver": DRIVER,
        "asked": 1,
        "attached": 2,
        "limit": 2,
    }
    assert reason == "node(s) exceed max volume count"


def driver(prevents: bool | None) -> Item:
    spec = {} if prevents is None else {"preventPodSchedulingIfMissing": prevents}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": spec}


@pytest.mark.parametrize(
    ("minor", "gate", "prevents", "found"),
    [
        (37, None, True, ("CSI_DRIVER_MISSING",)),
        (37, None, None, ()),
        (37, False, True, ()),
        (36, None, True, ()),
        (36, True, True, ("CSI_DRIVER_MISSING",)),
        (35, True, None, ("CSI_DRIVER_MISSING",)),
        (35, None, None, ()),
        (34, None, True, ()),
    ],
)
def test_whether_a_driver_has_to_be_on_the_node(minor: int, gate: bool | None, prevents: bool | None, found: tuple[str, ...]) -> None:
    gates = None if gate is None else {"VolumeLimitScaling": gate}
    items = (N1, csi_node(driver="other"), driver(prevents), *bound("c"), pod("p", volumes=uses("c")))
    assert refusals(*items, minor=minor, gates=gates) == {"n1": found}
    there = (N1, csi_node(), driver(prevents), *bound("c"), pod("p", volumes=uses("c")))
    assert refusals(*there, minor=minor, gates=gates) == {"n1": ()}
