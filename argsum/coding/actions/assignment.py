"""Runs in which a language model assigns signed-off key points to statements.

A statement without exactly one usable entry is requested again, in ever smaller batches; its codes
are never guessed. When all requests have ended, the codes are applied as one edit. Statements that
people placed, or that have no usable codes, do not move. A placement is *sure* if match scores
agree with the model, and *perhaps* otherwise. An audit samples both groups, so it also covers
the disagreements.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Sum
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.actions.analyses import ScorerTools, analysis_of, statements_of
from argsum.analysis.actions.edits import Edit, EditRefused, editing, store
from argsum.analysis.actions.jobs import REFUSED, in_words
from argsum.analysis.actions.placing import PIECE, PlacementRow, pieces
from argsum.analysis.actions.point_writing import begin_run, draft_of
from argsum.analysis.models import Analysis, Placement, PointChange
from argsum.analysis.reports.history import digest_of, shown_points, sign_off_of
from argsum.coding.methods import (
    NONE_FITS,
    READER_VERSION,
    PointMatches,
    StatementCodes,
    batches_of,
    match_points,
    next_size,
    read_codes,
)
from argsum.coding.models import CodedStatement
from argsum.coding.reports import CodingKey
from argsum.datasets.models import CellArgument
from cqa_site.judging.prompts import neutralise
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.jobs import JobContext, refusing
from cqa_site.runs.kinds import CallRequest, EndedCall, PreviewTargets, ReplyReading, Subject
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Call, Reply, Run
from cqa_site.runs.planning import MOST
from . import proposal
from .prompts import assign_request
from .proposal import analyses_done, queue_what_follows

KIND = "point_assignment"
BATCH, MOST_BATCH, MOST_CODES, LARGEST_CODES = 10, 50, 3, 10
# Maximum number of requests about a statement, including the first.
ATTEMPTS = 3
# Maximum number of key points in the codebook.
MOST_POINTS = 200


def target_of(
    analysis: Analysis, *, batch_size: int = BATCH, most_codes: int = MOST_CODES
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec, with the signed-off codebook."""
    points = shown_points(analysis)
    return {
        "analysis": str(analysis.public_id),
        "signed": digest_of(points),
        "codebook": [
            {"code": f"K{number}", "theme": theme, "text": text}
            for number, (_pk, text, theme) in enumerate(points, start=1)
        ],
        "batch_size": batch_size,
        "most_codes": most_codes,
    }


class PointAssignmentKind:
    """Hooks that the engine calls for runs of kind ``point_assignment``."""

    parser_version = READER_VERSION
    values_title = lazy("Codes given:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Link the run to its analysis; raise RunRefused without a valid sign-off."""
        begin_run(run, "coding")
        analysis = run.study.analyses.get(public_id=run.spec["target"]["analysis"])
        state = sign_off_of(analysis)
        signed = state.newest.digest if state.newest and state.is_valid else ""
        if signed != run.spec["target"]["signed"]:
            raise RunRefused(_("The key points are not signed off. Sign them off first."))

    def subjects(self, run: Run) -> list[Subject]:
        """Return batches of the statements that no person placed, in order."""
        target = run.spec["target"]
        analysis = run.study.analyses.get(public_id=target["analysis"])
        rows = list(_free_statements(analysis).values_list("pk", "text"))
        return _batches(1, rows, target["batch_size"])

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for the subjects, using two queries."""
        target = run.spec["target"]
        keys = [CodingKey.of(subject.ids) for subject in subjects]
        own = CellArgument.objects.filter(cell__dataset__study=run.study_id)
        statements = own.in_bulk({pk for key in keys for pk in key.statements})
        rows = Analysis.objects.select_related("cell").filter(study=run.study_id)
        cell = rows.get(public_id=target["analysis"]).cell
        return [
            assign_request(
                run.prompt, target, cell, [statements[pk].text for pk in key.statements]
            )
            for key in keys
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the codes in one reply; it is usable if at least one statement has usable codes."""
        target = run.spec["target"]
        readings = read_codes(
            reply.text,
            reply.finish_reason,
            statements=len(CodingKey.of(call.subject_ids).statements),
            codes={entry["code"] for entry in target["codebook"]},
            most=target["most_codes"],
            refusal=reply.refusal,
        )
        if any(isinstance(reading, StatementCodes) for reading in readings):
            return ReplyReading(value=readings)
        return ReplyReading.unscored(str(readings[0]), readings)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per statement of each call; after the last call, queue the next job."""
        wanted = {pk for reply in ended for pk in CodingKey.of(reply.call.subject_ids).statements}
        there = set(CellArgument.objects.filter(pk__in=wanted).values_list("pk", flat=True))
        CodedStatement.objects.filter(call__in=[reply.call for reply in ended]).delete()
        rows = [row for reply in ended for row in _rows(run, reply, there)]
        CodedStatement.objects.bulk_create(rows, batch_size=PIECE)
        queue_what_follows(run)

    def values(self, run: Run) -> dict[str, int]:
        """Return how often each code was assigned; "none" means that no key point fits."""
        counts = dict.fromkeys([entry["code"] for entry in run.spec["target"]["codebook"]], 0)
        counts[NONE_FITS] = 0
        given = run.coded_statements.filter(reason="").values_list("codes", flat=True)
        for codes in given.iterator(PIECE):
            for code in codes or [NONE_FITS]:
                counts[code] += 1
        return {code: number for code, number in counts.items() if number}

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts, because codes contain no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row per statement, matching its reply."""
        rows: dict[int, list[tuple[int, list[str], str]]] = {}
        fields = ("call", "fence", "codes", "reason")
        for pk, *row in run.coded_statements.order_by("pk").values_list(*fields):
            rows.setdefault(pk, []).append(tuple(row))
        problems = []
        ended = run.calls.filter(state__in=(Call.State.DONE, Call.State.UNSCORED))
        for call in ended.select_related("reply").order_by("pk").iterator(500):
            own = rows.pop(call.pk, [])
            size = len(CodingKey.of(call.subject_ids).statements)
            if [fence for fence, _codes, _reason in own] != [call.fence] * size:
                problems.append(f"call {call.pk} does not have one result per statement")
            elif call.state == Call.State.DONE and call.reply:
                read = [_stored(reading) for reading in self.read(run, call, call.reply).value]
                if read != [(codes, reason) for _fence, codes, reason in own]:
                    problems.append(f"what call {call.pk} stored differs from its reply")
            elif any(codes for _fence, codes, _reason in own):
                problems.append(f"call {call.pk} has codes but is unscored")
        others = run.calls.exclude(state__in=(Call.State.DONE, Call.State.UNSCORED))
        open_again = set(others.values_list("pk", flat=True))
        earlier = {*rows} - open_again
        problems += [f"call {pk} has a result from an earlier lease" for pk in earlier]
        return problems


def further_requests(run: Run) -> list[Subject]:
    """Return requests about statements without usable codes, in smaller batches.

    A statement is not requested again if it was alone in its request, or after `ATTEMPTS`.
    """
    coded: set[int] = set()
    last: dict[int, CodingKey] = {}
    calls = dict(run.calls.values_list("pk", "subject_ids"))
    rows = run.coded_statements.filter(argument__isnull=False).order_by("attempt", "pk")
    for argument, call, reason in rows.values_list("argument", "call", "reason"):
        last[argument] = CodingKey.of(calls[call])
        if not reason:
            coded.add(argument)
    left = [
        argument
        for argument, key in last.items()
        if argument not in coded and key.attempt < ATTEMPTS and len(key.statements) > 1
    ]
    texts: dict[int, str] = {}
    for keys in pieces(left):
        own = CellArgument.objects.filter(pk__in=keys)
        texts |= dict(own.values_list("pk", "text"))
    subjects = []
    for attempt in sorted({last[argument].attempt + 1 for argument in left}):
        again = [(pk, texts[pk]) for pk in left if last[pk].attempt + 1 == attempt]
        subjects += _batches(attempt, again, next_size(run.spec["target"]["batch_size"], attempt))
    return subjects


def assign(analysis: Analysis, run: Run, work: JobContext) -> None:
    """Place statements by their codes in one edit, unless the run was cancelled.

    Raises
    ------
    EditRefused
        If the key points have changed since they were signed off, or no reply was usable.
    """
    coded = coded_statements(run)
    if not coded:
        raise EditRefused(
            _("The model gave no usable codes. Resend the requests that have no usable reply.")
        )
    codebook = run.spec["target"]["codebook"]
    _require_signed(analysis, run)
    statements = list(statements_of(analysis.cell).values_list("pk", "text"))
    rows = {pk: row for row, (pk, _text) in enumerate(statements)}
    texts = [text for _pk, text in statements]
    matches = match_points(
        texts, [entry["text"] for entry in codebook], ScorerTools(analysis, work)
    )
    with editing(analysis) as held:
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED:
            return
        points = [pk for pk, _text, _theme in _require_signed(held, run)]
        work.step(99, 100, _("storing"))
        places = {entry["code"]: place for place, entry in enumerate(codebook)}
        wanted = {
            pk: [places[code] for code in codes] for pk, codes in coded.items() if pk in rows
        }
        edit = _edit(held, run, wanted, points, rows, matches)
        if edit.added:
            store(held, edit, work.job.created_by)
        _keep_agreement(run, wanted, rows, matches)


def coded_statements(run: Run) -> dict[int, list[str]]:
    """Map statements to the usable codes of the last reply, or to [] if no key point fits."""
    rows = run.coded_statements.filter(reason="", argument__isnull=False)
    return dict(rows.order_by("attempt", "pk").values_list("argument", "codes"))


def _require_signed(analysis: Analysis, run: Run) -> list[list[Any]]:
    points = shown_points(analysis)
    if digest_of(points) != run.spec["target"]["signed"]:
        raise EditRefused(
            _(
                "Key points have changed since they were signed off, so no statement was moved. "
                "Undo the changes and start the assignment again at no cost, or sign off again "
                "and pay for a new one."
            )
        )
    return points


def _edit(
    analysis: Analysis,
    run: Run,
    wanted: dict[int, list[int]],
    points: Sequence[int],
    rows: dict[int, int],
    matches: PointMatches,
) -> Edit:
    """Return an edit with all changed placements, leaving out statements that people placed."""
    now: dict[int, list[PlacementRow]] = {}
    fields = ("point", "is_by_hand", "is_sure", "score", "argument")
    for row in Placement.objects.filter(analysis=analysis).order_by("pk").values_list(*fields):
        now.setdefault(row[-1], []).append(PlacementRow(*row))
    dropped: list[tuple[int | None, int]] = []
    added: list[PlacementRow] = []
    for statement, places in wanted.items():
        current = now.get(statement, [])
        if not current or any(row.is_by_hand for row in current):
            continue
        new = _placements(statement, rows[statement], places, points, matches)
        if {(row.point, row.is_sure) for row in new} != {
            (row.point, row.is_sure) for row in current
        }:
            dropped += [(row.point, statement) for row in current]
            added += new
    return Edit(PointChange.Verb.CODED, dropped=dropped, added=added, run=run)


def _placements(
    statement: int, row: int, places: Sequence[int], points: Sequence[int], matches: PointMatches
) -> list[PlacementRow]:
    """Return the placements of a statement: one per key point, or one without a key point."""
    scores = matches.scores[row]
    if not places:
        return [PlacementRow(None, False, False, float(scores.max()), statement)]
    sure = matches.agrees(row, places)
    return [
        PlacementRow(points[place], False, is_sure, float(scores[place]), statement)
        for place, is_sure in zip(places, sure, strict=True)
    ]


def _keep_agreement(
    run: Run, wanted: dict[int, list[int]], rows: dict[int, int], matches: PointMatches
) -> None:
    """Store each coded statement's nearest code, and whether match scores agree with its codes."""
    codes = [entry["code"] for entry in run.spec["target"]["codebook"]]
    nearest = matches.nearest
    groups: dict[tuple[str, bool], list[int]] = {}
    for statement, places in wanted.items():
        row = rows[statement]
        agrees = all(matches.agrees(row, places)) if places else matches.agrees_with_none(row)
        groups.setdefault((codes[nearest[row]], agrees), []).append(statement)
    for (code, agrees), keys in groups.items():
        for piece in pieces(keys):
            own = run.coded_statements.filter(argument__in=piece, reason="")
            own.update(nearest=code, agrees=agrees)


def _free_statements(analysis: Analysis) -> Any:
    """Return an analysis's statements that no person placed, in order."""
    placed = Placement.objects.filter(analysis=analysis)
    by_hand = placed.filter(is_by_hand=True).values("argument")
    rows = CellArgument.objects.filter(pk__in=placed.values("argument")).exclude(pk__in=by_hand)
    return rows.order_by("position")


def _batches(attempt: int, rows: Sequence[tuple[int, str]], size: int) -> list[Subject]:
    apart = [neutralise(text).flags.addresses_judge for _pk, text in rows]
    return [
        CodingKey(attempt, tuple(rows[at][0] for at in batch)).subject
        for batch in batches_of(apart, size)
    ]


def _rows(run: Run, reply: EndedCall, there: set[int]) -> list[CodedStatement]:
    key = CodingKey.of(reply.call.subject_ids)
    readings = reply.reading.value or [reply.reading.reason] * len(key.statements)
    rows = []
    for pk, reading in zip(key.statements, readings, strict=True):
        codes, reason = _stored(reading)
        note = reading.note if isinstance(reading, StatementCodes) else ""
        rows.append(
            CodedStatement(
                run=run,
                call=reply.call,
                argument_id=pk if pk in there else None,
                attempt=key.attempt,
                codes=codes,
                note=note,
                reason=reason[:40],
                fence=reply.fence,
            )
        )
    return rows


def _stored(reading: Any) -> tuple[list[str], str]:
    """Return the codes and the reason in the format of a row."""
    if isinstance(reading, StatementCodes):
        return list(reading.codes), ""
    return [], str(reading)


def _tried(analyses: Sequence[Any]) -> tuple[int, ...]:
    keys = _free_statements(analyses[0]).values_list("pk", flat=True)
    return CodingKey(1, tuple(keys[:BATCH])).ids


ASSIGNMENTS = PreviewTargets(lazy("Analysis"), analyses_done, draft_of(KIND, target_of), _tried)


# Job after a run's requests, which sends further requests or applies the result
#
# Replies are stored under the gate's lock. The next step of a run is chosen under the same lock,
# so no reply can arrive in between. Further requests and the end of the job are one transaction,
# and so is a result. If a worker dies, nothing is paid for twice and nothing is half applied.

Next = Callable[[Run], Sequence[Subject]]
Apply = Callable[[Analysis, Run, JobContext], None]
STEPS: dict[str, tuple[Next, Apply]] = {
    proposal.KIND: (proposal.further_requests, proposal.propose),
    KIND: (further_requests, assign),
}


def follow_run(work: JobContext) -> None:
    """Handle a job: send further requests, or apply the result, unless the run was cancelled."""
    analysis = analysis_of(work)
    if analysis.coding_id is None:
        return
    run = Run.objects.select_related("endpoint", "prompt", "study").get(pk=analysis.coding_id)
    further, apply = STEPS[run.kind]
    applied = None
    with refusing((*REFUSED, EditRefused, RunRefused), in_words=in_words):
        while True:
            with transaction.atomic(), locked_gate(run.endpoint):
                state = _state(run)
                if state in (None, applied) or ask_more(run=run, subjects=further(run)):
                    work.finish()
                    return
            apply(analysis, run, work)
            applied = state


def _state(run: Run) -> tuple[int, int] | None:
    """Return a key for the stored replies; None if the run is cancelled or has open requests."""
    run.refresh_from_db(fields=["state"])
    is_open = run.calls.filter(state__in=Call.OPEN).exists()
    if is_open or run.state == Run.State.CANCELLED:
        return None
    totals = run.calls.aggregate(n=Count("pk"), fences=Sum("fence"))
    return totals["n"], totals["fences"]
