"""Good question–answer pairs of a study as training data, with the sheet that describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Answer
from benchmark.methods.distillation import TRAIN, VALIDATION, Chosen, Rules, chat_record
from benchmark.models import RubricVersion

from .scored_by_people import PEOPLE
from .sheet_rows import counted_sheets, sheet_table

if TYPE_CHECKING:
    import pandas as pd

FETCH = 500


@dataclass(frozen=True)
class Training:
    """Chosen pairs of one study by one rubric."""

    rubric: RubricVersion
    rules: Rules
    chosen: Chosen

    @property
    def counts(self) -> dict[str, int]:
        """Pairs in each part."""
        parts = self.chosen.pairs["part"]
        return {part: int((parts == part).sum()) for part in (TRAIN, VALIDATION)}

    @property
    def systems(self) -> list[tuple[str, int, float]]:
        """System, number of pairs, mean total; most pairs first."""
        found = self.chosen.pairs.groupby("system")["total"].agg(["size", "mean"])
        rows = found.sort_values("size", ascending=False).reset_index()
        return [(str(name), int(size), float(mean)) for name, size, mean in rows.to_numpy()]


def choose(rubric: RubricVersion, rules: Rules) -> Training:
    """Choose pairs from all counted sheets of the rubric; two queries."""
    from benchmark.methods.distillation import choose_pairs

    table = sheet_table(counted_sheets(rubric), rubric.rubric)
    return Training(rubric, rules, choose_pairs(table, [str(kind) for kind in PEOPLE], rules))


def records(training: Training, part: str | None = None) -> Iterator[dict[str, Any]]:
    """The pairs as chat messages, in the order of questions; a query for every few hundred."""
    pairs = training.chosen.pairs
    rows = pairs if part is None else pairs[pairs["part"] == part]
    for start in range(0, len(rows), FETCH):
        yield from _chunk(rows.iloc[start : start + FETCH])


def jsonl(training: Training, part: str | None = None) -> Iterator[str]:
    """One line of JSON a pair."""
    for record in records(training, part):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def datasheet(training: Training) -> str:
    """What the file holds, where it comes from and what it is not, in Markdown."""
    digest = hashlib.sha256()
    for line in jsonl(training):
        digest.update(line.encode())
    rules, counts = training.rules, training.counts
    gap = "none asked" if rules.widest_gap is None else f"at most {rules.widest_gap:g} points"
    lines = [
        f"# Datasheet: question–answer pairs of the study “{training.rubric.study}”",
        "",
        "## What it is",
        "",
        "Each line is a JSON object: `messages` with the question (user) and the answer "
        "(assistant), and `about` with the ids, the system, the scenario, the mean totals of "
        "people and judges, and the part.",
        "",
        f"- Pairs: {counts[TRAIN]} for training, {counts[VALIDATION]} for validation; "
        f"{training.chosen.questions} different questions, split by question.",
        f"- SHA-256 of all lines: `{digest.hexdigest()}`",
        "",
        "## How the pairs were chosen",
        "",
        f"- Rubric: {training.rubric} (`{training.rubric.sha256}`), "
        f"{training.rubric.rubric.maximum} points at most.",
        f"- Whose points count: {rules.basis}; with “both” the lower of the two means.",
        f"- Least total: {rules.least_total:g} points. Difference of people and judges: {gap}.",
        f"- Answers per question: {rules.each}, best first. Seed of the split: {rules.seed}.",
        "",
        "Left out, by the first reason that applied:",
        "",
        *[f"- {reason}: {count}" for reason, count in training.chosen.left_out.items()],
        "",
        "## Who wrote the answers",
        "",
        "| System | Pairs | Mean total |",
        "|---|---:|---:|",
        *[f"| {_cell(name)} | {n} | {mean:.2f} |" for name, n, mean in training.systems],
        "",
        "## What to keep in mind",
        "",
        "- The answers are those of the systems above. Their terms may forbid training other "
        "models on them; that is for whoever trains to check.",
        "- High points by this rubric say nothing about facts that no criterion asks for.",
        "- A model trained on these pairs must not be compared on the same questions: they are "
        "in its training data.",
        "",
        f"Rules as data: `{json.dumps(asdict(rules), sort_keys=True)}`",
        "",
    ]
    return "\n".join(lines)


def _chunk(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    texts = Answer.objects.select_related("question__comparison").in_bulk(rows["answer"].tolist())
    for row in rows.to_dict("records"):
        answer = texts[row["answer"]]
        about = {
            "answer": str(answer.public_id),
            "question": str(answer.question.public_id),
            "system": row["system"],
            "scenario": row["scenario"],
            "total": row["total"],
            **{side: _number(row[side]) for side in ("people", "judges")},
            "part": row["part"],
        }
        yield chat_record(str(answer.question), answer.text, about)


def _number(value: float) -> float | None:
    return None if value != value else round(value, 4)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
