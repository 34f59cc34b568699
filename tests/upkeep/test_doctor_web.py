"""Faults on the way to people, planted: mail that does not leave, wrong hosts, no TLS."""

import json
import socket
import socketserver
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.wsgi import get_wsgi_application

from cqa_site.upkeep.doctor.examinations import web
from cqa_site.upkeep.doctor.findings import CheckState


class Mailbox(socketserver.StreamRequestHandler):
    """A mail server of a few words."""

    def handle(self):
        self.say("220 mail.example")
        for line in self.rfile:
            verb = line.split()[0].upper()
            if verb == b"EHLO":
                self.say("250-mail.example\r\n250 AUTH PLAIN LOGIN")
            elif verb == b"AUTH":
                self.say("235 yes" if self.server.lets_in else "535 no, not s3cret-word")
            elif verb == b"DATA":
                self.say("354 go on")
                self.server.messages.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self.say("250 kept")
            elif verb == b"QUIT":
                return self.say("221 bye")
            else:
                self.say("250 fine")

    def say(self, words):
        self.wfile.write(f"{words}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads, block_on_close = True, False


@contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def mailbox(settings):
    """A mail server that the settings name, and whose password is right."""
    with serving(MailServer(("127.0.0.1", 0), Mailbox)) as server:
        server.lets_in, server.messages = True, []
        settings.EMAIL_BACKEND = web.SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "site", "s3cret-word"
        settings.DEFAULT_FROM_EMAIL = "site@lab.example"
        yield server


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class TestMail:
    def test_it_leaves(self, finds, mailbox):
        finds.well("mail.delivery")
        assert mailbox.messages == []
        assert web.send_to("reader@lab.example").state == CheckState.WELL
        assert b"To: reader@lab.example" in mailbox.messages[0]

    def test_nobody_listens(self, finds, settings, mailbox):
        settings.EMAIL_PORT = closed_port()
        for found in (finds("mail.delivery"), web.send_to("reader@lab.example")):
            assert found.state == CheckState.WRONG
            assert "nothing is listening" in found.says
            assert "EMAIL_URL" in found.remedy
            assert "--send-mail" in found.command

    def test_sender_tls_or_password_are_wrong(self, finds, settings, mailbox):
        settings.DEFAULT_FROM_EMAIL = "counterpoint@localhost"
        finds.look("mail.delivery")
        settings.EMAIL_USE_TLS = True
        assert "does not support TLS" in finds("mail.delivery").says
        settings.EMAIL_USE_TLS, mailbox.lets_in = False, False
        found = finds.wrong("mail.delivery", "rejects the user name or password")
        assert "s3cret-word" not in repr(found)

    def test_the_console_of_a_production_site(self, finds, settings):
        settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
        finds.well("mail.delivery")
        settings.PRODUCTION = True
        finds.wrong("mail.delivery", "EMAIL_URL")


@pytest.mark.parametrize(
    ("hosts", "origins", "word"),
    [
        (["lab.example"], ["https://lab.example"], ""),
        ([".lab.example"], ["https://*.lab.example"], ""),
        (["lab.example"], ["https://other.example"], "https://other.example"),
        (["https://lab.example"], [], "bare host names"),
        (["lab.example:8000"], [], "bare host names"),
    ],
)
def test_hosts_that_do_not_fit(finds, settings, hosts, origins, word):
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = hosts, origins
    found = finds("web.hosts")
    assert found.state == (CheckState.WRONG if word else CheckState.WELL)
    assert word in found.says
    assert bool(found.remedy) == bool(word)


def test_production_without_tls(finds, settings):
    finds.well("web.tls")
    settings.PRODUCTION, settings.ALLOWED_HOSTS = True, ["lab.example"]
    finds.wrong("web.tls", "SECURE_SSL_REDIRECT")
    settings.SECURE_SSL_REDIRECT = True
    finds.look("web.tls", "TRUSTED_PROXY=true", "doctor --url https://lab.example/")
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    finds.well("web.tls")


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


@contextmanager
def site(application, certificate=None):
    """The whole site on a port of its own; with a certificate by https."""
    server = make_server("127.0.0.1", 0, application, handler_class=Quiet)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        scheme = "https" if certificate else "http"
        yield f"{scheme}://localhost:{server.server_port}/"


def certificate_until(folder, days):
    """A certificate of localhost, in a file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=90))
        .not_valid_after(now + timedelta(days=days, hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{days}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


def well(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"status": "ok"}).encode()]


class TestAddress:
    def test_a_host_that_is_not_allowed(self, settings):
        settings.ALLOWED_HOSTS = ["lab.example"]
        with site(get_wsgi_application()) as address:
            found = web.look_at_address(address)
        assert found.state == CheckState.WRONG
        assert "400" in found.says
        assert "ALLOWED_HOSTS" in found.remedy

    def test_a_proxy_that_does_not_say_https(self, settings, tmp_path, monkeypatch):
        settings.SECURE_SSL_REDIRECT = True
        certificate = certificate_until(tmp_path, 60)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

        def behind(environ, start_response):
            """As a proxy that ends TLS passes it on: the site hears http."""
            return get_wsgi_application()(environ | {"wsgi.url_scheme": "http"}, start_response)

        with site(behind, certificate) as address:
            found = web.look_at_address(address)
        assert found.state == CheckState.WRONG
        assert "redirects to itself" in found.says
        assert "TRUSTED_PROXY=true" in found.remedy

    @pytest.mark.parametrize(
        ("days", "trusted", "state", "word"),
        [
            (60, True, CheckState.WELL, "in 60 days"),
            (5, True, CheckState.LOOK, "in 5 days"),
            (-1, True, CheckState.WRONG, "expired"),
            (60, False, CheckState.WRONG, "self-signed"),
        ],
    )
    def test_certificates(self, tmp_path, monkeypatch, days, trusted, state, word):
        certificate = certificate_until(tmp_path, days)
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with site(well, certificate) as address:
            found = web.look_at_address(address)
        assert (found.state, word in found.says) == (state, True), found.says

    def test_another_site_or_nobody_there(self):
        def other(environ, start_response):
            start_response("200 OK", [])
            return [b"<h1>Welcome to nginx</h1>"]

        with site(other) as address:
            assert "not like this site's" in web.look_at_address(address).says
        closed = f"https://127.0.0.1:{closed_port()}/"
        cases = dict.fromkeys(
            ("lab.example", "ftp://lab.example", "https://"), "is not an address"
        )
        cases |= {"https://lab.example:x/": "is not an address", closed: "Connection refused"}
        for address, words in cases.items():
            found = web.look_at_address(address)
            assert (found.state, words in found.says) == (CheckState.WRONG, True), address
