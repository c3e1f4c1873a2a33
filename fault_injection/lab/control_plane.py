"""The command lines of etcd and the three components, for a cluster without kubelets on loopback.

What matters: no endpoint reconciling (nothing must reach the API server but we), no ServiceAccount admission (nobody makes the accounts
that it would wait for), no node lifecycle controllers (they would taint nodes whose kubelet is a stand-in), no fsync (nobody keeps
the data).
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from .credentials import Credentials

WITHOUT = ("node-lifecycle-controller", "node-ipam-controller")


@dataclass(frozen=True, slots=True)
class Ports:
    """Loopback ports, free a moment ago."""

    etcd: int
    peer: int
    apiserver: int
    scheduler: int
    controllers: int


def free_ports() -> Ports:
    """Five different free ports."""
    return Ports(*free(5))


def free(number: int) -> list[int]:
    """Different free ports of 127.0.0.1: all are held until the last one is known."""
    with ExitStack() as held:
        found: list[int] = []
        for _ in range(number):
            server = held.enter_context(socket.socket())
            server.bind(("127.0.0.1", 0))
            found.append(server.getsockname()[1])
    return found


def gates_flag(gates: Mapping[str, bool]) -> list[str]:
    return [f"--feature-gates={','.join(f'{name}={str(on).lower()}' for name, on in sorted(gates.items()))}"] if gates else []


def etcd(binary: Path, folder: Path, ports: Ports) -> list[str]:
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.peer}"
    return [
        str(binary),
        "--name=lab",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(binary: Path, ports: Ports, credentials: Credentials, gates: Mapping[str, bool], apis: Sequence[str]) -> list[str]:
    return [
        str(binary),
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports.apiserver}",
        f"--tls-cert-file={credentials.certificate}",
        f"--tls-private-key-file={credentials.key}",
        f"--token-auth-file={credentials.tokens_file}",
        f"--service-account-key-file={credentials.key}",
        f"--service-account-signing-key-file={credentials.key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        "--endpoint-reconciler-type=none",
        "--disable-admission-plugins=ServiceAccount",
        "--allow-privileged=true",
        *([f"--runtime-config={','.join(f'{api}=true' for api in apis)}"] if apis else []),
        *gates_flag(gates),
    ]


def scheduler(binary: Path, ports: Ports, kubeconfig: Path, gates: Mapping[str, bool], config: Path | None) -> list[str]:
    return [
        str(binary),
        *([f"--config={config}"] if config else [f"--kubeconfig={kubeconfig}", "--leader-elect=false"]),
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.scheduler}",
        "--authentication-skip-lookup=true",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
        *gates_flag(gates),
    ]


def controllers(binary: Path, ports: Ports, kubeconfig: Path, credentials: Credentials, gates: Mapping[str, bool]) -> list[str]:
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.controllers}",
        "--authentication-skip-lookup=true",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
        f"--controllers=*,{','.join(f'-{name}' for name in WITHOUT)}",
        f"--service-account-private-key-file={credentials.key}",
        *gates_flag(gates),
    ]
