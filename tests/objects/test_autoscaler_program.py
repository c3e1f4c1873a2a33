"""How a node autoscaler was started: the flags and variables that matter, of these programs alone."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Deployment, decode
from k8s_topo_mcp.objects.autoscaler_program import kept_variables, kept_words
from k8s_topo_mcp.sources.snapshot.fields import kept


def deployment(*containers: dict[str, Any]) -> dict[str, Any]:
    spec = {"replicas": 1, "template": {"spec": {"containers": list(containers)}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "kube-system"}, "spec": spec}


def program_in(item: dict[str, Any]) -> Any:
    found = decode(item)
    assert isinstance(found, Deployment)
    return found.autoscaler


CLUSTER_AUTOSCALER = {
    "name": "ca",
    "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1",
    "command": ["./cluster-autoscaler", "--cloud-provider=aws", "--nodes=1:10:gpu-asg", "--token=SECRET"],
    "args": ["--max-nodes-total", "100", "-v=4", "--expander=least-waste"],
    "env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": "SECRET"}],
}
KARPENTER = {
    "name": "controller",
    "image": "public.ecr.aws/karpenter/controller:1.14.1@sha256:abc",
    "env": [
        {"name": "IGNORE_DRA_REQUESTS", "valueFrom": {"configMapKeyRef": {"name": "SECRET"}}},
        {"name": "IGNORE_DRA_REQUESTS", "value": "false"},
        {"name": "FEATURE_GATES", "value": "NodeOverlay=true"},
        {"name": "CLUSTER_NAME", "value": "SECRET"},
    ],
}


def test_cluster_autoscaler_keeps_its_flags_and_nothing_else() -> None:
    found = program_in(deployment({"name": "side", "image": "proxy:1", "args": ["--nodes=x"]}, CLUSTER_AUTOSCALER))
    assert (found.program, found.container, found.image) == ("cluster-autoscaler", "ca", CLUSTER_AUTOSCALER["image"])
    assert found.words == ("--cloud-provider=aws", "--nodes=1:10:gpu-asg", "--max-nodes-total=100")
    assert found.variables == {}


def test_karpenter_keeps_the_two_variables_that_decide() -> None:
    found = program_in(deployment(KARPENTER))
    assert (found.program, found.words) == ("karpenter", ())
    assert found.variables == {"IGNORE_DRA_REQUESTS": "false", "FEATURE_GATES": "NodeOverlay=true"}


@pytest.mark.parametrize(
    "image",
    ["docker.io/rancher/mirrored-cluster-autoscaler:v1.33", "cluster-autoscaler-arm64:v1", "localhost:5000/cluster-autoscaler"],
)
def test_copies_of_the_image_are_known(image: str) -> None:
    assert program_in(deployment({"name": "a", "image": image})).program == "cluster-autoscaler"


@pytest.mark.parametrize(
    "container",
    [
        {"name": "a", "image": "registry.example/app:1", "args": ["--nodes=1:2:x"]},
        {"name": "a"},
        {"name": "a", "image": 5, "command": "x"},
        {"name": "a", "image": "cluster-autoscaler/exporter:1"},
    ],
)
def test_nothing_of_any_other_program_is_kept(container: dict[str, Any]) -> None:
    if isinstance(container.get("image", ""), str):
        assert program_in(deployment(container)) is None
    left = kept(deployment(container))
    assert left is not None
    assert "args" not in str(left)


@pytest.mark.parametrize("container", [CLUSTER_AUTOSCALER, KARPENTER], ids=["cluster-autoscaler", "karpenter"])
def test_a_snapshot_holds_what_is_read_and_no_secret(container: dict[str, Any]) -> None:
    item = deployment({"name": "side", "image": "proxy:1", "args": ["--nodes=SECRET"]}, container)
    left = kept(item)
    assert left is not None
    assert "SECRET" not in str(left)
    one, other = program_in(item), program_in(left)
    assert (one.program, one.image, one.words, one.variables) == (other.program, other.image, other.words, other.variables)


def test_a_shell_s_one_word_is_taken_apart_and_odd_ones_passed_over() -> None:
    script = "exec ./cluster-autoscaler --nodes='1:2:a' --cloud-config=/etc/SECRET --cloud-provider aws"
    words = ["sh", "-c", script, 5, None, "--", "loose"]
    assert kept_words(words) == ["--nodes=1:2:a", "--cloud-provider=aws"]


@pytest.mark.parametrize(
    ("words", "kept_of_them"),
    [
        (["--nodes=1:10:gpu;AWS_SECRET=SECRET"], ["--nodes=?"]),
        (["--nodes=1:10:gpu SECRET"], ["--nodes=?"]),
        (["--nodes=1:10:gpu\nSECRET=x"], ["--nodes=?"]),
        (["--nodes=1:10:user:SECRET@host"], ["--nodes=?"]),
        (["--nodes", "SECRET;x"], ["--nodes=?"]),
        (["--nodes=1:10:" + "a" * 300], ["--nodes=?"]),
        (["--v", "SECRET", "--enable-provisioning-requests", "SECRET"], ["--enable-provisioning-requests"]),
        (["--enable-provisioning-requests=SECRET"], ["--enable-provisioning-requests=?"]),
        (["--max-nodes-total=$(MOST)", "--max-nodes-total=SECRET"], ["--max-nodes-total=?", "--max-nodes-total=?"]),
        (["--max-nodes-total"], ["--max-nodes-total=?"]),
        (["--max-nodes-total", "--cloud-provider=aws"], ["--max-nodes-total=?", "--cloud-provider=aws"]),
        (["--cloud-provider=SECRET", "--cloud-config=SECRET", "--expander=SECRET"], ["--cloud-provider=?"]),
        (["--startup-taint=acme.com/agent=SECRET:NoSchedule"], ["--startup-taint=?"]),
        (["--feature-gates=A=true,B=SECRET"], ["--feature-gates=?"]),
        (["--namespace=kube-system/SECRET"], ["--namespace=?"]),
        (["--nodes=1:9:https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/g"], None),
        (["--nodes=1:9:https://user:SECRET@www.googleapis.com/compute"], ["--nodes=?"]),
        (["--new-pod-scale-up-delay=1m30s", "--cores-total=0:320000", "--startup-taint-prefix=boot.acme.com/"], None),
        (["--expendable-pods-priority-cutoff=-10", "--allowed-scheduler-names=a,b.c", "--feature-gates=A=true, B=false"], None),
    ],
)
def test_a_flag_is_kept_with_a_value_of_its_form_and_no_other(words: list[str], kept_of_them: list[str] | None) -> None:
    assert kept_words(words) == (words if kept_of_them is None else kept_of_them)


def test_of_variables_by_one_name_the_last_counts_and_one_that_cannot_be_read_is_told_from_none() -> None:
    hidden = {"name": "IGNORE_DRA_REQUESTS", "valueFrom": {"secretKeyRef": {"name": "SECRET"}}}
    assert kept_variables([{"name": "IGNORE_DRA_REQUESTS", "value": "false"}, hidden]) == {"IGNORE_DRA_REQUESTS": "?"}
    assert kept_variables([hidden, {"name": "IGNORE_DRA_REQUESTS", "value": "SECRET"}]) == {"IGNORE_DRA_REQUESTS": "?"}
    assert kept_variables([{"name": "FEATURE_GATES", "value": "A=true,SECRET"}]) == {"FEATURE_GATES": "?"}


@pytest.mark.parametrize(
    ("container", "program", "guessed"),
    [
        ({"image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1"}, "cluster-autoscaler", False),
        ({"image": "rancher/mirrored-cluster-autoscaler-arm64:v1.33"}, "cluster-autoscaler", False),
        ({"image": "example.com/ca@sha256:ab", "command": ["/bin/cluster-autoscaler"]}, "cluster-autoscaler", False),
        ({"image": "example.com/ca", "command": ["sh", "-c"], "args": ["exec ./cluster-autoscaler --v=4"]}, "cluster-autoscaler", False),
        ({"image": "example.com/cluster-autoscaler-exporter:v2"}, "cluster-autoscaler", True),
        ({"image": "example.com/x", "args": ["--deployment=cluster-autoscaler", "--/cluster-autoscaler"]}, None, False),
        ({"image": "example.com/kubectl", "command": ["kubectl", "restart", "deployment", "cluster-autoscaler"]}, None, False),
        ({"image": "example.com/kubectl", "command": ["sh", "-c", "kubectl scale deploy/cluster-autoscaler karpenter"]}, None, False),
        ({"image": "example.com/ca", "command": ["/bin/sh", "-c", "set -e; /opt/cluster-autoscaler"]}, "cluster-autoscaler", False),
        ({"image": "public.ecr.aws/karpenter/controller:1.14.1"}, "karpenter", False),
        ({"image": "example.com/karpenter:1.14.1"}, "karpenter", False),
        ({"image": "example.com/karpenter/dashboard:3"}, "karpenter", True),
        ({"image": "example.com/karpenter-metrics:3"}, "karpenter", True),
    ],
)
def test_a_program_is_certain_by_what_is_started_or_a_whole_name_and_else_guessed(
    container: dict[str, Any], program: str | None, guessed: bool
) -> None:
    found = program_in(deployment({"name": "a", **container}))
    assert (program, guessed) == (None, False) if found is None else (found.program, found.guessed) == (program, guessed)


def test_a_container_that_certainly_is_one_comes_before_one_that_may_be() -> None:
    side = {"name": "side", "image": "example.com/cluster-autoscaler-exporter:v2"}
    assert program_in(deployment(side, CLUSTER_AUTOSCALER)).container == "ca"
    assert program_in(deployment(side, side | {"name": "other"})).container == "side"


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["/bin/cluster-autoscaler", "--nodes=1:2:a"]},
        {"command": ["sh", "-c", "export X=SECRET; exec ./cluster-autoscaler --nodes=1:2:a"]},
        {"command": ["sh", "-c"], "args": ["exec ./cluster-autoscaler --nodes=1:2:a SECRET"]},
        {"args": ["cluster-autoscaler", "--nodes=1:2:a"]},
    ],
)
def test_one_that_only_its_command_tells_is_told_by_a_snapshot_too(container: dict[str, Any]) -> None:
    item = deployment({"name": "a", "image": "example.com/ca:1", **container})
    left = kept(item)
    assert left is not None
    assert "SECRET" not in str(left)
    for found in (program_in(item), program_in(left)):
        assert (found.program, found.guessed, found.words) == ("cluster-autoscaler", False, ("--nodes=1:2:a",))
