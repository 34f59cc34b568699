"""Invented files with score sheets."""

import json
from pathlib import Path

from benchmark.rubrics.methods.rubric import COMPQA
from cqa_site.files.actions.imports import ImportOutcome, import_path

KEYS = list(COMPQA.keys)
ALL_ONES = {str(number): 1 for number in range(1, 16)}


def judged_record(text: str, scores: object, **more: object) -> dict[str, object]:
    """One record of a judged file; pass ``pair`` for other objects."""
    one, two = more.pop("pair", ("kayak", "canoe"))
    record = {"object1": one, "object2": two, "aspect": "", "comparison": text}
    given = sum(scores.values()) if isinstance(scores, dict) and scores else 0
    return record | {"score_dict": scores, "score": given} | more


def judged_file(folder: Path, *records: object, name: str = "alpha_scenario_3.json") -> Path:
    """A file of judged answers."""
    path = folder / name
    path.write_text(json.dumps(records))
    return path


def points_row(points: object = 1, **more: object) -> dict[str, object]:
    """Cells C1 … C15, all the same but those given."""
    return dict.fromkeys(KEYS, points) | more


def take(study, kind: str, path: Path, *, write: bool = True, **options) -> ImportOutcome:
    """Import a file, or with write=False look at it; options other than flags go to the reader."""
    flags = {
        name: options.pop(name)
        for name in ("leave_out_rejected", "update_changed")
        if name in options
    }
    return import_path(
        study=study, kind=kind, path=path, name=path.name, options=options, write=write, **flags
    )
