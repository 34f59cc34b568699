"""Runs in which a language model summarizes an analysis in prose, and the check of its sentences.

What a request shows stands in its own row: the key points of a theme, which attempt it is, and the
statements. Once all requests are over, a job checks every sentence against what it cites; a
sentence without support is stored with the reason and never printed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet, Window
from django.db.models.functions import Now, RowNumber
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.actions.analyses import ScorerTools, is_at_work, statements_of
from argsum.analysis.actions.jobs import REFUSED, in_words
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.points import BEST_FIRST, points_of
from argsum.analysis.reports.themes import theme_counts
from argsum.analysis.reports.voices import COMMENTS, sure_of
from argsum.datasets.models import Cell, CellArgument
from argsum.writing.actions.prompts import SIDES
from cqa_site.judging.extraction import ReplyNotUsable
from cqa_site.judging.prompts import (
    PromptLayout,
    PromptParts,
    fence_records,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
)
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Call, Job, PromptVersion, Reply, Run

from .methods.material import paragraphs_of, statements_for
from .methods.replies import (
    FAULTS,
    FIGURE,
    READER_VERSION,
    has_new_number,
    read_sentences,
    sentences_schema,
)
from .models import ProseParagraph, ProseSummary
from .reports import ParagraphKey, best_attempts, heading_of

KIND = "analysis_prose"
CHECK = "analysis_check_prose"
OF_THEME = "summary_of_theme"
PROMPTS = {
    OF_THEME: PromptKind(
        lazy("Paragraph on a theme"),
        PromptLayout(
            ("words", "sentences"),
            ("topic", "stance", "theme", "points", "statements", "refused"),
        ),
        Path(__file__).parent / "prompts" / "summary_of_theme.md",
    )
}
PARAGRAPHS, SENTENCES, WORDS, STATEMENTS = 12, 4, 30, 24
# How often a paragraph is asked for, the first time included.
ATTEMPTS = 3
Verdict = ProseParagraph.Verdict
NONE = "none"
# What a language model reads about a sentence that was refused.
WRONG: Mapping[str, str] = {
    Verdict.UNSUPPORTED: "the statements that it cites do not say this",
    Verdict.PART: "a part of it is said by none of the statements that it cites",
    Verdict.FIGURE: "it has a number or a count that no statement it cites has",
    Verdict.EMPTY: "it is empty",
    Verdict.TOO_LONG: "it is too long",
    Verdict.UNCITED: "it cites no statement",
    Verdict.UNKNOWN: "it cites a number that no statement has",
    Verdict.TOO_MANY: "it cites too many statements",
    Verdict.REPEATED: "it repeats an earlier sentence",
}
# A sentence of an earlier attempt, and what was wrong with it.
Refused = tuple[str, str]


def target_of(
    analysis: Analysis,
    *,
    paragraphs: int = PARAGRAPHS,
    sentences: int = SENTENCES,
    words: int = WORDS,
    statements: int = STATEMENTS,
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec; all numbers are the most allowed."""
    return {
        "analysis": str(analysis.public_id),
        "paragraphs": paragraphs,
        "sentences": sentences,
        "words": words,
        "statements": statements,
    }


def write_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    points: Sequence[FoundPoint],
    statements: Sequence[CellArgument],
    refused: Sequence[Refused] = (),
) -> CallRequest:
    """Return one request about a theme, with sentences refused earlier."""
    cell = statements[0].cell
    neutrals = [neutralise(statement.text) for statement in statements]
    shown = [{"id": at, "statement": text.text} for at, text in enumerate(neutrals, start=1)]
    wrong = [
        {"refused": neutralise(text).text, "reason": WRONG[verdict]} for text, verdict in refused
    ]
    heading = heading_of(points)
    values = {
        "words": str(target["words"]),
        "sentences": str(target["sentences"]),
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
        "theme": quote(neutralise(heading).text) if heading else NONE,
        "points": _fenced("points", [_point_record(point) for point in points]),
        "statements": _fenced("statements", shown),
        "refused": "\n" + _fenced("refused", wrong) if wrong else NONE,
    }
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    flags = tuple(name for neutral in neutrals for name in neutral.flags.names)
    schema = sentences_schema(len(statements), target["sentences"])
    return CallRequest(tuple(render(parts, values)), schema, flags)


def _fenced(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    texts = [str(value) for record in records for value in record.values()]
    return fence_records(records, fence_token(name, *texts)) if records else NONE


def _point_record(point: FoundPoint) -> dict[str, Any]:
    sure = sure_of(point.analysis, point, COMMENTS)
    record = {"key_point": neutralise(point.text).text, "comments": sure}
    return record | ({"perhaps": point.comments - sure} if point.comments > sure else {})


def material_of(analysis: Analysis, target: Mapping[str, Any]) -> list[ParagraphKey]:
    """Return what the requests of a run show, most comments first; four queries at most."""
    shown = points_of(analysis, FoundPoint.State.SHOWN).filter(statements__gt=0)
    counts = theme_counts(analysis)
    rows = [
        (pk, theme, counts[theme].comments if theme in counts and theme else comments)
        for pk, theme, comments in shown.values_list("pk", "theme", "comments")
    ]
    groups = paragraphs_of(rows, target["paragraphs"])
    best = _best(analysis, [point for group in groups for point in group], target["statements"])
    keys = []
    for group in groups:
        candidates = [best.get(point, []) for point in group]
        if statements := statements_for(candidates, target["statements"]):
            keys.append(ParagraphKey(1, tuple(group), tuple(statements)))
    return keys


def _best(
    analysis: Analysis, points: Sequence[int], most: int
) -> dict[int, list[tuple[int, str]]]:
    """Map key points to their best statements; only sure ones where bands are known."""
    place = Window(RowNumber(), partition_by=F("point"), order_by=list(BEST_FIRST))
    sure = Placement.SURE if analysis.sure_from is not None else Q()
    rows = Placement.objects.filter(sure, analysis=analysis, point__in=points)
    rows = rows.annotate(place=place).filter(place__lte=most).order_by("point", "place")
    best: dict[int, list[tuple[int, str]]] = {}
    for point, argument, text in rows.values_list("point", "argument", "argument__text"):
        best.setdefault(point, []).append((argument, text))
    return best


class AnalysisProseKind:
    """Run kind ``analysis_prose``: the hooks that the engine calls."""

    parser_version = READER_VERSION
    values_title = lazy("Sentences in a paragraph:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to its analysis; raises RunRefused if nothing can be written now."""
        analyses = Analysis.objects.select_for_update(of=("self",))
        analysis = analyses.get(study=run.study, public_id=run.spec["target"]["analysis"])
        refuse_unfit(analysis, run)
        ProseSummary.objects.create(run=run, analysis=analysis, revision=analysis.revision)

    def subjects(self, run: Run) -> list[Subject]:
        """Return the paragraphs, most comments first, each with its statements."""
        target = run.spec["target"]
        analysis = run.study.analyses.get(public_id=target["analysis"])
        return [key.subject for key in material_of(analysis, target)]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for the subjects; two queries, three where some are repeated."""
        keys = [ParagraphKey.of(subject.ids) for subject in subjects]
        rows = CellArgument.objects.select_related("cell").filter(
            cell__dataset__study=run.study_id
        )
        arguments = rows.in_bulk({pk for key in keys for pk in key.statements})
        own = FoundPoint.objects.select_related("analysis").filter(analysis__study=run.study_id)
        points = own.in_bulk({pk for key in keys for pk in key.points})
        refused = _refused(run, [key for key in keys if key.attempt > 1])
        return [
            write_request(
                run.prompt,
                run.spec["target"],
                [points[pk] for pk in key.points if pk in points],
                [arguments[pk] for pk in key.statements],
                [pair for attempt, pair in refused.get(key.group, ()) if attempt < key.attempt],
            )
            for key in keys
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the sentences of a reply, those that break a rule included."""
        target = run.spec["target"]
        try:
            sentences = read_sentences(
                reply.text,
                reply.finish_reason,
                statements=len(ParagraphKey.of(call.subject_ids).statements),
                most=target["sentences"],
                words=target["words"],
                refusal=reply.refusal,
            )
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=[sentence.stored for sentence in sentences])

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call; after the last one, queue a check of the sentences."""
        keys = {reply.call.pk: ParagraphKey.of(reply.call.subject_ids) for reply in ended}
        points = FoundPoint.objects.in_bulk({pk for key in keys.values() for pk in key.points})
        ProseParagraph.objects.bulk_create(
            [
                ProseParagraph(
                    run=run,
                    call=reply.call,
                    group=keys[reply.call.pk].group,
                    attempt=keys[reply.call.pk].attempt,
                    theme=heading_of(
                        [points[pk] for pk in keys[reply.call.pk].points if pk in points]
                    ),
                    sentences=reply.reading.value or [],
                    reason=reply.reading.reason[:40],
                    fence=reply.fence,
                )
                for reply in ended
            ],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=["theme", "sentences", "outcomes", "reason", "fence"],
        )
        if not run.calls.filter(state__in=Call.OPEN).exists():
            key = str(run.public_id)
            enqueue(study=run.study, kind=CHECK, key=key, actor=run.created_by, run=run.pk)

    def values(self, run: Run) -> dict[str, int]:
        """Return the number of paragraphs by number of sentences."""
        counts: dict[int, int] = {}
        for sentences in run.prose_paragraphs.filter(reason="").values_list("sentences"):
            size = len(sentences[0])
            counts[size] = counts.get(size, 0) + 1
        return {str(size): counts[size] for size in sorted(counts)}

    def texts(self, run: Run) -> Sequence[str]:
        """Return the paragraphs written so far."""
        rows = run.prose_paragraphs.filter(reason="").order_by("pk")
        return [
            " ".join(sentence["text"] for sentence in sentences)
            for sentences in rows.values_list("sentences", flat=True)
        ]

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row, under its own fence and matching its reply."""

        def is_as_said(row: ProseParagraph, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return bool(row.sentences == (value or []))

        return check_rows(run, run.prose_paragraphs.all(), "paragraph", is_as_said)


def refuse_unfit(analysis: Analysis, run: Run) -> None:
    """Raise `RunRefused` if no language model can summarize the analysis now."""
    if analysis.state != Analysis.State.DONE:
        raise RunRefused(_("The analysis is not finished yet."))
    if run.spec["replicates"] != 1:
        raise RunRefused(_("Only one reply per request is possible."))
    if earlier := summarizing_now(analysis):
        raise RunRefused(_("Run #%d is still summarizing this analysis.") % earlier.number)
    if is_at_work(analysis):
        raise RunRefused(_("This analysis is still being updated. Wait until it is finished."))


def summarizing_now(analysis: Analysis) -> Run | None:
    """Return the active run in which a language model summarizes an analysis, or None."""
    states = [*Run.ACTIVE, Run.State.DRAFT]
    return Run.objects.filter(prose_summary__analysis=analysis, state__in=states).first()


def check_job(run: Run) -> Job | None:
    """Return the newest job that checks the sentences of a run, or None."""
    jobs = Job.objects.filter(study=run.study_id, key=f"{CHECK}:{run.public_id}")
    return jobs.order_by("-pk").first()


def _refused(run: Run, keys: Sequence[ParagraphKey]) -> dict[int, list[tuple[int, Refused]]]:
    """Map groups to the sentences refused so far, each with its attempt."""
    refused: dict[int, list[tuple[int, Refused]]] = {}
    if not keys:
        return refused
    rows = ProseParagraph.objects.filter(run=run, group__in={key.group for key in keys})
    for row in rows.order_by("attempt"):
        for sentence, outcome in zip(row.sentences, row.outcomes or [], strict=False):
            if outcome["verdict"] in WRONG:
                pair = (sentence["text"], outcome["verdict"])
                refused.setdefault(row.group, []).append((row.attempt, pair))
    return refused


def _shown_points(study: Study) -> QuerySet[FoundPoint]:
    """Return the shown key points that have statements."""
    rows = FoundPoint.objects.filter(
        analysis__study=study, state=FoundPoint.State.SHOWN, statements__gt=0
    )
    return rows.select_related("analysis").order_by("analysis", "position")


def _draft(study: Study, version: PromptVersion, point: Model) -> tuple[Run, list[Model]]:
    target = {"analysis": "", "sentences": SENTENCES, "words": WORDS}
    return Run(study=study, kind=KIND, prompt=version, spec={"target": target, "seed": 1}), [point]


def _tried(points: Sequence[Any]) -> tuple[int, ...]:
    """Return the paragraph on a key point that a run with the usual numbers asks for."""
    (point,) = points
    target = target_of(point.analysis, paragraphs=FoundPoint.objects.count())
    keys = material_of(point.analysis, target)
    own = (key for key in keys if point.pk in key.points)
    return next(own, ParagraphKey(1, (point.pk,), tuple(_placed(point)))).subject.ids


def _placed(point: FoundPoint) -> list[int]:
    rows = point.placements.order_by(*BEST_FIRST)
    return list(rows.values_list("argument", flat=True)[:STATEMENTS])


SUMMARIZING = PreviewTargets(lazy("Key point"), _shown_points, _draft, _tried)


# The job that checks sentences. Outcomes come first and further requests with the end of the job,
# each in one transaction: a worker that dies leaves nothing to be paid twice.


def check_sentences(work: JobContext) -> None:
    """Handle a job: check the sentences of a run. Nothing is printed of a cancelled run."""
    runs = Run.objects.select_related("endpoint", "prompt", "study", "prose_summary")
    run = runs.get(pk=work.payload["run"])
    try:
        while not _is_over(run, work):
            _check(run, work)
    except (*REFUSED, RunRefused) as problem:
        raise JobRefused(in_words(problem)) from None


def _is_over(run: Run, work: JobContext) -> bool:
    """End the job and request paragraphs again; False if there is more to check.

    Under the gate's lock, behind which replies are stored: none can come in between.
    """
    with transaction.atomic(), locked_gate(run.endpoint):
        run.refresh_from_db(fields=["state"])
        summaries = ProseSummary.objects.filter(run=run, analysis__isnull=False)
        if run.state == Run.State.CANCELLED or not summaries.exists():
            work.finish()
            return True
        rows = list(run.prose_paragraphs.select_related("call").order_by("pk"))
        if any(row.outcomes is None for row in rows):
            return False
        if not ask_more(run=run, subjects=_again(rows)):
            verdicts = [
                outcome["verdict"] == Verdict.SUPPORTED
                for row in best_attempts(rows)
                for outcome in row.outcomes or []
            ]
            summaries.update(
                printed=sum(verdicts),
                left_out=len(verdicts) - sum(verdicts),
                checked_at=Now(),
            )
        work.finish()
        return True


def _again(rows: Sequence[ProseParagraph]) -> list[Subject]:
    """Return requests for paragraphs that break a rule, or of which nothing can be printed.

    The engine skips those already made. A reply of no use was asked for again by the engine.
    """
    subjects = []
    for row in rows:
        verdicts = {outcome["verdict"] for outcome in row.outcomes or []}
        is_bad = bool(verdicts & set(FAULTS)) or Verdict.SUPPORTED not in verdicts
        if row.sentences and is_bad and row.attempt < ATTEMPTS:
            subjects.append(ParagraphKey.of(row.call.subject_ids).again.subject)
    return subjects


def _check(run: Run, work: JobContext) -> None:
    rows = list(run.prose_paragraphs.filter(outcomes__isnull=True).select_related("call"))
    analyses = Analysis.objects.select_related("study", "cell", "match_scorer", "quality_scorer")
    analysis = analyses.get(prose_summaries__run=run)
    outcomes = _outcomes(rows, analysis, ScorerTools(analysis, work))
    with transaction.atomic():
        for row in rows:
            # Unless another reply came meanwhile.
            same = ProseParagraph.objects.filter(pk=row.pk, fence=row.fence)
            same.update(outcomes=outcomes[row.pk])
        work.step(99, 100, _("storing"))


def _outcomes(
    rows: Sequence[ProseParagraph], analysis: Analysis, tools: ScorerTools
) -> dict[int, list[dict[str, Any]]]:
    """Map paragraphs to the outcome of every sentence; saves nothing."""
    from .methods.support import NEAR_FROM, compared, support_of, texts_of

    pairs = list(statements_of(analysis.cell).values_list("pk", "text"))
    texts = [text for _pk, text in pairs]
    at = {pk: place for place, (pk, _text) in enumerate(pairs)}
    placed: list[set[int]] = [set() for _text in texts]
    behind = analysis.placements.exclude(point=None).values_list("argument", "point")
    for pk, point in behind:
        if pk in at:
            placed[at[pk]].add(point)
    outcomes: dict[int, list[dict[str, Any]]] = {row.pk: [] for row in rows}
    doubtful = []
    for row in rows:
        for sentence in row.sentences:
            cited = _cited(row, sentence, at)
            own = {number: texts[place] for number, place in cited.items()}
            outcome = {"verdict": sentence["fault"] or Verdict.UNSUPPORTED.value}
            if own and not sentence["fault"]:
                outcome = {"verdict": FIGURE}
                if not has_new_number(sentence["text"], own.values()):
                    doubtful.append((sentence["text"], cited, own, outcome))
            outcomes[row.pk].append(outcome)
    if not doubtful:
        return outcomes
    tools.say(0.0, _("reading the statements"), 0.9)
    # In the order of the analysis: their vectors are on disk since then.
    statements = tools.vectors(texts)
    tools.say(0.9, _("checking the sentences"))
    read = list(dict.fromkeys(part for text, *_rest in doubtful for part in texts_of(text)))
    vectors = dict(zip(read, tools.vectors(read), strict=True))
    near_from = NEAR_FROM.get(tools.encoder_name) if tools.sure_from is not None else None
    for text, cited, own, outcome in doubtful:
        places = list(cited.values())
        points = set().union(*(placed[place] for place in places))
        known = vectors | {texts[place]: statements[place] for place in places}
        others = statements[compared(placed, points, places)]
        support = support_of(text, own, known, others, near_from)
        outcome |= {"verdict": support.verdict, "cites": list(support.cites)}
        outcome |= {"scores": dict(support.scores)}
    return outcomes


def _cited(
    row: ProseParagraph, sentence: Mapping[str, Any], at: Mapping[int, int]
) -> dict[int, int]:
    """Map the citations of a sentence to places of statements that are still there."""
    shown = ParagraphKey.of(row.call.subject_ids).statements
    keys = {number: shown[number - 1] for number in sentence["cites"]}
    return {number: at[key] for number, key in keys.items() if key in at}
