"""Typing counts, which a work page sends if the consent form covers them.

They are shown to researchers and have no consequences, because browser data can be forged.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Rater, Study
from .access import WORKERS, opened_round, own_rater, participant_of
from .kind import kind_of, round_head
from .models import Participant, Place, Round, TypedText
from .onboarding.steps import CONSENT, is_prepared
from .rules.pages import ruled_round

PER_PAGE = 50
LONGEST_TEXT, LONGEST_MS, MOST_PASTES = 1_000_000, 24 * 3_600_000, 10_000
MOST_ROWS = 20_000
SUMMED = ("typed", "pasted", "inserted", "pastes", "typing_ms")
# Largest stored sum for a continued text, within the limits of the database.
LARGEST_SUM = 2_000_000_000
# Outcomes of people who left an item unfinished. Another tab may still send counts for it.
STOPPED = (Participant.Outcome.STOPPED, Participant.Outcome.SKIPS)
# Thresholds for signals, and the texts and characters needed for them.
LEAST_TEXTS, LEAST_CHARACTERS = 3, 100
MOSTLY_PASTED, FASTEST_TYPING = 0.5, 15.0


class TypingForm(forms.Form):
    """Counts for one text since the page was opened or counts were last sent."""

    typed = forms.IntegerField(min_value=0, max_value=LONGEST_TEXT)
    pasted = forms.IntegerField(min_value=0, max_value=LONGEST_TEXT)
    inserted = forms.IntegerField(min_value=0, max_value=LONGEST_TEXT)
    pastes = forms.IntegerField(min_value=0, max_value=MOST_PASTES)
    typing_ms = forms.IntegerField(min_value=0, max_value=LONGEST_MS)
    filled_trap = forms.BooleanField(required=False)
    continues = forms.BooleanField(required=False)


def records_typing(round_: Any) -> bool:
    """Whether the round's consent form covers the recording of typing."""
    consent = round_.onboarding.step(CONSENT) if round_.onboarding_id else None
    return bool(consent and consent.get("typing"))


def has_agreed(round_: Any, place: Place | None) -> bool:
    """Whether the person takes part and has agreed to the recording of typing."""
    if place is None or place.is_excluded or not records_typing(round_):
        return False
    return is_prepared(round_, place)


@transaction.atomic
def store_typing(
    round_: Any, rater: Rater, counts: dict[str, Any], *, continues: bool = False
) -> TypedText | None:
    """Store the counts for one text; return None if consent is missing or too many are stored.

    With ``continues``, the counts are added to the person's newest text. If a page has two texts,
    the sums do not depend on which text is newer.
    """
    # A concurrent withdrawal locks the enrolment.
    places = Place.objects.select_for_update().filter(round=round_.pk, rater=rater)
    if not has_agreed(round_, places.first()):
        return None
    rows = TypedText.objects.filter(round=round_.pk, rater=rater)
    if continues and (text := rows.last()):
        for name in SUMMED:
            setattr(text, name, min(LARGEST_SUM, getattr(text, name) + counts[name]))
        text.filled_trap |= counts["filled_trap"]
        text.save()
        return text
    if rows.count() >= MOST_ROWS:
        return None
    return TypedText.objects.create(round_id=round_.pk, rater=rater, **counts)


def forget_typing(round_: Any, place: Place, *, is_all: bool) -> None:
    """Delete the counts for the item that a person leaves unfinished, or all their counts."""
    texts = TypedText.objects.filter(round=round_.pk, rater=place.rater_id)
    if not is_all:
        last = kind_of(round_).last_answers(round_, 1, rater=place.rater_id)
        since = [answer.at for answer in last.get(place.rater_id, ())]
        texts = texts.filter(at__gt=since[0]) if since else texts
    texts.delete()


@dataclass(frozen=True)
class TypingSummary:
    """Typing counts for one person's texts in a round.

    Attributes
    ----------
    typed, pasted, inserted
        Characters typed with single keys, pasted, and entered otherwise (dictation, completion).
    seconds
        Time between single keys, without pauses longer than two seconds.
    """

    rater: Rater
    texts: int
    typed: int
    pasted: int
    inserted: int
    pastes: int
    seconds: float
    traps: int

    @property
    def characters(self) -> int:
        return self.typed + self.pasted + self.inserted

    @property
    def pasted_share(self) -> float | None:
        return self.pasted / self.characters if self.characters else None

    @property
    def speed(self) -> float | None:
        """Characters per second; None below `LEAST_CHARACTERS`."""
        enough = self.typed >= LEAST_CHARACTERS and self.seconds > 0
        return self.typed / self.seconds if enough else None

    @property
    def signals(self) -> list[str]:
        """The signals that the counts trigger; a signal is not proof."""
        is_enough = self.texts >= LEAST_TEXTS and self.characters >= LEAST_CHARACTERS
        share, speed = self.pasted_share, self.speed
        rows = (
            (is_enough and share is not None and share >= MOSTLY_PASTED, lazy("mostly pasted")),
            (speed is not None and speed >= FASTEST_TYPING, lazy("very fast typing")),
            (self.traps > 0, lazy("filled in the hidden field")),
        )
        return [str(words) for is_met, words in rows if is_met]


def typing_of(round_: Any) -> QuerySet[Any, Any]:
    """Return one row of sums per person in the round, in order of arrival."""
    texts = TypedText.objects.filter(round=round_.pk).values("rater")
    sums = {name: Sum(name) for name in SUMMED}
    traps = Count("pk", filter=Q(filled_trap=True))
    return texts.annotate(texts=Count("pk"), traps=traps, **sums).order_by("rater")


def summaries(rows: Iterable[dict[str, Any]]) -> list[TypingSummary]:
    """Return the rows of `typing_of` with their raters, in one query."""
    rows = list(rows)
    raters = Rater.objects.select_related("user").in_bulk([row["rater"] for row in rows])
    names = ("texts", "typed", "pasted", "inserted", "pastes", "traps")
    return [
        TypingSummary(
            rater=raters[row["rater"]],
            seconds=row["typing_ms"] / 1_000,
            **{name: row[name] for name in names},
        )
        for row in rows
    ]


@study_page(*RESEARCHERS, only="GET")
def round_typing(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show each person's typing counts and the signals they trigger."""
    round_ = ruled_round(study, any_round_id)
    page = Paginator(typing_of(round_), PER_PAGE).get_page(request.GET.get("page"))
    context = round_head(round_) | {
        "is_recorded": records_typing(round_),
        "page": page,
        "people": summaries(page.object_list),
        "fastest": FASTEST_TYPING,
    }
    return render(request, "rounds/rules/typing.html", context)


@study_page(*WORKERS, only="POST")
def typing_record(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Store the counts for one text; without consent, nothing is stored."""
    plain = get_object_or_404(Round, study=study, public_id=any_round_id)
    round_ = opened_round(kind_of(plain), request, study, any_round_id, "onboarding")
    if round_.state != Round.State.OPEN:
        raise Http404
    form = TypingForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=422)
    counts = dict(form.cleaned_data)
    continues = counts.pop("continues")
    participant = participant_of(request)
    if participant is None or participant.outcome not in STOPPED:
        store_typing(round_, own_rater(request), counts, continues=continues)
    return HttpResponse(status=204)


TYPING = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/typing/"
urlpatterns = [
    path(TYPING, round_typing, name="round_typing"),
    path(f"{TYPING}record/", typing_record, name="typing_record"),
]
