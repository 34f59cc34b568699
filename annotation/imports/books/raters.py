"""Raters, and their place in each campaign."""

from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.people.models import Rater
from cqa_site.rounds.models import Place

from ..actions.rows import ArgumentEntry, RaterKey, rater_of

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation


class RaterBook:
    """Raters named by the file; None while new and not written."""

    def __init__(self, work: Reconciliation) -> None:
        self.work = work
        self.known: dict[RaterKey, int | None] = {}

    def find(self, named: dict[RaterKey, str]) -> None:
        """Find raters by kind and id, or make them by the name that stands with each."""
        fresh = {key: name for key, name in named.items() if key not in self.known}
        if not fresh:
            return
        stored = Rater.objects.filter(
            study=self.work.study,
            kind__in={kind for kind, _id in fresh},
            external_id__in={name for _kind, name in fresh},
        )
        found = {
            (kind, name): pk
            for pk, kind, name in stored.values_list("pk", "kind", "external_id")
            if (kind, name) in fresh
        }
        new = {key: name for key, name in fresh.items() if key not in found}
        self.work.outcome.counts["raters"]["new"] += len(new)
        self.work.outcome.counts["raters"]["same"] += len(found)
        self.known |= dict.fromkeys(new) | found
        if self.work.write:
            rows = Rater.objects.bulk_create(
                Rater(study=self.work.study, kind=kind, external_id=key, name=name)
                for (kind, key), name in new.items()
            )
            self.known |= {(row.kind, row.external_id): row.pk for row in rows}


class PlacedRaterBook(RaterBook):
    """Raters of votes, and their place in each campaign."""

    work: "StudyReconciliation"

    def __init__(self, work: "StudyReconciliation") -> None:
        super().__init__(work)
        self._places: set[tuple[str, RaterKey]] = set()

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find the raters of a piece, or make them, with their places."""
        self.find({rater_of(vote): vote.rater_name for entry in entries for vote in entry.votes})
        self._take_places(entries)

    def _take_places(self, entries: list[ArgumentEntry]) -> None:
        """Let researchers see and exclude imported raters like those who worked here."""
        fresh = {
            (entry.campaign, rater_of(vote)): vote.is_rater_excluded
            for entry in entries
            for vote in entry.votes
            if (entry.campaign, rater_of(vote)) not in self._places
        }
        self._places |= set(fresh)
        if not self.work.write or not fresh:
            return
        wanted = {
            (self.work.campaigns.pk(name), self.known[rater]): is_excluded
            for (name, rater), is_excluded in fresh.items()
        }
        stored = Place.objects.filter(
            round__in={campaign for campaign, _rater in wanted},
            rater_id__in={rater for _campaign, rater in wanted},
        )
        there = set(stored.values_list("round_id", "rater_id"))
        Place.objects.bulk_create(
            _place(*key, is_excluded) for key, is_excluded in wanted.items() if key not in there
        )


def _place(campaign_id: Any, rater_id: Any, is_excluded: bool) -> Place:
    row = Place(round_id=campaign_id, rater_id=rater_id)
    if is_excluded:
        row.excluded_at = timezone.now()
        row.exclusion_reason = _("Excluded in the imported file.")
        row.is_decided_by_person = True
    return row
