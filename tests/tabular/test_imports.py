"""Reading tables loads neither the web framework nor the heavy libraries."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FORBIDDEN = ("django", "celery", "openpyxl", "pyarrow", "numpy", "pandas")


def test_importing_the_readers_is_light():
    papers = "annotation.imports.methods.toloka, annotation.corpus.methods.generic_table"
    modules = f"cqa_site.tabular, {papers}"
    program = f"import {modules}, sys; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert not set(FORBIDDEN) & set(done.stdout.split())
