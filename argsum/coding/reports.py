"""Keys and descriptions of proposal and assignment requests, and the results of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.models import FoundPoint
from argsum.coding.methods import NONE_FITS
from argsum.coding.models import CodedStatement, ProposedList
from argsum.datasets.models import CellArgument
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Subject, Titles
from cqa_site.runs.models import Call, Run


class ListKey(NamedTuple):
    """Key of a request for a list of key points: step, number of records, and their sources.

    ``sources`` are primary keys of statements in step 0, and of lists afterwards.
    """

    step: int
    records: int
    sources: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "ListKey":
        """Read the key from a request's row."""
        step, records, *sources = ids
        return cls(step, records, tuple(sources))

    @property
    def ids(self) -> tuple[int, ...]:
        """The key in the format of a request's row."""
        return (self.step, self.records, *self.sources)

    def subject(self, number: int) -> Subject:
        """Return the subject for the engine, with its number in the step."""
        return Subject(f"{self.step}-{number}", self.ids)


class CodingKey(NamedTuple):
    """Key of a request for codes: attempt, and primary keys of statements."""

    attempt: int
    statements: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "CodingKey":
        """Read the key from a request's row."""
        attempt, *statements = ids
        return cls(attempt, tuple(statements))

    @property
    def ids(self) -> tuple[int, ...]:
        """The key in the format of a request's row."""
        return (self.attempt, *self.statements)

    @property
    def subject(self) -> Subject:
        """Return the subject for the engine, with a name that is unique in the run."""
        return Subject(f"{self.attempt}-{self.statements[0]}", self.ids)


# Results of an assignment run


@dataclass(frozen=True)
class AssignmentOutcome:
    """Counts of statements in a run.

    ``coded`` includes ``fits_none``. ``agreeing`` and ``differing`` are 0 until the codes are
    applied. ``unusable`` maps each reason to the number of statements left without usable codes.
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
    """A statement with codes not confirmed by match scores, and the texts of key points."""

    text: str
    points: Sequence[str]
    nearest: str
    note: str


def assignment_of(run: Run) -> AssignmentOutcome:
    """Return the outcome of a run, using two queries."""
    is_coded = Q(reason="")
    numbers = run.coded_statements.aggregate(
        statements=Count("argument", distinct=True),
        coded=_statements(is_coded),
        fits_none=_statements(is_coded & Q(codes=[])),
        agreeing=_statements(Q(agrees=True)),
        differing=_statements(Q(agrees=False)),
    )
    coded = run.coded_statements.filter(reason="").values("argument")
    rows = run.coded_statements.filter(argument__isnull=False).exclude(argument__in=coded)
    last = dict(rows.order_by("attempt", "pk").values_list("argument", "reason"))
    return AssignmentOutcome(**numbers, unusable=dict(Counter(last.values()).most_common()))


def _statements(which: Q) -> Count:
    return Count("argument", distinct=True, filter=which)


def disagreements_of(run: Run) -> QuerySet[CodedStatement]:
    """Return the statements with codes not confirmed by match scores, in order."""
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
    """Map the codes of a run's codebook to the texts of key points."""
    codebook: list[dict[str, Any]] = run.spec["target"]["codebook"]
    return {entry["code"]: entry["text"] for entry in codebook}


def _assignment_items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {call.pk: CodingKey.of(call.subject_ids) for call in calls}
    wanted = {pk for key in keys.values() for pk in key.statements}
    own = CellArgument.objects.filter(cell__dataset__study=study)
    texts = dict(own.filter(pk__in=wanted).values_list("pk", "text"))
    rows = CodedStatement.objects.filter(call__in=list(keys))
    coded = {(row.call_id, row.argument_id): row for row in rows}
    return {
        call: [
            _assignment_item(texts.get(pk), key, coded.get((call, pk))) for pk in key.statements
        ]
        for call, key in keys.items()
    }


def _assignment_item(
    text: str | None, key: CodingKey, row: CodedStatement | None
) -> RequestItem | None:
    if text is None:
        return None
    context = _("attempt %d") % key.attempt
    if row is None:
        return RequestItem(text, context)
    codes = "" if row.reason else ", ".join(row.codes) or NONE_FITS
    return RequestItem(text, context, codes, row.note, row.reason)


ASSIGNMENT_CALLS = CallSubjects(
    Titles(lazy("Statement"), lazy("Codes"), lazy("Reason given")), _assignment_items
)


# Results of a proposal run

EXAMPLES = 3


@dataclass(frozen=True)
class ProposedEntry:
    """One key point of the final list, with examples of its source statements.

    ``point`` is the resulting key point; None if a key point with this text already existed.
    """

    theme: str
    text: str
    examples: Sequence[str]
    point: FoundPoint | None


@dataclass(frozen=True)
class ProposalOutcome:
    """Counts of reading, merging and unusable requests in a run, and its final list."""

    read: int
    merged: int
    unusable: int
    entries: Sequence[ProposedEntry]


def proposal_of(run: Run) -> ProposalOutcome:
    """Return the outcome of a run, using five queries."""
    rows = list(run.proposed_lists.order_by("pk").defer("dropped"))
    usable = [row for row in rows if not row.reason]
    return ProposalOutcome(
        read=sum(not row.step for row in usable),
        merged=sum(bool(row.step) for row in usable),
        unusable=len(rows) - len(usable),
        entries=_entries(final) if (final := _final(rows)) else [],
    )


def _final(rows: Sequence[ProposedList]) -> ProposedList | None:
    """Return the final list, even if it contains nothing new, or None if there is no list."""
    proposed = [row for row in rows if row.change_id is not None]
    last = [row for row in rows if row.step == max(row.step for row in rows)]
    if proposed or len(last) != 1 or last[0].reason:
        return proposed[-1] if proposed else None
    return last[0]


def _entries(final: ProposedList) -> list[ProposedEntry]:
    wanted = [pk for _theme, _text, own in final.entries for pk in own[:EXAMPLES]]
    texts = dict(CellArgument.objects.filter(pk__in=wanted).values_list("pk", "text"))
    made = FoundPoint.objects.filter(
        analysis__changes=final.change_id, origin=FoundPoint.Origin.MODEL
    )
    points = {point.written: point for point in made.order_by("pk")}
    return [
        ProposedEntry(
            theme, text, [texts[pk] for pk in sources[:EXAMPLES] if pk in texts], points.get(text)
        )
        for theme, text, sources in final.entries
    ]


def _proposal_items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    rows = ProposedList.objects.filter(call__in=[call.pk for call in calls])
    lists = {row.call_id: row for row in rows}
    return {call.pk: [_proposal_item(call, lists.get(call.pk))] for call in calls}


def _proposal_item(call: Call, row: ProposedList | None) -> RequestItem:
    key = ListKey.of(call.subject_ids)
    if key.step:
        text = ngettext("%d list merged", "%d lists merged", len(key.sources)) % len(key.sources)
    else:
        text = ngettext("%d statement read", "%d statements read", key.records) % key.records
    context = _("step %d") % (key.step + 1)
    if row is None:
        return RequestItem(text, context)
    value = " · ".join(entry for _theme, entry, _sources in row.entries)
    dropped = ngettext("%d entry left out", "%d entries left out", row.dropped) % row.dropped
    return RequestItem(text, context, value, dropped if row.dropped else "", row.reason)


PROPOSAL_CALLS = CallSubjects(
    Titles(lazy("Request"), lazy("Key points proposed"), lazy("Note")), _proposal_items
)
