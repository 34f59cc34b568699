"""Which questions a run of answers asks, and from which arguments it lets a model write."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.methods.seeded_sample import seeded_places
from annotation.models import Question
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

from .argument_drawing import Drawn, draw

CHOICES = ("all", "comparisons", "sample")
MOST_CHOICES = 5
ARGUMENTS = 30


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
) -> dict[str, Any]:
    """What a run of answers asks about, as its spec keeps it.

    Parameters
    ----------
    questions
        One of `CHOICES`: all of the study, those of some comparisons, or a seeded sample.
    comparisons
        Public ids, for the second choice.
    sample
        Size, for the third.
    uses_aspect, uses_wording
        Whether a request names a question's aspect and its own wording, where it has them.
    relevance, favoured
        Which arguments may be used; see `annotation.actions.argument_drawing`.
    most_arguments
        Beyond it a random choice is used.
    """
    return {
        "questions": questions,
        "comparisons": sorted(map(str, comparisons)),
        "sample": sample,
        "uses_aspect": uses_aspect,
        "uses_wording": uses_wording,
        "relevance": relevance,
        "favoured": favoured,
        "most_arguments": most_arguments,
    }


def chosen_questions(study: Study, target: Mapping[str, Any], seed: int) -> list[Question]:
    """The questions of a run with their comparisons, in the order in which they are asked."""
    rows = study.questions.select_related("comparison").order_by("comparison", "pk")
    if target["questions"] == "comparisons":
        rows = rows.filter(comparison__public_id__in=target["comparisons"])
    found = list(rows)
    if target["questions"] != "sample":
        return found
    return [found[place] for place in seeded_places(len(found), target["sample"], seed)]


def drawn_lists(run: Run) -> Iterator[Drawn]:
    """The arguments of each question of a run, as its seed draws them now."""
    target, seed = run.spec["target"], run.spec["seed"]
    return draw(run.study, chosen_questions(run.study, target, seed), target, seed)
