"""How a match scorer is trained: every number that affects the weights."""

from dataclasses import asdict, dataclass, fields
from typing import Any


class RecipeError(ValueError):
    """A number of the recipe is out of range; the message says which."""


# name → lowest and highest value.
BOUNDS = {
    "steps": (1, 100_000),
    "batch": (4, 128),
    "learning_rate": (1e-7, 1e-2),
    "scale": (1, 100),
    "entropy": (0, 10),
    "contrast": (0, 10),
    "temperature": (0.01, 1),
    "frozen": (0, 24),
    "longest": (8, 512),
    "averaging": (0, 0.9999),
    "checks": (1, 100),
    "patience": (1, 100),
    "members": (1, 10),
    "seed": (0, 2**31 - 100),
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How it is trained.

    Attributes
    ----------
    steps : int
        Batches read at most; the learning rate falls to zero over them.
    batch : int
        Arguments of one cell in a batch, beside all its key points.
    entropy, scale : float
        Weight of the class-balanced cross-entropy on cosines times `scale`.
    contrast, temperature : float
        Weight of the supervised contrastive loss, and its temperature.
    frozen : int
        1 keeps the word vectors as they are, n + 1 also the first n layers.
    longest : int
        Tokens of a text; what is longer is cut.
    averaging : float
        Share that the moving average of the weights keeps at each step; 0 for none. Both the
        last weights and their average are judged on dev.
    checks, patience : int
        How often the dev split is looked at, and after how many looks without a better figure
        the training ends.
    members : int
        How many trainings with following seeds are made, one after the other; their best weights
        are averaged.
    uses_topic : bool
        Whether the topic is put before each text: what it says depends on what it is about.
    quick : bool
        Whether matrices are multiplied in 16 bits where the processor can: in less than half the
        time, but other processors come to slightly other weights.
    """

    steps: int = 120
    batch: int = 40
    learning_rate: float = 1e-4
    entropy: float = 0.0
    scale: float = 10.0
    contrast: float = 1.0
    temperature: float = 0.1
    frozen: int = 1
    longest: int = 64
    averaging: float = 0.98
    checks: int = 4
    patience: int = 2
    members: int = 4
    seed: int = 1
    uses_topic: bool = True
    quick: bool = False

    def __post_init__(self) -> None:
        for name, (lowest, highest) in BOUNDS.items():
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise RecipeError(f"{name}: {value} is not between {lowest} and {highest}.")
        if not self.entropy and not self.contrast:
            raise RecipeError("Without entropy and contrast nothing is learned.")

    def check_steps(self) -> frozenset[int]:
        """After which steps the dev split is looked at; always after the last."""
        return frozenset(
            max(1, round(self.steps * look / self.checks)) for look in range(1, self.checks + 1)
        )

    def rate_at(self, step: int) -> float:
        """Share of the learning rate in a step from 0: up over a tenth, then down to zero."""
        warm = max(1, self.steps // 10)
        if step < warm:
            return (step + 1) / warm
        return max(0.0, (self.steps - step) / max(1, self.steps - warm))

    def as_dict(self) -> dict[str, Any]:
        """For storing; `recipe_from` reads it back."""
        return asdict(self)


def recipe_from(stored: dict[str, Any]) -> Recipe:
    """The recipe in a stored dictionary; what it does not know is left out."""
    known = {each.name for each in fields(Recipe)}
    return Recipe(**{name: value for name, value in stored.items() if name in known})
