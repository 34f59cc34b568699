"""Answers of one system as CompQA releases them: a list of records, one text each.

The records say neither which system wrote them nor under which prompt; the
name of the file does (`propose_origin`). Several answers to one question
stand next to each other, so a choice is a record's place among equals.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row

from .record_values import optional_text_of, read_records, text_of

HUMAN = "human"
_WITH_SCENARIO = re.compile(r"(.+?)[ _-]*scenario[ _-]*([1-4])", re.IGNORECASE)
# What releases put around a system's name, and endings; a dot alone may be part of the name.
_ENDING = re.compile(r"\.(json|jsonl|ndjson|csv|tsv|txt|xlsx)$", re.IGNORECASE)
_AROUND = re.compile(
    r"^(?:scored|judged|rated|raw)[ _-]+|[ _-]+(?:comparisons?|summar(?:y|ies)|answers?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RawAnswer:
    """One record: ``position`` counts from 1 in the file, ``choice`` from 1 among its equals.

    Equals are consecutive records with the same objects and aspect. ``aspect``
    is None where the file has "" or null. ``text`` is verbatim.
    """

    position: int
    object1: str
    object2: str
    aspect: str | None
    text: str
    choice: int


def read_raw_answers(
    path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[RawAnswer | Problem]:
    """Read the records in file order; keys beside the four known ones are not looked at.

    Yields
    ------
    RawAnswer or Problem
        One per record.

    Raises
    ------
    UnreadableFile
        At the first step, if the file is not such JSON.
    """
    question: tuple[str, str, str | None] | None = None
    choice = 0
    for record in read_records(path, _read_record, name=name, limits=limits):
        if isinstance(record, Problem):
            yield record
            continue
        position, asked, text = record
        choice = choice + 1 if asked == question else 1
        question = asked
        yield RawAnswer(position, *asked, text, choice)


def _read_record(row: Row) -> tuple[int, tuple[str, str, str | None], str]:
    asked = (
        text_of(row, "object1"),
        text_of(row, "object2"),
        optional_text_of(row, "aspect"),
    )
    return row.number, asked, text_of(row, "comparison")


def propose_origin(file_name: str) -> tuple[str, int]:
    """Guess system and scenario (0 for none) from the name of a file.

    >>> propose_origin("gpt3-5_scenario_1.json")
    ('gpt3-5', 1)
    >>> propose_origin("human_2.json"), propose_origin("yahoo.json")
    (('human', 0), ('yahoo', 0))
    >>> propose_origin("scored_gpt4_scenario_3_comparison"), propose_origin("scored_cam_summaries")
    (('gpt4', 3), ('cam', 0))
    """
    name = _ENDING.sub("", Path(file_name).name) or file_name
    stem = _AROUND.sub("", name) or name
    found = _WITH_SCENARIO.fullmatch(stem)
    if found is not None:
        return found[1], int(found[2])
    return (HUMAN, 0) if is_human(stem) else (stem, 0)


def is_human(system: str) -> bool:
    """Whether a system's name says that people wrote its answers."""
    return system.casefold().startswith(HUMAN)
