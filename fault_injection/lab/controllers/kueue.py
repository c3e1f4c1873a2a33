"""Kueue beside a lab, with its gates for DRA on.

Its webhooks are as its own installation has them (config/default of the module): their certificate is made by Kueue itself, kept in a
Secret, and written by Kueue into the webhooks and definitions. Two things differ. The Service of the webhooks is of type ExternalName and
names 127.0.0.1, where Kueue listens. And what a kubelet does with a Secret that a pod mounts is done here: it is written to a folder.

Of the jobs only batch/v1 Job is integrated, so only its webhooks and those of Kueue's own kinds are installed. What isn't used isn't built:
the integrations of other jobs, and the server of pending Workloads (gate VisibilityOnDemand), which would listen on every address.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fault_injection.lab.control_plane import free
from fault_injection.lab.errors import LabError
from fault_injection.lab.lab import Lab

from .definitions import define
from .probes import ready
from .programs import Edit, Program

Object = dict[str, Any]

PROGRAM = Program(
    name="kueue",
    module="sigs.k8s.io/kueue",
    version="v0.17.0",
    sum="h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=",
    package="./cmd/kueue",
    stamp="sigs.k8s.io/kueue/pkg/version.GitVersion",
    manifests=("config/components/crd/bases", "config/components/crd/patches", "config/components/webhook/manifests.yaml"),
    edits=(
        Edit("cmd/kueue/main.go", '\t"sigs.k8s.io/kueue/pkg/visibility"\n', "", 1),
        Edit(
            "cmd/kueue/main.go",
            "visibility.CreateAndStartVisibilityServer(ctx, queues, &cfg, kubeConfig, visibilityServerPort, parsedTLSConfig)",
            'errors.New("built without the visibility server")',
            1,
        ),
        Edit("cmd/kueue/main.go", '_ "sigs.k8s.io/kueue/pkg/controller/jobs"', '_ "sigs.k8s.io/kueue/pkg/controller/jobs/job"', 1),
    ),
)
GATES = {"DynamicResourceAllocation": True, "DRAExtendedResources": True, "VisibilityOnDemand": False}
"""The first two are alpha and off by default in 0.17; the third is on by default and isn't built here."""
NAMESPACE, SERVICE, SECRET = "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert"
GROUPS = frozenset({"kueue.x-k8s.io", "batch"})
"""API groups whose webhooks are installed."""
READY = 120.0
"""Seconds until it serves; on an idle machine about fifteen, most of them for its certificate."""


def start(lab: Lab, settings: Mapping[str, Any]) -> None:
    """Install Kueue and run it. `settings`: what `resources` of its Configuration has, as deviceClassMappings. Raises LabError."""
    binary = PROGRAM.binary()
    own = lab.path / "kueue"
    certificates = own / "certificates"
    certificates.mkdir(parents=True)
    health, webhooks = free(2)
    lab.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    define(lab, definitions(PROGRAM.documents("config/components/crd/bases"), PROGRAM.documents("config/components/crd/patches"), webhooks))
    for item in (service(), secret()):
        lab.client.create(item)
    for item in webhook_configurations(PROGRAM.documents("config/components/webhook/manifests.yaml"), webhooks):
        lab.client.create(item)
    configured = own / "configuration.json"
    configured.write_text(json.dumps(configuration(settings, health, webhooks, certificates), indent=1))
    lab.beside("kueue", [str(binary), f"--config={configured}", f"--kubeconfig={lab.kubeconfig}", "--zap-log-level=2"])
    made = lab.wait("Kueue's certificate", lambda: _certificate(lab), READY)
    for name, content in made.items():
        (certificates / name).write_bytes(base64.b64decode(content))
    lab.wait("Kueue to be ready", lambda: ready(health), READY)


def configuration(settings: Mapping[str, Any], health: int, webhooks: int, certificates: Path) -> Object:
    """Kueue's Configuration (apis/config/v1beta2/configuration_types.go): on loopback, for Jobs, with its gates for DRA.

    Raises LabError for settings that aren't of `resources`.
    """
    known = {"deviceClassMappings", "excludeResourcePrefixes", "transformations"}
    if unknown := sorted(set(settings) - known):
        raise LabError(f"Kueue's resources have no {', '.join(unknown)}; they have {', '.join(sorted(known))}")
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": webhooks, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": GATES,
        "resources": dict(settings),
    }


def service() -> Object:
    """The name under which the API server finds the webhooks, and for which their certificate is: it leads to this machine."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "127.0.0.1"},
    }


def secret() -> Object:
    """Empty: Kueue fills it."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE}}


def definitions(bases: Iterable[Object], patches: Iterable[Object], port: int) -> list[Object]:
    """Kueue's definitions, those with more than one version converted by its webhook as its patches say."""
    converted = {patch["metadata"]["name"]: patch["spec"]["conversion"] for patch in patches if "conversion" in patch.get("spec", {})}
    found: list[Object] = []
    for base in bases:
        conversion = converted.get(base["metadata"]["name"])
        if conversion is not None:
            told = conversion["webhook"]
            conversion = {**conversion, "webhook": {**told, "clientConfig": _here(told["clientConfig"], port)}}
        found.append({**base, "spec": {**base["spec"], **({"conversion": conversion} if conversion else {})}})
    return found


def webhook_configurations(manifests: Iterable[Object], port: int) -> list[Object]:
    """The webhooks of Kueue's own kinds and of Jobs, under the names that Kueue's installation gives them."""
    found: list[Object] = []
    for item in manifests:
        hooks = [hook for hook in item["webhooks"] if all(set(rule["apiGroups"]) <= GROUPS for rule in hook["rules"])]
        hooks = [{**hook, "clientConfig": _here(hook["clientConfig"], port)} for hook in hooks]
        found.append({**item, "metadata": {"name": f"kueue-{item['metadata']['name']}"}, "webhooks": hooks})
    return found


def _here(config: Object, port: int) -> Object:
    return {"service": {"namespace": NAMESPACE, "name": SERVICE, "path": config["service"]["path"], "port": port}}


def _certificate(lab: Lab) -> Object | None:
    found = lab.client.get("v1", "Secret", SECRET, NAMESPACE).get("data") or {}
    return found if {"tls.crt", "tls.key"} <= found.keys() else None
