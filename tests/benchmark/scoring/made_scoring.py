"""People who score, as their browsers do."""

from typing import Any

from benchmark.scoring.models import ScoreSheet
from tests.benchmark.made_rounds import full_form
from tests.benchmark.preferences.made_preferences import JSON, address


def begin(client: Any, study: Any, scoring_round: Any) -> ScoreSheet:
    """Open the round as a person does, and return the sheet one is led to."""
    reply = client.get(address("score", study, scoring_round.public_id))
    assert reply.status_code == 302, reply.text[:2000]
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return ScoreSheet.objects.get(public_id=public_id)


def submit(client: Any, study: Any, sheet: ScoreSheet, **changed: str) -> Any:
    """Submit full points, but for what is changed."""
    fields = full_form(base_version=str(sheet.version)) | {"client_key": f"k{sheet.pk}"} | changed
    return client.post(address("score_submit", study, sheet.public_id), fields, **JSON)
