"""The program in docs/api.md that has people label, run as it stands against a server."""

import os
import subprocess
import sys
from contextlib import closing

import pytest

from annotation.labelling.actions.serving import member_place, next_work
from annotation.labelling.actions.votes import SubmittedLabel, answer
from annotation.labelling.models import LabelRound
from cqa_site.files.actions import import_jobs as importing
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.people.models import Invitation, Study, User
from cqa_site.rounds.onboarding.actions import take_step
from cqa_site.web.limits import CourtesyThrottle
from tests.api.conftest import client_of
from tests.cast import make_member
from tests.runs.test_worked_example import program

LABELS = {"gas": 3, "Charcoal": 2, "train": 1, "plane": 0}


def label_everything(label_round, membership):
    place = member_place(label_round=label_round, membership=membership)
    take_step(round_=label_round, place=place, kind="reading", answers={}, started_at=None)
    place.refresh_from_db()
    while rows := next_work(label_round=label_round, place=place).assignments:
        for row in rows:
            words = row.item.argument.text.split()
            label = next(LABELS[word] for word in words if word in LABELS)
            answer(
                rater=place.rater, assignment=row, given=SubmittedLabel(f"{row.pk}", label=label)
            )


@pytest.fixture
def started(live_server, monkeypatch, tmp_path):
    """Start the program; its output and errors are pipes."""
    monkeypatch.setattr(CourtesyThrottle, "rate", None)
    boss = User.objects.create_superuser("boss@site.example", "a long password")
    env = os.environ | {
        "COUNTERPOINT_SITE": live_server.url,
        "COUNTERPOINT_TOKEN": client_of(boss).secret,
    }
    code = program("Complete example: people label sentences")
    command = [sys.executable, "-I", "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=env, cwd=tmp_path, text=True, **pipes) as running:
        yield running
        running.kill()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (ImportRefused("Somebody changed the rows."), "Somebody changed the rows."),
        (ValueError("a bug"), "Unexpected error"),
    ],
)
def test_the_documented_program_ends_with_the_reason_where_an_import_fails(
    request, monkeypatch, trouble, told
):
    run = importing._run

    def fail_to_write(import_file, *, write, **more):
        if write:
            raise trouble
        return run(import_file, write=write, **more)

    monkeypatch.setattr(importing, "_run", fail_to_write)
    _output, errors = request.getfixturevalue("started").communicate(timeout=30)
    assert told in errors


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_documented_program_goes_from_an_empty_study_to_files(live_server, started, tmp_path):
    with closing(started.stdout) as printed:
        links = [printed.readline() for _person in range(3)]
        assert all(live_server.url in link for link in links), started.stderr.read()
        study = Study.objects.get(name="Grills")
        assert Invitation.objects.filter(study=study).count() == 3
        for _person in range(3):
            person = make_member(study, "annotator")
            membership = study.memberships.get(user=person)
            label_everything(LabelRound.objects.get(study=study), membership)
        output, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    assert "Krippendorff's alpha ordinal 1.0" in output
    assert "3\tvotes\tA gas grill is hot within ten minutes." in output
    assert (tmp_path / "final_labels.csv").read_text().count("\n") == 5
