"""Snapshots of figures: kinds, freezing, publication, archives and verification."""

import hashlib
import io
import json
import uuid
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from .models import Snapshot, json_sha256, plain

# The interface of a kind of figures; storage is the same for all kinds

# Maximum number of pages without figures that are listed.
MOST_UNMADE = 6


@dataclass(frozen=True)
class SnapshotContent:
    """The result of one pass over the rows: packed table with sha256, marker, recipe, figures."""

    rows: bytes
    sha256: str
    marker: str
    recipe: dict[str, Any]
    figures: dict[str, Any]


class ResultKind(ABC):
    """A kind of figures that can be frozen.

    One object of each kind is registered.

    Attributes
    ----------
    name
        Its name in manifests, and the prefix of ``_frozen``, ``_published`` and ``_withdrawn`` in
        a study's history.
    Model
        The model of its snapshots.
    version
        Version of its recipes; earlier versions computed intervals and tests by other methods.
    subject
        Fields that identify a subject, which has one live snapshot.
    owner
        The field whose row is locked while numbers are assigned and snapshots are frozen; numbers
        are unique within it.
    in_study
        The path from a snapshot to its study.
    what
        A name for the figures, in one or two words.
    page
        The URL name of a snapshot, with the arguments (study, number).
    unmade_says
        Message about figures that are not computed before their page is opened.
    """

    name: str
    Model: type[Snapshot]
    version: int
    subject: tuple[str, ...]
    owner: str = "study"
    in_study: str = "study"
    what: str | Promise
    page: str
    unmade_says: str | Promise = lazy("figures not computed yet; open the page to compute them")
    # Related rows that `about` and `url` read.
    needed: tuple[str, ...] = ()

    @abstractmethod
    def place(self, subject: Any) -> dict[str, Any]:
        """Return the fields that identify a snapshot's subject, including its owner."""

    @abstractmethod
    def marker(self, subject: Any) -> str:
        """Return a digest of everything that the figures depend on; it is cheap to compute."""

    @abstractmethod
    def compute(self, subject: Any) -> SnapshotContent:
        """Read the rows once and compute every figure from them, without storing anything."""

    @abstractmethod
    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        """Recompute the checkable figures from plain rows and a stored recipe."""

    def comparable(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Return the stored or recomputed figures that an earlier version also had."""
        return figures

    def about(self, snapshot: Any) -> str:
        """Describe the subject of a snapshot for a study's history."""
        return ""

    def url(self, snapshot: Any) -> str:
        """Return the address of a snapshot's page."""
        return reverse(self.page, args=[self.study_of(snapshot).public_id, snapshot.number])

    def newest(self, study: Study) -> Any:
        """Return the computed snapshots of a study, newest first, without rows and figures."""
        rows = self.Model._default_manager.filter(**{self.in_study: study})
        computed = rows.filter(computed_at__isnull=False).select_related(*self.needed)
        return computed.defer("rows", "figures", "changes").order_by("-computed_at", "-pk")

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        """List names and addresses of pages with rows but no figures, in at most two queries."""
        return ()

    def study_of(self, snapshot: Any) -> Study:
        """Return the study whose history lists the snapshot."""
        study: Study = snapshot.study
        return study

    def changes(self, before: Any, after: Any) -> dict[str, Any]:
        """Return the changes since the last frozen snapshot of the same subject, if any."""
        return {}

    def live(self, subject: Any) -> Any:
        """Return a queryset with the live snapshot of a subject, if any."""
        return self.Model._default_manager.filter(**self.place(subject), frozen_at__isnull=True)

    def more_files(self, snapshot: Any) -> dict[str, bytes]:
        """Return additional files for the archive."""
        return {}


KINDS: dict[str, ResultKind] = {}


def register(kind: ResultKind) -> None:
    """Register a kind of figures; call this in the app's ``ready()``."""
    KINDS[kind.name] = kind


# Life cycle of snapshots: stored, frozen, published, withdrawn


class SnapshotNotReady(Exception):
    """The snapshot is in the wrong state for this action; the message says why."""


def make(work: Any, kind: ResultKind, subject: Any) -> None:
    """Compute a subject's figures in a job, and store them in the transaction that ends it."""
    computed = kind.compute(subject)
    with transaction.atomic():
        work.finish()
        store_live(kind, subject, computed)


def refresh(kind: ResultKind, subject: Any) -> Any:
    """Recompute the newest snapshot if the rows changed, and return it; takes seconds."""
    newest = kind.Model._default_manager.filter(**kind.place(subject)).defer("rows").first()
    if newest is not None and newest.marker == kind.marker(subject):
        return newest
    return store_live(kind, subject, kind.compute(subject))


@transaction.atomic
def store_live(kind: ResultKind, subject: Any, computed: SnapshotContent) -> Any:
    """Write the figures into the live snapshot; never change frozen ones."""
    fresh = kind.Model(**kind.place(subject))
    owner = getattr(fresh, f"{kind.owner}_id")
    _lock(kind, owner)
    values = {
        "rows": computed.rows,
        "sha256": computed.sha256,
        "marker": computed.marker,
        "recipe": computed.recipe | {"figures_sha256": json_sha256(computed.figures)},
        "figures": computed.figures,
        "computed_at": timezone.now(),
    }
    live = kind.live(subject)
    if live.update(**values):
        return live.defer("rows").get()
    result = _owned(kind, owner).aggregate(last=Max("number"))
    for name, value in values.items():
        setattr(fresh, name, value)
    fresh.number = (result["last"] or 0) + 1
    fresh.save(force_insert=True)
    return fresh


@transaction.atomic
def freeze(
    kind: ResultKind, *, owner: models.Model, number: int, note: str, actor: User, seen: str = ""
) -> Any:
    """Make a live snapshot immutable and record the changes since the last frozen one.

    Freeze only the version whose seal is ``seen``, that is, the version on the page. Raises
    SnapshotNotReady.
    """
    _lock(kind, owner.pk)
    rows = _owned(kind, owner.pk)
    snapshot = rows.filter(
        number=number, frozen_at__isnull=True, computed_at__isnull=False
    ).first()
    if snapshot is None:
        raise SnapshotNotReady(_("Snapshot #%d is already frozen or has no figures yet.") % number)
    if seen and seen != snapshot.seal:
        raise SnapshotNotReady(
            _(
                "The figures of snapshot #%d have changed since you opened the page. "
                "Check them again."
            )
            % number
        )
    snapshot.changes = kind.changes(_frozen_before(kind, snapshot), snapshot)
    snapshot.frozen_at, snapshot.frozen_by, snapshot.note = timezone.now(), actor, note
    snapshot.save(update_fields=["changes", "frozen_at", "frozen_by", "note"])
    _record(kind, snapshot, actor, "frozen", reason=note, sha256=snapshot.sha256)
    return snapshot


@transaction.atomic
def publish(kind: ResultKind, *, owner: models.Model, number: int, actor: User) -> Any:
    """Give a frozen snapshot a public address."""
    snapshot = _frozen(kind, owner, number)
    if snapshot.public_token is None:
        snapshot.public_token = uuid.uuid4()
        snapshot.save(update_fields=["public_token"])
        _record(kind, snapshot, actor, "published")
    return snapshot


@transaction.atomic
def withdraw(kind: ResultKind, *, owner: models.Model, number: int, actor: User) -> Any:
    """Withdraw the public address permanently."""
    snapshot = _frozen(kind, owner, number)
    if snapshot.public_token is not None:
        snapshot.public_token = None
        snapshot.save(update_fields=["public_token"])
        _record(kind, snapshot, actor, "withdrawn")
    return snapshot


def _lock(kind: ResultKind, owner: int) -> None:
    rows: models.QuerySet[models.Model] = getattr(kind.Model, kind.owner).get_queryset()
    rows.select_for_update().get(pk=owner)


def _owned(kind: ResultKind, owner: int) -> models.QuerySet[Snapshot]:
    return kind.Model._default_manager.filter(**{kind.owner: owner})


def _frozen_before(kind: ResultKind, snapshot: Any) -> Any:
    same = {name: getattr(snapshot, name) for name in kind.subject}
    return (
        _owned(kind, getattr(snapshot, f"{kind.owner}_id"))
        .filter(**same, frozen_at__isnull=False)
        .first()
    )


def _frozen(kind: ResultKind, owner: models.Model, number: int) -> Any:
    rows = _owned(kind, owner.pk).select_for_update(of=("self",)).defer("rows", "figures")
    snapshot = rows.filter(number=number, frozen_at__isnull=False).first()
    if snapshot is None:
        raise SnapshotNotReady(_("Only a frozen snapshot can be made public."))
    return snapshot


def _record(kind: ResultKind, snapshot: Any, actor: User, verb: str, **details: Any) -> None:
    about = f"{kind.about(snapshot)} #{snapshot.number}".strip()
    record(
        study=kind.study_of(snapshot),
        actor=actor,
        verb=f"{kind.name}_{verb}",
        subject=about,
        **details,
    )


ROWS, FIGURES, MANIFEST = "rows.csv", "figures.json", "manifest.json"
# Smaller differences may occur between machines.
TOLERANCE = 1e-6
MOST_DIFFERENCES = 20
# Values that earlier versions computed by other methods, so that they cannot be recomputed.
METHOD = {
    "version", "recipe", "low", "high", "bounds", "interval", "reason", "n_pairable_items",
    "n_raters", "n_values", "p", "p_holm", "p_best", "rank_low", "rank_high", "tie_group",
    "detectable", "to_halve",
}  # fmt: skip


class NoSnapshotFile(ValueError):
    """The file is not a snapshot archive; the message says what is missing."""


def find_violations() -> Iterator[str]:
    """Yield a message for each frozen snapshot whose rows do not match its hash."""
    for kind in KINDS.values():
        frozen = kind.Model._default_manager.filter(frozen_at__isnull=False)
        for snapshot in frozen.only("rows", "sha256").iterator(10):
            if hashlib.sha256(plain(snapshot.rows)).hexdigest() != snapshot.sha256:
                yield f"{kind.name} snapshot {snapshot.pk} no longer matches its hash"


def manifest_of(kind: ResultKind, snapshot: Snapshot) -> dict[str, Any]:
    """Describe a snapshot: hashes, seeds, packages, counts and recipe."""
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
    """Pack rows, figures and manifest into a ZIP file with reproducible bytes."""
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
    """List any differences between an archive's rows and its manifest or figures."""
    try:
        with zipfile.ZipFile(path) as archive:
            rows = archive.read(ROWS)
            manifest, figures = (json.loads(archive.read(name)) for name in (MANIFEST, FIGURES))
        kind = next(
            candidate for candidate in KINDS.values() if _title(candidate) == manifest["kind"]
        )
        claims = manifest["rows"]["sha256"], manifest["figures"]["sha256"], manifest["recipe"]
    except (zipfile.BadZipFile, KeyError, ValueError, StopIteration) as error:
        raise NoSnapshotFile(f"{path} is not a snapshot archive: {error!r}") from error
    return _differences(kind, rows, figures, *claims)


def check_snapshot(kind: ResultKind, snapshot: Snapshot) -> list[str]:
    """List any differences between a stored snapshot's rows and its figures."""
    claims = snapshot.sha256, snapshot.recipe["figures_sha256"], snapshot.recipe
    return _differences(kind, plain(snapshot.rows), snapshot.figures, *claims)


def as_json(content: Any) -> bytes:
    """Encode content as JSON for a file."""
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
    problems = []
    if hashlib.sha256(rows).hexdigest() != rows_sha256:
        problems.append("the rows do not match the manifest (sha256)")
    if json_sha256(figures) != figures_hash:
        problems.append("the figures do not match the manifest (sha256)")
    # Convert to the stored form, with text keys and with lists instead of tuples.
    computed = json.loads(as_json(kind.figures_of(rows, recipe)))
    originals = {name: figures.get(name) for name in computed}
    if recipe["version"] < kind.version:
        computed, originals = (
            _values_alone(kind.comparable(side)) for side in (computed, originals)
        )
    return [*problems, *_unlike(originals, computed, "")][:MOST_DIFFERENCES]


def _values_alone(figures: Any) -> Any:
    """Return the figures without intervals, tests and their descriptions."""
    if isinstance(figures, list):
        return [_values_alone(figure) for figure in figures]
    if not isinstance(figures, dict):
        return figures
    return {key: _values_alone(value) for key, value in figures.items() if key not in METHOD}


def _unlike(original: Any, computed: Any, path: str) -> list[str]:
    """List every path at which two figures differ by more than rounding in the last digits."""
    if isinstance(original, dict) and isinstance(computed, dict):
        keys = [*computed, *(key for key in original if key not in computed)]
        pairs = [(key, original.get(key), computed.get(key)) for key in keys]
        return [
            difference
            for key, a, b in pairs
            for difference in _unlike(a, b, f"{path}.{key}".lstrip("."))
        ]
    if (
        isinstance(original, list)
        and isinstance(computed, list)
        and len(original) == len(computed)
    ):
        pairs = [(place, *both) for place, both in enumerate(zip(original, computed, strict=True))]
        return [
            difference for place, a, b in pairs for difference in _unlike(a, b, f"{path}[{place}]")
        ]
    if isinstance(original, float) or isinstance(computed, float):
        both = [number for number in (original, computed) if isinstance(number, (int, float))]
        is_like = len(both) == 2 and abs(both[0] - both[1]) <= TOLERANCE
    else:
        is_like = original == computed
    return [] if is_like else [f"{path}: stored {original!r:.60}, computed {computed!r:.60}"]
