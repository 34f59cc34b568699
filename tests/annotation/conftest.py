"""A study and who works in it; where a test takes the ``lab`` of its file, these are of that.

Django is imported inside: the folders called ``methods`` run without it.
"""

import pytest


def of_lab(request, name):
    """Return that attribute of the file's ``lab``, or None if the test does not take it."""
    if "lab" in request.fixturenames:
        return getattr(request.getfixturevalue("lab"), name, None)
    return None


@pytest.fixture
def study(request, db):
    from tests.cast import make_study

    return of_lab(request, "study") or make_study()


@pytest.fixture
def researcher(request, study):
    from tests.cast import make_member

    return of_lab(request, "researcher") or make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    """The researcher's browser."""
    from tests.cast import sign_in

    return sign_in(researcher)


@pytest.fixture
def label_round(lab):
    return lab.label_round


@pytest.fixture
def question(study):
    from tests.annotation.made_answers import make_question

    return make_question(study)


@pytest.fixture
def comparison(study):
    """A pair of objects with one argument."""
    from tests.cast import make_arguments

    return make_arguments(study, 1)[0].comparison


@pytest.fixture
def inline(django_capture_on_commit_callbacks):
    """Background work runs when the block ends, as it would after the commit."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
