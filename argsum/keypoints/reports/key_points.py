"""Sets of key points with their arguments, tables, charts and a summary."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _, ngettext

from argsum.datasets.models import Cell, CellArgument, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet
from argsum.scorers.methods.figures import share_clustered
from cqa_site.results.boards import Conclusion
from cqa_site.web.charts import vega
from cqa_site.web.charts.bars import grouped_bars
from cqa_site.web.tables import TableData
from cqa_site.web.templatetags.pages import percent

# Arguments per key point on the page of a set, and on the page of a key point.
FIRST = 3
PER_PAGE = 50
# Key points per side on a page; files contain all key points.
MOST_POINTS = 60
COLUMNS = (
    "topic", "stance", "key_point", "key_point_text", "prevalence",
    "argument", "argument_text", "score", "quality", "cluster",
)  # fmt: skip


@dataclass(frozen=True)
class MatchedArgument:
    """An argument with its match score."""

    row: CellArgument
    score: float | None
    cluster: int | None


@dataclass(frozen=True)
class KeyPointEntry:
    """A key point with its arguments, best score first.

    Attributes
    ----------
    count
        Number of arguments with at least the chosen minimum score.
    share
        Percentage of the included arguments of the cell, 0–100.
    """

    number: int
    text: str
    cluster: int | None
    count: int
    share: float
    arguments: Sequence[MatchedArgument]

    @property
    def first(self) -> Sequence[MatchedArgument]:
        """Arguments shown on the set's page."""
        return self.arguments[:FIRST]

    @property
    def beyond(self) -> int:
        """Number of arguments shown only on the key point's own page."""
        return max(0, len(self.arguments) - FIRST)


@dataclass(frozen=True)
class Reference:
    """A reference key point and its number of matching arguments."""

    text: str
    count: int


@dataclass(frozen=True)
class StanceSide:
    """One stance of the topic with its key points and arguments."""

    made: SummarySet
    points: Sequence[KeyPointEntry]
    unassigned: Sequence[MatchedArgument]
    total: int
    is_unassigned_known: bool

    @property
    def cell(self) -> Cell:
        """Cell of the set."""
        cell: Cell = self.made.cell
        return cell

    @property
    def matched(self) -> int:
        """Number of arguments assigned to any key point."""
        return sum(point.count for point in self.points)

    @property
    def share(self) -> float | None:
        """Share of the arguments assigned to a key point, 0–1."""
        return self.matched / self.total if self.total else None

    @property
    def clustered(self) -> float | None:
        """Share of the arguments that were in a cluster, 0–1; None if there are no clusters.

        It differs from `share`, because key points are made from clusters, but afterwards every
        argument belongs to the key point that it matches best, whether it was in a cluster or not.
        """
        clusters = self.made.clusters
        return share_clustered(clusters) if clusters else None

    @property
    def first_points(self) -> Sequence[KeyPointEntry]:
        """Key points shown on a page."""
        return self.points[:MOST_POINTS]

    @property
    def further_points(self) -> int:
        """Number of key points that only the files contain."""
        return max(0, len(self.points) - MOST_POINTS)

    def arguments_of(self, number: int | None, search: str) -> list[MatchedArgument]:
        """Return the arguments of a key point, or unassigned arguments, that contain a text."""
        own = self.unassigned
        if number is not None:
            own = next(point.arguments for point in self.points if point.number == number)
        phrase = search.casefold()
        return [argument for argument in own if phrase in argument.row.text.casefold()]

    @property
    def some_unassigned(self) -> Sequence[MatchedArgument]:
        """Unassigned arguments shown on a page."""
        return self.unassigned[:FIRST]

    @property
    def beyond(self) -> int:
        """Number of unassigned arguments shown only on the page of arguments."""
        return max(0, len(self.unassigned) - FIRST)


def sides_of(main_set: SummarySet, least: float = 0.0) -> list[StanceSide]:
    """Return the sides of a topic: this set and the same run's set for the other stance.

    The supporting side is first. Arguments with a score below ``least`` count as unassigned.
    """
    sets = sorted(
        [main_set, *other_stances(main_set)], key=lambda summary_set: -summary_set.cell.stance
    )
    belongings = [_belongings(summary_set, least) for summary_set in sets]
    return [
        _side(summary_set, *parts) for summary_set, parts in zip(sets, belongings, strict=True)
    ]


def other_stances(summary_set: SummarySet) -> list[SummarySet]:
    """Return the topic's sets for other stances, from the same run or imported system."""
    rows = SummarySet.objects.filter(
        study=summary_set.study_id,
        cell__dataset=summary_set.cell.dataset_id,
        cell__topic=summary_set.cell.topic,
        system_run=summary_set.system_run_id,
        system=summary_set.system,
        setting=summary_set.setting,
        source=summary_set.source,
    )
    rows = rows.exclude(cell=summary_set.cell_id).select_related("cell").order_by("cell__position")
    return list({row.cell_id: row for row in rows}.values())


def references_with_counts(cells: Sequence[Cell]) -> dict[int, list[Reference]]:
    """Map each cell to its references, those with the most arguments first, using one query."""
    matching = Q(matches__is_match=True, matches__argument__left_out="")
    rows = ReferenceKeyPoint.objects.filter(cell__in=cells).annotate(
        n=Count("matches", filter=matching)
    )
    references: dict[int, list[Reference]] = {cell.pk: [] for cell in cells}
    for row in rows.order_by("-n", "position"):
        references[row.cell_id].append(Reference(row.text, row.n))
    return references


def rows_of(sides: Sequence[StanceSide]) -> Iterator[list[Any]]:
    """Yield a row for every argument, with or without a key point; see `COLUMNS`."""
    for side in sides:
        about = [side.cell.topic, side.cell.get_stance_display()]
        for point in side.points:
            for argument in point.arguments:
                yield [*about, point.number, point.text, point.count, *_argument(argument)]
            if not point.arguments:
                yield [*about, point.number, point.text, point.count, None, None, None, None, None]
        for argument in side.unassigned:
            yield [*about, None, None, None, *_argument(argument)]


def lines_of(sides: Sequence[StanceSide]) -> Iterator[str]:
    """Yield one JSON object per key point, and one for the unassigned arguments."""
    for side in sides:
        about = {
            "topic": side.cell.topic,
            "stance": side.cell.stance,
            "system": side.made.system,
            "setting": side.made.setting,
        }
        for point in side.points:
            fields = {
                "key_point": point.text,
                "prevalence": point.count,
                "share": point.share / 100,
            }
            yield _json(about | fields | {"arguments": _listed(point.arguments)})
        yield _json(about | {"key_point": None, "arguments": _listed(side.unassigned)})


def text_of(sides: Sequence[StanceSide]) -> str:
    """Return Markdown with the topic, the key points by prevalence, and their arguments."""
    summary_set = sides[0].made
    parts = [
        f"# {_line(summary_set.cell.topic)}",
        f"{_line(summary_set.system)} · {summary_set.setting}".rstrip(" ·"),
    ]
    for side in sides:
        parts.append(f"## {side.cell.get_stance_display()}")
        parts.append(f"{side.matched} of {side.total} arguments belong to a key point.")
        for point in side.points:
            parts.append(f"### {point.number}. {_line(point.text)} ({point.count})")
            parts.append(
                "\n".join(f"- {_line(argument.row.text)}" for argument in point.arguments) or "–"
            )
    return "\n\n".join(parts) + "\n"


def points_table(sides: Sequence[StanceSide]) -> TableData:
    """Return the key points with their argument counts, as in the chart."""
    rows: list[list[Any]] = [
        [side.cell.get_stance_display(), point.number, point.text, point.count, point.share / 100]
        for side in sides
        for point in side.points
    ]
    return TableData(
        columns=["stance", "no.", "key point", "arguments", "share"],
        rows=rows,
        caption=f"Key points on “{sides[0].cell.topic}”",
        name="key-points",
    )


def prevalence_chart(sides: Sequence[StanceSide], size: str) -> vega.Spec:
    """Chart the number of arguments for each key point by rank, with the stances side by side."""
    rows = [
        {"rank": point.number, "n": point.count, "stance": side.cell.get_stance_display()}
        for side in sides
        for point in side.points
    ]
    titles = ("Key point, by prevalence", "Arguments")
    names = [side.cell.get_stance_display() for side in sides]
    # The opposing side has the same colour even if there is no supporting side.
    if sides[0].cell.stance < 0:
        names.insert(0, str(Cell.Stance.SUPPORTING.label))
    return grouped_bars(
        rows, x="rank", y="n", series="stance", titles=titles, names=names, size=size
    )


def _belongings(
    summary_set: SummarySet, least: float
) -> tuple[Mapping[int, list[MatchedArgument]], list[MatchedArgument]]:
    """Map key point positions to arguments, best first; also return unassigned arguments."""
    rows = CellArgument.objects.in_bulk(summary_set.arguments)
    assigned = summary_set.assigned or [-1] * len(summary_set.arguments)
    scores = summary_set.scores or [None] * len(summary_set.arguments)
    clusters = summary_set.clusters or [None] * len(summary_set.arguments)
    groups: dict[int, list[MatchedArgument]] = {}
    rest: list[MatchedArgument] = []
    for pk, place, score, cluster in zip(
        summary_set.arguments, assigned, scores, clusters, strict=True
    ):
        if pk not in rows:
            continue
        argument = MatchedArgument(rows[pk], score, cluster)
        is_in = place >= 0 and (score is None or score >= least or not least)
        (groups.setdefault(place, []) if is_in else rest).append(argument)
    for belongings in [*groups.values(), rest]:
        belongings.sort(key=lambda member: (-(member.score or 0.0), member.row.position))
    return groups, rest


def _side(
    summary_set: SummarySet,
    groups: Mapping[int, list[MatchedArgument]],
    rest: list[MatchedArgument],
) -> StanceSide:
    total = len(rest) + sum(map(len, groups.values()))
    points = []
    for summary in summary_set.summaries.order_by("position"):
        own = groups.get(summary.position, [])
        count = len(own) if summary_set.assigned is not None else summary.prevalence or 0
        points.append((count, summary, own))
    points.sort(key=lambda point: (-point[0], point[1].position))
    return StanceSide(
        summary_set,
        [
            KeyPointEntry(
                number=number,
                text=summary.text,
                cluster=summary.cluster,
                count=count,
                share=100 * count / total if total else 0.0,
                arguments=own,
            )
            for number, (count, summary, own) in enumerate(points, start=1)
        ],
        rest,
        total,
        summary_set.assigned is not None,
    )


def _argument(argument: MatchedArgument) -> list[Any]:
    return [
        argument.row.name,
        argument.row.text,
        argument.score,
        argument.row.quality,
        argument.cluster,
    ]


def _listed(belongings: Sequence[MatchedArgument]) -> list[dict[str, Any]]:
    return [
        {
            "argument": argument.row.name,
            "text": argument.row.text,
            "score": argument.score,
            "quality": argument.row.quality,
        }
        for argument in belongings
    ]


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    """Return a text as one line of Markdown, escaped so that it does not start any markup."""
    return " ".join(text.split()).replace("<", "&lt;").replace("`", "\\`")


def sides_finding(sides: Sequence[StanceSide], sheets: int) -> Conclusion | None:
    """Return how many arguments the key points cover, and which key point has the most.

    ``sheets`` is the number of judgements of the two sides' sets. There is no finding without
    arguments or without key points.
    """
    known = [side for side in sides if side.is_unassigned_known and side.points]
    if not known:
        return None
    n = sum(len(side.points) for side in known)
    matched, total = sum(side.matched for side in known), sum(side.total for side in known)
    says = ngettext(
        "%(n)s key point represents %(share)s of %(total)s arguments",
        "%(n)s key points represent %(share)s of %(total)s arguments",
        n,
    ) % {"n": f"{n:,}", "share": percent(matched / total if total else 0.0), "total": f"{total:,}"}
    return Conclusion(f"{says}; {_most(known, total)}", _checked(sheets), "" if sheets else "warn")


def _most(known: Sequence[StanceSide], total: int) -> str:
    """Return the key point with the most arguments, and the number of ties."""
    points = [point for side in known for point in side.points]
    most = max(points, key=lambda entry: entry.count)
    alike = [entry for entry in points if entry.count == most.count]
    fields = {
        "count": f"{most.count:,}",
        "share": percent(most.count / total if total else 0.0),
        "text": most.text,
        "alike": f"{len(alike):,}",
    }
    if len(points) == 1:
        return _("it says: “%(text)s”") % fields
    if len(alike) > 1:
        return _("%(alike)s of them share first place, with %(count)s each (%(share)s).") % fields
    return _("the most frequent, with %(count)s (%(share)s): “%(text)s”") % fields


def _checked(sheets: int) -> str:
    if not sheets:
        return _(
            "A system matched the arguments to key points. No person or judge has compared "
            "these key points with references."
        )
    text = ngettext(
        "A system matched the arguments to key points. %(n)s sheet compares these key points "
        "with references.",
        "A system matched the arguments to key points. %(n)s sheets compare these key points "
        "with references.",
        sheets,
    )
    return text % {"n": f"{sheets:,}"}
