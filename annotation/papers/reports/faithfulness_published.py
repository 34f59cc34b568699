"""The answers of a study as the relevance paper's table 3 takes them."""

from annotation.answers.models.answers import Answer
from annotation.answers.reports.argument_lists import numbered_labels, numbered_texts
from annotation.papers.methods.relevance_answers import Cited
from cqa_site.people.models import Study


def cited_answers(study: Study, kind: str) -> list[Cited]:
    """Every answer by a kind of system; one without a list has no arguments."""
    answers = Answer.objects.filter(study=study, system__kind=kind)
    answers = answers.select_related("question__comparison")
    lists = {each.argument_list_id for each in answers if each.argument_list_id}
    texts, labels = numbered_texts(lists), numbered_labels(study, lists)
    return [
        Cited(
            (each.question.comparison.object1, each.question.comparison.object2, each.text),
            texts.get(each.argument_list_id, {}),
            labels.get(each.argument_list_id, {}),
        )
        for each in answers
    ]
