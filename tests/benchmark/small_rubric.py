"""A rubric of three criteria in two groups, 4 points in all, to be broken in one place."""

from copy import deepcopy

from benchmark.rubrics.methods.rubric import Rubric, rubric_from_dict

STORED = {
    "name": "Small",
    "groups": [
        {"key": "form", "name": "Form", "maximum": 2},
        {"key": "facts", "name": "Facts", "maximum": 2},
    ],
    "criteria": [
        {
            "key": "C1",
            "group": "form",
            "name": "Title",
            "asks": "Has it a title?",
            "maximum": 1,
            "levels": [{"points": 0, "text": "No."}, {"points": 1, "text": "Yes."}],
        },
        {
            "key": "C2",
            "group": "facts",
            "name": "Truth",
            "asks": "Is it true?",
            "maximum": 2,
            "levels": [
                {"points": 0, "text": "No."},
                {"points": 1, "text": "Partly.", "example": "Oak and elm are stones."},
                {"points": 2, "text": "Yes."},
            ],
        },
        {
            "key": "C3",
            "group": "form",
            "name": "Length",
            "asks": "Is it short?",
            "maximum": 1,
            "levels": [{"points": 0, "text": "No."}, {"points": 1, "text": "Yes."}],
            "counted_by": "words",
        },
    ],
}


def stored(**changes) -> dict:
    return deepcopy(STORED) | changes


def changed(criterion: int, **changes) -> dict:
    """The stored rubric with other fields in one criterion; None takes a field away."""
    made = deepcopy(STORED)
    fields = made["criteria"][criterion - 1] | changes
    made["criteria"][criterion - 1] = {
        name: each for name, each in fields.items() if each is not None
    }
    return made


SMALL: Rubric = rubric_from_dict(STORED)
