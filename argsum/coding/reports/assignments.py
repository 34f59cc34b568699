"""Statements with codes by a language model: requests in words, and agreement of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.coding.methods.replies import NONE_FITS
from argsum.coding.models import CodedStatement
from argsum.datasets.models import CellArgument
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call, Run

from .keys import CodingKey


@dataclass(frozen=True)
class AssignmentOutcome:
    """Numbers of statements of a run.

    ``fits_none`` are among the ``coded``. ``agreeing`` and ``differing`` are known once the codes
    are applied. ``unusable`` maps reasons to statements that got no usable codes.
    """

    statements: int
    coded: int
    fits_none: int
    agreeing: int
    differing: int
    unusable: Mapping[str, int]

    @property
    def is_compared(self) -> bool:
        """Whether the codes were compared with match scores."""
        return bool(self.agreeing or self.differing)


@dataclass(frozen=True)
class DisputedCodes:
    """A statement whose codes match scores do not confirm, with texts of key points."""

    text: str
    points: Sequence[str]
    nearest: str
    note: str


def assignment_of(run: Run) -> AssignmentOutcome:
    """Return the outcome of a run; two queries."""
    is_coded = Q(reason="")
    numbers = run.coded_statements.aggregate(
        statements=Count("argument", distinct=True),
        coded=_statements(is_coded),
        fits_none=_statements(is_coded & Q(codes=[])),
        agreeing=_statements(Q(agrees=True)),
        differing=_statements(Q(agrees=False)),
    )
    return AssignmentOutcome(**numbers, unusable=_unusable(run))


def _statements(which: Q) -> Count:
    return Count("argument", distinct=True, filter=which)


def _unusable(run: Run) -> dict[str, int]:
    """Count statements without usable codes by the reason of their last request."""
    coded = run.coded_statements.filter(reason="").values("argument")
    rows = run.coded_statements.filter(argument__isnull=False).exclude(argument__in=coded)
    last = dict(rows.order_by("attempt", "pk").values_list("argument", "reason"))
    return dict(Counter(last.values()).most_common())


def disagreements_of(run: Run) -> QuerySet[CodedStatement]:
    """Return the statements whose codes match scores do not confirm, in their order."""
    rows = run.coded_statements.filter(agrees=False).select_related("argument")
    return rows.order_by("argument__position")


def disagreements_in_words(run: Run, rows: Sequence[CodedStatement]) -> list[DisputedCodes]:
    """Return disagreements with the texts of key points instead of codes."""
    texts = texts_of(run)
    return [
        DisputedCodes(
            row.argument.text if row.argument else "–",
            [texts[code] for code in row.codes],
            texts[row.nearest],
            row.note,
        )
        for row in rows
    ]


def texts_of(run: Run) -> dict[str, str]:
    """Map the codes of a run's codebook to key points."""
    codebook: list[dict[str, Any]] = run.spec["target"]["codebook"]
    return {entry["code"]: entry["text"] for entry in codebook}


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {call.pk: CodingKey.of(call.subject_ids) for call in calls}
    wanted = {pk for key in keys.values() for pk in key.statements}
    own = CellArgument.objects.filter(cell__dataset__study=study)
    texts = dict(own.filter(pk__in=wanted).values_list("pk", "text"))
    rows = CodedStatement.objects.filter(call__in=list(keys))
    coded = {(row.call_id, row.argument_id): row for row in rows}
    return {
        call: [_item(texts.get(pk), key, coded.get((call, pk))) for pk in key.statements]
        for call, key in keys.items()
    }


def _item(text: str | None, key: CodingKey, row: CodedStatement | None) -> RequestItem | None:
    if text is None:
        return None
    context = _("attempt %d") % key.attempt
    if row is None:
        return RequestItem(text, context)
    codes = "" if row.reason else ", ".join(row.codes) or NONE_FITS
    return RequestItem(text, context, codes, row.note, row.reason)


ASSIGNMENT_CALLS = CallSubjects(
    Titles(lazy("Statement"), lazy("Codes"), lazy("Reason given")), _items
)
