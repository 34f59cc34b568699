"""What workers and commands tell numeric packages before these are loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cqa_site.machine import prepare

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "NUMBA_CACHE_DIR")
WORKER = "from cqa_site.celery import app; app.loader.init_worker(); app.finalize()"
COMMAND = """
import django; django.setup()
from django.core.management import load_command_class
load_command_class("argsum", "train_match_scorer")
"""
SAID = f"""
import os, sys
assert "torch" not in sys.modules and "numba" not in sys.modules
print(*(os.environ[name] for name in {NAMES!r}))
"""
TRAINS = "from argsum.scorers.actions import torch_training; import torch"


def run(code, folder, **changed):
    env = {name: value for name, value in os.environ.items() if name not in NAMES}
    env |= {"DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(folder), **changed}
    command, how = [sys.executable, "-c", code], {"capture_output": True, "text": True}
    return subprocess.run(command, env=env, cwd=ROOT, check=True, timeout=120, **how)


def assert_told(said, folder):
    policy, block, kept = said.split()
    assert (policy, block) == ("PASSIVE", "0")
    assert Path(kept).is_relative_to(folder / "compiled")


def test_threads_wait_passively_unless_the_environment_says_otherwise(monkeypatch, tmp_path):
    """That settings prepare a worker, `test_light_start` sees in one."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    prepare(tmp_path)
    assert_told(" ".join(os.environ[name] for name in NAMES), tmp_path)
    said = {"OMP_WAIT_POLICY": "ACTIVE", "KMP_BLOCKTIME": "9", "NUMBA_CACHE_DIR": "/tmp/x"}
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    prepare(tmp_path)
    assert {name: os.environ[name] for name in NAMES} == said


@pytest.mark.long
def test_threads_of_workers_wait_passively_unless_the_environment_says_otherwise(tmp_path):
    assert_told(run(f"{WORKER}\n{SAID}", tmp_path).stdout, tmp_path)
    said = {"OMP_WAIT_POLICY": "ACTIVE", "NUMBA_CACHE_DIR": "/tmp/x"}
    done = run(f"{WORKER}\n{SAID}", tmp_path, **said)
    assert done.stdout.split() == ["ACTIVE", "0", "/tmp/x"]


@pytest.mark.long
def test_so_do_those_of_a_command_that_trains_as_openmp_itself_says(tmp_path):
    done = run(f"{COMMAND}\n{SAID}\n{TRAINS}", tmp_path, OMP_DISPLAY_ENV="TRUE")
    assert_told(done.stdout, tmp_path)
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr
