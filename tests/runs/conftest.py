"""What tests of runs share."""

import pytest


@pytest.fixture
def commits(django_capture_on_commit_callbacks):
    """Runs what is asked for after a commit."""
    return django_capture_on_commit_callbacks
