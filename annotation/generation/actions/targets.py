"""Which questions a run of answers asks, and from which arguments it lets a model write."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.answers.methods.conditions import MOST_ARGUMENTS as ARGUMENTS
from annotation.answers.reports.learned import learned_questions
from annotation.corpus.methods.seeded_sample import seeded_places
from annotation.corpus.models.questions import Question
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

from .argument_drawing import Drawn, draw

# Of a launch: a sample that all of its runs ask, so that they can be compared.
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
    """What a run of answers asks about, as its spec keeps it.

    Parameters
    ----------
    questions
        ``all``, ``comparisons`` or ``sample``: all of the study, those of some comparisons, or a
        seeded sample.
    comparisons
        Public ids, for the second choice.
    sample
        Size, for the third.
    uses_aspect, uses_wording
        Whether a request names a question's aspect and its own wording, where it has them.
    relevance, favoured
        Which arguments may be used; see `annotation.generation.actions.argument_drawing`.
    most_arguments
        Beyond it a random choice is used.
    labels
        Whose final labels ``relevance`` means: see `whose_labels`. Empty, as in specs from
        before there was a choice, means what the study's choice is when arguments are drawn.
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
    """The questions of a run with their comparisons, in the order in which they are asked.

    What the model was trained on is none of them, however it is asked for.
    """
    rows = study.questions.select_related("comparison").order_by("comparison", "pk")
    if target["questions"] == NAMED:
        rows = rows.filter(public_id__in=target["named"])
    rows = rows.exclude(pk__in=learned_questions(study, model).values("pk"))
    if target["questions"] == "comparisons":
        rows = rows.filter(comparison__public_id__in=target["comparisons"])
    found = list(rows)
    if target["questions"] != "sample":
        return found
    return [found[place] for place in seeded_places(len(found), target["sample"], seed)]


def drawn_lists(run: Run) -> Iterator[Drawn]:
    """The arguments of each question of a run, as its seed draws them now.

    A random sample is drawn from the questions that can be asked, those for which an argument is
    left; the others come after it, without anything to say but that they are none.
    """
    target, seed = run.spec["target"], run.spec["seed"]
    model = run.spec["model"]
    if target["questions"] != "sample":
        return draw(run.study, chosen_questions(run.study, target, seed, model), target, seed)
    return _sampled(run.study, target, seed, model)


def _sampled(study: Study, target: Mapping[str, Any], seed: int, model: str) -> Iterator[Drawn]:
    """Two passes, so that one sample's arguments are held and not those of the whole study."""
    everything = chosen_questions(study, {**target, "questions": "all"}, seed, model)
    can_be_asked: list[Question] = []
    empty: list[Question] = []
    for drawn in draw(study, everything, target, seed):
        (can_be_asked if drawn.arguments else empty).append(drawn.question)
    places = seeded_places(len(can_be_asked), target["sample"], seed)
    yield from draw(study, [can_be_asked[place] for place in places], target, seed)
    yield from (Drawn(question, []) for question in empty)


def count_learned(run: Run) -> dict[str, int]:
    """How many questions of a run's choice are not asked because its model learned from them."""
    rows, target = learned_questions(run.study, run.spec["model"]), run.spec["target"]
    if target["questions"] == NAMED:
        rows = rows.filter(public_id__in=target["named"])
    if target["questions"] == "comparisons":
        rows = rows.filter(comparison__public_id__in=target["comparisons"])
    count = rows.count()
    return {"learned": count} if count else {}
