"""Content of a run's requests: prompts, questions, and the arguments drawn for each question."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from annotation.answers.actions import argument_list, relevance_of, whose_labels
from annotation.answers.models import MOST_ARGUMENTS as ARGUMENTS, Answer, learned_questions
from annotation.corpus.models import Argument, ArgumentList, Question
from annotation.generation.methods import favoured_object
from cqa_site.judging.prompts import (
    Neutral,
    PromptLayout,
    PromptParts,
    fence_items,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.people.models import Study
from cqa_site.runs import kinds
from cqa_site.runs.kinds import PromptKind
from cqa_site.runs.models import PromptVersion, Run
from cqa_site.runs.planning import seeded_places

# Prompts of the four scenarios, and the request for one answer

FOLDER = Path(__file__).parents[1] / "prompts"

SCENARIOS = {f"answer_{number}": Answer.Scenario(number) for number in range(1, 5)}
WITH_ARGUMENTS = ("answer_2", "answer_4")
_ALWAYS = ("object1", "object2", "details")
_NAMES = (
    lazy("Answers, scenario 1"),
    lazy("Answers, scenario 2"),
    lazy("Answers, scenario 3"),
    lazy("Answers, scenario 4"),
)
PROMPTS = {
    kind: PromptKind(
        name,
        PromptLayout((), (*_ALWAYS, "arguments") if kind in WITH_ARGUMENTS else _ALWAYS),
        FOLDER / f"answer_scenario_{scenario}.md",
    )
    for (kind, scenario), name in zip(SCENARIOS.items(), _NAMES, strict=True)
}


def parts_of(version: PromptVersion) -> PromptParts:
    """Return the texts of a prompt version with the placeholders of its scenario."""
    return PromptParts(version.system, version.user, PROMPTS[version.kind].layout)


def write_request(
    parts: PromptParts,
    question: Question,
    target: Mapping[str, Any],
    arguments: Mapping[int, str] | None,
) -> kinds.CallRequest:
    """Return one request; the study's texts are quoted and stripped of hidden characters.

    ``arguments`` maps numbers to sentences; None if the scenario shows no arguments.
    """
    pair = question.comparison
    values = {
        "object1": quote(neutralise(pair.object1).text),
        "object2": quote(neutralise(pair.object2).text),
        "details": _details(question, target),
    }
    neutrals: list[Neutral] = []
    if arguments is not None:
        neutrals = [neutralise(text) for text in arguments.values()]
        plain = [neutral.text for neutral in neutrals]
        numbered = list(zip(arguments, plain, strict=True))
        values["arguments"] = fence_items(numbered, fence_token("answers", *plain))
    flags = tuple(name for neutral in neutrals for name in neutral.flags.names)
    return kinds.CallRequest(tuple(render(parts, values)), flags=flags)


def _details(question: Question, target: Mapping[str, Any]) -> str:
    """Return the lines on aspect and wording that follow the objects, or an empty text."""
    lines = []
    if target["uses_aspect"] and question.aspect:
        lines.append(f"Focus on this aspect: {quote(neutralise(question.aspect).text)}")
    if target["uses_wording"] and question.wording:
        lines.append(f"The question as it was asked: {quote(neutralise(question.wording).text)}")
    return "".join(f"\n{line}" for line in lines)


# Arguments drawn for a model's answer: filters, order, and arguments left out
#
# The same seed, arguments and labels give the same lists, regardless of the other questions.

# Permitted final labels, by name of the choice
RELEVANCE: dict[str, frozenset[int] | None] = {
    "any": None,
    "3": frozenset({3}),
    "2-3": frozenset({2, 3}),
    "0-1": frozenset({0, 1}),
}
FAVOURED: dict[str, int | None] = {"any": None, "object1": 1, "object2": 2}
# Reasons not to show an argument; the last reason counts questions without arguments.
REASONS = ("blank", "unlabelled", "relevance", "unclear", "other_object", "too_many", "questions")
# Fewer than any model can process; lists in the paper have 3 to 17.
MOST_ARGUMENTS = 200
AT_ONCE = 200


@dataclass(slots=True)
class ArgumentDraw:
    """The arguments drawn for one question, and the number left out for each reason."""

    question: Question
    arguments: list[Argument]
    left_out: Counter[str] = field(default_factory=Counter)
    # Source of the labels used as a filter; empty without such a filter.
    whose: str = ""

    @property
    def numbered(self) -> list[tuple[int, Argument]]:
        """Arguments with their citation numbers, from 1."""
        return list(enumerate(self.arguments, start=1))


def draw(
    study: Study, questions: Iterable[Question], target: Mapping[str, Any], seed: int
) -> Iterator[ArgumentDraw]:
    """Draw the arguments of each question, in batches with a bounded number of queries.

    ``target`` has ``relevance``, ``favoured`` and ``most_arguments``, and, for a filter by label,
    the source of the ``labels``; see `target_of`.
    """
    stream = iter(questions)
    while together := list(islice(stream, AT_ONCE)):
        arguments = _arguments(study, together)
        wanted = RELEVANCE[target["relevance"]]
        whose = "" if wanted is None else whose_labels(study, target.get("labels", ""))
        labels = _labels(study, arguments, whose) if whose else {}
        for question in together:
            drawn = ArgumentDraw(question, [], whose=whose)
            candidates = _kept(arguments[question.comparison_id], drawn, labels, target)
            chooser = random.Random(f"{seed}:{question.public_id}")  # noqa: S311 - reproducible
            # A single draw selects arguments if there are too many, and determines their order.
            drawn.arguments = chooser.sample(
                candidates, min(len(candidates), target["most_arguments"])
            )
            drawn.left_out["too_many"] += len(candidates) - len(drawn.arguments)
            yield drawn


def keep_list(drawn: ArgumentDraw, target: Mapping[str, Any], seed: int) -> ArgumentList:
    """Store the argument list of a question, with the settings used to draw it."""
    names = ("relevance", "favoured", "most_arguments")
    left_out = {name: count for name, count in drawn.left_out.items() if count}
    recipe = {name: target[name] for name in names} | {"seed": seed, "left_out": left_out}
    if drawn.whose:
        recipe["labels"] = drawn.whose
    return argument_list(drawn.question, drawn.numbered, recipe)


def count_left_out(lists: Iterable[ArgumentDraw]) -> dict[str, int]:
    """Count the arguments left out for each reason, and the questions without any argument."""
    counts: Counter[str] = Counter()
    for drawn in lists:
        counts.update(drawn.left_out)
        counts["questions"] += not drawn.arguments
    return {reason: counts[reason] for reason in REASONS if counts[reason]}


def _arguments(study: Study, questions: Sequence[Question]) -> dict[int, list[Argument]]:
    """Map each comparison to its arguments in a fixed order."""
    comparisons = {question.comparison_id for question in questions}
    arguments: dict[int, list[Argument]] = defaultdict(list)
    rows = Argument.objects.filter(study=study, comparison__in=comparisons).order_by("pk")
    for argument in rows.only("comparison_id", "text"):
        arguments[argument.comparison_id].append(argument)
    return arguments


def _labels(
    study: Study, arguments: Mapping[int, Sequence[Argument]], whose: str
) -> Mapping[int, int | None]:
    keys = [argument.pk for several in arguments.values() for argument in several]
    return relevance_of(study, keys, whose)


def _kept(
    arguments: Sequence[Argument],
    drawn: ArgumentDraw,
    labels: Mapping[int, int | None],
    target: Mapping[str, Any],
) -> list[Argument]:
    """Return the arguments that pass the filters; count the rest by the first filter they fail."""
    candidates = []
    for argument in arguments:
        if reason := _why_not(argument, drawn.question, labels, target):
            drawn.left_out[reason] += 1
        else:
            candidates.append(argument)
    return candidates


def _why_not(
    argument: Argument,
    question: Question,
    labels: Mapping[int, int | None],
    target: Mapping[str, Any],
) -> str:
    """Return the first reason to leave out an argument, or an empty text."""
    if argument.is_blank:
        return "blank"
    wanted = RELEVANCE[target["relevance"]]
    if wanted is not None and (label := labels[argument.pk]) not in wanted:
        return "unlabelled" if label is None else "relevance"
    side = FAVOURED[target["favoured"]]
    if side is None:
        return ""
    pair = question.comparison
    favoured = favoured_object(argument.text, pair.object1, pair.object2)
    if favoured is None:
        return "unclear"
    return "" if favoured == side else "other_object"


# Questions of a launch, with one sample for all its runs so that they can be compared
NAMED = "named"
MOST_CHOICES = 5


def target_of(
    *,
    questions: str = "all",
    comparisons: Sequence[str] = (),
    sample: int = 0,
    uses_aspect: bool = True,
    uses_wording: bool = True,
    relevance: str = "any",
    favoured: str = "any",
    most_arguments: int = ARGUMENTS,
    labels: str = "",
) -> dict[str, Any]:
    """Return the target of a run of answers, as stored in its spec.

    Parameters
    ----------
    questions
        ``all``, ``comparisons`` or ``sample``: all questions in the study, those about selected
        comparisons, or a seeded random sample.
    comparisons
        Public ids, for ``comparisons``.
    sample
        Size of the sample, for ``sample``.
    uses_aspect, uses_wording
        Whether a request contains a question's aspect and its own wording, if it has them.
    relevance, favoured
        Filters for arguments; see `RELEVANCE` and `FAVOURED`.
    most_arguments
        Maximum per question; if there are more, a random selection is used.
    labels
        Source of the final labels for ``relevance``; see `whose_labels`. If empty, as in specs
        from before this option existed, it is the study's choice at the time of drawing.
    """
    target = {
        "questions": questions,
        "comparisons": sorted(map(str, comparisons)),
        "sample": sample,
        "uses_aspect": uses_aspect,
        "uses_wording": uses_wording,
        "relevance": relevance,
        "favoured": favoured,
        "most_arguments": most_arguments,
    }
    return target | ({"labels": labels} if labels and relevance != "any" else {})


def chosen_questions(
    study: Study, target: Mapping[str, Any], seed: int, model: str = ""
) -> list[Question]:
    """Return the questions of a run with their comparisons, in request order.

    Questions that the model was trained on are never included.
    """
    rows = study.questions.select_related("comparison").order_by("comparison", "pk")
    if target["questions"] == NAMED:
        rows = rows.filter(public_id__in=target["named"])
    rows = rows.exclude(pk__in=learned_questions(study, model).values("pk"))
    if target["questions"] == "comparisons":
        rows = rows.filter(comparison__public_id__in=target["comparisons"])
    questions = list(rows)
    if target["questions"] != "sample":
        return questions
    return [questions[place] for place in seeded_places(len(questions), target["sample"], seed)]


def drawn_lists(run: Run) -> Iterator[ArgumentDraw]:
    """Yield the arguments currently drawn with the seed for each question of a run.

    A random sample is drawn from the questions with at least one argument left. The other
    questions follow, marked as not asked.
    """
    target, seed = run.spec["target"], run.spec["seed"]
    model = run.spec["model"]
    if target["questions"] != "sample":
        return draw(run.study, chosen_questions(run.study, target, seed, model), target, seed)
    return _sampled(run.study, target, seed, model)


def _sampled(
    study: Study, target: Mapping[str, Any], seed: int, model: str
) -> Iterator[ArgumentDraw]:
    """Draw a sample in two passes, to keep only its arguments in memory."""
    everything = chosen_questions(study, {**target, "questions": "all"}, seed, model)
    can_be_asked: list[Question] = []
    empty: list[Question] = []
    for drawn in draw(study, everything, target, seed):
        (can_be_asked if drawn.arguments else empty).append(drawn.question)
    places = seeded_places(len(can_be_asked), target["sample"], seed)
    yield from draw(study, [can_be_asked[place] for place in places], target, seed)
    yield from (ArgumentDraw(question, []) for question in empty)


def count_learned(run: Run) -> dict[str, int]:
    """Count the selected questions left out because the run's model was trained on them."""
    rows, target = learned_questions(run.study, run.spec["model"]), run.spec["target"]
    if target["questions"] == NAMED:
        rows = rows.filter(public_id__in=target["named"])
    if target["questions"] == "comparisons":
        rows = rows.filter(comparison__public_id__in=target["comparisons"])
    count = rows.count()
    return {"learned": count} if count else {}
