"""Certificates that sign themselves."""

from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FAR_OFF = datetime(2120, 1, 1, tzinfo=UTC)


def self_signed(folder: Path, names: Sequence[str] = (), until: datetime = FAR_OFF) -> tuple[Path, Path]:
    """Write a certificate for 127.0.0.1 and some host names, and its key; return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    unnamed = x509.Name([])
    hosts = [x509.IPAddress(IPv4Address("127.0.0.1")), *map(x509.DNSName, names)]
    builder = x509.CertificateBuilder(unnamed, unnamed, key.public_key(), 1, LONG_AGO, until)
    made = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)

    certificate = folder / "certificate.pem"
    certificate.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, private
