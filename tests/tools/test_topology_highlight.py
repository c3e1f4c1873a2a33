"""What a highlighted pod or claim holds or could hold: the same as claim_feasibility says, drawn into the picture."""

from __future__ import annotations

import json

import pytest

from fault_injection.scenes import Scene, request, same
from k8s_topo_mcp.rendering.budget import ANSWER, tokens
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.claim_feasibility import TOOL as FITS
from k8s_topo_mcp.tools.errors import NotFound, ToolInputError
from k8s_topo_mcp.tools.topology_graph import TOOL, Output
from k8s_topo_mcp.view import ClusterView

GPU = "gpu.nvidia.com"


def made(count: int, **more: object) -> tuple[ClusterView, str]:
    """Two p5 nodes, one half taken, and a pod that waits for `count` GPUs with one NUMA node."""
    scene = Scene(seed=4)
    nodes = scene.nodes("p5.48xlarge", 2, names=("node-1", "node-2"))
    scene.running(nodes[0], ["gpu-0", "gpu-1"])
    pod = scene.pod(scene.claim(request(GPU, count), constraints=[same("resource.kubernetes.io/numaNode")]), **more)  # type: ignore[arg-type]
    return load_text(scene.text()), f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def test_a_waiting_pod_that_fits_shows_where_and_what_it_would_get() -> None:
    view, pod = made(4)
    said = ask(TOOL, view, {"highlight": f"pod/{pod}", "scope": "node/node-1"})
    assert isinstance(said, Output)
    lit = said.highlight
    assert lit is not None
    assert (lit.verdict, lit.fits_on, lit.of_nodes, lit.blocker) == ("fits", 2, 2, None)
    by_node = {entry.node: entry.devices for entry in lit.could_hold}
    assert by_node["node-1"] == ("gpu-4", "gpu-5", "gpu-6", "gpu-7")
    assert f"gpu-4 H100 80GB HBM3 free; would go to pod {pod}" in said.report
    assert f"gpu-2 H100 80GB HBM3 free; would go to pod {pod}" not in said.report
    assert "could hold fits on 2 of 2 nodes: " in said.report


def test_a_waiting_pod_that_fits_nowhere_shows_what_stands_in_the_way() -> None:
    view, pod = made(5)
    said = ask(TOOL, view, {"highlight": pod})
    assert isinstance(said, Output)
    lit = said.highlight
    assert lit is not None
    assert lit.blocker is not None
    assert (lit.verdict, lit.fits_on, lit.blocker.code) == ("no", 0, "CONSTRAINT_UNSATISFIABLE")
    assert "in the way fits on none of 2 nodes: " in said.report
    assert "CONSTRAINT_UNSATISFIABLE" in said.report


@pytest.mark.parametrize("count", [1, 4, 5, 9])
@pytest.mark.parametrize("kind", ["pod", "claim"])
def test_it_says_the_same_as_claim_feasibility(kind: str, count: int) -> None:
    view, pod = made(count)
    named = pod
    if kind == "claim":
        from k8s_topo_mcp.objects import ResourceClaim

        named = next(entry.full_name for entry in view.all(ResourceClaim) if entry.allocation is None)
    lit = ask(TOOL, view, {"highlight": f"{kind}/{named}"}).structured()["highlight"]
    fits = ask(FITS, view, {kind: named}).structured()
    assert lit["verdict"] == fits["verdict"]
    assert lit["fits_on"] == fits["fits_on"]
    assert (lit.get("blocker") or {}).get("code") == (fits.get("blocker") or {}).get("code")
    chosen = {entry["node"]: entry["devices"] for entry in lit.get("could_hold", ())}
    fitting = [row for row in fits.get("nodes", ()) if row["fits"]]  # where it fits nowhere, no node is named
    assert len(fitting) == min(fits["fits_on"], 4)
    assert all(chosen[row["node"]] == row["devices"][:8] for row in fitting)


def test_a_running_pod_shows_what_it_holds() -> None:
    scene = Scene(seed=4)
    nodes = scene.nodes("p5.48xlarge", 1, names=("node-1",))
    pod = scene.running(nodes[0], ["gpu-0", "gpu-1"])
    name = f"default/{pod['metadata']['name']}"
    said = ask(TOOL, load_text(scene.text()), {"highlight": f"pod/{name}", "scope": "node/node-1"})
    assert isinstance(said, Output)
    assert said.highlight is not None
    assert [(entry.node, entry.devices) for entry in said.highlight.holds] == [("node-1", ("gpu-0", "gpu-1"))]
    assert (said.highlight.verdict, said.highlight.fits_on) == ("holds", None)
    assert said.report.count("highlighted: pod") == 2


def test_a_pod_without_devices_says_so() -> None:
    scene = Scene(seed=4)
    nodes = scene.plain_nodes(1)
    pod = scene.running(nodes[0])
    report = ask(TOOL, load_text(scene.text()), {"highlight": pod["metadata"]["name"]}).report
    assert "holds and asks no device" in report


def test_a_large_cluster_stays_within_the_budget_with_a_highlight() -> None:
    scene = Scene(seed=4)
    scene.nodes("p5.48xlarge", 60)
    pod = scene.pod(scene.claim(request(GPU, 5), constraints=[same("resource.kubernetes.io/numaNode")]))
    view = load_text(scene.text())
    for question in ({}, {"depth": "device"}, {"format": "mermaid"}, {"format": "json"}):
        said = ask(TOOL, view, {"highlight": pod["metadata"]["name"], **question})
        assert tokens(json.dumps(said.structured(), ensure_ascii=False, separators=(",", ":"))) <= ANSWER
        assert tokens(said.report) <= ANSWER


@pytest.mark.parametrize("form", ["mermaid", "json"])
def test_a_drawing_that_stands_alone_says_what_is_highlighted(form: str) -> None:
    view, pod = made(5)
    report = ask(TOOL, view, {"highlight": pod, "format": form}).report
    assert f"highlight pod {pod} asks" in " ".join(report.split())
    assert "fits on none of 2 nodes" in report


def test_only_a_pod_or_a_claim_can_be_highlighted() -> None:
    view, _ = made(1)
    with pytest.raises(ToolInputError, match=r"highlight takes a pod or a claim, not node/node-1\. Right: topology_graph\(highlight="):
        ask(TOOL, view, {"highlight": "node/node-1"})
    with pytest.raises(NotFound, match=r'claim "default/nothing" not found'):
        ask(TOOL, view, {"highlight": "claim/default/nothing"})
