"""Which part of a snapshot's sheets a board is about, and what it ranks by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from benchmark.leaderboard.methods.options import TOTAL

if TYPE_CHECKING:
    import pandas as pd

ASPECTS = ("with", "without")
LONGEST_KEY = 200
# Which figures of the sheets are meant.
BOARD, AGREEMENT = "board", "agreement"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Empty values narrow nothing."""

    column: str = TOTAL
    aspect: str = ""
    scenario: str = ""
    dataset: str = ""
    condition: str = ""
    of: str = BOARD

    @classmethod
    def from_query(cls, query: Mapping[str, Any], recipe: dict[str, Any]) -> Filters:
        """Read an address; what the recipe does not know narrows nothing."""
        columns = {each["key"] for each in recipe["columns"]}
        column, scenario = query.get("column", TOTAL), query.get("scenario", "")
        aspect, dataset = query.get("aspect", ""), query.get("dataset", "")
        found = cls(
            column=column if column in columns else TOTAL,
            aspect=aspect if aspect in ASPECTS else "",
            scenario=scenario if scenario in ("0", "1", "2", "3", "4") else "",
            dataset=dataset if dataset in recipe["datasets"] else "",
            condition=known_condition(query.get("condition", ""), recipe),
        )
        return found if len(found.key) <= LONGEST_KEY else cls(column=found.column)

    @classmethod
    def from_key(cls, key: str) -> Filters:
        """Read what `key` gave."""
        return cls(**dict(parse_qsl(key)))

    @property
    def narrows(self) -> bool:
        """Whether some sheets are left out."""
        return bool(self.aspect or self.scenario or self.dataset or self.condition)

    @property
    def key(self) -> str:
        """Canonical text; empty for the whole board."""
        default = Filters()
        chosen = {
            name: value for name, value in vars(self).items() if value != getattr(default, name)
        }
        return urlencode(sorted(chosen.items()))


def narrowed(table: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """The rows that the filters leave."""
    if filters.aspect:
        table = table[(table["aspect"] != "") == (filters.aspect == "with")]
    if filters.scenario:
        table = table[table["scenario"] == int(filters.scenario)]
    if filters.dataset:
        table = table[table["dataset"] == filters.dataset]
    if filters.condition:
        table = table[table["condition_id"] == filters.condition]
    return table


def conditions_of_rows(recipe: dict[str, Any]) -> dict[str, str]:
    """Id → name of the conditions of a snapshot's answers."""
    return {each["id"]: each["name"] for each in recipe["conditions"]}


def known_condition(wanted: str, recipe: dict[str, Any]) -> str:
    """The condition if the snapshot has it, else none."""
    return wanted if wanted in conditions_of_rows(recipe) else ""
