"""A scene written straight to a snapshot is a cluster that the product reads and answers about, without any control plane."""

from __future__ import annotations

import json
import re

import pytest

from fault_injection.lab.cases import CAUSES, FITTING, Case, cluster
from fault_injection.scenes import SHAPES, Scene, first_of, request, same, taint
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim, ResourceSlice
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.explain_pending import Input, Output, answer
from k8s_topo_mcp.view import ClusterView

GPU = "gpu.nvidia.com"


def view_of(scene: Scene) -> ClusterView:
    return load_text(scene.text())


def explained(scene: Scene, pod: dict) -> Output:
    return answer(view_of(scene), Input(pod=pod["metadata"]["name"], namespace=pod["metadata"]["namespace"]))


def code(found: Output) -> str:
    return found.blocker.code if found.blocker is not None else ""


def test_five_gpus_on_one_numa_node_of_four_are_a_constraint() -> None:
    scene = Scene(seed=3)
    scene.nodes("p5.48xlarge", 2)
    found = explained(scene, scene.pod(scene.claim(request(GPU, 5), constraints=[same("resource.kubernetes.io/numaNode")])))
    assert (found.verdict, code(found)) == ("blocked", "CONSTRAINT_UNSATISFIABLE")
    assert "count 5 → 4" in [entry.change for entry in found.remedies]


@pytest.mark.parametrize("case", [*CAUSES, *FITTING], ids=lambda case: case.title)
def test_the_product_says_of_each_case_of_the_check_whether_it_fits(case: Case) -> None:
    scene = Scene(seed=1)
    report = explained(scene, case.make(scene, cluster(scene)))
    assert (report.verdict == "fits now") is case.binds


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_publishes_its_accelerators(shape: str) -> None:
    scene = Scene(seed=5)
    node = scene.nodes(shape)[0]
    view = view_of(scene)
    assert view.get(Node, node["metadata"]["name"]) is not None
    devices = [device for piece in view.all(ResourceSlice) if piece.driver != "dra.net" for device in piece.devices]
    assert len(devices) == len(SHAPES[shape]["gpus"])


@pytest.mark.parametrize(("release", "slices"), [("1.34", 8), ("1.37", 9)])
def test_divisible_gpus_have_counters_where_the_release_wants_them(release: str, slices: int) -> None:
    scene = Scene(seed=5, release=release)
    node = scene.nodes("p5.48xlarge", mig=True)[0]
    pieces = scene.slices_of(node, GPU)
    assert len(pieces) == slices
    assert all(len(piece["spec"].get("devices", ())) <= 64 for piece in pieces)
    assert {piece["spec"]["pool"]["resourceSliceCount"] for piece in pieces} == {slices}


def test_the_same_seed_gives_the_same_cluster_and_another_seed_other_names() -> None:
    def text(seed: int) -> str:
        scene = Scene(seed)
        case = CAUSES[0].make(scene, cluster(scene))
        return scene.text() + case["metadata"]["name"]

    assert text(1) == text(1)
    assert text(1) != text(2)


def test_no_name_says_what_is_wrong() -> None:
    scene = Scene(seed=1)
    hardware = cluster(scene)
    for case in CAUSES:
        case.make(scene, hardware)
    made = [item["metadata"]["name"] for item in scene.objects if item["kind"] in ("Pod", "ResourceClaim", "ResourceClaimTemplate", "Node")]
    assert not [name for name in made if re.search("gpu|numa|bad|miss|taint|full|pend|wrong|fault|broken", name)]


def test_a_running_pod_holds_its_devices() -> None:
    scene = Scene(seed=2)
    node = scene.nodes("p4d.24xlarge")[0]
    pod = scene.running(node, ["gpu-0", "gpu-3"])
    (claim,) = view_of(scene).all(ResourceClaim)
    assert claim.allocation is not None
    assert [entry.uid for entry in claim.reserved_for] == [pod["metadata"]["uid"]]
    assert explained(scene, scene.pod(scene.claim(request(GPU, 7)))).verdict == "blocked by holders"


def test_a_pod_of_a_template_has_the_claim_that_the_controller_makes() -> None:
    scene = Scene(seed=2)
    scene.nodes("p4d.24xlarge")
    pod = scene.pod(scene.template(first_of(request(GPU, 9, name="a"), request(GPU, 8, name="b"))))
    assert explained(scene, pod).verdict == "fits now"
    owner = scene.workload("Job", 2, scene.template(request(GPU)))
    view = view_of(scene)
    members = [
        entry for entry in view.all(Pod) if entry.metadata.controller and entry.metadata.controller.name == owner["metadata"]["name"]
    ]
    assert [answer(view, Input(pod=entry.full_name)).verdict for entry in members] == ["fits now", "fits now"]


def test_a_tainted_device_is_avoided() -> None:
    scene = Scene(seed=2)
    node = scene.nodes("p4d.24xlarge")[0]
    scene.taint_devices(node, GPU, taint("gpu.nvidia.com/xid", "79"))
    assert code(explained(scene, scene.pod(scene.claim(request(GPU))))) == "DEVICES_TAINTED"


def test_an_unknown_shape_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"no node shape 'p9' among the 85 of the catalogue; "):
        Scene().nodes("p9")


class Recorder:
    """An API server that gives every object a uid of its own."""

    def __init__(self) -> None:
        self.made: list[dict] = []
        self.statuses: list[tuple[str, dict]] = []

    def create(self, item: dict) -> dict:
        real = {**item, "metadata": {**item["metadata"], "uid": f"real-{len(self.made)}"}}
        self.made.append(real)
        return real

    def status(self, item: dict, status: dict) -> dict:
        self.statuses.append((item["metadata"]["name"], status))
        return item


def test_applying_keeps_references_and_order_and_adds_only_what_is_new() -> None:
    scene = Scene(seed=4, namespace="team-a")
    node = scene.nodes("p4d.24xlarge")[0]
    pod = scene.running(node, ["gpu-0"])
    api = Recorder()
    scene.apply(api)
    kinds = [item["kind"] for item in api.made]
    assert kinds.index("Namespace") < kinds.index("Node") < kinds.index("ResourceSlice") < kinds.index("ResourceClaim") < kinds.index("Pod")
    real = next(item["metadata"]["uid"] for item in api.made if item["kind"] == "Pod")
    ((_, status),) = api.statuses
    assert status == {"reservedFor": [{"resource": "pods", "name": pod["metadata"]["name"], "uid": real}]}
    before = len(api.made)
    scene.pod(scene.claim(request(GPU)))
    scene.apply(api)
    assert [item["kind"] for item in api.made[before:]] == ["ResourceClaim", "Pod"]
    assert not any("uid" in json.dumps(item["spec"]) for item in api.made if item["kind"] == "Pod")
