"""Small invented files with arguments, and how each format is recognised."""

import io
import zipfile

from django.utils.translation import gettext as _

from argsum.datasets.methods.argkp_files import PARTS, is_wanted
from argsum.datasets.methods.argument_columns import named_columns
from cqa_site.files.looking import Look, Sample, csv_of

TOPIC, STANCE = "Every town should have a public garden", 1
# By key point; enough of each for every system to find them.
SAID = {
    "People meet there": (
        "A garden gives old people a place to sit and to meet.",
        "Neighbours get to know each other between the beds.",
        "People who live alone meet their neighbours in a garden.",
        "A garden is a place where neighbours meet and talk.",
        "Old and young people meet each other in a public garden.",
        "Neighbours who work in a garden together become friends.",
    ),
    "It is good for air and climate": (
        "Trees cool the streets around them in summer.",
        "Plants clean the air of the whole quarter.",
        "In hot summers trees and plants keep the air cool.",
        "Trees clean the air and give shade in summer.",
        "Green plants make the air of a town cleaner.",
        "The shade of trees keeps streets cool on hot days.",
    ),
    "Children learn there": (
        "Children learn there where vegetables come from.",
        "A school class can watch bees at work and learn about them.",
        "Children learn in a garden how vegetables grow.",
        "School children learn about plants and bees there.",
        "Children who grow vegetables learn what they eat.",
        "In a garden children learn how plants grow.",
    ),
}
KEY_POINTS = tuple(SAID)
ARGUMENTS = tuple(text for texts in SAID.values() for text in texts)
MATCHES = tuple(at for at, texts in enumerate(SAID.values()) for _text in texts)
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


GOALS = ("comments",)
SAMPLES = {
    "argkp": Sample("sample-key-points.zip", _argkp, {"dataset": DATASET}, goals=GOALS),
    "argument_pairs": Sample("sample-pairs.csv", _pairs, {"dataset": "Sample pairs"}, goals=GOALS),
    "argument_list": Sample("sample-list.csv", _list, {"dataset": "Sample list"}, goals=GOALS),
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
    """An argument on a topic a row, with what only debates have; comments have a topic, too.

    With the two qualities of ArgQ-30k it is another format.
    """
    named = named_columns(look.columns)
    is_rated = {"wa", "macep"} <= look.bare
    if not named >= {"topic", "argument"} or "key_point" in named or is_rated:
        return ""
    if not named & {"stance", "set", "quality"}:
        return ""
    return _("each row has a topic and an argument, and no key point")
