"""Small files of invented arguments, for the tests of readers and imports."""

import csv
import io
import zipfile

TOPIC = "Lifts should play no music"
PAIR_COLUMNS = ("topic", "argument", "key_point", "stance", "label", "set", "quality")
# Kept, two key points, none, two sentences.
ARGUMENTS = {
    "a1": "Silence is restful.",
    "a2": "Silence is restful and music costs money.",
    "a3": "Lifts are slow.",
    "a4": "Nobody asked for it. It costs money.",
}
KEY_POINTS = {"k1": "Silence is restful", "k2": "Music costs money"}
LABELS = (("a1", "k1", 1), ("a1", "k2", 0), ("a2", "k1", 1), ("a2", "k2", 1), ("a4", "k2", 1))


def csv_of(columns, rows) -> bytes:
    """A CSV file."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def triple(split="test", *, topic=TOPIC, **replaced) -> dict[str, bytes]:
    """The three files of a split; ``replaced`` are rows of arguments, key_points or labels."""
    tables = {
        "arguments": [(key, text, topic, 1) for key, text in ARGUMENTS.items()],
        "key_points": [(key, text, topic, 1) for key, text in KEY_POINTS.items()],
        "labels": LABELS,
    } | replaced
    columns = {
        "arguments": ("arg_id", "argument", "topic", "stance"),
        "key_points": ("key_point_id", "key_point", "topic", "stance"),
        "labels": ("arg_id", "key_point_id", "label"),
    }
    return {f"{part}_{split}.csv": csv_of(columns[part], tables[part]) for part in tables}


def zip_of(files: dict[str, bytes]) -> bytes:
    """A ZIP archive."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return body.getvalue()


def pairs(*rows, columns=PAIR_COLUMNS) -> bytes:
    """A file of pairs."""
    return csv_of(columns, rows)
