"""Key points in the menu of a study."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation.menu import Entry
from cqa_site.web.navigation.search import Finder

from .datasets.models import Dataset

DATASETS = Finder(
    _("Dataset"), lambda study: Dataset.objects.filter(study=study), ("name",), "dataset"
)


def key_point_entries() -> Iterator[Entry]:
    """Datasets, what systems make of them, and how good that is."""
    about = _("comments themes topics clusters groups trends")
    tour = _("What all these comments say, how many say it, and every one of them.")
    yield Entry("key_points", _("Key point analysis"), "analyses", 2, also=about, tour=tour)
    cells, also = ("key-points/cells/",), _("comments export download")
    yield Entry("key_points", _("Datasets"), "datasets", 5, under=cells, also=also)
    tour = _("Systems that sum up a debate, by how much they cover and how little they repeat.")
    yield Entry("key_points", _("Leaderboard of key points"), "key_points", place=10, tour=tour)
    yield Entry("key_points", _("Metrics of key points"), "summary_metrics", place=15)
    yield Entry("key_points", _("Count sheets"), "counting_sheets", place=35)
    yield Entry("key_points", _("Match scorers"), "scorers", place=60)
    yield Entry("key_points", _("Snapshots of key points"), "key_point_boards", place=70)
