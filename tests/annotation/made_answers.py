"""Invented questions, systems and answers."""

from annotation.answers.actions import argument_list
from annotation.answers.models import Answer, System
from annotation.corpus.models import Comparison, Question
from annotation.generation.actions.answer_runs import condition
from tests.cast import make_arguments


def make_question(study, pair=("tea", "coffee"), aspect="", wording="") -> Question:
    """A question about a pair; made once."""
    comparison, _made = Comparison.objects.get_or_create(
        study=study, object1=pair[0], object2=pair[1]
    )
    found, _made = Question.objects.get_or_create(
        study=study, comparison=comparison, aspect=aspect, wording=wording
    )
    return found


def make_system(study, name="Model A", kind="model") -> System:
    """A system of that name; made once."""
    return System.objects.get_or_create(study=study, name=name, defaults={"kind": kind})[0]


def make_list(question, count=3):
    """New sentences about the question's pair, numbered from 1."""
    pair = (question.comparison.object1, question.comparison.object2)
    arguments = make_arguments(question.study, count, pair)
    return argument_list(question, list(enumerate(arguments, 1)), {"source": "made.json"})


def make_answer(
    question, system=None, text="Tea is warm [1].", *, listed=None, scenario=4, choice=1, **fields
) -> Answer:
    """One imported answer."""
    system = system or make_system(question.study)
    position = question.study.answers.count() + 1
    return Answer.objects.create(
        study=question.study,
        question=question,
        system=system,
        text=text,
        argument_list=listed,
        scenario=scenario,
        condition=fields.pop("condition", None) or condition(question.study, scenario=scenario),
        choice=choice,
        **{"source": "made.json", "position": position} | fields,
    )
