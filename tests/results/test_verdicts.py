"""Every verdict under its null, on few studies: nothing is far beyond its limit."""

from pathlib import Path

import pytest

from benchmarks.verdicts.__main__ import simulations
from benchmarks.verdicts.simulating import excess, run
from cqa_site.stats.verdicts import RULES

# A limit broken by this many Monte Carlo standard errors is no chance of few studies.
FAR = 4
KNOWN = list(simulations())


def one_of_each():
    """The first of every rule of a room and of what it counts; the others in the long test."""
    seen = set()
    for room, _at, each in KNOWN:
        kind = room, each.rule, each.counts
        marks = [pytest.mark.long] if kind in seen else []
        yield pytest.param(each, marks=marks, id=each.says)
        seen.add(kind)


@pytest.mark.parametrize("simulation", one_of_each())
def test_a_verdict_keeps_its_limit_at_its_smallest_n(simulation):
    share = run(simulation, simulation.sizes[0], max(10, simulation.quick // 16))
    # Some intervals are seldom printed at their smallest n: the full run draws enough of them.
    assert not share.n or excess(simulation, share) < FAR


def test_every_rule_is_simulated_and_nothing_else_is():
    assert {each.rule for _room, _at, each in KNOWN} <= {*RULES, "interval"}


def test_the_page_about_statistics_names_every_rule_with_its_smallest_n():
    text = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text()
    for name, rule in RULES.items():
        assert f"| `{name}` |" in text
        assert f"| {rule.least} {rule.unit} |" in text
