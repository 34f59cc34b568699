"""The rows that a snapshot of key points holds, and every figure that follows from them.

UTF-8 CSV. ``row`` says what a row is: ``cell`` (all cells of the split, in order), ``set`` and
``dev`` (a set's figures on the split and on the dev split, in the order in which they count),
``sheet`` (one person's judgement of a set; people stand under pseudonyms) and ``judge`` (what a
run of a language model says of a set; ``rater`` is the run). Empty cells are unknown values.
"""

import csv
import hashlib
import io
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Max

from argsum.counting.models import CountEvent, CountSheet
from argsum.counting.reports.sheets import sheets_of_people
from argsum.datasets.models import KeyPointMatch
from argsum.leaderboard.methods.system_board import FIGURES, Scored, SystemRow, Terms, board
from argsum.metrics.models import MetricScore
from cqa_site.rounds.models import Place
from cqa_site.stats.as_json import to_json
from cqa_site.web.templatetags.figures import pseudonym

from .board import dev_sets, scored_sets, unfinished_runs
from .choice import RECIPE_VERSION, BoardChoice
from .kept_figures import (
    KeptAgreement,
    KeptBoard,
    KeptCell,
    KeptDimension,
    KeptFigures,
    KeptSystem,
)
from .people_agreement import (
    DIMENSIONS,
    DimensionAgreement,
    KeptSheet,
    agreement_of,
    judges_of,
)

VALUES = ("coverage", "redundancy", "excluding", "including", "share", "seconds")
UNSURE = ("covered_is_unsure", "unique_is_unsure")
SAID_OF = ("row", "cell", "topic", "set", "system", "setting", "rater", "round", "replicate")
COLUMNS = (*SAID_OF, *VALUES, *UNSURE)
Row = dict[str, Any]


def kept_rows(choice: BoardChoice) -> bytes:
    """Everything that a choice is computed from, as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_rows(choice))
    return file.getvalue().encode()


def recipe_of(choice: BoardChoice, rows: bytes) -> dict[str, Any]:
    """How the figures of a choice are made."""
    return {
        "version": RECIPE_VERSION,
        "dataset": {"id": str(choice.chosen.public_id), "name": choice.chosen.name},
        "split": choice.split,
        "query": choice.query,
        "coverage": choice.coverage.key,
        "redundancy": choice.redundancy.key,
        "weight": choice.terms.weight,
        "selection": choice.terms.selection,
        "least_share": choice.terms.least_share,
        # Of judges that did not answer everything when this was computed.
        "unfinished_runs": [run.number for run in unfinished_runs(choice)],
        "sheets": sum(each["row"] == "sheet" for each in _read(rows)),
    }


def figures_of(rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
    """The leaderboard, and the agreement of the people who judged its sets."""
    found = _read(rows)
    figures: dict[str, Any] = to_json(KeptFigures(_board(found, recipe), _agreement(found)))
    return figures


def marker(choice: BoardChoice) -> str:
    """Digest of the choice and of everything that its figures depend on; six queries."""
    dataset = choice.dataset
    sets = choice.study.summary_sets.filter(cell__dataset=dataset)
    scores = MetricScore.objects.filter(summary_set__in=sets.order_by().values("pk"))
    sheets = CountSheet.objects.filter(summary_set__in=sets.order_by().values("pk"))
    states = sheets.order_by("state", "is_extra").values_list("state", "is_extra")
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    excluded = Place.objects.filter(
        round__countinground__study=choice.study, excluded_at__isnull=False
    )
    parts = (
        (RECIPE_VERSION, choice.query),
        list(sets.order_by("state").values_list("state").annotate(Count("pk"), Max("pk"))),
        scores.aggregate(Count("pk"), Max("at")),
        list(states.annotate(Count("pk"), Max("pk"), Max("submitted_at"))),
        CountEvent.objects.filter(sheet__study=choice.study).aggregate(Max("pk")),
        (matches.count(), list(excluded.order_by("pk").values_list("pk", flat=True))),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _rows(choice: BoardChoice) -> Iterator[Row]:
    cells = choice.chosen.cells.order_by("position")
    names = {str(cell.pk): str(cell) for cell in cells}
    for cell in cells:
        if cell.split == choice.split:
            yield {"row": "cell", "cell": names[str(cell.pk)], "topic": cell.topic}
    sets, ids = scored_sets(choice, choice.split)
    for kind, found in (("set", sets), ("dev", dev_sets(choice))):
        for each in found:
            values = {name: getattr(each, name) for name in VALUES}
            own = {"cell": names[each.cell], "system": each.system, "setting": each.setting}
            yield {"row": kind, "set": ids.get(each.key, each.key), **own, **_known(values)}
    yield from _sheet_rows(ids)
    for dimension, runs in judges_of(choice.study, set(ids)).items():
        for run, counts in runs.items():
            for key, value in counts.items():
                yield {"row": "judge", "set": ids[key], "rater": run, dimension: value}


def _sheet_rows(ids: dict[int, str]) -> Iterator[Row]:
    names = ("summary_set", "rater__public_id", "round", "replicate", *DIMENSIONS, *UNSURE)
    sheets = sheets_of_people(CountSheet.objects.filter(summary_set__in=ids))
    for row in sheets.order_by("pk").values_list(*names):
        found = dict(zip(names, row, strict=True))
        own = {
            "row": "sheet",
            "set": ids[found.pop("summary_set")],
            "rater": pseudonym(str(found.pop("rater__public_id"))),
        }
        yield own | _known(found | {name: int(found[name]) for name in UNSURE})


def _known(values: Row) -> Row:
    return {name: value for name, value in values.items() if value is not None}


def _read(rows: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(rows.decode(), newline="")))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _board(rows: list[Row], recipe: dict[str, Any]) -> KeptBoard:
    terms = Terms(recipe["weight"], recipe["selection"], recipe["least_share"])
    cells = [each["cell"] for each in rows if each["row"] == "cell"]
    # Rows before version 2 have none.
    topics = {each["cell"]: each["topic"] for each in rows if each.get("topic")}
    sets, dev = (
        [_scored(key, each) for key, each in enumerate(rows) if each["row"] == kind]
        for kind in ("set", "dev")
    )
    found = board(sets, dev, cells, terms, topics)
    return KeptBoard(
        cells=tuple(cells),
        has_dev=bool(dev),
        is_oracle=any(row.selection == "oracle" for row in found),
        rows=tuple(_system(row, rows) for row in found),
    )


def _scored(key: int, row: Row) -> Scored:
    values = {name: _number(row[name]) for name in VALUES}
    return Scored(key, row["system"], row["setting"], row["cell"], **values)


def _system(row: SystemRow, rows: list[Row]) -> KeptSystem:
    return KeptSystem(
        row.system,
        row.selection,
        row.criterion,
        row.setting,
        row.settings,
        figures={name: row.figures[name] for name in FIGURES},
        cells=tuple(
            KeptCell(cell, rows[each.key]["set"], each.setting, row.by_cell[cell])
            for cell, each in row.chosen.items()
        ),
    )


def _agreement(rows: list[Row]) -> KeptAgreement:
    keys = {each["set"]: place for place, each in enumerate(rows) if each["row"] == "set"}
    sheets = [each for each in rows if each["row"] == "sheet"]
    names = sorted({each["rater"] for each in sheets})
    judges: dict[str, dict[str, dict[int, float]]] = {}
    for each in rows:
        if each["row"] == "judge":
            for name in DIMENSIONS:
                if each[name]:
                    own = judges.setdefault(name, {}).setdefault(each["rater"], {})
                    own[keys[each["set"]]] = float(each[name])
    kept = [_sheet(each, keys[each["set"]], names.index(each["rater"])) for each in sheets]
    cells = {key: rows[key]["cell"] for key in keys.values()}
    found = agreement_of(kept, dict(enumerate(names)), judges, cells)
    dimensions = tuple(_dimension(each) for each in found.dimensions)
    return KeptAgreement(found.sets, tuple(found.raters), dimensions)


def _sheet(row: Row, key: int, rater: int) -> KeptSheet:
    return KeptSheet(
        rater,
        key,
        int(row["round"]) if row["round"] else None,
        int(row["replicate"]),
        _number(row["coverage"]),
        _number(row["redundancy"]),
        row["covered_is_unsure"] == "1",
        row["unique_is_unsure"] == "1",
    )


def _dimension(found: DimensionAgreement) -> KeptDimension:
    return KeptDimension(
        found.dimension,
        found.pairs.mean,
        found.pairs.pairs,
        found.judges,
        found.repeats,
        found.alpha,
    )
