"""Things to work on, and addresses of a round and of its sheets."""

from django.urls import reverse

from cqa_site.rounds.kind import kind_of
from tests.argsum.made_cells import make_dataset, make_set
from tests.benchmark.made_scores import make_scored_answers


def fill_sets(study):
    for cell in make_dataset(study).cells.all():
        for system in ("Alpha", "Beta"):
            make_set(cell, system=system)


def fill_answers(study):
    make_scored_answers(study, systems=("Alpha", "Beta", "Gamma"), questions=4)


def address(name, round_, *ids):
    return reverse(name, args=[round_.study.public_id, *ids])


def work_page(round_):
    return address(kind_of(round_).work_page, round_, round_.public_id)


def sheet_at(round_, reply):
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return kind_of(round_).Sheet.objects.get(public_id=public_id)
