"""What deploy/ says holds: options exist, the account is the one that has the permissions, nothing runs as root or names a registry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from k8s_topo_mcp.cli import parser
from k8s_topo_mcp.server.http import Address

DEPLOY = Path(__file__).parents[2] / "deploy"


def manifests(name: str) -> dict[str, dict[str, Any]]:
    return {item["kind"]: item for item in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8"))}


def pod() -> dict[str, Any]:
    return manifests("server.yaml")["Deployment"]["spec"]["template"]["spec"]


def test_the_options_are_ones_that_there_are_and_would_start() -> None:
    (container,) = pod()["containers"]
    options = parser().parse_args(container["args"])
    ports = {entry["name"]: entry["containerPort"] for entry in container["ports"]}
    assert Address.parse(options.http, "--http").port == ports["mcp"]
    assert Address.parse(options.metrics, "--metrics").port == ports["metrics"]
    assert not Address.parse(options.metrics, "--metrics").is_loopback  # so it is behind the tokens
    assert options.token_file
    assert options.allowed_host
    (mount,) = container["volumeMounts"]
    assert options.token_file.startswith(mount["mountPath"])
    assert mount["readOnly"]


def test_it_runs_as_the_account_that_may_only_read() -> None:
    account = manifests("rbac.yaml")["ServiceAccount"]["metadata"]
    deployment = manifests("server.yaml")["Deployment"]
    assert pod()["serviceAccountName"] == account["name"]
    assert deployment["metadata"]["namespace"] == account["namespace"]


def test_nothing_runs_as_root_or_writes() -> None:
    (container,) = pod()["containers"]
    assert pod()["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert re.search(r"^USER 65532:65532$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert pod()["securityContext"]["runAsUser"] == 65532


def test_probes_ask_what_the_server_answers() -> None:
    (container,) = pod()["containers"]
    paths = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    assert paths == {"/healthz", "/readyz"}


def test_what_is_built_and_what_is_installed_are_pinned() -> None:
    """`-c` doesn't reach the isolated environment in which pip builds; the variable does."""
    (install,) = re.findall(r"^RUN (.*pip install.*)$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert install.startswith("PIP_CONSTRAINT=/src/constraints.txt ")
    assert "WORKDIR /src\n" in (DEPLOY / "Containerfile").read_text()


def test_images_are_the_builder_s_to_choose() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BUILD_IMAGE}", "${BASE_IMAGE}"]
    (container,) = pod()["containers"]
    assert "/" not in container["image"]
