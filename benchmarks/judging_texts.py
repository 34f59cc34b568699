"""Texts that all runners of the judging benchmark send: the engine's rubric and sentences."""

from functools import cache
from pathlib import Path

PROMPT = Path(__file__).parents[1] / "annotation/judges/prompts/relevance_single.md"
LEVELS = """0: No argument. Says nothing that helps to compare the two objects.
1: Information on one object only.
2: Compares the two objects, with a weak or missing ground.
3: Compares the two objects and gives a ground."""


@cache
def rubric() -> str:
    """Return the system text of the relevance judge."""
    system = PROMPT.read_text().partition("# system")[2].partition("# user")[0]
    return system.strip().replace("{{levels}}", LEVELS)


def sentence(place: int) -> str:
    """Return a sentence of the benchmark's round, with its objects."""
    first, other = f"thing {place // 15}", f"other {place // 15}"
    text = f"The {first} is somewhat lighter than the {other} in case {place}."
    return f"Object 1: {first}\nObject 2: {other}\n\n{text}"
