"""Fewer dimensions, density clusters, and joining the rest."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from argsum.systems import clustering
from argsum.systems.clustering import (
    density_clusters,
    join_clusters,
    principal_components,
    reduce_vectors,
    uses_umap,
)

ROOT = Path(__file__).resolve().parents[4]
REDUCED_TWICE = """
import json
import numpy as np
from argsum.systems.clustering import density_clusters, reduce_vectors
noise = np.random.default_rng(0).normal(0, 0.05, (20, 6))
vectors = np.repeat(np.eye(6)[:2], 10, axis=0) + noise
first, again = (
    reduce_vectors(vectors, neighbours=3, components=2, min_distance=0.0, seed=3) for _ in "ab"
)
print(json.dumps([first.shape, bool((first == again).all()), density_clusters(first)]))
"""


def test_umap_is_asked_for_what_was_chosen(monkeypatch):
    asked = {}

    class Reducer:
        def __init__(self, **options):
            asked.update(options)

        def fit_transform(self, vectors):
            assert vectors.dtype == np.float32
            return vectors[:, :2]

    monkeypatch.setattr(clustering, "umap_class", lambda: Reducer)
    reduced = reduce_vectors(np.eye(6), neighbours=3, components=2, min_distance=0.2, seed=7)
    assert reduced.tolist() == np.eye(6)[:, :2].tolist()
    chosen = {"n_neighbors": 3, "n_components": 2, "min_dist": 0.2}
    assert asked == chosen | {"metric": "cosine", "random_state": 7, "n_jobs": 1}


def test_functions_of_umap_that_keep_nothing_are_made_to(monkeypatch):
    """Modules of the names that are looked through, without Numba and what it compiles."""

    class NullCache:
        """Of a function that is compiled anew in every process."""

    class Dispatcher:
        is_kept = False

        def __init__(self, cache=None, signatures=()):
            self._cache, self.signatures = cache or NullCache(), signatures

        def enable_caching(self):
            self.is_kept = True

    fresh, below, other = (Dispatcher() for _each in range(3))
    compiled, kept = Dispatcher(signatures=("f8",)), Dispatcher(cache="a file")
    modules = {
        "numba": {},
        "numba.core": {},
        "numba.core.caching": {"NullCache": NullCache},
        "numba.core.dispatcher": {"Dispatcher": Dispatcher},
        "umap": {"UMAP": "the class", "fresh": fresh, "compiled": compiled, "kept": kept},
        "pynndescent.graph": {"below": below},
        "umapper": {"other": other},
    }
    for name, content in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))
    assert clustering.umap_class.__wrapped__() == "the class"
    kept_ones = [function.is_kept for function in (fresh, below, compiled, kept, other)]
    assert kept_ones == [True, True, False, False, False]


# Functions whose types are written down are compiled while UMAP is loaded, which takes eight
# seconds; here only when they are called.
KEPT = """
import numba
from numba.core.dispatcher import Dispatcher
typed, compile_ = set(), Dispatcher.compile
def compile_later(self, types):
    return compile_(self, types) if isinstance(types, tuple) else typed.add(self)
Dispatcher.compile, Dispatcher.disable_compile = compile_later, lambda self: None
@numba.njit
def _double(x):
    return 2 * x
import sys, types, pathlib
import umap
umap._double = _double
from argsum.systems.clustering import umap_class
umap_class()
assert type(_double._cache).__name__ == "FunctionCache", type(_double._cache)
unkept = [
    f"{name}.{key}"
    for name, module in list(sys.modules.items()) if name.startswith("umap.")
    for key, each in vars(module).items()
    if type(getattr(each, "_cache", None)).__name__ == "NullCache" and each not in typed
]
assert not unkept, unkept
"""


def run_code(code, tmp_path, **environment):
    """Run a program in a process of its own; return what it printed."""
    path = tmp_path / "program.py"
    path.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, str(path)]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=-1, check=True).stdout


@pytest.mark.long
def test_umap_repeats_itself_and_keeps_groups_apart_and_what_it_compiles(tmp_path):
    run_code(KEPT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path))
    # Compiling UMAP takes 20 s, running so few points without it a second.
    shape, is_equal, ids = json.loads(run_code(REDUCED_TWICE, tmp_path, NUMBA_DISABLE_JIT="1"))
    assert (shape, is_equal) == ([20, 2], True)
    halves = [set(ids[:10]) - {-1}, set(ids[10:]) - {-1}]
    assert all(halves)
    assert not halves[0] & halves[1]


def test_small_cells_get_principal_components_instead_of_umap():
    sizes = [(4, 2, 2), (3, 2, 2), (6, 5, 2), (5, 5, 2), (6, 2, 5)]
    assert [uses_umap(n, neighbours=near, components=own) for n, near, own in sizes] == [
        True, False, True, False, False,
    ]  # fmt: skip
    for n in (0, 1, 2, 4):
        vectors = np.random.default_rng(0).normal(size=(n, 8))
        found = reduce_vectors(vectors, neighbours=4, components=4, min_distance=0.1, seed=1)
        assert found.shape == (n, 4)
        assert np.isfinite(found).all()
    # Principal components by hand.
    # Of length 1 and centred these are ±(.5, -.5): one direction, √.5 on either side.
    found = principal_components(np.array([[2.0, 0.0], [0.0, 5.0]]), 3)
    assert np.abs(found).round(6).tolist() == [[0.707107, 0.0, 0.0], [0.707107, 0.0, 0.0]]
    assert found[0, 0] * found[1, 0] < 0
    # The sign does not depend on the order of the arguments.
    other = principal_components(np.array([[0.0, 5.0], [2.0, 0.0]]), 3)
    assert other[0, 0] == pytest.approx(found[1, 0])


def test_density_clusters_leave_strays_out():
    square = np.array([[0, 0], [0, 0.1], [0.1, 0], [0.1, 0.1]])
    points = np.concatenate([square, square + 9, [[30, -30]]])
    assert density_clusters(points) == [0, 0, 0, 0, 1, 1, 1, 1, -1]
    # Numbered by first appearance.
    assert density_clusters(points[::-1]) == [-1, 0, 0, 0, 0, 1, 1, 1, 1]
    # Three points are no cluster: a point must have three neighbours.
    assert density_clusters(points[[0, 1, 2, 4, 5, 6]]) == [-1] * 6
    assert density_clusters(points[:2]) == [-1, -1]
    assert density_clusters(np.zeros((0, 2))) == []


def test_unclustered_ones_join_the_closest_mean_in_the_order_given():
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0.9, 0.5], [0.5, 0.9], [-1, -1], [-1, -0.8]])
    ids = [0, 0, 1, -1, -1, -1, -1]
    # The last two are turned away from both: one opens a cluster, the other joins it.
    assert join_clusters(vectors, ids) == [0, 0, 1, 0, 1, 2, 2]
    # A right angle opens a cluster, and so does the first argument.
    assert join_clusters(np.eye(3), [0, -1, -1]) == [0, 1, 2]
    assert join_clusters(np.array([[1.0, 0], [1, 0.1]]), [-1, -1]) == [0, 0]
    assert join_clusters(np.zeros((0, 4)), []) == []

    # 46° is closer to 90° than to 0°; after 44° has drawn the first mean to 22°, to that.
    def at(*degrees):
        angles = np.radians(degrees)
        return np.array([np.cos(angles), np.sin(angles)]).T

    assert join_clusters(at(0, 90, 46), [0, 1, -1]) == [0, 1, 1]
    assert join_clusters(at(0, 90, 44, 46), [0, 1, -1, -1]) == [0, 1, 0, 0]


@given(st.integers(0, 1000), st.lists(st.integers(-1, 2), min_size=1, max_size=15))
def test_joining_changes_no_cluster_that_was_there(seed, drawn):
    present = sorted(set(drawn) - {-1})
    ids = [present.index(each) if each >= 0 else -1 for each in drawn]
    found = join_clusters(np.random.default_rng(seed).normal(size=(len(ids), 4)), ids)
    assert all(new == old for new, old in zip(found, ids, strict=True) if old != -1)
    assert set(found) == set(range(max(found) + 1))
