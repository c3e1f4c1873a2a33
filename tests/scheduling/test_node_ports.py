"""Host ports. Cases: HostPortInfo.CheckConflict of k8s.io/kube-scheduler/framework, GetHostPorts of pkg/scheduler/util."""

from __future__ import annotations

from typing import Any

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed

N1 = node("n1")


def port(number: int = 80, ip: str = "", protocol: str = "", **more: Any) -> Item:
    own = {"hostPort": number, "hostIP": ip, "protocol": protocol}
    return {"containerPort": number or 1, **{key: value for key, value in own.items() if value}, **more}


def using(name: str, *ports: Item, on: str = "", sidecar: tuple[Item, ...] = (), init: tuple[Item, ...] = (), **spec: Any) -> Item:
    early = [
        *({"name": "s", "restartPolicy": "Always", "ports": list(sidecar)} for _ in sidecar[:1]),
        *({"name": "i", "ports": list(init)} for _ in init[:1]),
    ]
    return pod(name, on=on, containers=[{"name": "c", "ports": list(ports)}], initContainers=early, **spec)


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80, protocol="UDP"), port(80), True),
        (port(80, protocol="TCP"), port(80), False),
        (port(80, "10.0.0.1"), port(80, "10.0.0.2"), True),
        (port(80, "10.0.0.1"), port(80, "10.0.0.1"), False),
        (port(80, "0.0.0.0"), port(80, "10.0.0.1"), False),
        (port(80, "10.0.0.1"), port(80), False),
        (port(80, "10.0.0.1", "UDP"), port(80), True),
        (port(0), port(0), True),
    ],
)
def test_a_port_is_taken_for_its_protocol_on_overlapping_addresses(taken: Item, wanted: Item, free: bool) -> None:
    assert fitting(N1, using("a", taken, on="n1"), using("p", wanted)) == (("n1",) if free else ())


@pytest.mark.parametrize(
    ("running", "free"),
    [
        (using("a", on="n1", sidecar=(port(80),)), False),
        (using("a", on="n1", init=(port(80),)), True),
        (using("a", port(80), on="n1", status={"phase": "Failed"}), True),
        (using("a", port(80), on="n2"), True),
        (using("a", port(80)), True),
    ],
)
def test_sidecars_hold_ports_and_other_init_containers_do_not(running: Item, free: bool) -> None:
    assert fitting(N1, running, using("p", port(80))) == (("n1",) if free else ())


@pytest.mark.parametrize(("wanted", "free"), [({"sidecar": (port(80),)}, False), ({"init": (port(80),)}, True)])
def test_the_same_goes_for_the_pod_that_waits(wanted: dict[str, tuple[Item, ...]], free: bool) -> None:
    assert fitting(N1, using("a", port(80), on="n1"), using("p", **wanted)) == (("n1",) if free else ())


def test_any_of_its_ports_may_be_the_one_that_is_taken() -> None:
    found = placed(N1, using("a", port(90), port(443, protocol="UDP"), on="n1"), using("p", port(80), port(443, protocol="UDP")))
    ((finding, reason),) = found.nodes["n1"].plain
    assert (finding.text("port"), finding.text("holder")) == ("443/UDP", "default/a")
    assert reason == "node(s) didn't have free ports for the requested pod ports"
