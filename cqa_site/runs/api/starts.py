"""How a run of some kind is asked for: the body, and the page's form that judges it."""

import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Manager, QuerySet

from cqa_site.api.inputs import Input
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.endpoints import MILLION
from cqa_site.runs.forms.plan import PlanForm

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """The body of a request for one kind of run, and how its form is made from it."""

    body: type[Input]
    form: Callable[[Study, User, Given], PlanForm]


def key_of(rows: Manager[Any] | QuerySet[Any], public_id: uuid.UUID) -> int:
    """The key of a row; 0, which no row has, if there is none."""
    return rows.filter(public_id=public_id).values_list("pk", flat=True).first() or 0


def keys_of(rows: Manager[Any] | QuerySet[Any], public_ids: Iterable[uuid.UUID]) -> list[int]:
    """The keys of rows; the key 0, which no row has, if one of them is missing."""
    wanted = set(public_ids)
    found = list(rows.filter(public_id__in=wanted).values_list("pk", flat=True))
    return found if len(found) == len(wanted) else [0]


def as_typed(form: type[PlanForm], study: Study, given: Given) -> Given:
    """What was sent as a form takes it: keys of rows, JSON as text, money in units."""
    offered = {name: field.initial for name, field in form.base_fields.items()}
    given["endpoint"] = key_of(study.endpoints, given["endpoint"])
    given["prompt"] = key_of(study.prompt_versions, given["prompt"])
    return offered | plain(given)


def plain(given: Given) -> Given:
    """JSON as text, money in units."""
    given["extra"] = json.dumps(given.get("extra", {}))
    if (cap := given.pop("cap_micro", None)) is not None:
        given["cap"] = Decimal(cap) / MILLION
    return given
