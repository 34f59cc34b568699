"""The table of sheets that a snapshot of a board holds: how it is made, packed and read.

UTF-8 CSV, a row a sheet in the order of the sheets' keys, columns as `sheet_table` gives them
and those added here. Its sha256 is that of the plain bytes, so anybody who has the file can
check a citation. People stand in it under pseudonyms.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.rounds import ScoringItem
from benchmark.scoring.reports.sheet_costs import with_costs
from benchmark.scoring.reports.sheet_rows import counted_sheets, sheet_table
from cqa_site.results.rows import pack, plain
from cqa_site.web.templatetags.figures import pseudonym

if TYPE_CHECKING:
    import pandas as pd

WHOLE = (
    "answer",
    "question",
    "scenario",
    "choice",
    "characters",
    "rater",
    "round",
    "run",
    "replicate",
    "is_plain",
)
TEXT = (
    "sheet",
    "answer_id",
    "question_id",
    "object1",
    "object2",
    "aspect",
    "system",
    "system_id",
    "system_kind",
    "model",
    "condition_id",
    "condition",
    "dataset",
    "rater_id",
    "rater_kind",
    "rater_name",
    "source",
    "state",
    "reason",
    "off_scale_points",
)
# Kinds of raters that are people with a name of their own.
NAMED = ("person", "expert")


def board_table(rubric: RubricVersion) -> tuple[pd.DataFrame, dict[int, dict[str, float]]]:
    """All counted sheets with costs and probabilities, and how rounds drew their answers."""
    table = with_costs(sheet_table(counted_sheets(rubric), rubric.rubric), rubric)
    named = table["rater_kind"].isin(NAMED)
    table.loc[named, "rater_name"] = table.loc[named, "rater_id"].map(pseudonym)
    return _with_draws(table)


def pack_rows(table: pd.DataFrame) -> tuple[bytes, str]:
    """Compress the table; return it with the sha256 of the plain bytes."""
    from pyarrow import Table
    from pyarrow import csv as arrow

    # Arrow writes a hundred thousand rows in a tenth of the time that pandas takes.
    file = io.BytesIO()
    options = arrow.WriteOptions(quoting_style="needed")
    arrow.write_csv(Table.from_pandas(table, preserve_index=False), file, options)
    return pack([file.getvalue()])


def read_rows(packed: bytes) -> pd.DataFrame:
    """Read a packed table; see `read_csv`."""
    return read_csv(plain(packed))


def rows_parquet(packed: bytes) -> bytes:
    """The rows as Parquet."""
    file = io.BytesIO()
    read_rows(packed).to_parquet(file, index=False)
    return file.getvalue()


def read_csv(content: bytes) -> pd.DataFrame:
    """Read the CSV: keys and counts whole, texts exactly as stored, everything else float."""
    from pyarrow import csv as arrow
    from pyarrow import float64, int64, string

    names = _header(content)
    kinds: dict[str, Any] = dict.fromkeys(names, float64())
    kinds |= dict.fromkeys(WHOLE, int64()) | dict.fromkeys(TEXT, string())
    table = arrow.read_csv(
        io.BytesIO(content),
        parse_options=arrow.ParseOptions(newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            column_types={name: kinds[name] for name in names},
            null_values=[""],
            strings_can_be_null=False,
        ),
    )
    return table.to_pandas()


def _header(content: bytes) -> list[str]:
    import csv

    first = content.split(b"\n", 1)[0].decode()
    return next(csv.reader([first]))


def _with_draws(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[int, dict[str, float]]]:
    """Add the column ``probability`` and say for each round how its answers were drawn."""
    import pandas as pd

    rounds = [int(each) for each in table["round"].unique() if each]
    items = list(
        ScoringItem.objects.filter(round__in=rounds, key_points__isnull=True).values_list(
            "round", "answer", "probability"
        )
        if rounds
        else ()
    )
    found = pd.DataFrame.from_records(items, columns=["round", "answer", "probability"])
    found = found.astype({"round": "int64", "answer": "int64", "probability": "float64"})
    draws = {int(name): _draw(group["probability"]) for name, group in found.groupby("round")}
    return table.merge(found, how="left", on=["round", "answer"]), draws


def _draw(chances: pd.Series) -> dict[str, float]:
    known = chances.dropna()
    return {
        "drawn": len(chances),
        "known": len(known),
        "stands_for": round(float((1 / known).sum()), 6),
    }
