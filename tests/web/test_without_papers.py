"""A site may leave the second and the third paper out of INSTALLED_APPS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Own tests of the platform and the first paper, a part of each that is quick.
OWN = [
    "people/test_overview.py",
    "people/test_studies.py",
    "annotation/consensus/test_adoption.py",
]
ROOT = Path(__file__).parents[2]


def run(tmp_path, without: str, *command: str) -> subprocess.CompletedProcess[str]:
    settings = {"DJANGO_SETTINGS_MODULE": "tests.settings_without", "WITHOUT": without}
    env = os.environ | settings | {"DATA_DIR": str(tmp_path)}
    env.pop("DATABASE_URL", None)
    how = "-m" if len(command) > 1 else "-c"
    return subprocess.run(
        [sys.executable, how, *command], cwd=ROOT, env=env, capture_output=True, text=True
    )


CHECKED = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("check")
from django.urls import get_resolver
print(len(get_resolver().reverse_dict))
print(*(name for name in sys.modules if name.startswith(("benchmark.", "argsum."))))
"""


@pytest.mark.long
def test_a_site_without_both_starts_with_nothing_of_theirs(tmp_path):
    """What its pages show, and its demo, is walked through at length."""
    started = run(tmp_path, "benchmark,argsum", CHECKED)
    assert started.returncode == 0, started.stderr[-2000:]
    *_words, addresses, loaded = started.stdout.split("\n")[:-1]
    assert int(addresses) > 200
    assert loaded == ""


@pytest.mark.long
@pytest.mark.parametrize("without", ["argsum", "benchmark", "benchmark,argsum"])
def test_a_site_without_a_paper_migrates_makes_its_demo_and_shows_every_page(tmp_path, without):
    schema = tmp_path / "schema.yaml"
    walked = run(tmp_path, without, "tests.web.walk_without", str(schema))
    assert walked.returncode == 0, walked.stderr[-2000:]
    last = walked.stdout.strip().splitlines()
    # Whatever failed stands between the words of the demo and the number of pages.
    assert last[-2:][0] == "Every invariant holds.", walked.stdout
    assert int(last[-1].removeprefix("asked ")) > 60
    # The schema knows only what is there.
    assert ("/scoring-rounds/" in schema.read_text()) == ("benchmark" not in without)
    assert ("/datasets/" in schema.read_text()) == ("argsum" not in without)


@pytest.mark.long
def test_a_site_without_both_passes_its_own_tests(tmp_path):
    files = [f"tests/{each}" for each in OWN]
    passed = run(tmp_path, "benchmark,argsum", "pytest", "-p", "no:cacheprovider", "-n0", *files)
    assert passed.returncode == 0, passed.stdout[-3000:]
