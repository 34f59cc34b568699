"""How a writer of key points is asked, and how it is trained: every number that has a say.

A writer is a sequence-to-sequence model. What it reads is built as in the argument summarization
paper, section 3.3: the task, the stance, the topic, then the arguments of a cluster, best first.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from .training_recipe import RecipeError

# As in the authors' code; the paper does not say its size.
WRITER_MODEL = "google/flan-t5-base"
# The task as T5 and its descendants learned to read it.
TASK = "summarize:"
SIDES = {1: "supporting", -1: "opposing", 0: ""}
# name → lowest and highest value.
BOUNDS = {
    "epochs": (1, 100),
    "batch": (1, 64),
    "learning_rate": (1e-7, 1e-2),
    "longest_in": (16, 1024),
    "longest_out": (4, 128),
    "seed": (0, 2**31 - 100),
}
# As in the authors' code, the paper names neither: beams, nothing drawn at random.
BEAMS, MOST_TOKENS_OUT = 6, 128


def writer_input(topic: str, stance: int, arguments: Sequence[str]) -> str:
    """What a writer reads; the arguments of a cluster come best first.

    Examples
    --------
    >>> writer_input("Buses at night", -1, ["They cost much.", "They wake people."])
    'summarize: opposing Buses at night They cost much. They wake people.'
    """
    return " ".join(filter(None, [TASK, SIDES[stance], topic, *arguments]))


@dataclass(frozen=True)
class Example:
    """What is learned from: the arguments of a key point, best first, and the key point."""

    topic: str
    stance: int
    arguments: tuple[str, ...]
    key_point: str

    @property
    def text(self) -> str:
        """What the writer reads."""
        return writer_input(self.topic, self.stance, self.arguments)


@dataclass(frozen=True, kw_only=True)
class WritingRecipe:
    """How a writer is trained; the usual numbers are the authors'.

    Attributes
    ----------
    epochs : int
        How often every key point of the train split is read; after each, dev is looked at.
    batch : int
        Key points in a batch.
    learning_rate : float
        Falls to zero over all batches. In the paper (appendix A); the others are in the code.
    longest_in, longest_out : int
        Tokens of the arguments and of the key point; what is longer is cut at the end, where the
        weakest arguments stand.
    """

    epochs: int = 15
    batch: int = 16
    learning_rate: float = 4e-4
    longest_in: int = 512
    longest_out: int = MOST_TOKENS_OUT
    seed: int = 1

    def __post_init__(self) -> None:
        for name, (lowest, highest) in BOUNDS.items():
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise RecipeError(f"{name}: {value} is not between {lowest} and {highest}.")

    def as_dict(self) -> dict[str, Any]:
        """For storing; `writing_recipe_from` reads it back."""
        return asdict(self)


def writing_recipe_from(stored: dict[str, Any]) -> WritingRecipe:
    """The recipe in a stored dictionary; what it does not know is left out."""
    known = {each.name for each in fields(WritingRecipe)}
    return WritingRecipe(**{name: value for name, value in stored.items() if name in known})
