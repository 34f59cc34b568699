"""A small invented file of comments, and how the format is recognised."""

from django.utils.translation import gettext as _

from argsum.datasets.methods.argument_columns import named_columns
from argsum.datasets.methods.comment_columns import comment_columns
from cqa_site.files.looking import Look, Sample, csv_of

from .samples import GOALS

ASKED = "What do you think of the new canteen?"
SHOPS, OFFICE = "Workshop", "Office"
# Comment, group, day of March.
SAID = (
    ("The food is warm at last. The queue is far too long at noon.", OFFICE, 3),
    ("I wait twenty minutes in the queue every day.", OFFICE, 3),
    ("The vegetable dishes are really good now.", SHOPS, 4),
    ("Long queues, and only one till is open.", SHOPS, 4),
    ("n/a", OFFICE, 5),
    ("The new vegetable dishes taste good; I would like more of them on Fridays.", OFFICE, 6),
    ("It is too loud to talk to anybody. The ceiling makes every voice louder.", SHOPS, 6),
    ("Prices went up again and the portions are smaller.", SHOPS, 7),
    ("A lunch costs a third more than last year.", OFFICE, 7),
    ("- queue too long\n- prices too high", OFFICE, 10),
    ("One cannot hear one's own words at noon, it is so loud.", OFFICE, 10),
    ("The people at the counter are friendly and quick.", SHOPS, 11),
    ("Friendly staff! The queue is still too long.", OFFICE, 12),
    ("The salad bar is fresh every day.", SHOPS, 12),
    ("Lunch is too expensive for apprentices.", SHOPS, 13),
    ("Fresh salad, friendly people at the counter.", OFFICE, 14),
    ("no comment", SHOPS, 14),
    ("Open a second till at noon, then the queue is short.", OFFICE, 17),
    ("The room is so loud that I eat at my desk.", OFFICE, 18),
    ("More vegetable dishes, please. The portions are small.", SHOPS, 19),
)


def _comments() -> bytes:
    rows = [(text, group, f"2024-03-{day:02d}") for text, group, day in SAID]
    return csv_of(("comment", "group", "date"), rows)


SAMPLE = Sample(
    "sample-comments.csv",
    _comments,
    {"dataset": "Sample canteen", "topic": ASKED},
    goals=GOALS,
)
# Beside a topic they make a list of arguments, as debates are released.
_OF_ARGUMENTS = {"stance", "set", "quality"}
# Of other formats, whose files lack something that would show what they are.
_ELSEWHERE = {"object1", "object2", "rater", "filename"}


def fits_comments(look: Look) -> str:
    """A column of texts, or one column alone; a key point or a stance makes it something else."""
    named = named_columns(look.columns)
    if "key_point" in named or look.bare & _ELSEWHERE or look.has_points:
        return ""
    if {"topic", "argument"} <= named and named & _OF_ARGUMENTS:
        return ""
    if look.kind == "lines":
        return _("it is plain text, which may have a comment in every line")
    found = comment_columns(look.columns)
    if found:
        return _("its column %s holds what people wrote") % found[0]
    if len(look.columns) == 1 and isinstance(look.first.get(look.columns[0]), str):
        return _("it has one column of texts")
    return ""
