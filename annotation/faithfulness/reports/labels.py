"""Stored faithfulness figures held against another label set than the study's.

Stored figures follow the study's choice. Only precision, recall and F1 depend on labels, and
the numbers that a text cites are stored, so those three are computed when somebody asks.
"""

import hashlib
import json
from collections.abc import Iterator

from django.db.models import QuerySet

from annotation.answers.methods.conditions import NEWEST
from annotation.answers.models.answers import Answer
from annotation.answers.reports.argument_lists import (
    labelled_campaigns,
    numbered_labels,
    numbered_texts,
)
from annotation.consensus.models import FinalLabel
from annotation.corpus.models.questions import ArgumentList
from annotation.faithfulness.methods.faithfulness import Figures, with_labels
from annotation.faithfulness.models import FaithfulnessFigures
from cqa_site.people.models import Study

SCORES = ("precision", "recall", "f1")


def answer_of(row: FaithfulnessFigures) -> Answer:
    """The answer that a row is about, or whose revision it is about."""
    found = row.revision.sheet.answer if row.revision else row.answer
    assert found is not None  # noqa: S101 - the database sees to one of the two
    return found


class Relabel:
    """Figures with the scores by other labels; all lists of a study are read at once."""

    def __init__(self, study: Study, mode: str, whose: str) -> None:
        lists = ArgumentList.objects.filter(question__comparison__study=study)
        keys = list(lists.values_list("pk", flat=True))
        self.mode = mode
        self.arguments = numbered_texts(keys)
        self.labels = numbered_labels(study, keys, whose)

    def __call__(self, figures: Figures, argument_list: int | None) -> Figures:
        """The figures of a text that was written from a list, or from none."""
        key = argument_list or 0
        arguments, labels = self.arguments.get(key, {}), self.labels.get(key, {})
        return with_labels(figures, arguments, labels, mode=self.mode)


class RelabelledRows:
    """Rows of single texts by other labels: in the order of their scores, a slice at a time.

    Parameters
    ----------
    rows
        All rows that may be shown, in the order that holds where scores are equal.
    path
        From a row to its answer.
    sort
        One of `SCORES`, with a minus from high to low; otherwise the rows' own order stays.
    only_unscored
        Whether those with scores are left out.
    """

    def __init__(
        self,
        rows: QuerySet[FaithfulnessFigures],
        relabel: Relabel,
        *,
        path: str,
        sort: str = "",
        only_unscored: bool = False,
    ) -> None:
        self.rows, self.relabel, self.path = rows, relabel, path
        self.keys = [key for key, _scores in self._ordered(sort, only_unscored)]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, places: slice) -> list[FaithfulnessFigures]:
        wanted = self.keys[places]
        found = self.rows.in_bulk(wanted)
        return [self._shown(found[key]) for key in wanted if key in found]

    def iterator(self, size: int) -> Iterator[FaithfulnessFigures]:
        """All of them, some at a time."""
        for start in range(0, len(self), size):
            yield from self[start : start + size]

    def _ordered(self, sort: str, only_unscored: bool) -> list[tuple[int, Figures]]:
        columns = ("pk", "values", f"{self.path}__argument_list")
        found = [
            (pk, self.relabel(Figures.from_json(values), listed))
            for pk, values, listed in self.rows.values_list(*columns)
        ]
        if only_unscored:
            found = [each for each in found if each[1].f1 is None]
        name = sort.removeprefix("-")
        if name not in SCORES:
            return found
        known = [each for each in found if getattr(each[1], name) is not None]
        known.sort(key=lambda each: getattr(each[1], name), reverse=sort.startswith("-"))
        return known + [each for each in found if getattr(each[1], name) is None]

    def _shown(self, row: FaithfulnessFigures) -> FaithfulnessFigures:
        listed = answer_of(row).argument_list_id
        put_scores(row, self.relabel(Figures.from_json(row.values), listed))
        return row


def put_scores(row: FaithfulnessFigures, figures: Figures) -> None:
    """Let a stored row show other scores; it is not to be saved."""
    row.values = figures.to_json()
    for name in SCORES:
        setattr(row, name, getattr(figures, name))


def known_labels(study: Study, given: str) -> str:
    """The label set that an address asks for; empty, the study's choice, for any other text."""
    if given in ("", NEWEST):
        return given
    known = {str(each) for each in labelled_campaigns(study).values_list("public_id", flat=True)}
    return given if given in known else ""


def mark_of_labels(study: Study, whose: str) -> str:
    """A short name that changes when a label of the set does."""
    rows = FinalLabel.objects.filter(campaign__study=study, label__isnull=False)
    if whose != NEWEST:
        rows = rows.filter(campaign__public_id=whose)
    seen = list(rows.order_by("pk").values_list("pk", "label"))
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]
