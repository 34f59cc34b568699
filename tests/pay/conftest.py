import pytest

from tests import cast


@pytest.fixture
def researcher(crowd):
    """The browser of the researcher whose crowd it is."""
    return cast.sign_in(crowd.researcher)
