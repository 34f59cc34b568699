"""Which rounds people of a crowd link may come into, and where they send their work."""

from django.db.models import QuerySet

from cqa_site.people.models import Study
from cqa_site.rounds.kind import TaskKind, kinds
from cqa_site.rounds.models import Round


def crowd_kinds() -> list[TaskKind]:
    """The kinds whose rounds take people of a crowd."""
    return [kind for kind in kinds() if kind.takes_crowd]


def crowd_rounds(study: Study) -> QuerySet[Round]:
    """The rounds of a study that people of a crowd may come into, with their kinds' own rows."""
    names = [kind.name for kind in crowd_kinds()]
    rows = [kind.row for kind in crowd_kinds()]
    return Round.objects.filter(study=study, kind__in=names).select_related("study", *rows)


def answer_pages() -> set[str]:
    """Names of the addresses to which people send their work."""
    return {page for kind in crowd_kinds() for page in kind.answer_pages}
