"""What requests of the relevance judge are about, and what was read from their replies."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models.questions import Argument
from annotation.judges.models import JudgeLabel
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call


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


RELEVANCE = CallSubjects(
    Titles(lazy("Sentence"), lazy("Label"), lazy("The judge's reason")), _sentences
)
