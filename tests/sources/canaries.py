"""Secrets planted in objects where clusters keep them, to prove that none gets out."""

from __future__ import annotations

from typing import Any

CANARIES = (
    "CANARY-env-value", "CANARY-secret-name", "CANARY-secret-data", "CANARY-annotation", "CANARY-argument", "CANARY-pull-secret",
    "CANARY-managed", "CANARY-applied", "CANARY-termination", "CANARY-parameters", "CANARY-config-map", "CANARY-anything",
)  # fmt: skip
TOKEN = "CANARY-bearer-token"


def planted(value: Any, key: str = "") -> Any:
    """The object with canaries wherever something can be put into it."""
    if isinstance(value, list):
        return [planted(entry, key) for entry in value]
    if not isinstance(value, dict):
        return value
    found = {name: planted(entry, name) for name, entry in value.items()}
    if key == "metadata":
        found["annotations"] = {
            **found.get("annotations", {}),
            "example.com/note": "CANARY-annotation",
            "kubectl.kubernetes.io/last-applied-configuration": "CANARY-applied",
        }
        # Who wrote which part when is kept of some kinds; what was written in it never.
        owned = {"f:spec": {"f:CANARY-managed": {}}, "f:metadata": {"f:annotations": {"f:CANARY-managed": {}}}}
        entry = {"manager": "kubectl", "time": "2026-11-29T00:00:00Z", "fieldsType": "CANARY-managed", "fieldsV1": owned}
        found["managedFields"] = [entry]
    if "name" in found and key in ("containers", "initContainers", "ephemeralContainers"):
        found |= {
            "env": [
                {"name": "PASSWORD", "value": "CANARY-env-value"},
                {"name": "X", "valueFrom": {"secretKeyRef": {"name": "CANARY-secret-name"}}},
            ],
            "envFrom": [{"secretRef": {"name": "CANARY-secret-name"}}, {"configMapRef": {"name": "CANARY-config-map"}}],
            "args": ["--password=CANARY-argument"],
            "command": ["sh", "-c", "CANARY-argument"],
            "livenessProbe": {"exec": {"command": ["CANARY-argument"]}},
        }  # fmt: skip
    if key == "terminated":
        found["message"] = "CANARY-termination"
    if "containers" in found:
        found["imagePullSecrets"] = [{"name": "CANARY-pull-secret"}]
        found["serviceAccountName"] = "CANARY-anything"
        found["volumes"] = [
            *found.get("volumes", []),
            {"name": "CANARY-anything", "secret": {"secretName": "CANARY-secret-name"}},
            {"name": "CANARY-anything", "configMap": {"name": "CANARY-config-map"}},
            {"name": "CANARY-anything", "projected": {"sources": [{"secret": {"name": "CANARY-secret-name"}}]}},
        ]
    if key == "opaque":
        found["parameters"] = {"password": "CANARY-parameters"}
    if key in ("spec", "status", ""):
        found["somethingNew"] = {"deep": ["CANARY-anything"]}
    return found


def secrets() -> list[dict[str, Any]]:
    """Objects that nobody may read, in case somebody dumped them."""
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "CANARY-secret-name", "namespace": "default"},
         "data": {"password": "CANARY-secret-data"}, "stringData": {"token": "CANARY-secret-data"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "CANARY-config-map", "namespace": "default"},
         "data": {"a": "CANARY-anything"}},
    ]  # fmt: skip
