"""docs/api.md names every address of the interface."""

import re
from pathlib import Path

from .addresses import ADDRESSES

DOCS = Path(__file__).resolve().parents[2] / "docs/api.md"
SHORT = {
    "studies/<uuid:study_id>/label-rounds/<uuid:label_round_id>/": "C ",
    "studies/<uuid:study_id>/runs/<uuid:run_id>/": "R ",
    "studies/<uuid:study_id>/runs/<uuid:public_id>/": "R ",
    "studies/<uuid:study_id>/": "…",
}


def short(address):
    for whole, own in SHORT.items():
        if address.startswith(whole):
            address = own + address.removeprefix(whole)
            break
    return re.sub(r"<[^>]+>", "<id>", address).strip()


def test_every_address_is_in_the_documentation():
    text = DOCS.read_text(encoding="utf-8")
    addresses = {short(str(each.pattern)) for each in ADDRESSES}
    assert [each for each in sorted(addresses) if f"`{each}`" not in text] == []
