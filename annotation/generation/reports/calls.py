"""What requests for answers are about, and what came of them."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.answers.methods.length import count_words
from annotation.answers.models.answers import Answer
from annotation.corpus.models.questions import Question
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call


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


ANSWERS = CallSubjects(Titles(lazy("Question"), lazy("Answer"), lazy("Text")), _questions)
