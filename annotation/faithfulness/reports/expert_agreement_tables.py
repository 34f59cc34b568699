"""Agreement of experts as tables and as a heatmap, under the names that a reader may know."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.editing.models import EditingRound
from annotation.editing.reports.editing import expert_name
from cqa_site.people.models import User
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.heatmap import heatmap
from cqa_site.web.tables import TableData

from .expert_agreement import Cell, Expert, ExpertAgreement

RECIPES = {
    "sound": lazy(
        "Cosine of two versions of the same answer, averaged over the calibration answers that "
        "both have handed in; n says how many. The vector of a version is the mean of the "
        "sentence embeddings of its statements, so its end counts as much as its beginning."
    ),
    "paper": lazy(
        "As in the paper: the vector of a version is the embedding of the whole text, of which "
        "the model reads the first 256 tokens only. Averaged over the calibration answers that "
        "both have handed in; n says how many."
    ),
}
WORK = lazy(
    "Means over the newest versions of all answers that an expert handed in. Words changed: put "
    "in, taken out or replaced, against the machine's text. Time: median of the seconds in which "
    "the editing page was in use."
)


@dataclass(frozen=True)
class Shown:
    """The figures of a mode, and how the reader may know the machine and the people in them."""

    found: ExpertAgreement
    names: list[str]
    mode: str


def names_of(experts: Sequence[Expert], reader: User, *, sees_names: bool) -> list[str]:
    """The machine and each expert, as the reader may know them."""
    people = User.objects.in_bulk([one.key for one in experts]) if sees_names else {}
    names = [_("Machine")]
    for one in experts:
        numbered = expert_name(one.number)
        if sees_names:
            names.append(f"{numbered}: {people[one.key]}")
        else:
            names.append(_("You") if one.key == reader.pk else numbered)
    return names


def agreement_table(editing_round: EditingRound, shown: Shown) -> TableData:
    """One row for each two texts of the heatmap."""
    return TableData(
        [_("One"), _("Other"), _("Mean cosine"), _("Answers n")],
        agreement_rows(shown),
        caption=_("Similarity of versions, round “%s”.") % editing_round.name,
        note=str(RECIPES[shown.mode]),
        name=f"expert-agreement-{shown.mode}",
    )


def work_table(editing_round: EditingRound, shown: Shown) -> TableData:
    """What each expert changed, and how long it took."""
    columns = [
        _("Expert"), _("Answers n"), _("of them calibration"), _("Words changed"),
        _("Words before"), _("Words after"), _("Checks passed before"), _("Checks passed after"),
        _("Checks"), _("Seconds, median"),
    ]  # fmt: skip
    parts = (
        "n", "n_calibration", "distance", "words_before", "words_after", "checks_before",
        "checks_after", "checks", "seconds",
    )  # fmt: skip
    rows = [
        [name, *(getattr(work, part) for part in parts)]
        for name, work in zip(shown.names[1:], shown.found.work, strict=True)
    ]
    caption = _("What experts changed, round “%s”.") % editing_round.name
    return TableData(columns, rows, caption, str(WORK), "expert-work")


def chart_spec(shown: Shown, size: str) -> Spec:
    """The heatmap; shades run from the lowest similarity, rounded down, to 1."""
    names, places = drawn_names(shown), 3 if size == "wide" else 2
    cells = shown.found.cells
    lowest = lowest_shade(shown.found)
    rows = [
        {
            "one": names[one],
            "other": names[other],
            "share": _shade(cells[one][other].value, lowest),
            "text": _text(cells[one][other], places),
        }
        for one in range(len(names))
        for other in range(len(names))
    ]
    return heatmap(
        rows, x="other", y="one", share="share", text="text", titles=("", ""), size=size
    )


def chart_alt(shown: Shown) -> str:
    """What the heatmap shows, in numbers."""
    parts = [
        f"{row[0]}, {row[1]}: {row[2]:.3f} (n {row[3]})"
        for row in agreement_rows(shown)
        if row[2] is not None
    ]
    return _("Mean similarity of versions. %s.") % "; ".join(parts) if parts else ""


def agreement_rows(shown: Shown) -> list[list[Any]]:
    """Each two texts once: names, mean cosine, number of answers."""
    names, cells = shown.names, shown.found.cells
    return [
        [names[one], names[other], cells[one][other].value, cells[one][other].n]
        for one in range(len(names))
        for other in range(one + 1, len(names))
    ]


def lowest_shade(found: ExpertAgreement) -> float:
    """Where the shades begin: versions of one answer are all much alike."""
    known = [cell.value for row in found.cells for cell in row if cell.value is not None]
    return max(0.0, floor(min(known) * 10 - 1e-9) / 10) if known else 0.0


def _shade(value: float | None, lowest: float) -> float | None:
    return None if value is None else (value - lowest) / (1 - lowest)


def _text(cell: Cell, places: int) -> str:
    return "–" if cell.value is None else f"{cell.value:.{places}f}\nn {cell.n}"


def drawn_names(shown: Shown) -> list[str]:
    """Names for the axes of the heatmap, without the people."""
    return [name.partition(":")[0] for name in shown.names]
