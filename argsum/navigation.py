"""Menu entries, and the path from comments to key points."""

from collections.abc import Iterator

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.models import Analysis
from argsum.datasets.models import Dataset
from argsum.surveys.models import Survey
from cqa_site.people.models import Study
from cqa_site.web.navigation import EXPERTS, Finder, MenuEntry, Path, StudyStep, step


def steps(study: Study) -> list[StudyStep]:
    """Return the steps from imported comments to key points and a report on them."""
    datasets = Dataset.objects.filter(study=study).count()
    # Newest first; an analysis in progress cannot be read yet, but should not be started again.
    newest = Analysis.objects.filter(study=study).first()
    done = Analysis.objects.filter(study=study, state=Analysis.State.DONE).first()
    sentence = ngettext("%(count)s dataset imported.", "%(count)s datasets imported.", datasets)
    return [
        step(
            study,
            title=_("Import the comments"),
            text=sentence % {"count": datasets}
            if datasets
            else _("Import a table or text file with one comment per row. It becomes a dataset."),
            button=_("Datasets") if datasets else _("Import comments"),
            page="datasets" if datasets else "imports?kind=comments",
            is_done=datasets > 0,
        ),
        _finding(study, newest, done),
        step(
            study,
            title=_("Read and report key points"),
            text=_(
                "See how many comments support each key point, and read these comments. "
                "Rename and merge key points, compare groups, and download the report."
            ),
            button=_("Report") if done else _("Key point analysis"),
            page="analysis_report" if done else "analyses",
            of=done,
            is_done=done is not None,
        ),
    ]


def _finding(study: Study, newest: Analysis | None, done: Analysis | None) -> StudyStep:
    text = _(
        "Statements with the same meaning are grouped and each group is named. Runs on "
        "this machine."
    )
    if newest is None:
        return step(
            study,
            title=_("Find the key points"),
            text=text,
            button=_("Find key points"),
            page="analysis_new",
            is_done=False,
        )
    analysis = done or newest
    return step(
        study,
        title=_("Find the key points"),
        text=_("In progress.") if done is None and newest.is_active else text,
        button=_("Key points") if done else _("View progress"),
        page="analysis",
        of=analysis,
        is_done=done is not None,
    )


COMMENTS = Path(
    "comments",
    lazy("What do these comments say?"),
    lazy("Group comments into key points and count the comments that make each key point."),
    steps,
    groups=frozenset(("data", "key_points", "study")),
    place=40,
    terms=("dataset",),
)

DATASETS = Finder(
    lazy("Dataset"), lambda study: Dataset.objects.filter(study=study), ("name",), "dataset"
)

SURVEYS = Finder(
    lazy("Survey"), lambda study: Survey.objects.filter(study=study), ("name",), "survey"
)


def key_point_entries() -> Iterator[MenuEntry]:
    """Yield menu entries for analyses, datasets, and system results with their evaluation."""
    about = lazy("comments themes topics clusters groups trends")
    tour = lazy("What comments say, how many say it, and each comment in full.")
    yield MenuEntry(
        "key_points", lazy("Key point analysis"), "analyses", 2, EXPERTS, also=about, tour=tour
    )
    cells = ("key-points/cells/", "key-points/surveys/")
    also = lazy("comments surveys export download")
    yield MenuEntry("key_points", lazy("Datasets"), "datasets", 5, under=cells, also=also)
    tour = lazy(
        "Systems that summarize debates, ranked by how much they cover and how little they repeat."
    )
    yield MenuEntry("key_points", lazy("Key point leaderboard"), "key_points", place=10, tour=tour)
    yield MenuEntry("key_points", lazy("Key point metrics"), "summary_metrics", place=15)
    yield MenuEntry("key_points", lazy("Count sheets"), "counting_sheets", place=35)
    yield MenuEntry("key_points", lazy("Match scorers"), "scorers", place=60)
    yield MenuEntry("key_points", lazy("Key point snapshots"), "key_point_boards", place=70)
