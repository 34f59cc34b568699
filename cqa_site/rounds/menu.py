"""Rounds of every kind in the menu of a study, and what they found."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation.menu import Entry
from cqa_site.web.navigation.search import Finder

from .kind import kind_of, kinds
from .models import Round

ROUNDS = Finder(
    kind=_("Round"),
    rows=lambda study: Round.objects.filter(study=study),
    fields=("name",),
    page=lambda round_: kind_of(round_).audit.round,
)


def round_entries() -> Iterator[Entry]:
    """The list of a kind's rounds, and the page of results, where it has one."""
    for kind in kinds():
        page, words = kind.rounds_page, kind.words
        yield Entry(
            kind.section,
            words.rounds,
            page,
            30,
            under=kind.under,
            waits=kind.waits,
            tour=words.about,
            also=_("export download"),
        )
        if kind.results_page:
            also = _("agreement alpha kappa export download")
            yield Entry(kind.section, words.results, kind.results_page, place=20, also=also)
