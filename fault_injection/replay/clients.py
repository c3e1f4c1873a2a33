"""Client certificates: an authority of one server, and what it issues, good or run out."""

from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_BEGAN = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_FAR = datetime.timedelta(days=36500)


class Authority:
    """Signs the certificates of clients. `pem` is its own certificate."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("replay-clients")
        made = _unsigned(self._name, self._name, self._key.public_key(), _BEGAN + _FAR)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        self.pem = made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, common_name: str, good: bool = True) -> tuple[str, str]:
        """A certificate and its key, as PEM. One that isn't `good` has run out long ago."""
        key = ec.generate_private_key(ec.SECP256R1())
        end = _BEGAN + (_FAR if good else datetime.timedelta(days=1))
        made = _unsigned(_named(common_name), self._name, key.public_key(), end)
        made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        made = made.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        certificate = made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return certificate, private.decode()


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _unsigned(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, end: datetime.datetime) -> x509.CertificateBuilder:
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return made.serial_number(x509.random_serial_number()).not_valid_before(_BEGAN).not_valid_after(end)
