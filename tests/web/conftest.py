import pytest


@pytest.fixture
def study(db):
    from tests.cast import make_study

    return make_study("Boats")


@pytest.fixture
def reader(study):
    """The browser of a researcher of the study."""
    from tests.cast import make_member, sign_in

    return sign_in(make_member(study, "researcher"))
