"""Leaderboards without their agreement, but where a test is about it."""

import pytest

from tests.benchmark.made_sheets import BRIEF


@pytest.fixture(scope="module")
def brief_rubric():
    """Studies score by four criteria: a board has 8 columns instead of 19."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.rubrics.models.COMPQA", BRIEF)
        yield


@pytest.fixture(scope="module")
def built(request, brief_rubric, build_once):
    """The world that ``scored_study`` of the file makes, built once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.agreement.reports.agreement.compute", none_computed)
        return build_once(request.module.scored_study)


@pytest.fixture(autouse=True)
def _without_agreement(request, monkeypatch):
    """Agreement takes nine tenths of the figures' time; what stands there is asked elsewhere."""
    has_django = request.config.pluginmanager.has_plugin("django")
    if has_django and request.node.get_closest_marker("agreement") is None:
        monkeypatch.setattr("benchmark.agreement.reports.agreement.compute", none_computed)


def none_computed(table, rubric, recipe):
    """What the figures keep instead; as long as it is the same, checks of a snapshot hold."""
    return {"sheets": len(table)}
