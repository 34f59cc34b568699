"""Every released figure of the relevance paper, computed from the database after real imports."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.management.reproduction import Choices, reproduce_relevance
from annotation.management.throwaway import throwaway_database
from annotation.models import Campaign
from annotation.reports.relevance_paper import crowd_values
from annotation.reports.relevance_published import PUBLISHED
from tests import cast
from tests.annotation.methods.released import EXPERTS, FINAL, FOLDER, SILVER_50, SILVER_112, VOTES

FILES = (VOTES, EXPERTS, FINAL, SILVER_112, SILVER_50)
ABSENT = [path.name for path in FILES if not path.exists()]
pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(bool(ABSENT), reason=f"released data absent: {', '.join(ABSENT)}"),
]

# Written out here once more, so that a change of the table in the code does not pass unseen.
EXPECTED = {
    "rows": 6_854,
    "answered_void": (6_409, 445),
    "workers": 282,
    "tasks": 1_729,
    "ordinary_control": (1_709, 20),
    "blank": 21,
    "pairs": 112,
    "pairs_folded": 101,
    "votes": (5_127, 1_282),
    "vote_values": (558, 1_308, 2_117, 2_426),
    "alpha_all_nominal": 0.2687,
    "alpha_all_ordinal": 0.3397,
    "alpha_all_interval": 0.3350,
    "alpha_ordinary_nominal": 0.2346,
    "alpha_ordinary_ordinal": 0.2917,
    "alpha_ordinary_interval": 0.2852,
    "control_accuracy": (779, 1_282),
    "workers_below_half": 94,
    "workers_perfect_zero": (39, 31),
    "kept_workers": 188,
    "kept_votes": 3_856,
    "kept_tasks_without": 41,
    "kept_ties": 399,
    "kept_alpha": 0.4055,
    "kept_labels": (55, 238, 439, 936),
    "majority_tasks": (55, 241, 524, 909),
    "majority_units": (49, 241, 522, 907),
    "splits": (505, 938, 266),
    "tied_units": 265,
    "equal_majority": (1_440, 1_688),
    "equal_experts": (1_528, 1_688),
    "equal_adjudicated": (1_673, 1_688),
    "expert_controls": (29, 4),
    "expert_alpha": 0.888881,
    "expert_fleiss": 0.812146,
    "batch_twice": 31,
    "batch_alpha": 0.7676,
    "batch_equal": 25,
    "model_exact": 0.4591,
    "model_alpha_nominal": 0.1702,
    "model_alpha_ordinal": 0.2318,
    "model_alpha_interval": 0.2374,
    "silver_answers": (336, 150),
    "silver_jaccard_text": 0.2485,
    "silver_jaccard_sentence": 0.2066,
    "silver_levenshtein": 11.8240,
    "silver_precision": 0.9610,
    "silver_recall": 0.8315,
    "silver_f1": 0.8760,
    "subset_jaccard_text": 0.2418,
    "subset_jaccard_sentence": 0.2092,
    "subset_levenshtein": 11.8831,
    "subset_precision": 0.9557,
    "subset_recall": 0.8608,
    "subset_f1": 0.8937,
    "subset_similarity": 0.691,
    "clean_precision": 0.995,
    "clean_recall": 0.866,
    "clean_f1": 0.915,
    "added_twice": 0,
}


@pytest.fixture(scope="module")
def figures(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), throwaway_database():
        return {figure.key: figure for figure in reproduce_relevance(FOLDER.parent, Choices())}


@pytest.mark.parametrize("key", EXPECTED)
def test_figure(figures, key):
    expected, figure = EXPECTED[key], figures[key]
    digits = figure.digits
    if isinstance(expected, float):
        assert figure.ours == pytest.approx(expected, abs=0.5001 * 10**-digits)
    else:
        assert figure.ours == expected
    assert figure.status == "match"


def test_every_figure_of_the_release_is_checked_here(figures):
    assert {each.key for each in PUBLISHED if each.released is not None} == set(EXPECTED)
    absent = {key for key, figure in figures.items() if figure.status == "not in the data"}
    assert absent == set(figures) - set(EXPECTED)


def test_what_the_release_cannot_support_is_never_asserted(figures):
    for key in ("votes_per_task", "batch_items", "model_experts", "model_crowd"):
        assert (figures[key].released, figures[key].status) == (None, "not in the data")


@pytest.mark.django_db
def test_the_page_gives_the_same_figures(django_capture_on_commit_callbacks, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    study = cast.make_study()
    client = cast.sign_in(cast.make_member(study, "researcher"))
    content = {"kind": "toloka", "file": SimpleUploadedFile(VOTES.name, VOTES.read_bytes())}
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(
            reverse("import_upload", args=[study.public_id]), content | {"campaign": "Crowd"}
        )
    page = client.get(response.url).content.decode()
    assert "Ready to import" in page
    assert ">6,854<" in page
    file = study.import_files.get()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("import_apply", args=[study.public_id, file.public_id]))
    crowd = Campaign.objects.get(study=study, name="Crowd")
    values = crowd_values(crowd, 0.5)
    for key in values.keys() & EXPECTED.keys():
        assert values[key] == pytest.approx(EXPECTED[key], abs=0.00005), key
    assert crowd.final_labels.filter(is_tied=True).count() == 265
