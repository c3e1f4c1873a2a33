"""Secrets in every odd place of an autoscaler's container: in no snapshot and in no answer."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from k8s_topo_mcp.objects.autoscaler_program import FLAGS, VARIABLES
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
from k8s_topo_mcp.sources.snapshot.write import Facts, entries, write
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import TOOLS

from .scenes import BUSY, CA_IMAGE, GROUP, KARPENTER_IMAGE, asking, deployment, in_status, node_pool, ready, status

SECRET = "CANARY=s3cr3t"
X9 = {"node.kubernetes.io/instance-type": "x9"}
ODD_WORDS = (
    *(f"--{name}{rest}" for name in sorted(FLAGS) for rest in (f"={SECRET}", f"=x;{SECRET}", f"=1,{SECRET}", f"=0:5:{SECRET}")),
    *(word for name in sorted(FLAGS) for word in (f"-{name}", SECRET)),
    f"--nodes=0:5:{GROUP};AWS_SECRET={SECRET}", f"--nodes=0:5:{GROUP}\n{SECRET}", f"--nodes=0:5:https://u:{SECRET}@example.com/{GROUP}",
    f"--startup-taint=acme.com/agent={SECRET}:NoSchedule", f"--feature-gates=A=true,B={SECRET}", f"--max-nodes-total=9 {SECRET}",
    "--v", SECRET, "--password", SECRET, f"--password={SECRET}", f"-p{SECRET}", SECRET, f"{SECRET} --v=1", f"--{SECRET}", f"--{SECRET}=1",
    f"export TOKEN={SECRET} && exec ./cluster-autoscaler --nodes=0:5:{GROUP} --v {SECRET} --ignore-dra-requests {SECRET} -- {SECRET}",
)  # fmt: skip


def laden(item: dict[str, Any]) -> dict[str, Any]:
    """The Deployment with a secret wherever its container has room for one."""
    (container,) = item["spec"]["template"]["spec"]["containers"]
    container["command"] = ["sh", "-c", *ODD_WORDS]
    container["args"] = list(ODD_WORDS)
    container["env"] = [
        *({"name": name, "value": value} for name in VARIABLES for value in (SECRET, f"true,{SECRET}", f"A=true,B={SECRET}")),
        *({"name": name, "valueFrom": {"secretKeyRef": {"name": SECRET, "key": SECRET}}} for name in VARIABLES),
        {"name": "AWS_SECRET_ACCESS_KEY", "value": SECRET},
        {"name": SECRET, "value": SECRET},
    ]
    container["envFrom"] = [{"secretRef": {"name": SECRET}}]
    container["livenessProbe"] = {"exec": {"command": list(ODD_WORDS)}}
    container["lifecycle"] = {"preStop": {"exec": {"command": list(ODD_WORDS)}}}
    container["workingDir"] = SECRET
    return item


@pytest.mark.parametrize(("name", "image"), [("cluster-autoscaler", CA_IMAGE), ("karpenter", KARPENTER_IMAGE)])
def test_no_secret_of_an_autoscalers_container_gets_out(name: str, image: str) -> None:
    items = [laden(deployment(name, image)), ready("n1", labels=X9), *BUSY[1:], *asking(2), status(in_status()), node_pool()]
    view = load_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    arguments: dict[str, list[dict[str, Any]]] = {
        "explain_pending": [{}, {"pod": "p", "detail": "full"}, {"workload": f"Deployment/kube-system/{name}"}],
        "claim_feasibility": [{"claim": "p-c", "detail": "full"}],
        "simulate_scaleup": [{}, {"add": ["x9"], "pods": ["p"], "detail": "full"}],
    }
    for tool in TOOLS:
        for given in arguments.get(tool.name, [{}]):
            answer = ask(tool, view, given)
            assert "s3cr3t" not in json.dumps(answer.structured()), (tool.name, given)
    for rewrite in ((), (Anonymiser(),)):
        out = io.BytesIO()
        write("-", entries(Facts(), items, *rewrite), stdout=out)
        assert b"s3cr3t" not in out.getvalue()
        assert b"--nodes=?" in out.getvalue()
