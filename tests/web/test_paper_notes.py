"""The pages about the papers: from the studies' figures to where paper, release and we differ."""

from pathlib import Path

import pytest
from django.urls import reverse

from tests.cast import make_member, make_study, sign_in

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study("Boats")


def test_the_document_is_a_page_with_its_tables(study):
    response = sign_in(make_member(study, "annotator")).get(
        reverse("help_page", args=["papers/deviations"])
    )
    text = response.content.decode()
    assert response.status_code == 200
    assert "<h1>Where paper, release and Counterpoint differ</h1>" in text
    assert "<td>17.97 ± 8.75</td>" in text
    assert text.count("<h1>") == 1


def test_links_from_one_document_to_another_lead_to_its_page(study):
    reader = sign_in(make_member(study, "researcher"))
    for path in (ROOT / "docs" / "papers").glob("*.md"):
        address = reverse("help_page", args=[f"papers/{path.stem}"])
        assert address.endswith(f"/{path.name}")
        assert reader.get(address).status_code == 200
    assert reader.get("/help/papers/nothing.md").status_code == 404


@pytest.mark.parametrize(
    "name", ["scores", "score_agreement", "faithfulness", "key_points", "summary_metrics"]
)
def test_pages_with_figures_of_papers_lead_there(study, name):
    page = sign_in(make_member(study, "researcher")).get(reverse(name, args=[study.public_id]))
    assert reverse("help_page", args=["papers/deviations"]) in page.content.decode()
