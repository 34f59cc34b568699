"""Good question–answer pairs of a study as training data, with the sheet that describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import ALL, names_of, under
from benchmark.distillation.methods.pairs import TRAIN, VALIDATION, Chosen, Rules, chat_record
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.reports.scored_by_people import PEOPLE
from benchmark.scoring.reports.sheet_rows import counted_sheets, sheet_table
from cqa_site.people.models import Study

from .prompts import cannot_be_asked, requests_of

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
    def judges(self) -> list[str]:
        """Names of the judges that were chosen; none if all count."""
        chosen = self.rubric.study.raters.filter(public_id__in=self.rules.judges)
        return list(chosen.order_by("name").values_list("name", flat=True))

    @property
    def conditions(self) -> str:
        """Under which conditions the answers were written, in words."""
        if ALL in self.rules.conditions:
            return "all of them"
        return "; ".join(names_of(self.rubric.study, self.rules.conditions)) or "plain ones only"

    @property
    def systems(self) -> list[tuple[str, str, int, float]]:
        """System, condition, number of pairs, mean total; most pairs first."""
        found = self.chosen.pairs.groupby(["system", "condition"])["total"].agg(["size", "mean"])
        rows = found.sort_values("size", ascending=False, kind="stable").reset_index()
        return [
            (str(name), str(under), int(size), float(mean))
            for name, under, size, mean in rows.itertuples(index=False, name=None)
        ]


def choose(rubric: RubricVersion, rules: Rules) -> Training:
    """Choose pairs from all counted sheets of the rubric; a bounded number of queries."""
    from benchmark.distillation.methods.pairs import choose_pairs

    every = counted_sheets(rubric)
    table = sheet_table(under(every, rules.conditions, "answer__"), rubric.rubric)
    # Questions about the same two objects, in either order, never stand on both sides.
    objects = zip(table["object1"], table["object2"], strict=True)
    table["group"] = ["\0".join(sorted(map(str.casefold, pair))) for pair in objects]
    unfit = cannot_be_asked(table["answer"].unique().tolist())
    people = [str(kind) for kind in PEOPLE]
    chosen = choose_pairs(table, people, rules, unfit=unfit)
    known = table.drop_duplicates("answer").set_index("answer")["condition"]
    pairs = chosen.pairs.assign(condition=chosen.pairs["answer"].map(known))
    elsewhere = every.order_by().values("answer").distinct().count() - len(known)
    left_out = {"under another condition": elsewhere} if elsewhere else {}
    return Training(rubric, rules, Chosen(pairs, left_out | chosen.left_out))


def records(training: Training, part: str | None = None) -> Iterator[dict[str, Any]]:
    """The pairs as chat messages, in the order of questions; a query for every few hundred."""
    pairs = training.chosen.pairs
    rows = pairs if part is None else pairs[pairs["part"] == part]
    for start in range(0, len(rows), FETCH):
        yield from _chunk(training.rubric.study, rows.iloc[start : start + FETCH])


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
        "Each line is a JSON object: `messages` with the request under the answer's scenario (its "
        "prompt, with the numbered arguments that the answer cites) and the answer "
        "(assistant), and `about` with the ids, the system, the scenario, the condition, the "
        "mean totals of people and judges, and the part.",
        "",
        f"- Pairs: {counts[TRAIN]} for training, {counts[VALIDATION]} for validation; "
        f"{training.chosen.questions} different questions, split by pair of objects.",
        f"- SHA-256 of all lines: `{digest.hexdigest()}`",
        "",
        "## How the pairs were chosen",
        "",
        f"- Rubric: {training.rubric} (`{training.rubric.sha256}`), "
        f"{training.rubric.rubric.maximum} points at most.",
        f"- Whose points count: {rules.basis}; with “both” the lower of the two means.",
        f"- Least total: {rules.least_total:g} points. Difference of people and judges: {gap}.",
        f"- Conditions of the answers: {training.conditions}.",
        f"- Judges that count: {', '.join(training.judges) or 'all of them'}.",
        f"- Answers per question: {rules.each or 'all'}, best first. Seed of the split: "
        f"{rules.seed}.",
        "",
        "Left out, by the first reason that applied:",
        "",
        *[f"- {reason}: {count}" for reason, count in training.chosen.left_out.items()],
        "",
        "## Who wrote the answers",
        "",
        "| System | Condition | Pairs | Mean total |",
        "|---|---|---:|---:|",
        *[
            f"| {_cell(name)} | {_cell(under)} | {n} | {mean:.2f} |"
            for name, under, n, mean in training.systems
        ],
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


def _chunk(study: Study, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    found = Answer.objects.select_related("question__comparison", "prompt")
    texts = found.in_bulk(rows["answer"].tolist())
    requests = requests_of(study, list(texts.values()))
    for row in rows.to_dict("records"):
        answer = texts[row["answer"]]
        about = {
            "answer": str(answer.public_id),
            "question": str(answer.question.public_id),
            "system": row["system"],
            "scenario": row["scenario"],
            "condition": row["condition"],
            "total": row["total"],
            **{side: _number(row[side]) for side in ("people", "judges")},
            "part": row["part"],
        }
        yield chat_record(requests[answer.pk], answer.text, about)


def _number(value: float) -> float | None:
    return None if value != value else round(value, 4)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
