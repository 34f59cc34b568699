"""A snapshot as files: its manifest, and everything in one archive that can be checked."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from benchmark.models import BoardSnapshot

from .board_figures import board_figures, figures_sha256
from .board_rows import plain_rows, read_csv, read_rows

ROWS, FIGURES, MANIFEST, RUBRIC = "rows.csv", "figures.json", "manifest.json", "rubric.json"
# As `BoardOptions`: further digits may differ between machines.
TOLERANCE = 1e-6
MOST_DIFFERENCES = 20


class NoSnapshotFile(ValueError):
    """A file is no archive of a snapshot; the message says what is missing."""


def manifest_of(snapshot: BoardSnapshot) -> dict[str, Any]:
    """What a snapshot is: hashes, seeds, packages, counts and recipe."""
    return {
        "kind": "Counterpoint board snapshot",
        "id": str(snapshot.public_id),
        "number": snapshot.number,
        "note": snapshot.note,
        "computed_at": snapshot.computed_at.isoformat() if snapshot.computed_at else None,
        "frozen_at": snapshot.frozen_at.isoformat() if snapshot.frozen_at else None,
        "rows": {"file": ROWS, "sha256": snapshot.sha256, "count": snapshot.recipe["sheets"]},
        "figures": {"file": FIGURES, "sha256": snapshot.recipe["figures_sha256"]},
        "recipe": {
            name: value for name, value in snapshot.recipe.items() if name != "figures_sha256"
        },
    }


def archive_of(snapshot: BoardSnapshot) -> bytes:
    """Rows, figures, rubric and manifest as one ZIP; the same snapshot gives the same bytes."""
    files = {
        MANIFEST: _json(manifest_of(snapshot)),
        ROWS: plain_rows(bytes(snapshot.rows)),
        FIGURES: _json(snapshot.figures),
        RUBRIC: _json(snapshot.rubric.content),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def check_archive(path: Path) -> list[str]:
    """What differs between an archive's rows and what it says of them; empty if all is well."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = {name: archive.read(name) for name in (MANIFEST, ROWS, FIGURES)}
        manifest, figures = (json.loads(found[name]) for name in (MANIFEST, FIGURES))
        said = manifest["rows"]["sha256"], manifest["figures"]["sha256"], manifest["recipe"]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise NoSnapshotFile(f"{path} is no archive of a snapshot: {error}") from error
    return _differences(found[ROWS], figures, *said)


def check_snapshot(snapshot: BoardSnapshot) -> list[str]:
    """What differs between a stored snapshot's rows and its figures."""
    recipe = snapshot.recipe
    content = plain_rows(bytes(snapshot.rows))
    return _differences(
        content, snapshot.figures, snapshot.sha256, recipe["figures_sha256"], recipe
    )


def rows_parquet(snapshot: BoardSnapshot) -> bytes:
    """The rows as Parquet."""
    file = io.BytesIO()
    read_rows(bytes(snapshot.rows)).to_parquet(file, index=False)
    return file.getvalue()


def _differences(
    rows: bytes,
    figures: dict[str, Any],
    rows_sha256: str,
    figures_hashes: dict[str, str],
    recipe: dict[str, Any],
) -> list[str]:
    found = []
    if hashlib.sha256(rows).hexdigest() != rows_sha256:
        found.append("the rows are not those of the manifest (sha256)")
    found += [
        f"figures of {name} are not those of the manifest (sha256)"
        for name, said in figures_hashes.items()
        if name not in figures or figures_sha256(figures[name]) != said
    ]
    computed = board_figures(read_csv(rows), recipe)
    return [*found, *_unlike(figures.get("board"), computed, "board")][:MOST_DIFFERENCES]


def _unlike(said: Any, computed: Any, path: str) -> list[str]:
    """Every place at which two figures differ by more than the last digits."""
    if isinstance(said, dict) and isinstance(computed, dict):
        keys = [*computed, *(key for key in said if key not in computed)]
        pairs = [(key, said.get(key), computed.get(key)) for key in keys]
        return [each for key, a, b in pairs for each in _unlike(a, b, f"{path}.{key}")]
    if isinstance(said, list) and isinstance(computed, list) and len(said) == len(computed):
        pairs = [(place, *both) for place, both in enumerate(zip(said, computed, strict=True))]
        return [each for place, a, b in pairs for each in _unlike(a, b, f"{path}[{place}]")]
    if isinstance(said, float) or isinstance(computed, float):
        both = [each for each in (said, computed) if isinstance(each, (int, float))]
        is_like = len(both) == 2 and abs(both[0] - both[1]) <= TOLERANCE
    else:
        is_like = said == computed
    return [] if is_like else [f"{path}: stored {said!r:.60}, computed {computed!r:.60}"]


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, indent=1).encode()
