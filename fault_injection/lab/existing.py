"""Somebody's disposable cluster in place of a lab: used only if its context is named by the caller, and only in namespaces made here.

Nothing that isn't namespaced is ever written, except those namespaces; they are deleted at the end.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from . import recording
from .client import Client, Object
from .errors import ApiError, LabError

LABEL = "k8s-topo-mcp/lab"


class ExistingCluster:
    """A cluster by kubeconfig. `disposable_context` names the context that the caller declares disposable; there is no default."""

    def __init__(self, kubeconfig: Path, disposable_context: str) -> None:
        self.context = disposable_context
        self.kubeconfig = kubeconfig
        self.name = f"lab-{secrets.token_hex(4)}"
        server, token, verify = read_kubeconfig(kubeconfig, disposable_context)
        self._fence: set[str] = set()
        self.client = Client(server, token, verify, self._fence)

    def __enter__(self) -> ExistingCluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.down()

    def namespace(self, suffix: str = "") -> str:
        """Make a namespace and allow writing into it."""
        name = f"{self.name}{'-' if suffix else ''}{suffix}"
        metadata = {"name": name, "labels": {LABEL: self.name}}
        self.client.call("POST", "/api/v1/namespaces", json={"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        self._fence.add(name)
        return name

    def write_kubeconfig(self, target: Path, namespace: str) -> None:
        """The caller's kubeconfig with this context and namespace current."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        config["current-context"] = self.context
        for entry in config["contexts"]:
            if entry["name"] == self.context:
                entry["context"]["namespace"] = namespace
        target.write_text(json.dumps(config))
        target.chmod(0o600)

    def snapshot(self) -> Object:
        """All that the product reads, as a v1 List. The scheduler's gates can't be read from outside."""
        return recording.record(self.client, "", self.context)

    def down(self) -> None:
        """Delete the namespaces that were made here."""
        for name in sorted(self._fence):
            with contextlib.suppress(ApiError):
                self.client.call("DELETE", f"/api/v1/namespaces/{name}")
        self._fence.clear()
        self.client.close()


def read_kubeconfig(path: Path, context: str) -> tuple[str, str | None, ssl.SSLContext]:
    """Server, token and trust of a context. Raises LabError for what this small reader can't use."""
    try:
        config = yaml.safe_load(path.read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise LabError(f"can't read kubeconfig {path}: {error}") from None
    chosen = _named(config, "contexts", context, "context")
    cluster = _named(config, "clusters", chosen.get("cluster"), "cluster")
    user = _named(config, "users", chosen.get("user"), "user")
    if "exec" in user or "auth-provider" in user:
        raise LabError(f"context {context} logs in by a command; a lab uses only tokens and client certificates")
    if not cluster.get("server"):
        raise LabError(
            f"the kubeconfig {path} names no server for context {context}: clusters[].cluster.server is the URL of the API server"
        )
    verify = ssl.create_default_context()
    authority = _content(cluster, "certificate-authority", path)
    if authority is not None:
        verify.load_verify_locations(cadata=authority.decode())
    if cluster.get("insecure-skip-tls-verify"):
        verify.check_hostname = False
        verify.verify_mode = ssl.CERT_NONE
    certificate, key = _content(user, "client-certificate", path), _content(user, "client-key", path)
    if certificate is not None and key is not None:
        with tempfile.TemporaryDirectory() as scratch:  # ssl reads them from files only
            both = Path(scratch) / "client.pem"
            both.touch(0o600)
            both.write_bytes(certificate + b"\n" + key)
            verify.load_cert_chain(both)
    return cluster["server"], user.get("token"), verify


def _named(config: Mapping[str, Any], field: str, name: str | None, inner: str) -> Mapping[str, Any]:
    for entry in config.get(field) or ():
        if entry.get("name") == name:
            return entry.get(inner) or {}
    known = ", ".join(str(entry.get("name")) for entry in config.get(field) or ()) or "none"
    raise LabError(f"the kubeconfig has no {inner} {name!r}; it has {known}")


def _content(entry: Mapping[str, Any], field: str, kubeconfig: Path) -> bytes | None:
    if entry.get(f"{field}-data"):
        return base64.b64decode(entry[f"{field}-data"])
    if entry.get(field):
        return (kubeconfig.parent / entry[field]).read_bytes()
    return None
