"""Files of stored scores: a set is the one that came from its place, or the file is refused."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from argsum.models import MetricScore, SummarySet
from tests.argsum.made_cells import TOPIC, make_dataset
from tests.cast import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    made = make_study("Stored")
    make_dataset(made, name="First")
    make_dataset(made, name="Second")
    return made


@pytest.fixture
def run(tmp_path, study):
    """Import one evaluation of one cell; returns what the command said."""

    def run(*, setting="(0.5,)", value=0.25, **options):
        scores = {TOPIC: {"1": {setting: {"llm_coverage": value, "runtime": 1.0}}}}
        path = tmp_path / "ArgKP21_Mine.json"
        path.write_text(json.dumps({"parameter_names": ["t"], "scores": scores}))
        out = StringIO()
        chosen = {"study": "Stored", "dataset": "First", "stdout": out} | options
        try:
            call_command("import_summary_scores", path, **chosen)
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return out.getvalue()

    return run


def test_the_same_file_again_adds_nothing(run):
    run()
    assert [line.split() for line in run().splitlines() if " sets " in line][:1] == [
        ["sets", "0", "1", "0", "0"]
    ]
    assert (SummarySet.objects.count(), MetricScore.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("changed", "other"),
    [
        ({"dataset": "Second"}, "another dataset, topic or stance"),
        ({"system": "Yours"}, "another system (Mine)"),
        ({"setting": "(0.7,)"}, "another setting (t=0.5)"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_file_of_the_same_name_with_other_sets_is_refused(run, changed, other, dry_run):
    run()
    said = run(value=0.75, update_changed=True, dry_run=dry_run, **changed)
    assert f"A set of {other} came from place 1 of a file of this name" in said
    assert list(MetricScore.objects.values_list("value", flat=True)) == [0.25]
