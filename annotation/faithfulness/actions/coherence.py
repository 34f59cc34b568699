"""The coherence judge: judged citations, requests and replies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KT
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.actions import numbered_texts
from annotation.answers.models import ALL, Answer, under
from annotation.editing.models import Revision
from annotation.editing.reports import newest_revisions
from annotation.faithfulness.models import CoherenceVerdict, FaithfulnessFigures
from annotation.faithfulness.reports.texts import CitationSubject
from cqa_site.judging.prompts import (
    PromptLayout,
    PromptParts,
    fence,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.judging.reply_parsing import (
    PARSER_VERSION,
    ReplyNotUsable,
    YesNoReading,
    parse_verdict,
    verdict_schema,
)
from cqa_site.people.models import Study
from cqa_site.runs.integrity import check_places
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
)
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning import seeded_places

# Citations of a coherence run
#
# The faithfulness figures contain the position and the citations of each segment, so no text is
# parsed again. Texts without figures are not judged.


def target_of(
    *,
    systems: Iterable[str] = (),
    scenarios: Iterable[int] = (),
    conditions: Iterable[str] = (),
    texts: str = "answers",
    sample: int = 0,
) -> dict[str, Any]:
    """Return the target of a coherence run, as stored in its spec.

    Parameters
    ----------
    systems, scenarios
        Public ids of systems and numbers of scenarios; empty for all.
    conditions
        Public ids of conditions, or `ALL`; empty for the plain conditions.
    texts
        ``answers``, ``edited`` or ``both``: answers as written, the experts' newest versions of
        them, or both.
    sample
        Maximum number of texts to judge, drawn with the run's seed; 0 for all.
    """
    return {
        "systems": sorted(map(str, systems)),
        "scenarios": sorted(scenarios),
        "conditions": sorted(conditions),
        "texts": texts,
        "sample": sample,
    }


def chosen_citations(
    study: Study, target: Mapping[str, Any], seed: int
) -> Iterator[CitationSubject]:
    """Yield every citation in the chosen texts, text by text."""
    rows = _cited_texts(study, target)
    if target["sample"]:
        rows = [rows[place] for place in seeded_places(len(rows), target["sample"], seed)]
    for answer, revision, citations in rows:
        for start, end, number in citations:
            yield CitationSubject(answer, revision, start, end, number)


def _cited_texts(
    study: Study, target: Mapping[str, Any]
) -> list[tuple[int, int, list[list[int]]]]:
    """Return (answer, revision or 0, citations) for each text with citations, sorted by answer."""
    rows: list[tuple[int, int, list[list[int]]]] = []
    figures = FaithfulnessFigures.objects.filter(mode=FaithfulnessFigures.Mode.SOUND)
    if target["texts"] != "edited":
        answers = _of_target(Answer.objects.filter(study=study), target)
        selection = figures.filter(answer__in=answers.values("pk"))
        rows += [(pk, 0, cited) for pk, cited in selection.values_list("answer", "citations")]
    if target["texts"] != "answers":
        revisions = _of_target(newest_revisions(study), target, "sheet__answer__")
        selection = figures.filter(revision__in=revisions.order_by().values("pk"))
        rows += selection.values_list("revision__sheet__answer", "revision", "citations")
    return sorted(row for row in rows if row[2])


def _of_target(rows: QuerySet, target: Mapping[str, Any], path: str = "") -> QuerySet:
    if target["systems"]:
        rows = rows.filter(**{f"{path}system__public_id__in": target["systems"]})
    if target["scenarios"]:
        rows = rows.filter(**{f"{path}scenario__in": target["scenarios"]})
    # Runs created before conditions were introduced include all of them.
    return under(rows, target.get("conditions", [ALL]), path)


def count_other_conditions(study: Study, target: Mapping[str, Any]) -> int:
    """Count the texts with citations that are left out because of their condition."""
    mixed = {**target, "conditions": [ALL]}
    return len(_cited_texts(study, mixed)) - len(_cited_texts(study, target))


def without_figures(study: Study) -> int:
    """Count the answers with arguments that cannot be judged until their citations are known."""
    answers = Answer.objects.filter(study=study, argument_list__isnull=False)
    return answers.exclude(figures__mode=FaithfulnessFigures.Mode.SOUND).count()


def has_citations(study: Study) -> bool:
    """Whether the study has a text with a known citation."""
    of_study = Q(answer__study=study) | Q(revision__sheet__answer__study=study)
    figures = FaithfulnessFigures.objects.filter(of_study, mode=FaithfulnessFigures.Mode.SOUND)
    return figures.exclude(citations=[]).exists()


def citing_answers(study: Study) -> QuerySet[Answer]:
    """Return the answers with at least one known citation."""
    figures = FaithfulnessFigures.objects.filter(
        answer__study=study, mode=FaithfulnessFigures.Mode.SOUND
    )
    cited = figures.exclude(citations=[]).values("answer")
    return Answer.objects.filter(study=study, pk__in=cited).order_by("pk")


def first_citation(answer: Answer) -> CitationSubject:
    """Return the first citation of an answer with a known citation."""
    figures = answer.figures.get(mode=FaithfulnessFigures.Mode.SOUND)
    start, end, number = figures.citations[0]
    return CitationSubject(answer.pk, 0, start, end, number)


# Coherence judge: does a segment follow from the argument that it cites?
#
# Each citation is one request: a segment and one of the numbers it cites.

FOLDER = Path(__file__).parents[1] / "prompts"

KIND = "coherence"
PROMPTS = {
    KIND: PromptKind(
        lazy("Coherence of a citation"),
        PromptLayout((), ("object1", "object2", "number", "argument", "passage")),
        FOLDER / "coherence.md",
    )
}
FIELD = "coherent"


class PromptAnswer(NamedTuple):
    """The parts of an answer that a request contains."""

    text: str
    argument_list: int
    object1: str
    object2: str


class CoherenceKind:
    """Run-engine hooks for ``coherence`` runs."""

    parser_version = PARSER_VERSION
    values_title = lazy("Verdicts:")
    # Most citations of a good answer are coherent, so a high share is not a warning sign.
    dominance = 0.95

    def begin(self, run: Run) -> None:
        """Do nothing, because this app stores only the verdicts of a run."""

    def subjects(self, run: Run) -> list[Subject]:
        """Return one subject per citation, text by text."""
        return [
            _subject(cited)
            for cited in chosen_citations(run.study, run.spec["target"], run.spec["seed"])
        ]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Write the prompts, with at most four queries."""
        cited = [CitationSubject(*subject.ids) for subject in subjects]
        answers = _shown(run.study, cited)
        lists = numbered_texts({answer.argument_list for answer in answers.values()})
        parts = PromptParts(run.prompt.system, run.prompt.user, PROMPTS[run.prompt.kind].layout)
        return [
            _question(parts, citation, answers[citation.answer, citation.revision], lists)
            for citation in cited
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read one reply into a `YesNoReading`."""
        try:
            verdict = parse_verdict(reply.text, reply.finish_reason, FIELD, refusal=reply.refusal)
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=verdict)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call, with its verdict or the reason that the verdict is missing."""
        CoherenceVerdict.objects.bulk_create(
            [_row(run, reply) for reply in ended],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=["is_coherent", "reason", "rationale", "fence", "at"],
        )

    def values(self, run: Run) -> dict[str, int]:
        """Count the citations judged coherent and those judged not coherent."""
        rows = run.coherence_verdicts.filter(is_coherent__isnull=False).order_by("-is_coherent")
        counts = rows.values_list("is_coherent").annotate(n=Count("pk"))
        return {"coherent" if value else "not coherent": n for value, n in counts}

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts; verdicts contain no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check that each ended call has one verdict that has its fence and matches its reply."""
        fences = dict(run.coherence_verdicts.values_list("call", "fence"))
        problems = check_places(run, fences, "verdict")
        return problems + [f"verdict {pk} differs from its reply" for pk in _misread(run)]


def _subject(cited: CitationSubject) -> Subject:
    text = f"r{cited.revision}" if cited.revision else f"a{cited.answer}"
    return Subject(f"{text}-{cited.start}-{cited.number}", cited)


def _shown(study: Study, cited: Iterable[CitationSubject]) -> dict[tuple[int, int], PromptAnswer]:
    """Map (answer, revision) to text, arguments and objects, for texts still in the study."""
    wanted = {subject[:2] for subject in cited}
    pair = ("question__comparison__object1", "question__comparison__object2")
    answers = Answer.objects.filter(study=study, pk__in={answer for answer, _pk in wanted})
    rows = answers.values_list("pk", "text", "argument_list", *pair)
    prompt_answers = {(pk, 0): PromptAnswer(*fields) for pk, *fields in rows}
    edited = Revision.objects.filter(pk__in={pk for _answer, pk in wanted if pk})
    for answer, pk, text in edited.values_list("sheet__answer", "pk", KT("content__text")):
        if (answer, 0) in prompt_answers:
            prompt_answers[answer, pk] = prompt_answers[answer, 0]._replace(text=text)
    return prompt_answers


def _question(
    parts: PromptParts,
    cited: CitationSubject,
    answer: PromptAnswer,
    lists: dict[int | None, dict[int, str]],
) -> CallRequest:
    argument = neutralise(lists[answer.argument_list][cited.number])
    passage = neutralise(answer.text[cited.start : cited.end])
    values = {
        "object1": quote(neutralise(answer.object1).text),
        "object2": quote(neutralise(answer.object2).text),
        "number": str(cited.number),
        "argument": fence(argument.text, fence_token("argument", argument.text)),
        "passage": fence(passage.text, fence_token("passage", passage.text)),
    }
    flags = (*argument.flags.names, *passage.flags.names)
    return CallRequest(tuple(render(parts, values)), verdict_schema(FIELD), flags)


def _row(run: Run, reply: EndedCall) -> CoherenceVerdict:
    cited = CitationSubject(*reply.call.subject_ids)
    verdict = reply.reading.value if isinstance(reply.reading.value, YesNoReading) else None
    return CoherenceVerdict(
        run=run,
        call=reply.call,
        answer_id=cited.answer,
        revision_id=cited.revision or None,
        start=cited.start,
        end=cited.end,
        number=cited.number,
        replicate=reply.call.replicate,
        is_coherent=verdict.is_true if verdict else None,
        reason="" if verdict else reply.reading.reason,
        rationale=verdict.rationale if verdict else "",
        fence=reply.fence,
    )


def _misread(run: Run) -> list[int]:
    """Return the verdicts that do not match their stored replies."""
    wrong = []
    verdicts = run.coherence_verdicts.filter(is_coherent__isnull=False)
    for verdict in verdicts.select_related("call__reply").order_by("pk").iterator(500):
        reply = verdict.call.reply
        reading = CoherenceKind().read(run, verdict.call, reply) if reply else ReplyReading()
        value = reading.value
        if not isinstance(value, YesNoReading) or value.is_true != verdict.is_coherent:
            wrong.append(verdict.pk)
    return wrong


def _citation(study: Study, version: PromptVersion, answer: Answer) -> tuple[Run, list[Answer]]:
    """Return a sample run and the answer whose first citation it judges."""
    return Run(study=study, kind=KIND, prompt=version, spec={}), [answer]


COHERENCE = PreviewTargets(
    lazy("Answer with citations"),
    citing_answers,
    _citation,
    lambda answers: first_citation(answers[0]),
)
