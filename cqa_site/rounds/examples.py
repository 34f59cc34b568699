"""Examples of a round: items with known answers, which people do before all other items.

They train people, or decide whether people may work. An example is neither an ordinary item nor a
control item in its round, so that nobody gets an item on which they were trained.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Max, Q
from django.utils.translation import gettext as _

from .kind import RoundNotReady, TaskKind, sheet_kind_of
from .models import ORDINARY, Round
from .queue import CHUNK

# Maximum number of known answers offered on a page.
OFFERED = 50
# Key in an example's notes for the place in the guideline. The other keys are fields with reasons.
WHERE = "where"


def examples_of(round_: Any) -> Any:
    """Return the examples of a round, ordered by position."""
    items = sheet_kind_of(round_).Item._default_manager
    return items.filter(round=round_.pk, key_points__isnull=False).order_by("position")


def known_items(round_: Any, most: int = OFFERED) -> list[Any]:
    """Return examples from other rounds and control items from closed rounds that fit this round.

    Control items of running rounds stay hidden. Closed rounds come first, then newer rounds. Only
    the first item about the same subject is returned. Items that are already in this round, and
    items whose answers have different parts, are left out.
    """
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(round__study=round_.study_id)
    seen = set(items.filter(round=round_.pk).values_list(*kind.likeness))
    open_to_all = Q(key_points__isnull=False) | Q(round__state=Round.State.CLOSED)
    others = items.exclude(ORDINARY).exclude(round=round_.pk).filter(open_to_all)
    others = others.filter(kind.fits(round_))
    order = (F("round__closed_at").desc(nulls_last=True), "-round", "position")
    keys: list[int] = []
    parts = set(kind.answer_fields(round_))
    columns = ("pk", "key_points", "known", *kind.likeness)
    for pk, key, known, *like in others.order_by(*order).values_list(*columns)[:CHUNK]:
        if tuple(like) not in seen and set(key or known) == parts and len(keys) < most:
            seen.add(tuple(like))
            keys.append(pk)
    rows = others.select_related("round", *kind.item_needed).in_bulk(keys)
    return [rows[key] for key in keys]


def add_example(
    round_: Any, thing: Any, known: Mapping[str, Any], notes: Mapping[str, str] | None = None
) -> Any:
    """Make the item about a thing an example, or add a new item; the caller locks the round."""
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk)
    key = {"key_points": known, "key_notes": notes or {}, "known": None}
    if items.filter(**{kind.subject: thing}).update(**key):
        return items.get(**{kind.subject: thing})
    return add_item(round_, thing, **key)


def add_item(round_: Any, thing: Any, **fields: Any) -> Any:
    """Add an item that was not drawn, after all other items; the caller locks the round."""
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk)
    position = 1 + (items.aggregate(last=Max("position"))["last"] or 0)
    fields |= {"round": round_, "position": position, "is_drawn": False, kind.subject: thing}
    return items.create(**fields)


def draw_examples(round_: Any, wanted: int) -> None:
    """Add known items until there are enough for the steps; raises RoundNotReady."""
    if not wanted:
        return
    missing = wanted - examples_of(round_).count()
    known = known_items(round_, missing) if missing > 0 else []
    if len(known) < missing:
        text = _(
            "The round has too few examples with known answers. Needed for the steps before the "
            "work: %(wanted)d, chosen: %(number)d, from other rounds: %(known)d. Enter answers "
            "under “Choose examples” of a draft, or choose other steps."
        )
        about = {"wanted": wanted, "number": wanted - missing, "known": len(known)}
        raise RoundNotReady(text % about)
    for item in known:
        thing = sheet_kind_of(round_).copied(round_, item)
        add_example(round_, thing, item.known_answer, item.key_notes)


@dataclass(frozen=True)
class AnswerPart:
    """One part of a known answer as text, with a person's answer and the reason."""

    name: str
    label: Any
    known: str
    given: str = ""
    why: str = ""

    @property
    def is_met(self) -> bool:
        return self.given == self.known


def answer_parts(
    kind: TaskKind,
    round_: Any,
    known: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> list[AnswerPart]:
    """Return the parts of a known answer: choices as labels, and numbers as text."""
    parts = []
    for name, field in kind.answer_fields(round_).items():
        choices = dict(getattr(field, "choices", ()))
        values = (known.get(name), (given or {}).get(name))
        first, own = (
            str(choices[value]) if value in choices else _number(value) for value in values
        )
        parts.append(AnswerPart(name, field.label, first, own, (notes or {}).get(name, "")))
    return parts


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def parts_of(sheet: Any, item: Any) -> list[AnswerPart]:
    """Return the parts of a sheet's answer beside the known answer of its example."""
    kind, known = sheet_kind_of(sheet), item.key_points or {}
    return answer_parts(kind, sheet.round, known, kind.answer_of(sheet), item.key_notes)


def known_text(kind: TaskKind, round_: Any, known: Mapping[str, Any]) -> str:
    """Return a known answer as one line of text, with the names of the parts if it has several."""
    parts = answer_parts(kind, round_, known)
    if len(parts) == 1:
        return parts[0].known
    names = [part.name if len(parts) > 2 else part.label for part in parts]
    return ", ".join(f"{name} {part.known}" for name, part in zip(names, parts, strict=True))
