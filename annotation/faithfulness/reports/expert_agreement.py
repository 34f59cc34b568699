"""Similarity of experts' versions of an answer, with tables and a heatmap."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor
from statistics import fmean, median
from typing import Any

import numpy as np
from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.utils.translation import gettext as _, gettext_lazy as lazy
from numpy.typing import NDArray

from annotation.answers.methods.segments import sound_segments
from annotation.corpus.reports import Vector, kept_sentences
from annotation.editing.models import EditingRound, Revision
from annotation.editing.reports import expert_name, expert_numbers, newest_revisions, passed
from annotation.faithfulness.models import EditedText
from cqa_site.people.models import Study, User
from cqa_site.results.figures import Column, table_of
from cqa_site.web.charts.bars import heatmap
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData

# Similarity of experts' versions of the same answers, to each other and to the machine's
#
# As in the paper, the vector of a version is that of the whole text, although a model reads only
# the beginning (256 tokens for all-MiniLM-L6-v2). In sound mode it is the mean of the vectors of
# its statements, so that its end counts as much as its beginning.

# Identifies the machine's text in place of an expert's key.
MACHINE = 0
MODES = ("paper", "sound")
Vectors = dict[tuple[int, int], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class CalibrationVersion:
    """One version of a calibration answer; ``who`` is an expert's key, or `MACHINE`."""

    answer: int
    who: int
    text: str


@dataclass(frozen=True)
class Expert:
    """An expert's key and number in the round."""

    key: int
    number: int


@dataclass(frozen=True)
class SimilarityCell:
    """Mean cosine of two authors' versions, over the ``n`` answers that have versions by both."""

    value: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class ExpertWork:
    """Means over one expert's texts; the time is a median, because breaks distort means."""

    key: int
    n: int
    n_calibration: int
    distance: float | None
    words_before: float | None
    words_after: float | None
    checks_before: float | None
    checks_after: float | None
    checks: int
    seconds: float | None
    minutes: float | None


@dataclass(frozen=True, kw_only=True)
class ExpertAgreement:
    """Similarity of experts and machine, and counts of versions with and without a vector.

    For each answer edited by at least two experts, ``alike`` contains the mean cosine over pairs
    of experts, and the mean cosine between an expert and the machine.
    """

    experts: list[Expert]
    n_answers: int
    n_versions: int
    without_vector: int
    cells: list[list[SimilarityCell]]
    alike: list[tuple[float, float]]
    work: list[ExpertWork]


def texts_of_rounds(study: Study) -> list[str]:
    """Return the distinct texts whose vectors a study's expert agreement needs."""
    versions = _versions(_newest_of(EditingRound.objects.filter(study=study), study))
    parts = (part for version in versions for mode in MODES for part in _parts(version.text, mode))
    return list(dict.fromkeys(parts))


def agreement_of(editing_round: EditingRound, mode: str, model: str) -> ExpertAgreement:
    """Return the similarity of each pair of experts and the machine, and each expert's changes.

    Parameters
    ----------
    editing_round
        Experts are compared on its calibration answers only; an expert's changes cover all answers
        in the round.
    mode
        One of `MODES`.
    model
        The model whose stored vectors are used; texts without a vector are counted and left out.
    """
    versions = _versions(_newest_of([editing_round], editing_round.study))
    vectors = _vectors(versions, mode, model)
    numbers = expert_numbers(editing_round)
    edited = _edited_of(editing_round)
    return ExpertAgreement(
        experts=[Expert(key, number) for key, number in numbers.items()],
        n_answers=len({version.answer for version in versions}),
        n_versions=len(versions),
        without_vector=len(versions) - len(vectors),
        cells=_cells([MACHINE, *numbers], vectors),
        alike=_alike(vectors),
        work=[_work(key, edited.get(key, [])) for key in numbers],
    )


def _newest_of(rounds: Iterable[EditingRound], study: Study) -> QuerySet[Revision]:
    return newest_revisions(study).filter(sheet__round__in=list(rounds))


def _versions(revisions: QuerySet[Revision]) -> list[CalibrationVersion]:
    """Return experts' texts for the calibration answers, and each answer's machine text once."""
    versions: dict[tuple[int, int], CalibrationVersion] = {}
    rows = revisions.filter(sheet__is_calibration=True).values_list(
        "sheet__answer", "sheet__answer__text", "sheet__rater__user", KT("content__text")
    )
    for answer, machine, editor, text in rows:
        versions[answer, MACHINE] = CalibrationVersion(answer, MACHINE, machine)
        versions[answer, editor] = CalibrationVersion(answer, editor, text)
    return list(versions.values())


def _parts(text: str, mode: str) -> list[str]:
    if mode == "paper":
        return [text]
    return [segment.text for segment in sound_segments(text)] or [text]


def _vectors(versions: Sequence[CalibrationVersion], mode: str, model: str) -> Vectors:
    """Map (answer, who) to a unit vector, for texts whose parts all have a vector."""
    parts = {(version.answer, version.who): _parts(version.text, mode) for version in versions}
    known = kept_sentences({part for sentences in parts.values() for part in sentences}, model)
    return {
        place: _unit([known[part] for part in sentences])
        for place, sentences in parts.items()
        if all(part in known for part in sentences)
    }


def _unit(vectors: Sequence[Vector]) -> NDArray[np.float64]:
    mean = np.mean(np.asarray(vectors, dtype=float), axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-12)


def _cells(people: Sequence[int], vectors: Vectors) -> list[list[SimilarityCell]]:
    own: dict[int, dict[int, NDArray[np.float64]]] = defaultdict(dict)
    for (answer, who), vector in vectors.items():
        own[who][answer] = vector
    return [
        [_cell(own[person], own[other], person == other) for other in people] for person in people
    ]


def _cell(vectors: dict[int, Any], other: dict[int, Any], is_same: bool) -> SimilarityCell:
    shared = sorted(vectors.keys() & other.keys())
    if is_same or not shared:
        return SimilarityCell(None, len(shared))
    return SimilarityCell(fmean(float(vectors[at] @ other[at]) for at in shared), len(shared))


def _alike(vectors: Vectors) -> list[tuple[float, float]]:
    own: dict[int, list[NDArray[np.float64]]] = defaultdict(list)
    for (answer, who), vector in vectors.items():
        if who != MACHINE:
            own[answer].append(vector)
    return [
        (
            fmean(float(version @ other) for version, other in combinations(experts, 2)),
            fmean(float(expert @ vectors[answer, MACHINE]) for expert in experts),
        )
        for answer, experts in own.items()
        if len(experts) > 1 and (answer, MACHINE) in vectors
    ]


def _edited_of(editing_round: EditingRound) -> dict[int | None, list[tuple[EditedText, Revision]]]:
    """Map experts to the comparisons of their latest submitted texts."""
    rows = EditedText.objects.filter(
        revision__in=_newest_of([editing_round], editing_round.study).order_by().values("pk")
    ).select_related("revision__sheet__rater")
    edits: dict[int | None, list[tuple[EditedText, Revision]]] = defaultdict(list)
    for row in rows.order_by("pk"):
        if (revision := row.revision) is not None:
            edits[revision.sheet.rater.user_id].append((row, revision))
    return edits


def _work(key: int, own: Sequence[tuple[EditedText, Revision]]) -> ExpertWork:
    edited = [row for row, _revision in own]
    calibration = sum(revision.sheet.is_calibration for _row, revision in own)
    seconds = median(revision.active_seconds for _row, revision in own) if own else None
    return ExpertWork(
        key=key,
        n=len(edited),
        n_calibration=calibration,
        distance=_mean([row.edit_distance for row in edited]),
        words_before=_mean([row.words_before for row in edited]),
        words_after=_mean([row.words_after for row in edited]),
        checks_before=_mean([passed(row.checks_before) for row in edited]),
        checks_after=_mean([passed(row.checks_after) for row in edited]),
        checks=len(edited[0].checks_after) if edited else 0,
        seconds=seconds,
        minutes=None if seconds is None else seconds / 60,
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


RECIPES = {
    "sound": lazy(
        "Cosine of two versions of the same answer, averaged over the calibration answers that "
        "both experts have submitted; n is the number of these answers. The vector of a "
        "version is the mean of the sentence embeddings of its statements, so the end of a "
        "text counts as much as its beginning."
    ),
    "paper": lazy(
        "As in the paper: the vector of a version is the embedding of the whole text, but the "
        "model reads only the first 256 tokens. Cosines are averaged over the calibration answers "
        "that both experts have submitted; n is the number of these answers."
    ),
}
WORK = lazy(
    "Means over the newest versions of all answers that an expert submitted. Words changed: "
    "inserted, deleted or replaced relative to the machine's text. Time: median number of "
    "seconds that the editing page was in use."
)


@dataclass(frozen=True)
class AgreementView:
    """The figures for a mode, with the rater names that the reader may see."""

    found: ExpertAgreement
    names: list[str]
    mode: str


def names_of(experts: Sequence[Expert], reader: User, *, sees_names: bool) -> list[str]:
    """Return the names of the machine and of each expert, as far as the reader may see them."""
    people = User.objects.in_bulk([expert.key for expert in experts]) if sees_names else {}
    names = [_("Machine")]
    for person in experts:
        numbered = expert_name(person.number)
        if sees_names:
            names.append(f"{numbered}: {people[person.key]}")
        else:
            names.append(_("You") if person.key == reader.pk else numbered)
    return names


def agreement_table(editing_round: EditingRound, agreement_view: AgreementView) -> TableData:
    """Return one row for each pair of texts in the heatmap."""
    return TableData(
        [_("One"), _("Other"), _("Mean cosine"), _("Answers n")],
        agreement_rows(agreement_view),
        caption=_("Similarity of versions, round “%s”.") % editing_round.name,
        note=str(RECIPES[agreement_view.mode]),
        name=f"expert-agreement-{agreement_view.mode}",
    )


def work_table(editing_round: EditingRound, agreement_view: AgreementView) -> TableData:
    """Return each expert's changes and working time."""
    columns = (
        Column(_("Expert"), "0"),
        Column(_("Answers n"), "1.n"),
        Column(_("calibration answers"), "1.n_calibration"),
        Column(_("Words changed"), "1.distance"),
        Column(_("Words before"), "1.words_before"),
        Column(_("Words after"), "1.words_after"),
        Column(_("Checks passed before"), "1.checks_before"),
        Column(_("Checks passed after"), "1.checks_after"),
        Column(_("Checks"), "1.checks"),
        Column(_("Median seconds"), "1.seconds"),
    )
    rows = zip(agreement_view.names[1:], agreement_view.found.work, strict=True)
    caption = _("Changes by expert, round “%s”.") % editing_round.name
    return table_of(columns, rows, caption=caption, note=str(WORK), name="expert-work")


def chart_spec(agreement_view: AgreementView, size: str) -> Spec:
    """Return the heatmap; its scale ranges from the lowest similarity, rounded down, to 1."""
    names, places = drawn_names(agreement_view), 3 if size == "wide" else 2
    cells = agreement_view.found.cells
    lowest = lowest_shade(agreement_view.found)
    rows = [
        {
            "one": names[number],
            "other": names[other],
            "share": _shade(cells[number][other].value, lowest),
            "text": _text(cells[number][other], places),
        }
        for number in range(len(names))
        for other in range(len(names))
    ]
    return heatmap(
        rows, x="other", y="one", share="share", text="text", titles=("", ""), size=size
    )


def chart_alt(agreement_view: AgreementView) -> str:
    """Describe the heatmap in numbers."""
    parts = [
        f"{row[0]}, {row[1]}: {row[2]:.3f} (n {row[3]})"
        for row in agreement_rows(agreement_view)
        if row[2] is not None
    ]
    return _("Mean similarity of versions. %s.") % "; ".join(parts) if parts else ""


def agreement_rows(agreement_view: AgreementView) -> list[list[Any]]:
    """Return names, mean cosine and number of answers, once for each pair of texts."""
    names, cells = agreement_view.names, agreement_view.found.cells
    return [
        [names[number], names[other], cells[number][other].value, cells[number][other].n]
        for number in range(len(names))
        for other in range(number + 1, len(names))
    ]


def lowest_shade(agreement: ExpertAgreement) -> float:
    """Return the lower end of the colour scale: the lowest similarity, rounded down."""
    known = [cell.value for row in agreement.cells for cell in row if cell.value is not None]
    return max(0.0, floor(min(known) * 10 - 1e-9) / 10) if known else 0.0


def _shade(value: float | None, lowest: float) -> float | None:
    return None if value is None else (value - lowest) / (1 - lowest)


def _text(cell: SimilarityCell, places: int) -> str:
    return "–" if cell.value is None else f"{cell.value:.{places}f}\nn {cell.n}"


def drawn_names(agreement_view: AgreementView) -> list[str]:
    """Return names for the axes of the heatmap, without personal names."""
    return [name.partition(":")[0] for name in agreement_view.names]
