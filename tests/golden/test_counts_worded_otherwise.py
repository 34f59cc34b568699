"""The released counts join ArgKP where its key points are worded otherwise."""

import os
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models.questions import text_key
from argsum.counting.models import CountSheet
from argsum.datasets.models import Dataset, ReferenceKeyPoint
from tests.cast import make_study

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


def test_references_of_another_topic_are_refused():
    bring("A2")
    texts = list(ReferenceKeyPoint.objects.order_by("pk").values_list("text", flat=True))
    other = dict(zip(texts, texts[7:] + texts[:7], strict=True))
    reword(lambda text: f"{other[text]} or so")
    with pytest.raises(CommandError, match="rejected"):
        bring("A3")
    assert CountSheet.objects.count() == 144
