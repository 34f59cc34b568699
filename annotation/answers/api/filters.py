"""Query parameters of lists of questions, systems and answers; others are refused."""

from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from annotation.answers.models.answers import Answer, System
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class QuestionFilter(filters.FilterSet):
    """Questions about one comparison, by aspect, or answered by one system."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    aspect = filters.CharFilter(max_length=300)
    system = filters.UUIDFilter(method="answered_by")

    def answered_by(self, questions: QuerySet, name: str, system: UUID) -> QuerySet:
        """A subquery: a join would multiply the numbers of answers."""
        answers = Answer.objects.filter(system__public_id=system)
        return questions.filter(pk__in=answers.values("question"))


class ConditionFilter(filters.FilterSet):
    """Conditions of one scenario, plain ones or not."""

    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    is_plain = TrueFalseFilter()


class SystemFilter(filters.FilterSet):
    """Systems by what they are."""

    kind = filters.ChoiceFilter(choices=System.Kind.choices)


class AnswerFilter(filters.FilterSet):
    """Answers to one question, of one system, scenario, condition, choice, run or file."""

    question = filters.UUIDFilter(field_name="question__public_id")
    system = filters.UUIDFilter(field_name="system__public_id")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    condition = filters.UUIDFilter(field_name="condition__public_id")
    is_plain = TrueFalseFilter(field_name="condition__is_plain")
    choice = filters.NumberFilter(min_value=1, max_value=32_767, decimal_places=0)
    run = filters.UUIDFilter(field_name="run__public_id")
    source = filters.CharFilter(max_length=255)
    editing_round = filters.UUIDFilter(field_name="revision__sheet__round__public_id")
    edited_from = filters.UUIDFilter(field_name="revision__sheet__answer__public_id")
