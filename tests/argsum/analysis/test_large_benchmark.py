"""The benchmark of very many comments, with few: its steps run, and leave nothing behind."""

import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest

from argsum.analysis.methods import finding, grouping
from benchmarks import large_pages, large_steps
from benchmarks.large_analysis import LargeSite
from benchmarks.large_texts import write_texts


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return write_texts(tmp_path, 400)


@pytest.mark.long
@pytest.mark.django_db
def test_comments_are_imported_placed_and_shown_on_every_page(texts, settings, monkeypatch):
    settings.MIDDLEWARE = ["benchmarks.counted_settings.count_queries", *settings.MIDDLEWARE]
    monkeypatch.setattr(large_pages, "REPEATS", 1)
    large_steps.prepare()
    assert large_steps.bring(texts["path"])["said"].startswith("400 comments, ")
    assert large_steps.place(texts["themes"])["said"].endswith("ARI with the themes 1.000")
    assert large_steps.count()["points"] == 20
    shown = {name: queries for name, _ms, _cpu, queries, _size, _plans in large_steps.pages(False)}
    assert {"comments, a word", "analysis, all of it", "groups", "time", "report"} < set(shown)
    assert all(shown.values())


def test_a_sample_and_all_at_once_are_compared(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    draw = Random(1)
    pairs = [[f"Statement {n}.", f"theme {n % 3}"] for n in range(60)]
    near = [np.eye(8)[n % 3] + [0.2 * draw.random() for _axis in range(8)] for n in range(60)]
    vectors = np.array([each / np.linalg.norm(each) for each in near], dtype=np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "texts.json").write_text(json.dumps(pairs))
    for module in (finding, grouping):
        monkeypatch.setattr(module, "MOST_COMPARED", 30)
    sampled = large_steps.group(0)
    exact = large_steps.group(60)
    assert finding.MOST_COMPARED == grouping.MOST_COMPARED == 60
    assert (sampled["points"], exact["points"]) == (3, 3)
    assert sampled["known"] == exact["known"] == exact["other"] == 1


def test_workers_end_whatever_happens(monkeypatch, tmp_path):
    started = []

    def start_worker(self):
        sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
        started.append(subprocess.Popen(sleeping, start_new_session=True))
        return started[-1]

    monkeypatch.setattr(LargeSite, "start_worker", start_worker)
    running = LargeSite(folder=tmp_path).running(2)
    assert running.__enter__() == [each.pid for each in started]
    assert running.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None) is False
    assert all(each.returncode is not None for each in started)
