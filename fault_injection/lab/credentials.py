"""Keys, certificate and tokens of one lab. They are made for it, are good on loopback only, and go with its folder."""

from __future__ import annotations

import datetime
import ipaddress
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

USERS = {
    "admin": ("lab-admin", "system:masters"),
    "kube-scheduler": ("system:kube-scheduler", ""),
    # With rights of its own it would need a service account for each of its controllers.
    "kube-controller-manager": ("system:kube-controller-manager", "system:masters"),
    "kubelet": ("lab-kubelet", "system:masters"),
}
"""name -> user and group. The scheduler has exactly the rights that a real one has."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Paths of the files, and the token of each user."""

    certificate: Path
    key: Path
    tokens_file: Path
    tokens: dict[str, str]


def make(folder: Path) -> Credentials:
    """Write a certificate for 127.0.0.1, its key (which signs service account tokens too) and the token file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    began = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(began + datetime.timedelta(days=36500))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(True, False, False, False, False, True, False, False, False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    tokens = {user: secrets.token_hex(16) for user in USERS}
    found = Credentials(folder / "server.crt", folder / "server.key", folder / "tokens.csv", tokens)
    found.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    )
    rows = [f"{tokens[name]},{user},{name}{f',{group}' if group else ''}" for name, (user, group) in USERS.items()]
    found.tokens_file.write_text("\n".join(rows) + "\n")
    return found


def write_kubeconfig(path: Path, server: str, certificate: Path, token: str, name: str) -> None:
    """A kubeconfig with one context. It is JSON, which is YAML too."""
    import base64

    authority = base64.b64encode(certificate.read_bytes()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
    }
    path.write_text(json.dumps(config, indent=1))
    path.chmod(0o600)
