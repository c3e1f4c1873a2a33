"""With a real control plane of 1.37, where one is built and asked for: faults land, their golden changes do what they say, nothing is left.

All of them: `python -m fault_injection verify --all --trials --jobs 2`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from fault_injection.lab import Lab, build
from fault_injection.lab.client import Client
from fault_injection.lab.controllers import PROGRAMS
from fault_injection.lab.errors import LabError
from fault_injection.lab.recording import objects
from fault_injection.library import foreign, real, recordings
from fault_injection.library.custom_kinds import DEFINITION
from fault_injection.library.declared import Plane
from fault_injection.library.injection import NotThere
from fault_injection.library.session import Session
from fault_injection.library.shelf import Entry, entry
from fault_injection.library.signs import Sign
from fault_injection.library.verification import Told, Wanted, verify

from .test_real import conditions

SOME = ("one-device-lacks-the-attribute", "template-was-deleted", "rollout-needs-a-spare", "claims-that-karpenter-ignores")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    if os.environ.get("TOPO_LAB") != "1":
        pytest.skip("a real control plane, about two minutes: TOPO_LAB=1 make test ARGS=tests/fault_injection/library")
    if not build.is_built("1.37"):
        pytest.skip("no lab here: python -m fault_injection lab build")


@pytest.fixture(scope="module")
def session(built: None) -> Iterator[Session]:
    with Session(Plane()) as running:
        yield running


def test_faults_land_and_their_changes_do_what_is_said_of_them() -> None:
    heard: list[Told] = []
    results = verify([entry(name) for name in SOME], Wanted(trials=True), jobs=1, tell=heard.append)
    assert {told.name for told in results} == set(SOME)
    assert [told.failures for told in results if told.failures] == []
    assert heard == results


def test_a_symptom_that_is_not_there_is_told_with_what_is(session: Session) -> None:
    wrong = Entry(entry("held-by-lower-priority").folder)
    never = Sign(condition="PodScheduled", reason="Unschedulable", message="no such words", seconds=3)
    wrong.__dict__["fault"] = wrong.fault.model_copy(update={"symptom": (never,)})
    with (
        pytest.raises(NotThere, match=r"with 'no such words'; Pod default/.* says PodScheduled=False Unschedulable '0/"),
        session.injected(wrong, 1, 0),
    ):
        pass
    assert left(session) == []


def test_a_recording_has_what_its_variant_asks_for(session: Session) -> None:
    found = entry("held-by-lower-priority")
    for seed in range(40):
        variant = found.world(seed, 2).variant
        if variant.events_expired and variant.old_condition and variant.api_version != "resource.k8s.io/v1":
            break
    with session.injected(found, seed, 2) as injection:
        recording = session.record(injection)
    assert not [item for item in recording.items if item.get("kind") == "Event"]
    assert {item["apiVersion"] for item in recording.items if item.get("kind") == "ResourceClaim"} == {variant.api_version}
    nodes = [item for item in recording.items if item.get("kind") == "Node"]
    pod = recording.find(recording.roles["pod"])  # type: ignore[arg-type]
    assert pod is not None
    assert f"0/{len(nodes) - 2} nodes are available" in pod["status"]["conditions"][0]["message"]
    assert left(session) == []


@pytest.mark.parametrize(("name", "controller"), [("job-that-waits-in-its-queue", "kueue"), ("claims-that-karpenter-ignores", "karpenter")])
def test_a_controller_itself_says_today_what_it_said_when_it_was_recorded(name: str, controller: str) -> None:
    if not PROGRAMS[controller].is_built:
        pytest.skip(f"no {controller} here: python -m fault_injection record {name} --with {controller}")
    found = entry(name)
    taken = real.record(found, controller, found.seed, 2)
    assert conditions(taken, controller) == conditions(recordings.read(found, real.name_of(found, controller)), controller)


def left(session: Session) -> list[str]:
    own = session._own
    return [item["metadata"]["name"] for item in objects(session.lab.client) if item["metadata"]["uid"] not in own]


def test_in_a_cluster_of_others_only_what_was_made_is_removed() -> None:
    with Lab("1.37", kubelets=False) as lab:
        client = lab.client
        client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "theirs", "labels": {"a": "b"}}})
        before = {item["metadata"]["uid"] for item in objects(client) if item["kind"] != "Event"}

        def connect() -> object:
            return lab._connect("admin")

        with foreign.injected(entry("held-by-lower-priority"), connect, 1, 2, kubelets=True) as run:  # type: ignore[arg-type]
            theirs = client.get("v1", "Node", "theirs")
            assert any(taint["key"] == "node.kubernetes.io/not-ready" for taint in theirs["spec"]["taints"]), "not ours to serve"
            with (
                pytest.raises(LabError, match="already exists: another injection, or the cluster's own"),
                foreign.injected(
                    entry("held-by-lower-priority"),
                    connect,
                    1,
                    2,
                    kubelets=True,  # type: ignore[arg-type]
                ),
            ):
                pass
            assert client.find("v1", "Pod", entry("held-by-lower-priority").world(1, 2).named()["pod"].name)  # type: ignore[union-attr]
        assert foreign.clean(client, "run-other") == 0
        assert foreign.clean(client, run) > 5
        after = {item["metadata"]["uid"] for item in objects(client) if item["kind"] not in ("Event", "Lease")}
        assert after == before - {item["metadata"]["uid"] for item in objects(client) if item["kind"] == "Lease"}


def test_the_status_of_the_clusters_own_autoscaler_stays_and_a_kind_that_was_taught_goes() -> None:
    status = {"name": "cluster-autoscaler-status", "namespace": "kube-system"}
    with Lab("1.37", kubelets=False) as lab:
        client = lab.client
        client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": status, "data": {"status": "theirs"}})

        def connect() -> Client:
            return lab._connect("admin")

        with foreign.injected(entry("claims-that-karpenter-ignores"), connect, 1, 2, kubelets=True) as run:
            assert {item["metadata"]["labels"][foreign.LABEL] for item in client.list(*DEFINITION)} == {run}
        assert foreign.clean(client, None) > 5
        assert client.find("v1", "ConfigMap", status["name"], status["namespace"]) is not None
        lab.wait("the definitions to be gone", lambda: not client.list(*DEFINITION))
