"""Small invented files with arguments, and how each format is recognised."""

import io
import zipfile

from django.utils.translation import gettext as _

from argsum.datasets.methods.argkp_files import PARTS, is_wanted
from argsum.datasets.methods.argument_columns import named_columns
from cqa_site.files.looking import Look, Sample, csv_of

TOPIC, STANCE = "Every town should have a public garden", 1
ARGUMENTS = (
    "A garden gives old people a place to sit and to meet.",
    "Neighbours get to know each other between the beds.",
    "Trees cool the streets around them in summer.",
    "Plants clean the air of the whole quarter.",
    "Children learn there where vegetables come from.",
    "A school class can watch bees at work.",
)
KEY_POINTS = ("People meet there", "It is good for air and climate", "Children learn there")
# Each key point is that of two arguments.
MATCHES = tuple(place // 2 for place in range(len(ARGUMENTS)))
DATASET = "Sample gardens"


def _argkp() -> bytes:
    about = (TOPIC, STANCE)
    tables = {
        "arguments": csv_of(
            ("arg_id", "argument", "topic", "stance"),
            [(f"a{place}", text, *about) for place, text in enumerate(ARGUMENTS)],
        ),
        "key_points": csv_of(
            ("key_point_id", "key_point", "topic", "stance"),
            [(f"k{place}", text, *about) for place, text in enumerate(KEY_POINTS)],
        ),
        "labels": csv_of(
            ("arg_id", "key_point_id", "label"),
            [
                (f"a{place}", f"k{point}", int(MATCHES[place] == point))
                for place in range(len(ARGUMENTS))
                for point in range(len(KEY_POINTS))
            ],
        ),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, table in tables.items():
            archive.writestr(zipfile.ZipInfo(f"{name}_dev.csv"), table)
    return target.getvalue()


def _pairs() -> bytes:
    rows = [
        (TOPIC, text, KEY_POINTS[MATCHES[place]], STANCE, 1)
        for place, text in enumerate(ARGUMENTS)
    ]
    return csv_of(("topic", "argument", "key_point", "stance", "label"), rows)


def _list() -> bytes:
    return csv_of(("topic", "argument", "stance"), [(TOPIC, text, STANCE) for text in ARGUMENTS])


SAMPLES = {
    "argkp": Sample("sample-key-points.zip", _argkp, {"dataset": DATASET}),
    "argument_pairs": Sample("sample-pairs.csv", _pairs, {"dataset": "Sample pairs"}),
    "argument_list": Sample("sample-list.csv", _list, {"dataset": "Sample list"}),
}


def fits_argkp(look: Look) -> str:
    """The three files of a split, in an archive."""
    names = [member.rsplit("/", 1)[-1].lower() for member in look.members]
    wanted = [name for name in names if is_wanted(name)]
    if not all(any(name.startswith(part) for name in wanted) for part in PARTS):
        return ""
    return _("the archive holds arguments_…, key_points_… and labels_…")


def fits_pairs(look: Look) -> str:
    """An argument and a key point a row."""
    if not named_columns(look.columns) >= {"topic", "argument", "key_point", "stance"}:
        return ""
    return _("each row has a topic, a stance, an argument and a key point")


def fits_list(look: Look) -> str:
    """An argument on a topic a row."""
    named = named_columns(look.columns)
    if not named >= {"topic", "argument"} or "key_point" in named:
        return ""
    return _("each row has a topic and an argument, and no key point")
