"""Servers the judging tests talk to, and one that nobody may talk to."""

import asyncio
import contextlib
import datetime
import socket
import ssl
import threading
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cqa_site.judging.transport.egress import AllowedNetwork
from .llmstub import StubServer
from .made_environment import MadeEnvironment


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An environment in which nothing is installed, and nobody fetches."""
    return MadeEnvironment(tmp_path, monkeypatch)


@pytest.fixture
def stub():
    with StubServer() as server:
        yield server


@pytest.fixture
def allowed(stub):
    return [AllowedNetwork("127.0.0.1/32", stub.port)]


class Canary:
    """Listens on every local address and counts who comes."""

    def __init__(self):
        self.connections = 0
        self._sockets = [listening(socket.AF_INET, "0.0.0.0", 0)]
        self.port = self._sockets[0].getsockname()[1]
        if socket.has_ipv6:
            with contextlib.suppress(OSError):  # No IPv6 here: nothing can arrive by it.
                self._sockets.append(listening(socket.AF_INET6, "::", self.port))
        for one in self._sockets:
            threading.Thread(target=self._accept, args=(one,), daemon=True).start()

    def _accept(self, server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self):
        for one in self._sockets:
            one.shutdown(socket.SHUT_RDWR)
            one.close()


def listening(family, address, port):
    server = socket.socket(family)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, port))
    server.listen()
    return server


@pytest.fixture
def canary():
    server = Canary()
    yield server
    server.close()


class Resolver:
    """Stands in for the event loop's resolver; names it does not know go to the real one."""

    def __init__(self, real):
        self._real = real
        self.answers = {}
        self.lookups = []

    def install(self, monkeypatch):
        async def getaddrinfo(loop, host, port, **options):
            self.lookups.append(host)
            if host not in self.answers:
                return await self._real(loop, host, port, **options)
            known = self.answers[host]
            is_series = isinstance(known, list) and isinstance(known[0], list)
            found = known.pop(0) if is_series else known
            if isinstance(found, Exception):
                raise found
            if isinstance(found, float):
                await asyncio.sleep(found)
                found = ["1.1.1.1"]
            return [sockaddr(address, port) for address in found]

        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)


def sockaddr(address, port):
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))


@pytest.fixture
def resolver(monkeypatch):
    made = Resolver(asyncio.BaseEventLoop.getaddrinfo)
    made.install(monkeypatch)
    return made


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A certificate authority: ``authority.context(name)`` is a server's TLS context."""
    return Authority(tmp_path_factory.mktemp("authority"))


class Authority:
    def __init__(self, folder):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test authority")])
        own = self._builder(self._name, self._key.public_key())
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.file = folder / "authority.pem"
        self.file.write_bytes(pem(own.sign(self._key, hashes.SHA256())))

    def _builder(self, subject, public_key):
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )

    def context(self, name, seen=None):
        """TLS for a server called ``name``; names that clients ask for are added to ``seen``."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        names = x509.SubjectAlternativeName([general_name(name)])
        builder = self._builder(subject, key.public_key()).add_extension(names, critical=False)
        path = self._folder / f"{name}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        path.write_bytes(private + pem(builder.sign(self._key, hashes.SHA256())))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        if seen is not None:
            context.sni_callback = lambda _socket, asked, _context: seen.append(asked)
        return context


def general_name(name):
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)
