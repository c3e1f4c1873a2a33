"""Features that a node has to declare. Cases: InferForScheduling of each feature in component-helpers nodedeclaredfeatures/features."""

from __future__ import annotations

from typing import Any

import pytest

from ..diagnosis.clusters import Item, asking, device_class, gpus, node, pod, pool, request
from .placing import fitting, placed, refusals

ON = {"NodeDeclaredFeatures": True}
RESTART = "RestartAllContainersOnContainerExits"
HOST_NETWORK = "UserNamespacesHostNetworkSupport"
MOUNTS = "VolumeBindMountOptions"


def declaring(*features: str, name: str = "n1") -> Item:
    found = node(name)
    found["status"]["declaredFeatures"] = list(features)
    return found


def restarting(kind: str = "containers") -> dict[str, Any]:
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    return {kind: [{"name": "c", "restartPolicyRules": rules}]}


def mounting(kind: str = "containers") -> dict[str, Any]:
    return {kind: [{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}]}


@pytest.mark.parametrize(
    ("spec", "needs"),
    [
        (restarting(), RESTART),
        (restarting("initContainers"), RESTART),
        ({"containers": [{"name": "c", "restartPolicyRules": [{"action": "Restart"}]}]}, ""),
        ({"hostNetwork": True, "hostUsers": False}, HOST_NETWORK),
        ({"hostNetwork": True}, ""),
        ({"hostNetwork": True, "hostUsers": True}, ""),
        ({"hostUsers": False}, ""),
        (mounting(), MOUNTS),
        (mounting("initContainers"), MOUNTS),
        (mounting("ephemeralContainers"), MOUNTS),
        ({"containers": [{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}, ""),
    ],
)
def test_what_of_a_spec_needs_a_feature(spec: dict[str, Any], needs: str) -> None:
    nodes = (declaring(name="n1"), *(declaring(needs, name="n2") for _ in (needs,) if needs))
    assert fitting(*nodes, pod("p", **spec)) == (("n2",) if needs else ("n1",))


@pytest.mark.parametrize(("spec", "since"), [(restarting(), 35), ({"hostNetwork": True, "hostUsers": False}, 36), (mounting(), 37)])
@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_a_scheduler_asks_for_the_features_that_its_release_knows(spec: dict[str, Any], since: int, minor: int) -> None:
    gates = ON if minor > 34 else None
    assert fitting(node("n1"), pod("p", **spec), minor=minor, gates=gates) == (() if minor >= since else ("n1",))


def test_in_1_36_the_gate_decides() -> None:
    assert fitting(node("n1"), pod("p", **restarting()), minor=36, gates={"NodeDeclaredFeatures": False}) == ("n1",)


def test_all_features_have_to_be_there() -> None:
    both = restarting() | {"hostNetwork": True, "hostUsers": False}
    found = placed(declaring(RESTART), pod("p", **both))
    ((finding, reason),) = found.nodes["n1"].plain
    assert finding.values["features"] == (HOST_NETWORK,)
    assert reason == "node(s) didn't match Pod's required features"
    assert refusals(declaring(RESTART, HOST_NETWORK, "Other"), pod("p", **both)) == {"n1": ()}


def test_devices_are_looked_at_before_declared_features() -> None:
    items = (node("n1"), device_class(), pool(gpus(1)))
    two = placed(*items, *asking(request("r", 2), **restarting()))
    assert two.nodes["n1"].reasons == ("cannot allocate all claims",)
    one = placed(*items, *asking(request("r", 1), **restarting()))
    assert one.nodes["n1"].reasons == ("node(s) didn't match Pod's required features",)
