"""The definitions of an installation and its proxy: what is open to whom, TLS, headers, limits."""

import http.client
import os
import re
import shlex
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
from cryptography.fernet import Fernet

from benchmarks.composed import command_of_image, example, make_secrets, read_compose
from benchmarks.label_round_server import free_port
from tests.people.test_production import SAFE, manage

ROOT = Path(__file__).resolve().parents[2]
UNITS = ROOT / "cqa_site/upkeep/deployment/systemd"
CHECKED = """
from django.conf import settings
from django.core.management import call_command
call_command("check", deploy=True, fail_level="WARNING")
print(settings.DATABASES["default"]["PASSWORD"])
"""
OURS = ("migrate", "web", "worker")


@pytest.fixture(scope="module")
def compose():
    return read_compose(example())


def test_only_the_proxy_is_reached_and_the_database_reaches_nobody(compose):
    with pytest.raises(KeyError, match="SITE_HOST"):
        read_compose(example() | {"SITE_HOST": ""})
    services = compose["services"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert compose["networks"]["inside"]["internal"] is True
    assert {name: each["networks"] for name, each in services.items()} == {
        "db": ["inside"],
        "redis": ["inside"],
        "migrate": ["inside"],
        "web": ["inside", "front"],
        "worker": ["inside", "out"],
        "proxy": ["front"],
    }


def test_nothing_of_ours_may_write_beside_its_data_or_become_root(compose):
    for name in OURS:
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["volumes"] == ["data:/data"]
        assert "user" not in service
    assert re.search(r"^USER 10001:10001$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)


def test_every_service_has_its_limits_a_version_and_secrets_in_files(compose):
    for name, service in compose["services"].items():
        for variable in service.get("environment", {}):
            assert not re.search(r"PASSWORD$|SECRET_KEY$|SECRETS_KEYS$", variable)
        assert {"mem_limit", "pids_limit", "restart"} <= service.keys(), name
        _image, _colon, tag = service["image"].partition(":")
        assert tag not in ("", "latest"), name
        assert name == "migrate" or "healthcheck" in service or name == "proxy", name


def test_image_compose_and_units_start_the_same(compose):
    services, image = compose["services"], command_of_image()
    assert "command" not in services["web"]
    here = {"--host=127.0.0.1": "--host=0.0.0.0"}
    assert [here.get(word, word) for word in started("counterpoint-web.service")] == image
    assert started("counterpoint-worker@.service") == services["worker"]["command"]


def started(unit: str) -> list[str]:
    text = (UNITS / unit).read_text().replace("\\\n", " ")
    program, *words = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1])
    return [Path(program).name, *words]


def test_systemd_understands_the_units_and_finds_them_closed(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    python = tmp_path / ".venv/bin"
    python.mkdir(parents=True)
    for program in ("python", "granian", "celery"):
        (python / program).symlink_to("/bin/true")
    for unit in UNITS.iterdir():
        moved = unit.read_text().replace("/opt/counterpoint", str(tmp_path))
        (tmp_path / unit.name).write_text(moved)
    said = analyze(tmp_path, "verify", "counterpoint.target", "counterpoint-worker@2.service")
    assert said == ""
    for unit in ("counterpoint-web.service", "counterpoint-worker@.service"):
        said = analyze(tmp_path, "security", "--offline=true", "--threshold=20", unit)
        assert re.search(r"Overall exposure level .*: [01]\.\d", said), said


def analyze(folder: Path, verb: str, *words: str) -> str:
    units = [f"./{word}" if word.startswith("counterpoint") else word for word in words]
    command = ["systemd-analyze", "--no-pager", verb, *units]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_secrets_are_made_once_and_a_production_site_with_them_has_no_issues(tmp_path):
    folder = tmp_path / "secrets"
    make_secrets(folder)
    made = {each.name: each.read_text() for each in folder.iterdir()}
    make_secrets(folder)
    assert {each.name: each.read_text() for each in folder.iterdir()} == made
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(set(made.values())) == len(made) == 4
    assert Fernet(made["secrets_keys"])
    files = {f"{name.upper()}_FILE": str(folder / name) for name in made}
    safe = {name: value for name, value in SAFE.items() if f"{name}_FILE" not in files}
    url = "postgres://counterpoint@db.example/counterpoint"
    result = manage(
        tmp_path, "shell", "--no-imports", "-c", CHECKED, **safe, **files, DATABASE_URL=url
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no issues" in result.stdout
    assert result.stdout.splitlines()[-1] == made["database_password"]


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
