"""What a process loads before anybody asks for a figure: see "Heavy packages" in CONTRIBUTING."""

import os
import subprocess
import sys

import pytest

HEAVY = ["docx", "openpyxl", "pandas", "pyarrow", "scipy", "torch", "vl_convert"]
WEB = """
import django; django.setup()
import cqa_site.urls
assert "annotation.figures.views.files" in sys.modules and "annotation.api_urls" in sys.modules
"""
WORKER = """
from cqa_site.celery import app
app.loader.init_worker()
app.finalize()
from django.core.checks import run_checks
run_checks()
from cqa_site.runs.jobs import HANDLERS
assert {"export", "snapshot", "final_labels"} <= set(HANDLERS), sorted(HANDLERS)
assert "cqa_site.runs.tasks.wake" in app.tasks
"""
LABELLING = WEB + "import annotation.quality.actions.quality, annotation.quality.reports.controls"
FIGURES = WEB + "import annotation.figures.reports.units"


def loaded(code: str, folder) -> list[str]:
    """Heavy packages in memory after running ``code`` in a process of its own."""
    report = f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{report}"],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.parametrize("code", [WEB, WORKER, LABELLING], ids=["web", "worker", "labelling"])
def test_starting_loads_no_heavy_package(code, tmp_path):
    assert loaded(code, tmp_path) == []


def test_a_figure_loads_what_it_needs(tmp_path):
    assert "pandas" in loaded(FIGURES, tmp_path)
