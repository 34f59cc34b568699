"""From many comments to the few points that they make."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.analysis.models import Analysis
from argsum.datasets.models import Dataset
from cqa_site.people.models import Study
from cqa_site.web.navigation.paths import Path, Step, step


def steps(study: Study) -> list[Step]:
    """Comments, their key points, and a report of them."""
    datasets = Dataset.objects.filter(study=study).count()
    # The newest first; one that is under way is not read yet, and still nothing to start again.
    newest = Analysis.objects.filter(study=study).first()
    done = Analysis.objects.filter(study=study, state=Analysis.State.DONE).first()
    found = ngettext("%(count)s dataset is here.", "%(count)s datasets are here.", datasets)
    return [
        step(
            study,
            title=_("Import the comments"),
            text=found % {"count": datasets}
            if datasets
            else _(
                "A table or a text with a comment in each row is enough; it becomes a dataset."
            ),
            button=_("Datasets") if datasets else _("Import comments"),
            page="datasets" if datasets else "imports?kind=comments",
            is_done=datasets > 0,
        ),
        _finding(study, newest, done),
        step(
            study,
            title=_("Read them, and report them"),
            text=_(
                "How many comments stand behind each key point, and every one of them; rename, "
                "merge, compare groups, and take the report along."
            ),
            button=_("Report") if done else _("Key point analysis"),
            page="analysis_report" if done else "analyses",
            of=done,
            is_done=done is not None,
        ),
    ]


def _finding(study: Study, newest: Analysis | None, done: Analysis | None) -> Step:
    text = _("It groups what says the same and names each group; it runs on this machine.")
    if newest is None:
        return step(
            study,
            title=_("Find the key points"),
            text=text,
            button=_("Find key points"),
            page="analysis_new",
            is_done=False,
        )
    shown = done or newest
    return step(
        study,
        title=_("Find the key points"),
        text=_("A worker is at it.") if done is None and newest.is_active else text,
        button=_("Key points") if done else _("See how far it is"),
        page="analysis",
        of=shown,
        is_done=done is not None,
    )


COMMENTS = Path(
    "comments",
    lazy("What do all these comments say?"),
    lazy("Comments are grouped into key points, with how many comments make each."),
    steps,
    place=40,
    terms=("dataset",),
)
