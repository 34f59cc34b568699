"""Scoring rounds for researchers."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from benchmark.scoring.forms.scoring import RoundForm
from benchmark.scoring.models.rounds import ScoringItem, ScoringRound
from cqa_site.people.models import Study
from cqa_site.rounds.pages.rounds import Column, RoundFace, round_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.web.strict_query import id_from


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """A link may name systems."""
    return {"systems": [id_from(each) for each in request.GET.getlist("systems")]}


def _drawn(scoring_round: ScoringRound) -> list[tuple[Any, Any]]:
    recipe = scoring_round.recipe
    several = f"{100 * scoring_round.overlap_share:.0f} %"
    n = scoring_round.overlap_raters
    people = ngettext("%d person each", "%d people each", n) % n
    return [
        (_("Rubric"), scoring_round.rubric),
        (_("Answers that matched"), recipe.get("found")),
        (_("Taken"), _taken(recipe)),
        (_("Systems"), ", ".join(recipe.get("system_names", [])) or _("all")),
        (_("Conditions"), _conditions(recipe)),
        (_("Scored by several people"), f"{several} · {people}"),
        (_("Hints"), _("shown") if scoring_round.shows_hints else _("not shown")),
        (_("Cited arguments"), _("shown") if scoring_round.shows_arguments else _("not shown")),
    ]


def _taken(recipe: dict[str, Any]) -> str:
    if not recipe.get("size"):
        return _("all of them")
    if recipe.get("is_balanced"):
        return _("%d at random, balanced over systems and conditions") % recipe["size"]
    return _("%d at random") % recipe["size"]


def _conditions(recipe: dict[str, Any]) -> str:
    others = _("all, mixed") if "all" in recipe.get("conditions", []) else _("plain ones only")
    named = "; ".join(recipe.get("condition_names", [])) or others
    left = recipe.get("other_conditions")
    if not left:
        return named
    words = ngettext(
        "%d answer under another condition is left out",
        "%d answers under other conditions are left out",
        left,
    )
    return f"{named} · {words % left}"


def _mean(person: RaterProgress) -> str | None:
    mean = person.figures["mean"]
    return None if mean is None else f"{mean:.2f}"


def _probability(item: ScoringItem) -> str | None:
    return None if item.probability is None else f"{item.probability:.4g}"


def _key(item: ScoringItem) -> str:
    return " · ".join(f"{name} {points:g}" for name, points in (item.key_points or {}).items())


def _address(item: ScoringItem) -> str:
    return reverse("answer", args=[item.answer.study.public_id, item.answer.public_id])


def _key_link(item: ScoringItem) -> str:
    ids = [item.answer.study.public_id, item.round.public_id, item.answer.public_id]
    return reverse("scoring_example", args=ids)


FACE = RoundFace(
    form=RoundForm,
    initial=_initial,
    is_ready=lambda study: study.answers.exists(),
    needs=lazy("Import or generate answers first. A round then says which of them are scored."),
    related=("rubric",),
    columns=(Column(lazy("Rubric"), lambda row: row.rubric),),
    people=(
        Column(lazy("With a “cannot judge”"), lambda each: each.figures["unable"], css="number"),
        Column(lazy("Mean of complete sheets"), _mean, css="number"),
    ),
    things=(
        Column(lazy("Question"), lambda item: item.answer.question, _address, "question"),
        Column(lazy("System"), lambda item: item.answer.system),
        Column(lazy("Condition"), lambda item: item.answer.condition),
        Column(lazy("Drawn with probability"), _probability, css="number"),
    ),
    drawn=_drawn,
    examples_page="scoring_examples",
    key=_key,
    key_link=_key_link,
)
urlpatterns = round_urls(FACE, "scores/rounds/", "round_id")
