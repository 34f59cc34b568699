"""The job that checks the sentences of a summary against the statements they cite.

An unsupported sentence is stored with the reason and is never printed. Outcomes are saved first,
in one transaction. Further requests and the end of the job are saved in another, so that no
request is paid for twice if a worker dies.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.actions.analyses import ScorerTools, statements_of
from argsum.analysis.actions.jobs import REFUSED, in_words
from argsum.analysis.models import Analysis
from argsum.prose.methods import FAULTS, FIGURE, has_new_number
from argsum.prose.models import ProseParagraph, ProseSummary
from argsum.prose.reports import ParagraphKey, best_attempts
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.jobs import JobContext, refusing
from cqa_site.runs.kinds import Subject
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Run

# Maximum number of requests for a paragraph, including the first.
ATTEMPTS = 3
Verdict = ProseParagraph.Verdict


def check_sentences(work: JobContext) -> None:
    """Handle a job: check the sentences of a run. Nothing is printed if the run was cancelled."""
    runs = Run.objects.select_related("endpoint", "prompt", "study", "prose_summary")
    run = runs.get(pk=work.payload["run"])
    with refusing((*REFUSED, RunRefused), in_words=in_words):
        while not _is_over(run, work):
            _check(run, work)


def _is_over(run: Run, work: JobContext) -> bool:
    """End the job and request paragraphs again; return False if sentences remain to be checked.

    Replies are stored under the same gate lock, so no reply can arrive in between.
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
                printed=sum(verdicts), left_out=len(verdicts) - sum(verdicts), checked_at=Now()
            )
        work.finish()
        return True


def _again(rows: Sequence[ProseParagraph]) -> list[Subject]:
    """Return requests for paragraphs that break a rule or have no printable sentence.

    The engine skips existing requests. It has already retried unusable replies.
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
            # Skip rows whose reply has been replaced in the meantime.
            same = ProseParagraph.objects.filter(pk=row.pk, fence=row.fence)
            same.update(outcomes=outcomes[row.pk])
        work.step(99, 100, _("storing"))


def _outcomes(
    rows: Sequence[ProseParagraph], analysis: Analysis, tools: ScorerTools
) -> dict[int, list[dict[str, Any]]]:
    """Map paragraphs to the outcomes of their sentences, without saving them."""
    from argsum.prose.methods import NEAR_FROM, compared, support_of, texts_of

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
    # In the order of the analysis, whose vectors are already on disk.
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
    """Map the citations of a sentence to positions of statements that still exist."""
    shown = ParagraphKey.of(row.call.subject_ids).statements
    keys = {number: shown[number - 1] for number in sentence["cites"]}
    return {number: at[key] for number, key in keys.items() if key in at}
