"""What label pages may know: allow-lists, the same keys for every item."""

from collections.abc import Mapping

from annotation.corpus.methods.highlight import Segment, split_sentence
from annotation.labelling.models.votes import Assignment


def segments_of(row: Assignment) -> list[Segment]:
    """The sentence in parts, with the names of the two objects marked."""
    argument = row.item.argument
    return split_sentence(argument.text, argument.comparison.object1, argument.comparison.object2)


def item_payload(row: Assignment) -> dict[str, object]:
    """Everything a page gets about one item."""
    comparison = row.item.argument.comparison
    return {
        "id": str(row.public_id),
        "object1": comparison.object1,
        "object2": comparison.object2,
        "segments": [{"text": part.text, "mark": part.mark} for part in segments_of(row)],
        "blank": row.item.argument.is_blank,
    }


def earlier_payload(row: Assignment, known: Mapping[int, str]) -> dict[str, object]:
    """An item with the rater's answer; changing it sends ``known`` back."""
    return {
        "item": item_payload(row),
        "known": known.get(row.pk, ""),
        "answer": {
            "label": row.label,
            "skip_reason": row.skip_reason,
            "comment": row.comment,
            "flag": row.is_flagged,
        },
    }
