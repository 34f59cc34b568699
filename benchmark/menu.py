"""Scores in the menu of a study."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation.menu import Entry
from cqa_site.web.navigation.search import Finder

from .rubrics.models import RubricVersion

RUBRICS = Finder(
    _("Rubric"), lambda study: RubricVersion.objects.filter(study=study), ("name",), "rubric"
)


def score_entries() -> Iterator[Entry]:
    """The leaderboard first, then what it stands on."""
    tour = _(
        "Which system writes the best answers, and how sure each place is. Try another judge, or "
        "another column."
    )
    export = _("export download")
    yield Entry("score", _("Leaderboard of scores"), "scores", 10, tour=tour, also=export)
    tour = _("Whether a language model can replace a person, and what would tell.")
    yield Entry("score", _("Replace people?"), "score_replace", place=25, tour=tour)
    yield Entry("score", _("Rubrics"), "rubrics", place=60)
    yield Entry("score", _("Snapshots of scores"), "boards", place=70)
    yield Entry("score", _("Training data"), "distillation", place=80)
    yield Entry("judges", _("Leaderboard of judges"), "score_judges", place=60)
