"""Fixtures of this app; Django is imported inside, for folders without it load this file, too."""

import pytest


@pytest.fixture
def study(db):
    from tests.cast import make_study

    return make_study()


@pytest.fixture
def researcher(study):
    from tests.cast import make_member

    return make_member(study, "researcher", "Rosa Researcher")


@pytest.fixture
def inline(django_capture_on_commit_callbacks):
    """Work that waits for the end of a transaction is done at the end of the block."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def client(researcher):
    from tests.cast import sign_in

    return sign_in(researcher)
