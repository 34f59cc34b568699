"""The study's log."""

from django.urls import reverse

from cqa_site.people.access import record
from tests.flat import flat


def log(client, study, page=1):
    return client.get(reverse("audit", args=[study.public_id]) + f"?page={page}")


def test_log_is_paginated_newest_first(researcher, study, people, django_assert_max_num_queries):
    for number in range(120):
        record(study=study, actor=people["admin"], verb="thing_done", subject=f"thing {number}")
    with django_assert_max_num_queries(5):
        text = log(researcher, study).content.decode()
    assert "1–50 of 120" in text
    assert "Thing done" in text
    assert text.index("thing 119") < text.index("thing 118")
    assert "thing 69<" not in text
    assert "thing 0<" in log(researcher, study, 3).content.decode()


def test_log_shows_reason_and_details_as_text(researcher, study, people):
    record(
        study=study,
        actor=people["admin"],
        verb="annotator_excluded",
        subject="R-1",
        reason="<b>always 3</b>",
        before="in",
    )
    text = log(researcher, study).content.decode()
    assert "&lt;b&gt;always 3&lt;/b&gt;" in text
    assert "<b>always" not in text
    assert "before" in text


def test_log_shows_nested_counts_in_words(researcher, study, people):
    counts = {"items": {"new": 3, "same": 0}, "votes": {"new": 0}}
    record(
        study=study, actor=None, verb="import_applied", subject="x", counts=counts, items=[1, 2]
    )
    text = flat(log(researcher, study).content.decode())
    assert "items new 3" in text
    assert "votes" not in text
    assert "</span> 1, 2" in text


def test_log_of_another_study_stays_there(researcher, study, other_study, people):
    record(study=other_study, actor=None, verb="thing_done", subject="PRIVATE")
    record(study=None, actor=people["admin"], verb="token_created", subject="PRIVATE")
    text = log(researcher, study).content.decode()
    assert "PRIVATE" not in text
    assert "Nothing happened yet" in text


def test_odd_page_numbers_are_harmless(researcher, study):
    for page in ("0", "-1", "x", "9" * 30):
        assert log(researcher, study, page).status_code == 200
