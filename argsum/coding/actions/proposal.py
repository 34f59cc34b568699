"""Runs in which a language model proposes key points and themes from samples of statements.

The first requests read samples, and further requests merge the lists until only one list is left.
Its entries become proposed key points, which people accept, rename or decline. The row of a
request stores its content: the step, the number of records, and the statements or lists.
"""

import random
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.actions.analyses import FOLLOW, ScorerTools, enqueue_for
from argsum.analysis.actions.edits import Edit, EditRefused, editing, new_points, store
from argsum.analysis.actions.point_writing import begin_run, by_size, draft_of
from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from argsum.coding.methods import READER_VERSION, ProposedPoints, read_points
from argsum.coding.models import ProposedList
from argsum.coding.reports import ListKey
from argsum.datasets.models import CellArgument
from cqa_site.judging.reply_parsing import ReplyNotUsable
from cqa_site.people.models import Study
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.jobs import JobContext
from cqa_site.runs.kinds import CallRequest, EndedCall, PreviewTargets, ReplyReading, Subject
from cqa_site.runs.models import Call, Reply, Run
from .prompts import merge_request, read_request

KIND = "point_proposal"
REQUESTS, SAMPLE, POINTS, THEMES, WORDS = 10, 60, 20, 6, 15
MOST_REQUESTS, MOST_SAMPLE, MOST_POINTS = 40, 200, 60
# Maximum number of entries that one request merges; more entries are first merged in groups. This
# is twice `MOST_POINTS`, so that every group of lists becomes shorter.
MOST_MERGED = 120
STORED_FIELDS = ["step", "entries", "dropped", "reason", "fence"]
Entry = tuple[str, str, list[int]]


def target_of(
    analysis: Analysis,
    *,
    requests: int = REQUESTS,
    sample: int = SAMPLE,
    points: int = POINTS,
    themes: int = THEMES,
    words: int = WORDS,
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec; all numbers are upper limits.

    Each of the ``requests`` reads ``sample`` statements; a key point has at most ``words`` words.
    """
    return {
        "analysis": str(analysis.public_id),
        "requests": requests,
        "sample": sample,
        "points": points,
        "themes": themes,
        "words": words,
    }


class PointProposalKind:
    """Hooks that the engine calls for runs of kind ``point_proposal``."""

    parser_version = READER_VERSION
    values_title = lazy("Key points in a list:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to its analysis; raise RunRefused if nothing can be proposed now."""
        begin_run(run, "coding")

    def subjects(self, run: Run) -> list[Subject]:
        """Return random samples of the statements; their sizes differ by at most one."""
        target = run.spec["target"]
        analysis = run.study.analyses.get(public_id=target["analysis"])
        keys = _statements(analysis)
        draw = random.Random(run.spec["seed"])  # noqa: S311  a sample, not a secret
        keys = draw.sample(keys, min(len(keys), target["requests"] * target["sample"]))
        requests = -(-len(keys) // target["sample"])
        samples = [keys[at::requests] for at in range(requests)]
        return [
            ListKey(0, len(sample), tuple(sample)).subject(at) for at, sample in enumerate(samples)
        ]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for the subjects, using three queries."""
        target = run.spec["target"]
        keys = [ListKey.of(subject.ids) for subject in subjects]
        read = {pk for key in keys if not key.step for pk in key.sources}
        own = CellArgument.objects.filter(cell__dataset__study=run.study_id)
        statements = own.in_bulk(read)
        merged = {pk for key in keys if key.step for pk in key.sources}
        lists = ProposedList.objects.filter(run__study=run.study_id).in_bulk(merged)
        rows = Analysis.objects.select_related("cell").filter(study=run.study_id)
        cell = rows.get(public_id=target["analysis"]).cell
        requests = []
        for key in keys:
            if key.step:
                entries = [
                    (theme, text)
                    for pk in key.sources
                    for theme, text, _sources in lists[pk].entries
                ]
                requests.append(merge_request(run.prompt, target, cell, entries))
            else:
                texts = [statements[pk].text for pk in key.sources]
                requests.append(read_request(run.prompt, target, cell, texts))
        return requests

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the list of one reply."""
        target = run.spec["target"]
        try:
            points = read_points(
                reply.text,
                reply.finish_reason,
                most=target["points"],
                words=target["words"],
                records=ListKey.of(call.subject_ids).records,
                refusal=reply.refusal,
            )
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=points)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call; after the last call, queue the next job."""
        merged = {
            pk
            for reply in ended
            for key in [ListKey.of(reply.call.subject_ids)]
            if key.step
            for pk in key.sources
        }
        lists = dict(ProposedList.objects.filter(pk__in=merged).values_list("pk", "entries"))
        ProposedList.objects.bulk_create(
            [_row(run, reply, lists) for reply in ended],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=STORED_FIELDS,
        )
        queue_what_follows(run)

    def values(self, run: Run) -> dict[str, int]:
        """Return how many lists have each number of key points."""
        rows = run.proposed_lists.filter(reason="").values_list("entries", flat=True)
        return by_size(map(len, rows))

    def texts(self, run: Run) -> Sequence[str]:
        """Return the lists as texts, so that identical lists are noticed."""
        rows = run.proposed_lists.filter(reason="").order_by("pk")
        return [
            "\n".join(text for _theme, text, _sources in entries)
            for entries in rows.values_list("entries", flat=True)
        ]

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row that matches its fence and reply."""

        def is_as_said(row: ProposedList, call: Call) -> bool:
            points = self.read(run, call, call.reply).value if call.reply else None
            pairs = [(point.theme, point.text) for point in points.points] if points else []
            return pairs == [(theme, text) for theme, text, _sources in row.entries]

        return check_rows(run, run.proposed_lists.all(), "proposed list", is_as_said)


def queue_what_follows(run: Run) -> None:
    """Queue the next job of a run, if all of its requests have ended."""
    if run.calls.filter(state__in=Call.OPEN).exists():
        return
    analysis = run.study.analyses.filter(coding=run).first()
    if analysis is not None:
        enqueue_for(analysis, FOLLOW, run.created_by)


def further_requests(run: Run) -> list[Subject]:
    """Return requests that merge the current lists, or [] if only one list is left.

    Raises
    ------
    EditRefused
        If no reply was usable, either in the whole run or in the last merging step.
    """
    lists = _lists(run)
    asked_ids = run.calls.values_list("subject_ids", flat=True)
    last = max((ListKey.of(ids).step for ids in asked_ids), default=0)
    if not lists or (last and not any(row.step == last for row in lists)):
        raise EditRefused(
            _("The model gave no usable list. Resend the requests that have no usable reply.")
        )
    if len(lists) == 1:
        return []
    groups: list[list[ProposedList]] = [[]]
    for row in lists:
        size = sum(len(other.entries) for other in groups[-1])
        if groups[-1] and size + len(row.entries) > MOST_MERGED:
            groups.append([])
        groups[-1].append(row)
    return [
        ListKey(
            last + 1, sum(len(row.entries) for row in group), tuple(row.pk for row in group)
        ).subject(at)
        for at, group in enumerate(groups)
        if len(group) > 1
    ]


def propose(analysis: Analysis, run: Run, work: JobContext) -> None:
    """Turn the final list into proposed key points, unless the run was cancelled."""
    final, *others = _lists(run)
    if others:
        # Another reply has arrived; its list is merged first.
        return
    themes = _themes(analysis, run, final.entries, work)
    with editing(analysis) as held:
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED or final.change_id is not None:
            return
        work.step(99, 100, _("storing"))
        points = _new_points(held, run, final.entries, themes)
        if not points:
            return
        fields = {point.pk: {"state": FoundPoint.State.PROPOSED} for point in points}
        edit = Edit(PointChange.Verb.PROPOSED, points[0], fields, run=run)
        final.change = store(held, edit, work.job.created_by)
        final.save(update_fields=["change"])


def _lists(run: Run) -> list[ProposedList]:
    """Return the usable lists that are not yet part of a merged list, in the order of requests.

    Lists that only repeat key points of earlier lists are left out.
    """
    rows = run.proposed_lists.filter(reason="").select_related("call").order_by("call__position")
    lists = list(rows)
    merged = {pk for row in lists if row.step for pk in ListKey.of(row.call.subject_ids).sources}
    known: set[str] = set()
    left = []
    for row in lists:
        texts = {text.casefold() for _theme, text, _sources in row.entries}
        if row.pk not in merged and not texts <= known:
            left.append(row)
            known |= texts
    return left


def _statements(analysis: Analysis) -> list[int]:
    placed = Placement.objects.filter(analysis=analysis).values("argument")
    rows = CellArgument.objects.filter(pk__in=placed).order_by("position")
    return list(rows.values_list("pk", flat=True))


def _row(run: Run, reply: EndedCall, lists: dict[int, list[Entry]]) -> ProposedList:
    """Return the row of a call; a merged entry has the statements of all its source entries."""
    key = ListKey.of(reply.call.subject_ids)
    points: ProposedPoints = reply.reading.value or ProposedPoints(())
    sources: list[list[int]] = [[pk] for pk in key.sources]
    if key.step:
        sources = [own for pk in key.sources for _theme, _text, own in lists.get(pk, [])]
    return ProposedList(
        run=run,
        call=reply.call,
        step=key.step,
        entries=[
            [point.theme, point.text, _joined(sources, point.sources)] for point in points.points
        ],
        dropped=points.dropped,
        reason=reply.reading.reason[:40],
        fence=reply.fence,
    )


def _joined(sources: Sequence[Sequence[int]], numbers: Sequence[int]) -> list[int]:
    own = [pk for number in numbers if number <= len(sources) for pk in sources[number - 1]]
    return list(dict.fromkeys(own))


def _themes(analysis: Analysis, run: Run, entries: Sequence[Entry], work: JobContext) -> list[str]:
    """Return a theme for each entry, up to the requested number of themes.

    An entry without a theme gets the theme of the nearest entry or, failing that, of the nearest
    shown key point.
    """
    from argsum.analysis.methods.key_points import nearest_points

    most = run.spec["target"]["themes"]
    names = list(dict.fromkeys(theme for theme, _text, _own in entries if theme))[:most]
    themes = [theme if theme in names else "" for theme, _text, _own in entries]
    known = [(text, theme) for theme, text, _own in entries if theme in names]
    shown = analysis.points.filter(state=FoundPoint.State.SHOWN).exclude(theme="")
    known = known or list(shown.values_list("text", "theme"))
    rest = [at for at, theme in enumerate(themes) if not theme]
    if rest and known:
        texts, tools = [text for text, _theme in known], ScorerTools(analysis, work)
        near = nearest_points([entries[at][1] for at in rest], texts, tools)
        for at, place in zip(rest, near, strict=True):
            themes[at] = known[place][1]
    return themes


def _new_points(
    analysis: Analysis, run: Run, entries: Sequence[Entry], themes: Sequence[str]
) -> list[FoundPoint]:
    """Create key points for new texts; their state is "removed" until an edit shows them."""
    texts = analysis.points.filter(state__in=FoundPoint.ALIVE).values_list("text", flat=True)
    known = {text.casefold() for text in texts}
    new = [
        (text, theme)
        for (_theme, text, _own), theme in zip(entries, themes, strict=True)
        if text.casefold() not in known
    ]
    about = {"origin": FoundPoint.Origin.MODEL, "state": FoundPoint.State.REMOVED}
    return new_points(analysis, new, writer=run, **about)


def analyses_done(study: Study) -> QuerySet[Analysis]:
    """Return the analyses on which prompts can be tried."""
    return study.analyses.filter(state=Analysis.State.DONE).order_by("-number")


def _tried(analyses: Sequence[Any]) -> tuple[int, ...]:
    keys = _statements(analyses[0])[:SAMPLE]
    return ListKey(0, len(keys), tuple(keys)).ids


PROPOSALS = PreviewTargets(lazy("Analysis"), analyses_done, draft_of(KIND, target_of), _tried)
