"""Fixtures of this app; Django is imported inside, for folders without it load this file, too."""

from io import StringIO

import pytest


@pytest.fixture
def study(db):
    from tests.cast import make_study

    return make_study()


@pytest.fixture
def researcher(study):
    from tests.cast import make_member

    return make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    from tests.cast import sign_in

    return sign_in(researcher)


@pytest.fixture
def program(researcher):
    from tests.api.conftest import client_of

    return client_of(researcher)


@pytest.fixture
def place_scorer(monkeypatch):
    """Every match scorer of a run is one that knows where invented arguments belong."""
    from argsum.keypoints.actions import solver
    from tests.argsum.made_runs import PlaceScorer

    scorer = PlaceScorer()
    monkeypatch.setattr(solver, "match_scorer_of", lambda _scorer: scorer)
    return scorer


@pytest.fixture
def command(study):
    """Run an import command on the study; returns what it said, also where it refuses."""
    from django.core.management import CommandError, call_command

    def run(name, *paths, **options):
        out = StringIO()
        try:
            call_command(name, *paths, **{"study": study.name, "stdout": out} | options)
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return out.getvalue()

    return run


@pytest.fixture(autouse=True)
def _nothing_cached(request):
    """Counts are cached under keys that rows of other tests have again."""
    if request.node.get_closest_marker("django_db"):
        from django.core.cache import cache

        cache.clear()


@pytest.fixture
def word_engine():
    """Key points by the last word of each statement, in place of a model's."""
    from tests.argsum.analysis.made_comments import reading_words

    with reading_words():
        yield


@pytest.fixture
def word_scorer():
    """The match scorer of every analysis reads words, and takes nothing for filler."""
    from tests.argsum.analysis.made_writing import scoring_words

    with scoring_words():
        yield
