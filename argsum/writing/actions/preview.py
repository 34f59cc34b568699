"""What prompts for writing key points are tried out on."""

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.writing.reports import Asked
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from .kind import KIND
from .prompts import COUNTS

SHOWN_ARGUMENTS, WORDS = 30, 15
# A cell that nobody clustered yet is dealt into so many heaps.
HEAPS = (0, 1, 2)


def _cells(study: Study) -> QuerySet[Cell]:
    """Cells with arguments."""
    rows = Cell.objects.filter(dataset__study=study, arguments__isnull=False)
    return rows.distinct().order_by("dataset", "position")


def _draft(study: Study, version: PromptVersion, cell: Model) -> tuple[Run, list[Model]]:
    """A few arguments, as no run of a system has to be there for it."""
    fewest, most = COUNTS.get(version.kind, (1, 1))
    target = {
        "system_run": "",
        "settings": [],
        "fewest": fewest,
        "most": most,
        "words": WORDS,
        "most_arguments": SHOWN_ARGUMENTS,
    }
    spec = {"target": target, "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [cell]


WRITING = Previewed(
    lazy("Topic and stance"),
    _cells,
    _draft,
    lambda cells: Asked(0, cells[0].pk, clusters=HEAPS).subject.ids,
)
