"""A rubric of three criteria in two groups, 4 points in all, to be broken in one place."""

from copy import deepcopy

from benchmark.rubrics.methods.rubric import Rubric, rubric_from_dict

NO, YES = {"points": 0, "text": "No."}, {"points": 1, "text": "Yes."}
PARTLY = {"points": 1, "text": "Partly.", "example": "Oak and elm are stones."}


def criterion(key: str, group: str, name: str, asks: str, *levels: dict, **more) -> dict:
    about = {"key": key, "group": group, "name": name, "asks": asks}
    return about | {"maximum": len(levels) - 1, "levels": list(levels)} | more


STORED = {
    "name": "Small",
    "groups": [
        {"key": "form", "name": "Form", "maximum": 2},
        {"key": "facts", "name": "Facts", "maximum": 2},
    ],
    "criteria": [
        criterion("C1", "form", "Title", "Has it a title?", NO, YES),
        criterion("C2", "facts", "Truth", "Is it true?", NO, PARTLY, YES | {"points": 2}),
        criterion("C3", "form", "Length", "Is it short?", NO, YES, counted_by="words"),
    ],
}


def stored(**changes) -> dict:
    return deepcopy(STORED) | changes


def changed(number: int, **changes) -> dict:
    """The stored rubric with other fields in one criterion; None takes a field away."""
    made = deepcopy(STORED)
    fields = made["criteria"][number - 1] | changes
    made["criteria"][number - 1] = {
        name: each for name, each in fields.items() if each is not None
    }
    return made


SMALL: Rubric = rubric_from_dict(STORED)
