"""The comment file for the benchmark of very many comments, and the themes of its statements."""

import csv
import json
from pathlib import Path
from random import Random

from benchmarks.comments import make_world

WORLD = "banking"
COLUMNS = ("id", "comment", "group", "device", "rating", "date")
DEVICES = ("phone", "tablet", "watch", "borrowed phone")


def write_texts(folder: Path, comments: int) -> dict[str, str]:
    """Write the comments and the themes to files; return their paths and a line about them."""
    world = make_world(WORLD, size=comments)
    draw = Random(1)
    path, themes = folder / "comments.csv", folder / "themes.json"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, each in enumerate(world.comments, start=1):
            told = (draw.choice(DEVICES), draw.randint(1, 5))
            writer.writerow((f"C{number}", each.text, each.group, *told, each.date))
    said = [each for comment in world.comments for each in comment.statements]
    known = {each.text: each.theme for each in said}
    themes.write_text(json.dumps({"topic": world.topic, "themes": known}), encoding="utf-8")
    line = (
        f"{len(world.comments):,} comments of {len(said):,} statements, {len(known):,} of them "
        f"distinct, on {len(world.themes)} themes; {path.stat().st_size / 1e6:.1f} MB"
    )
    return {"path": str(path), "themes": str(themes), "said": line}
