"""docs/api.md names every address and state; an id has one name in all addresses."""

import re
from pathlib import Path

from cqa_site.files.models import ImportFile
from cqa_site.home.interface import operations
from cqa_site.rounds.models import Round
from cqa_site.runs.models import Job, Run

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


def test_an_id_is_named_after_the_list_that_it_is_from():
    found = re.findall(r"([\w-]+)/\{(\w+)\}", " ".join(o.path for o in operations().values()))
    names = dict(found)
    assert len(set(found)) == len(names) > 50
    kept = ("label-rounds", "editing-rounds", "imports", "import-batches", "analyses", "corpora")
    assert [names[many] for many in kept] == [
        "label_round_id",
        "editing_round_id",
        "import_id",
        "import_batch_id",
        "analysis_id",
        "corpus_id",
    ]


def test_states_that_a_program_waits_for_are_in_the_documentation():
    text = DOCS.read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| an? ([\w ]+) \|(.*)\|$", text, re.MULTILINE))
    models = {"job": Job, "import": ImportFile, "judge run": Run, "round": Round}
    reasons = {"job": {"error"}, "import": {"refusal"}, "judge run": {"message"}, "round": set()}
    for name, model in models.items():
        words = set(re.findall(r"`(\w+)`", told[name])) - set(model.State.values)
        assert words == reasons[name], name
        over, asked, alone = (
            set(re.findall(r"`(\w+)`", cell)) - words for cell in told[name].split("|")
        )
        assert over | asked | alone == set(model.State.values), name
        assert len(over) + len(asked) + len(alone) == len(model.State.values), name
    assert set(Job.ACTIVE) == {"ready", "leased"}
