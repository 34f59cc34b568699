"""Training data of a study: prompts, selected pairs and their datasheet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.answers.methods.answer_text import find_citations
from annotation.answers.models import ALL, Answer, names_of, under
from annotation.answers.reports import numbered_texts
from annotation.corpus.models import Question
from annotation.generation.actions.prompts import PROMPTS, WITH_ARGUMENTS, parts_of, write_request
from benchmark.distillation.methods import TRAIN, VALIDATION, Rules, TrainingPairs, chat_record
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.reports.sheets import PEOPLE, counted_sheets, sheet_table
from cqa_site.judging.prompts import PromptParts, load_prompt_file
from cqa_site.people.models import Study

if TYPE_CHECKING:
    import pandas as pd


# Requests in the training data: for each answer, the request that a run would send.
#
# An answer is paired with the prompt of its scenario and the numbered arguments it was written
# from, so that the prompt contains every number it cites, and a tuned model is trained on the
# requests it will receive. An answer that cites numbers, but has no scenario or a scenario without
# arguments, gets the prompt of the next scenario that shows them.

Messages = Sequence[Mapping[str, str]]
SHOWN = {"uses_aspect": True, "uses_wording": True}
PLAIN = {0: "answer_1", 1: "answer_1", 2: "answer_2", 3: "answer_3", 4: "answer_4"}
CITING = {0: "answer_2", 1: "answer_2", 2: "answer_2", 3: "answer_4", 4: "answer_4"}
AT_ONCE = 2_000


def cannot_be_asked(answers: Sequence[int]) -> set[int]:
    """Return the keys of answers that cite an argument number for which no argument is stored."""
    unfit = set()
    for start in range(0, len(answers), AT_ONCE):
        rows = Answer.objects.filter(pk__in=answers[start : start + AT_ONCE])
        records = list(rows.values_list("pk", "text", "argument_list_id"))
        lists = numbered_texts({key for _pk, _text, key in records if key is not None})
        unfit |= {
            pk for pk, text, key in records if not cited_numbers(text) <= lists.get(key, {}).keys()
        }
    return unfit


def requests_of(study: Study, answers: Iterable[Answer]) -> dict[int, Messages]:
    """Map each answer to the chat messages that request it, in a bounded number of queries."""
    rows = list(answers)
    lists = numbered_texts({row.argument_list_id for row in rows if row.argument_list_id})
    newest = _newest(study)
    return {row.pk: _request(row, lists.get(row.argument_list_id, {}), newest) for row in rows}


def bare_requests(study: Study, questions: Iterable[Question]) -> list[Messages]:
    """Return requests under scenario 1, which has no arguments to draw."""
    parts = _newest(study)["answer_1"]
    return [write_request(parts, question, SHOWN, None).messages for question in questions]


def cited_numbers(text: str) -> set[int]:
    return {number for citation in find_citations(text) for number in citation.numbers}


def _request(
    answer: Answer, arguments: Mapping[int, str], newest: Mapping[str, PromptParts]
) -> Messages:
    kind = (CITING if cited_numbers(answer.text) else PLAIN)[answer.scenario]
    own = answer.prompt
    parts = parts_of(own) if own is not None and own.kind == kind else newest[kind]
    sources = arguments if kind in WITH_ARGUMENTS else None
    return write_request(parts, answer.question, SHOWN, sources).messages


def _newest(study: Study) -> dict[str, PromptParts]:
    """Return the newest prompt of each scenario, or the built-in one if the study has none."""
    stored = study.prompt_versions.filter(kind__in=PROMPTS).order_by("number")
    prompts = {version.kind: parts_of(version) for version in stored}
    for kind in PROMPTS.keys() - prompts.keys():
        own = load_prompt_file(PROMPTS[kind].file).parts
        prompts[kind] = PromptParts(own.system, own.user, PROMPTS[kind].layout)
    return prompts


FETCH = 500


@dataclass(frozen=True)
class TrainingData:
    """Pairs chosen from one study under one rubric."""

    rubric: RubricVersion
    rules: Rules
    chosen: TrainingPairs

    @property
    def counts(self) -> dict[str, int]:
        """Number of pairs in each part."""
        parts = self.chosen.pairs["part"]
        return {part: int((parts == part).sum()) for part in (TRAIN, VALIDATION)}

    @property
    def judges(self) -> list[str]:
        """Names of the selected judges; empty if all judges count."""
        chosen = self.rubric.study.raters.filter(public_id__in=self.rules.judges)
        return list(chosen.order_by("name").values_list("name", flat=True))

    @property
    def conditions(self) -> str:
        """Conditions under which the answers were written, as text."""
        if ALL in self.rules.conditions:
            return "all"
        return "; ".join(names_of(self.rubric.study, self.rules.conditions)) or "plain only"

    @property
    def systems(self) -> list[tuple[str, str, int, float]]:
        """System, condition, number of pairs, mean total; most pairs first."""
        groups = self.chosen.pairs.groupby(["system", "condition"])["total"].agg(["size", "mean"])
        rows = groups.sort_values("size", ascending=False, kind="stable").reset_index()
        return [
            (str(name), str(under), int(size), float(mean))
            for name, under, size, mean in rows.itertuples(index=False, name=None)
        ]


def choose(rubric: RubricVersion, rules: Rules) -> TrainingData:
    """Choose pairs from all counted sheets of the rubric, in a bounded number of queries."""
    from benchmark.distillation.methods import choose_pairs

    every = counted_sheets(rubric)
    table = sheet_table(under(every, rules.conditions, "answer__"), rubric.rubric)
    # All questions about the same two objects, in either order, are in the same part.
    objects = zip(table["object1"], table["object2"], strict=True)
    table["group"] = ["\0".join(sorted(map(str.casefold, pair))) for pair in objects]
    unfit = cannot_be_asked(table["answer"].unique().tolist())
    people = [str(kind) for kind in PEOPLE]
    chosen = choose_pairs(table, people, rules, unfit=unfit)
    known = table.drop_duplicates("answer").set_index("answer")["condition"]
    pairs = chosen.pairs.assign(condition=chosen.pairs["answer"].map(known))
    elsewhere = every.order_by().values("answer").distinct().count() - len(known)
    left_out = {"under another condition": elsewhere} if elsewhere else {}
    return TrainingData(rubric, rules, TrainingPairs(pairs, left_out | chosen.left_out))


def records(training: TrainingData, part: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield pairs as chat messages in question order; each query reads a few hundred pairs."""
    pairs = training.chosen.pairs
    rows = pairs if part is None else pairs[pairs["part"] == part]
    for start in range(0, len(rows), FETCH):
        yield from _chunk(training.rubric.study, rows.iloc[start : start + FETCH])


def jsonl(training: TrainingData, part: str | None = None) -> Iterator[str]:
    """Yield one line of JSON for each pair."""
    for record in records(training, part):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def datasheet(training: TrainingData) -> str:
    """Return the datasheet in Markdown: contents, origin and limits of the file."""
    digest = hashlib.sha256()
    for line in jsonl(training):
        digest.update(line.encode())
    rules, counts = training.rules, training.counts
    gap = "any" if rules.widest_gap is None else f"at most {rules.widest_gap:g} points"
    lines = [
        f"# Datasheet: question–answer pairs of the study “{training.rubric.study}”",
        "",
        "## Format",
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
        f"maximum {training.rubric.rubric.maximum} points.",
        f"- Points by: {rules.basis}; with “both”, the lower of the two means counts.",
        f"- Minimum total: {rules.least_total:g} points. "
        f"Difference between people and judges: {gap}.",
        f"- Conditions of the answers: {training.conditions}.",
        f"- Judges: {', '.join(training.judges) or 'all'}.",
        f"- Answers per question: {rules.each or 'all'}, best first. Seed of the split: "
        f"{rules.seed}.",
        "",
        "Left out, by the first reason that applied:",
        "",
        *[f"- {reason}: {count}" for reason, count in training.chosen.left_out.items()],
        "",
        "## Systems",
        "",
        "| System | Condition | Pairs | Mean total |",
        "|---|---|---:|---:|",
        *[
            f"| {_cell(name)} | {_cell(under)} | {n} | {mean:.2f} |"
            for name, under, n, mean in training.systems
        ],
        "",
        "## Limitations",
        "",
        "- The answers are those of the systems above. Their terms may forbid training other "
        "models on them; check this before training.",
        "- High points under this rubric do not confirm facts that no criterion asks about.",
        "- A model trained on these pairs must not be compared on the same questions, because "
        "they are in its training data.",
        "",
        f"Rules as JSON: `{json.dumps(asdict(rules), sort_keys=True)}`",
        "",
    ]
    return "\n".join(lines)


def _chunk(study: Study, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    answers = Answer.objects.select_related("question__comparison", "prompt")
    texts = answers.in_bulk(rows["answer"].tolist())
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
