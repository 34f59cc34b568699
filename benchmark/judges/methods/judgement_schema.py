"""JSON schemas of what a judge answers by a rubric; `judgement_reading` reads it.

For endpoints that hold a model to a schema. The order of properties is part of it: keep it when
storing one (PostgreSQL's jsonb does not).
"""

from typing import Any

from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.judging.schemas import LONGEST_REASON, closed_object


def judgement_schema(
    rubric: Rubric, *, group: str | None = None, with_reasons: bool = False
) -> dict[str, Any]:
    """Exactly the criteria of the rubric or of one group, each with its own range of points.

    With reasons, each value is ``{"reason": "…", "points": 1}``, the reason first: what a model
    writes after its points cannot bear on them. Raises KeyError for an unknown group.

    Examples
    --------
    >>> from .compqa_rubric import COMPQA
    >>> judgement_schema(COMPQA, group="relevance")["required"]
    ['C8', 'C9', 'C10']
    """
    fields: dict[str, Any] = {}
    for criterion in rubric.of_group(group):
        points = {"type": "integer", "enum": list(range(criterion.maximum + 1))}
        reason = {"type": "string", "maxLength": LONGEST_REASON}
        entry = closed_object({"reason": reason, "points": points}) if with_reasons else points
        fields[criterion.key] = entry
    return closed_object(fields)
