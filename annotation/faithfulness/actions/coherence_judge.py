"""The coherence judge: does a citing segment follow from the argument that it cites?

One request a citation: a segment and one of the numbers it cites.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from django.db.models import Count
from django.db.models.fields.json import KT
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.actions.lists import numbered_texts
from annotation.answers.models.answers import Answer
from annotation.editing.models import Revision
from annotation.faithfulness.models import CoherenceVerdict
from annotation.faithfulness.reports.coherence_rows import Cited
from cqa_site.judging.neutral import fence, fence_token, neutralise, quote
from cqa_site.judging.parsing import (
    PARSER_VERSION,
    ReplyNotUsable,
    Verdict,
    parse_verdict,
)
from cqa_site.judging.prompts import Layout, PromptParts, render
from cqa_site.judging.schemas import verdict_schema
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.kinds import Ended, Question, Reading, Subject
from cqa_site.runs.models import Call, Reply, Run
from cqa_site.runs.one_row import check_places

from .coherence_texts import chosen_citations

FOLDER = Path(__file__).parents[1] / "prompts"

KIND = "coherence"
PROMPTS = {
    KIND: PromptKind(
        lazy("Coherence of a citation"),
        Layout((), ("object1", "object2", "number", "argument", "passage")),
        FOLDER / "coherence.md",
    )
}
ASKED = "coherent"


class Shown(NamedTuple):
    """What a request shows of an answer."""

    text: str
    argument_list: int
    object1: str
    object2: str


class CoherenceKind:
    """What the engine asks this app about runs of the kind ``coherence``."""

    parser_version = PARSER_VERSION
    values_title = lazy("Verdicts:")
    # Most citations of a good answer are coherent, so four in five say nothing.
    dominance = 0.95

    def begin(self, run: Run) -> None:
        """The verdicts themselves are all that this app keeps of a run."""

    def subjects(self, run: Run) -> list[Subject]:
        """One subject a citation, text by text."""
        return [
            _subject(cited)
            for cited in chosen_citations(run.study, run.spec["target"], run.spec["seed"])
        ]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[Question]:
        """Write the prompts; four queries at most."""
        cited = [Cited(*subject.ids) for subject in subjects]
        shown = _shown(run.study, cited)
        lists = numbered_texts({one.argument_list for one in shown.values()})
        parts = PromptParts(run.prompt.system, run.prompt.user, PROMPTS[run.prompt.kind].layout)
        return [_question(parts, each, shown[each.answer, each.revision], lists) for each in cited]

    def read(self, run: Run, call: Call, reply: Reply) -> Reading:
        """Read one reply into a `Verdict`."""
        try:
            verdict = parse_verdict(reply.text, reply.finish_reason, ASKED, refusal=reply.refusal)
        except ReplyNotUsable as problem:
            return Reading.unscored(problem.reason)
        return Reading(value=verdict)

    def store(self, run: Run, ended: Sequence[Ended]) -> None:
        """One row a call, with its verdict or the reason for none."""
        CoherenceVerdict.objects.bulk_create(
            [_row(run, one) for one in ended],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=["is_coherent", "reason", "rationale", "fence", "at"],
        )

    def values(self, run: Run) -> dict[str, int]:
        """How many citations were found coherent, and how many not."""
        rows = run.coherence_verdicts.filter(is_coherent__isnull=False).order_by("-is_coherent")
        counts = rows.values_list("is_coherent").annotate(n=Count("pk"))
        return {"coherent" if value else "not coherent": n for value, n in counts}

    def texts(self, run: Run) -> Sequence[str]:
        """Verdicts, no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Every ended call has its one verdict, under its own fence and as its reply says."""
        fences = dict(run.coherence_verdicts.values_list("call", "fence"))
        problems = check_places(run, fences, "verdict")
        return problems + [f"verdict {pk} is not what its reply says" for pk in _misread(run)]


def _subject(cited: Cited) -> Subject:
    text = f"r{cited.revision}" if cited.revision else f"a{cited.answer}"
    return Subject(f"{text}-{cited.start}-{cited.number}", cited)


def _shown(study: Study, cited: Iterable[Cited]) -> dict[tuple[int, int], Shown]:
    """(answer, revision) → its text, arguments and objects; only what is still in the study."""
    wanted = {each[:2] for each in cited}
    pair = ("question__comparison__object1", "question__comparison__object2")
    answers = Answer.objects.filter(study=study, pk__in={answer for answer, _pk in wanted})
    rows = answers.values_list("pk", "text", "argument_list", *pair)
    found = {(pk, 0): Shown(*shown) for pk, *shown in rows}
    edited = Revision.objects.filter(pk__in={pk for _answer, pk in wanted if pk})
    for answer, pk, text in edited.values_list("sheet__answer", "pk", KT("content__text")):
        if (answer, 0) in found:
            found[answer, pk] = found[answer, 0]._replace(text=text)
    return found


def _question(
    parts: PromptParts, cited: Cited, shown: Shown, lists: dict[int | None, dict[int, str]]
) -> Question:
    argument = neutralise(lists[shown.argument_list][cited.number])
    passage = neutralise(shown.text[cited.start : cited.end])
    values = {
        "object1": quote(neutralise(shown.object1).text),
        "object2": quote(neutralise(shown.object2).text),
        "number": str(cited.number),
        "argument": fence(argument.text, fence_token("argument", argument.text)),
        "passage": fence(passage.text, fence_token("passage", passage.text)),
    }
    flags = (*argument.flags.names, *passage.flags.names)
    return Question(tuple(render(parts, values)), verdict_schema(ASKED), flags)


def _row(run: Run, one: Ended) -> CoherenceVerdict:
    cited = Cited(*one.call.subject_ids)
    verdict = one.reading.value if isinstance(one.reading.value, Verdict) else None
    return CoherenceVerdict(
        run=run,
        call=one.call,
        answer_id=cited.answer,
        revision_id=cited.revision or None,
        start=cited.start,
        end=cited.end,
        number=cited.number,
        replicate=one.call.replicate,
        is_coherent=verdict.is_true if verdict else None,
        reason="" if verdict else one.reading.reason,
        rationale=verdict.rationale if verdict else "",
        fence=one.fence,
    )


def _misread(run: Run) -> list[int]:
    """Verdicts that their stored reply does not give when it is read once more."""
    wrong = []
    verdicts = run.coherence_verdicts.filter(is_coherent__isnull=False)
    for verdict in verdicts.select_related("call__reply").order_by("pk").iterator(500):
        reply = verdict.call.reply
        reading = CoherenceKind().read(run, verdict.call, reply) if reply else Reading()
        said = reading.value
        if not isinstance(said, Verdict) or said.is_true != verdict.is_coherent:
            wrong.append(verdict.pk)
    return wrong
