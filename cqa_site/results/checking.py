"""Snapshots as files, and whether their figures follow from their rows."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .kind import KINDS, ResultKind
from .models import Snapshot
from .rows import json_sha256, plain

ROWS, FIGURES, MANIFEST = "rows.csv", "figures.json", "manifest.json"
# Further digits may differ between machines.
TOLERANCE = 1e-6
MOST_DIFFERENCES = 20
# What earlier versions made in other ways, so that it cannot be computed again.
METHOD = {
    "version", "recipe", "low", "high", "bounds", "interval", "reason", "n_pairable_items", "p",
    "p_holm", "p_best", "rank_low", "rank_high", "tie_group", "detectable", "to_halve",
}  # fmt: skip


class NoSnapshotFile(ValueError):
    """A file is no archive of a snapshot; the message says what is missing."""


def find_violations() -> Iterator[str]:
    """Yield frozen snapshots whose rows are not those of their hash."""
    for kind in KINDS.values():
        frozen = kind.Model._default_manager.filter(frozen_at__isnull=False)
        for snapshot in frozen.only("rows", "sha256").iterator(10):
            if hashlib.sha256(plain(snapshot.rows)).hexdigest() != snapshot.sha256:
                yield f"{kind.name} snapshot {snapshot.pk} no longer matches its hash"


def manifest_of(kind: ResultKind, snapshot: Snapshot) -> dict[str, Any]:
    """What a snapshot is: hashes, seeds, packages, counts and recipe."""
    recipe = dict(snapshot.recipe)
    return {
        "kind": _title(kind),
        "id": str(snapshot.public_id),
        "number": snapshot.number,
        "note": snapshot.note,
        "computed_at": snapshot.computed_at.isoformat() if snapshot.computed_at else None,
        "frozen_at": snapshot.frozen_at.isoformat() if snapshot.frozen_at else None,
        "figures": {"file": FIGURES, "sha256": recipe.pop("figures_sha256")},
        "rows": {"file": ROWS, "sha256": snapshot.sha256, "count": recipe.get("sheets")},
        "recipe": recipe,
    }


def archive_of(kind: ResultKind, snapshot: Snapshot) -> bytes:
    """Rows, figures and manifest as one ZIP; the same snapshot gives the same bytes."""
    files = {
        MANIFEST: as_json(manifest_of(kind, snapshot)),
        ROWS: plain(snapshot.rows),
        FIGURES: as_json(snapshot.figures),
        **kind.more_files(snapshot),
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
            rows = archive.read(ROWS)
            manifest, figures = (json.loads(archive.read(name)) for name in (MANIFEST, FIGURES))
        kind = next(each for each in KINDS.values() if _title(each) == manifest["kind"])
        said = manifest["rows"]["sha256"], manifest["figures"]["sha256"], manifest["recipe"]
    except (zipfile.BadZipFile, KeyError, ValueError, StopIteration) as error:
        raise NoSnapshotFile(f"{path} is no archive of a snapshot: {error!r}") from error
    return _differences(kind, rows, figures, *said)


def check_snapshot(kind: ResultKind, snapshot: Snapshot) -> list[str]:
    """What differs between a stored snapshot's rows and its figures."""
    said = snapshot.sha256, snapshot.recipe["figures_sha256"], snapshot.recipe
    return _differences(kind, plain(snapshot.rows), snapshot.figures, *said)


def as_json(content: Any) -> bytes:
    """Content as files hold it."""
    return json.dumps(content, sort_keys=True, indent=1).encode()


def _title(kind: ResultKind) -> str:
    return f"Counterpoint {kind.name} snapshot"


def _differences(
    kind: ResultKind,
    rows: bytes,
    figures: dict[str, Any],
    rows_sha256: str,
    figures_hash: str,
    recipe: dict[str, Any],
) -> list[str]:
    found = []
    if hashlib.sha256(rows).hexdigest() != rows_sha256:
        found.append("the rows are not those of the manifest (sha256)")
    if json_sha256(figures) != figures_hash:
        found.append("the figures are not those of the manifest (sha256)")
    # As stored: keys that are text, lists for tuples.
    computed = json.loads(as_json(kind.figures_of(rows, recipe)))
    said = {name: figures.get(name) for name in computed}
    if recipe["version"] < kind.version:
        computed, said = (_values_alone(kind.comparable(each)) for each in (computed, said))
    return [*found, *_unlike(said, computed, "")][:MOST_DIFFERENCES]


def _values_alone(figures: Any) -> Any:
    """Figures without intervals, tests and what is said of these."""
    if isinstance(figures, list):
        return [_values_alone(each) for each in figures]
    if not isinstance(figures, dict):
        return figures
    return {key: _values_alone(value) for key, value in figures.items() if key not in METHOD}


def _unlike(said: Any, computed: Any, path: str) -> list[str]:
    """Every place at which two figures differ by more than the last digits."""
    if isinstance(said, dict) and isinstance(computed, dict):
        keys = [*computed, *(key for key in said if key not in computed)]
        pairs = [(key, said.get(key), computed.get(key)) for key in keys]
        return [each for key, a, b in pairs for each in _unlike(a, b, f"{path}.{key}".lstrip("."))]
    if isinstance(said, list) and isinstance(computed, list) and len(said) == len(computed):
        pairs = [(place, *both) for place, both in enumerate(zip(said, computed, strict=True))]
        return [each for place, a, b in pairs for each in _unlike(a, b, f"{path}[{place}]")]
    if isinstance(said, float) or isinstance(computed, float):
        both = [each for each in (said, computed) if isinstance(each, (int, float))]
        is_like = len(both) == 2 and abs(both[0] - both[1]) <= TOLERANCE
    else:
        is_like = said == computed
    return [] if is_like else [f"{path}: stored {said!r:.60}, computed {computed!r:.60}"]
