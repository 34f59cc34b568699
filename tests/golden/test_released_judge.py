"""The released labels of GPT-4 as a judge beside the released final labels."""

import pytest

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.judges.reports.figures import compute_figures
from annotation.judges.reports.versions import Choice
from annotation.labelling.models.campaigns import campaigns_of
from annotation.papers.reproduction import find_files, import_all
from cqa_site.people.models import Study
from tests.annotation.released import FINAL, FOLDER, needs

pytestmark = pytest.mark.django_db


@needs(FINAL)
@pytest.mark.long
def test_gpt_4_agrees_as_far_as_was_found_in_the_release(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    study = Study.objects.create(name="Released")
    kind = "final_labels"
    import_all(study, [each for each in find_files(FOLDER) if each[0] == kind])
    campaign = campaigns_of(study).select_related("guideline").get()
    # Its labels stand among the votes of the file and must not settle a final label.
    recompute_final_labels(campaign)
    (judge,) = compute_figures(campaign, Choice()).judges
    assert (judge.kind, judge.n) == ("imported", 1_688)
    assert judge.exact == pytest.approx(0.4591, abs=5e-5)
    assert judge.ordinal.value == pytest.approx(0.2318, abs=5e-5)
    assert judge.interval.value == pytest.approx(0.2374, abs=5e-5)
