"""The proxy as it is configured, where Caddy or nginx is installed: TLS, headers, limits."""

import http.client
import os
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from benchmarks.label_round_server import free_port

FOLDER = Path(__file__).resolve().parents[2] / "cqa_site/upkeep/deployment/proxy"
MIB = 1024 * 1024
SPOOFED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "evil.example",
}


class Echo(BaseHTTPRequestHandler):
    """A site that only says what it was asked."""

    protocol_version = "HTTP/1.1"
    # Bytes of every body that came whole.
    held: ClassVar[list[int]] = []

    def do_GET(self):
        body = "\n".join(f"{name}: {value}" for name, value in self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        while left and (read := self.rfile.read(min(left, MIB))):
            left -= len(read)
        if left:
            self.close_connection = True
            return
        self.held.append(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_arguments):
        pass


@pytest.fixture(scope="module")
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def caddy(site, tmp_path_factory):
    if not shutil.which("caddy"):
        pytest.skip("Caddy is not installed")
    folder, ports = tmp_path_factory.mktemp("caddy"), (free_port(), free_port())
    environment = {"PATH": os.environ["PATH"], "SITE_HOST": "localhost"}
    environment |= {"HTTP_PORT": str(ports[0]), "HTTPS_PORT": str(ports[1])}
    environment |= {"WEB_ADDRESS": f"127.0.0.1:{site}"}
    environment |= dict.fromkeys(("XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"), str(folder))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(FOLDER / "Caddyfile")]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        root = folder / "caddy/pki/authorities/local/root.crt"
        for _turn in range(200):
            if root.exists() and answers(ports[1], root):
                break
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        yield ports, root
    finally:
        process.terminate()
        process.wait(10)


def answers(port, root):
    try:
        return ask(port, root)[0] == 200
    except OSError:
        return False


def ask(port, root, method="GET", headers=SPOOFED, body=None):
    """Status, headers and body of an answer over TLS, whose certificate is looked at."""
    context = ssl.create_default_context(cafile=root)
    connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=20)
    try:
        connection.request(method, "/", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_plain_http_leads_to_tls(caddy):
    (http_port, _https), _root = caddy
    connection = http.client.HTTPConnection("localhost", http_port, timeout=5)
    connection.request("GET", "/i/secret/")
    answer = connection.getresponse()
    connection.close()
    assert answer.status == 308
    assert answer.headers["Location"].startswith("https://localhost")
    assert answer.headers["Location"].endswith("/i/secret/")


def test_what_strangers_say_about_themselves_is_replaced(caddy):
    (_http, port), root = caddy
    status, headers, said = ask(port, root)
    said = dict(line.split(": ", 1) for line in said.lower().splitlines())
    assert status == 200
    assert "caddy" not in (headers["Server"] or "").lower()
    assert said["x-forwarded-proto"] == "https"
    assert said["x-forwarded-for"] == "127.0.0.1"
    assert said["x-forwarded-host"] == said["host"] == f"localhost:{port}"


def test_a_file_of_64_mib_passes_and_no_more(caddy):
    (_http, port), root = caddy
    assert ask(port, root, "POST", {}, b"x" * (64 * MIB + 4096))[0] == 200
    before = len(Echo.held)
    # Caddy before 2.8 says 502; any may close while more is sent.
    with suppress(OSError):
        assert ask(port, root, "POST", {}, b"x" * (66 * MIB))[0] in (413, 502)
    assert len(Echo.held) == before


def test_nginx_reads_its_configuration(tmp_path):
    if not (shutil.which("nginx") and shutil.which("openssl")):
        pytest.skip("nginx or openssl is not installed")
    key, chain = tmp_path / "key.pem", tmp_path / "fullchain.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    names = ["-nodes", "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(chain)]
    subprocess.run([*made, *names], check=True, capture_output=True)
    server = (FOLDER / "nginx.conf").read_text().replace("/etc/ssl/counterpoint", str(tmp_path))
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{server}\n}}\n")
    done = subprocess.run(
        ["nginx", "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(whole)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr
