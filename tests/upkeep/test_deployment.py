"""The definitions of an installation: what is open to whom, and that all say the same."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from benchmarks.composed import command_of_image, example, make_secrets, read_compose
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
