"""Counting rounds for researchers."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.actions.rounds import ALL
from argsum.counting.forms.rounds import RoundForm
from argsum.counting.models import CountingItem, CountingRound
from cqa_site.people.models import Rater
from cqa_site.rounds.pages.rounds import Column, RoundFace, round_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.rounds.qualifying import EXCLUSIONS


def _sheets(counting_round: CountingRound, rater: Rater | None) -> str:
    query = {"round": counting_round.public_id}
    if rater is not None:
        query["rater"] = rater.public_id
    return reverse("counting_sheets", args=[counting_round.study.public_id], query=query)


def _drawn(counting_round: CountingRound) -> list[tuple[Any, Any]]:
    recipe = counting_round.recipe
    dataset = [recipe.get("dataset_name") or _("all"), recipe.get("split")]
    systems = [", ".join(recipe.get("systems", [])) or _("all"), recipe.get("setting")]
    every = (
        _("every setting") if recipe.get("per_cell") == ALL else _("one of every system and cell")
    )
    taken = [every, recipe.get("size") and _("%d at random") % recipe["size"]]
    return [
        (_("Dataset"), _joined(dataset)),
        (_("Systems"), _joined(systems)),
        (_("Sets that matched"), recipe.get("found")),
        (_("Taken"), _joined(taken)),
        (_("People for each"), counting_round.raters),
    ]


def _joined(parts: list[Any]) -> str:
    return " · ".join(str(part) for part in parts if part)


def _address(item: CountingItem) -> str:
    chosen = item.summary_set
    return reverse("summary_set", args=[chosen.study.public_id, chosen.public_id])


def _mean(name: str) -> Any:
    def shown(person: RaterProgress) -> str | None:
        mean = person.figures[name]
        return None if mean is None else f"{mean:.2f}"

    return shown


FACE = RoundFace(
    form=RoundForm,
    is_ready=lambda study: study.summary_sets.exists(),
    needs=lazy("Run a system or import people's counts first. A round then says what is judged."),
    decisions=EXCLUSIONS,
    columns=(Column(lazy("People for each"), lambda row: row.raters, css="number"),),
    people=(
        Column(lazy("With an “unsure”"), lambda each: each.figures["unsure"], css="number"),
        Column(lazy("Mean coverage"), _mean("coverage"), css="number"),
        Column(lazy("Mean redundancy"), _mean("redundancy"), css="number"),
    ),
    things=(
        Column(lazy("Topic"), lambda item: item.summary_set.cell.topic, _address, "question"),
        Column(lazy("Stance"), lambda item: item.summary_set.cell.get_stance_display()),
        Column(lazy("System"), lambda item: item.summary_set.system),
        Column(lazy("Setting"), lambda item: item.summary_set.setting, css="mono small"),
    ),
    drawn=_drawn,
    sheets=_sheets,
)
urlpatterns = round_urls(FACE, "key-points/rounds/", "counting_id")
