"""What must hold of stored answers; each finding is one sentence."""

from collections.abc import Iterator

from django.db.models import F

from annotation.answers.models.answers import Answer


def find_violations() -> Iterator[str]:
    """An answer's scenario is a copy for searching; both say the same."""
    unlike = Answer.objects.exclude(
        condition__scenario=F("scenario"), condition__study=F("study")
    ).order_by("pk")
    for pk in unlike.values_list("pk", flat=True):
        yield f"answer {pk} has another scenario or study than its condition"
