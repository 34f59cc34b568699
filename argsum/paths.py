"""From many comments to the few points that they make."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.datasets.models import Dataset
from argsum.keypoints.models import SummarySet, SystemRun
from cqa_site.people.models import Study
from cqa_site.web.navigation.paths import Path, Step, step


def steps(study: Study) -> list[Step]:
    """Comments, a system that groups them, its key points."""
    datasets = Dataset.objects.filter(study=study).count()
    runs = SystemRun.objects.filter(study=study)
    ended = runs.filter(state=SystemRun.State.DONE)
    finished = ended.filter(sets__state=SummarySet.State.DONE).first()
    # Of one setting there is nothing to choose.
    sets = list(finished.sets.filter(state=SummarySet.State.DONE)[:2]) if finished else []
    read: tuple[str, Any] = ("system_runs", None)
    if finished:
        read = ("summary_set", sets[0]) if len(sets) == 1 else ("system_run", finished)
    found = ngettext("%(count)s dataset is here.", "%(count)s datasets are here.", datasets)
    return [
        step(
            study,
            title=_("Import the comments"),
            text=found % {"count": datasets}
            if datasets
            else _("A table or a text with a comment in each row; nothing else is needed."),
            button=_("Datasets") if datasets else _("Import comments"),
            page="datasets" if datasets else "imports?kind=comments",
            is_done=datasets > 0,
        ),
        step(
            study,
            title=_("Let a system find key points"),
            text=_("No key point came out: choose another setting, or a lower threshold.")
            if finished is None and ended.exists()
            else _("It groups what says the same and names each group; it runs on this machine."),
            button=_("New run of a system"),
            page="system_run_new",
            is_done=finished is not None,
        ),
        step(
            study,
            title=_("Read the key points"),
            text=_("How many comments stand behind each, and every one of them."),
            button=_("Key points") if finished else _("Runs of systems"),
            page=read[0],
            is_done=finished is not None,
            of=read[1],
        ),
    ]


COMMENTS = Path(
    "comments",
    lazy("What do all these comments say?"),
    lazy("Comments are grouped into key points, with how many comments make each."),
    steps,
    place=40,
    terms=("dataset", "system"),
)
