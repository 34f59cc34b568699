"""The study's log."""

from django.urls import reverse

from cqa_site.people.access import record
from tests.flat import flat


def log(client, study, page=1):
    return client.get(reverse("audit", args=[study.public_id]) + f"?page={page}").text


def test_log_is_paginated_newest_first(
    researcher, study, other_study, people, django_assert_max_num_queries
):
    record(study=other_study, actor=None, verb="thing_done", subject="PRIVATE")
    record(study=None, actor=people["admin"], verb="token_created", subject="PRIVATE")
    assert "No activity yet" in log(researcher, study)
    for number in range(60):
        record(study=study, actor=people["admin"], verb="thing_done", subject=f"thing {number}")
    with django_assert_max_num_queries(5):
        text = log(researcher, study)
    assert "1–50 of 60" in text
    assert "PRIVATE" not in text
    assert "Thing done" in text
    assert text.index("thing 59") < text.index("thing 58")
    assert "thing 9<" not in text
    assert "thing 0<" in log(researcher, study, 2)


def test_log_shows_reason_and_details_as_text_and_nested_counts_in_words(
    researcher, study, people
):
    counts = {"items": {"new": 3, "same": 0}, "votes": {"new": 0}}
    details = {"counts": counts, "items": [1, 2], "before": "in"}
    said = {"reason": "<b>always 3</b>"} | details
    record(study=study, actor=people["admin"], verb="import_applied", subject="x", **said)
    text = flat(log(researcher, study))
    assert "&lt;b&gt;always 3&lt;/b&gt;" in text
    assert "<b>always" not in text
    assert "before" in text
    assert "items new 3" in text
    assert "votes" not in text
    assert "</span> 1, 2" in text
