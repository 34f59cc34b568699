"""What requests of a run are about, and what was read from their replies, by kind of run."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.methods.answer_length import count_words
from annotation.models import (
    Answer,
    Argument,
    CoherenceVerdict,
    JudgeLabel,
    Question,
    Revision,
)
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call

from .coherence_rows import Cited


def _sentences(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    keys = {pk for call in calls for pk in call.subject_ids}
    arguments = study.arguments.select_related("comparison").in_bulk(keys)
    labels = JudgeLabel.objects.filter(call__in=[call.pk for call in calls])
    found = {(label.call_id, label.argument_id): label for label in labels}
    return {
        call.pk: [
            _sentence(arguments.get(pk), found.get((call.pk, pk))) for pk in call.subject_ids
        ]
        for call in calls
    }


def _sentence(argument: Argument | None, label: JudgeLabel | None) -> Item | None:
    if argument is None:
        return None
    said: dict[str, Any] = {}
    if label is not None:
        value = "" if label.label is None else str(label.label)
        said = {"value": value, "note": label.rationale, "reason": label.reason}
    return Item(argument.text, str(argument.comparison), **said)


def _questions(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    keys = {call.subject_ids[0] for call in calls}
    questions = study.questions.select_related("comparison").in_bulk(keys)
    answers = Answer.objects.filter(call__in=[call.pk for call in calls])
    found = {answer.call_id: answer for answer in answers}
    return {
        call.pk: [_question(questions.get(call.subject_ids[0]), call, found.get(call.pk))]
        for call in calls
    }


def _question(question: Question | None, call: Call, answer: Answer | None) -> Item | None:
    if question is None:
        return None
    value = ""
    if answer is not None:
        words = count_words(answer.text)
        value = ngettext("%d word", "%d words", words) % words
    reason = call.reason if call.state == Call.State.UNSCORED else ""
    return Item(str(question), str(question.comparison), value, reason=reason, answer=answer)


def _citations(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    cited = {call.pk: Cited(*call.subject_ids) for call in calls}
    answers = study.answers.select_related("question__comparison")
    found = answers.in_bulk({each.answer for each in cited.values()})
    revisions = Revision.objects.in_bulk({each.revision for each in cited.values()})
    verdicts = CoherenceVerdict.objects.filter(call__in=[call.pk for call in calls])
    said = {verdict.call_id: verdict for verdict in verdicts}
    return {
        pk: [_citation(found.get(each.answer), revisions.get(each.revision), each, said.get(pk))]
        for pk, each in cited.items()
    }


def _citation(
    answer: Answer | None, revision: Revision | None, cited: Cited, said: CoherenceVerdict | None
) -> Item | None:
    if answer is None or (cited.revision and revision is None):
        return None
    text = (revision or answer).text[cited.start : cited.end]
    context = f"[{cited.number}] · {answer.question}"
    if said is None:
        return Item(text, context)
    words = {True: _("coherent"), False: _("not coherent"), None: ""}
    return Item(text, context, words[said.is_coherent], said.rationale, said.reason)


RELEVANCE = CallSubjects(
    Titles(lazy("Sentence"), lazy("Label"), lazy("The judge's reason")), _sentences
)
ANSWERS = CallSubjects(Titles(lazy("Question"), lazy("Answer"), lazy("Text")), _questions)
COHERENCE = CallSubjects(
    Titles(lazy("Segment"), lazy("Verdict"), lazy("The judge's reason")), _citations
)
