"""The released counts join ArgKP where its key points are worded otherwise."""

import os
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpus.models.questions import text_key
from argsum.counting.models import CountSheet
from argsum.datasets.models import Dataset, ReferenceKeyPoint
from cqa_site.files.actions.reading import import_path
from tests.cast import make_member, make_study, sign_in

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "argsum" / "human"
pytestmark = [
    pytest.mark.reference,
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.exists(), reason="released data absent: argsum"),
]


@pytest.fixture(autouse=True)
def study(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_study("Counted")


def bring(name="A3", **options):
    out = StringIO()
    path = FOLDER / f"{name}.csv"
    chosen = {"study": "Counted", "dataset": "ArgKP", "stdout": out} | options
    call_command("import_counts", path, **chosen)
    return out.getvalue()


def reword(change):
    for each in ReferenceKeyPoint.objects.filter(cell__dataset__name="ArgKP"):
        each.text = change(each.text)
        each.sha256 = text_key(each.text)
        each.save()


def test_every_reference_without_its_case_or_marks_is_found_again():
    bring("A2")
    reword(lambda text: re.sub(r"[,.’']", "", text).upper() + " !")
    said = bring("A3")
    assert CountSheet.objects.count() == 288
    assert Dataset.objects.get().cells.count() == 6
    assert "is taken for" in said


@pytest.mark.long
def test_a_word_less_is_no_matter_unless_two_references_become_alike(study):
    bring("A2")
    texts = set(ReferenceKeyPoint.objects.values_list("text", flat=True))
    reword(lambda text: text.rpartition(" ")[0] if len(text.split()) > 4 else text)
    shortened = texts - set(ReferenceKeyPoint.objects.values_list("text", flat=True))
    looked = import_path(
        study=study,
        kind="count_sheets",
        path=FOLDER / "A3.csv",
        name="A3.csv",
        options={"dataset": "ArgKP"},
        write=False,
    )
    remarks = [flag.reason for flag in looked.flags if flag.column == "reference"]
    taken = {remark.partition("” is taken for “")[0].strip("“") for remark in remarks}
    # “The US has great” and “The US has a great” are what is left of two references of one topic.
    refused = {text for text in shortened if text.startswith("The US ")} - taken
    assert taken == shortened - refused
    assert (len(taken), len(refused)) == (22, 7)
    assert looked.rejected == 24
    assert "several references are like “The US has a great environment/nature”" in str(
        looked.flags
    )
    bring("A3", references="order")
    assert CountSheet.objects.count() == 288


def test_references_of_another_topic_are_refused():
    bring("A2")
    texts = list(ReferenceKeyPoint.objects.order_by("pk").values_list("text", flat=True))
    other = dict(zip(texts, texts[7:] + texts[:7], strict=True))
    reword(lambda text: f"{other[text]} or so")
    with pytest.raises(CommandError, match="rejected"):
        bring("A3")
    assert CountSheet.objects.count() == 144


@pytest.mark.long
def test_the_released_counts_are_shown_without_the_systems_that_the_paper_left_out(study):
    for name in ("A1", "A2", "A3", "A4"):
        bring(name)
    client = sign_in(make_member(study, "researcher"))
    found = client.get(reverse("summary_people", args=[study.public_id])).context["found"]
    assert found.sets == 126
    means = {each.dimension: each.pairs.mean for each in found.dimensions}
    assert means == {
        "coverage": pytest.approx(0.697, abs=5e-4),
        "redundancy": pytest.approx(0.722, abs=5e-4),
    }
    board = client.get(reverse("key_points", args=[study.public_id])).context["board"]
    assert len(board.rows) == 21
