"""How a run of each kind is asked for: the body, and the page's form that judges it."""

import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework.exceptions import ValidationError

from annotation.forms.faithfulness import CoherenceForm
from annotation.forms.generation import GenerationForm
from annotation.forms.judging import RunForm
from annotation.forms.matrix import MatrixForm
from annotation.models import campaigns_of
from cqa_site.people.models import Study, User
from cqa_site.runs.forms import MILLION
from cqa_site.runs.kind_parts import PARTS, part_of
from cqa_site.runs.plan_form import PlanForm

from . import inputs

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """The body of a request for one kind of run, and how its form is made from it."""

    body: type[inputs.Input]
    form: Callable[[Study, User, Given], PlanForm]


def body_of(data: Any) -> type[inputs.Input]:
    """The body that a request's ``kind`` asks for; relevance if it names none."""
    kind = data.get("kind", "relevance") if isinstance(data, dict) else "relevance"
    if not isinstance(kind, str) or kind not in PARTS:
        raise ValidationError({"kind": [f"One of {', '.join(PARTS)}."]})
    return start_of(kind).body


def form_of(study: Study, actor: User, given: Given) -> PlanForm:
    """The page's form, begun with what it offers; raises 400."""
    form = start_of(given.pop("kind")).form(study, actor, given)
    inputs.require_valid(form)
    return form


def start_of(kind: str) -> Start:
    """How runs of a kind are asked for."""
    start: Start = part_of(kind, "start")
    return start


def key_of(rows: QuerySet, public_id: uuid.UUID) -> int:
    """The key of a row; 0, which no row has, if there is none."""
    return rows.filter(public_id=public_id).values_list("pk", flat=True).first() or 0


def keys_of(rows: QuerySet, public_ids: Iterable[uuid.UUID]) -> list[int]:
    """The keys of rows; the key 0, which no row has, if one of them is missing."""
    wanted = set(public_ids)
    found = list(rows.filter(public_id__in=wanted).values_list("pk", flat=True))
    return found if len(found) == len(wanted) else [0]


def _relevance(study: Study, actor: User, given: Given) -> PlanForm:
    campaigns = campaigns_of(study).select_related("guideline")
    campaign = campaigns.filter(public_id=given.pop("campaign")).first()
    if campaign is None:
        raise ValidationError({"campaign": ["No such campaign in this study."]})
    return RunForm(as_typed(RunForm, study, given), campaign=campaign, actor=actor)


def _answers(study: Study, actor: User, given: Given) -> PlanForm:
    given["comparisons"] = keys_of(study.comparisons, given.pop("comparisons", []))
    return GenerationForm(as_typed(GenerationForm, study, given), study=study, actor=actor)


def matrix_form(study: Study, actor: User, given: Given) -> MatrixForm:
    """The page's form of a launch, begun with what it offers."""
    offered = {name: field.initial for name, field in MatrixForm.base_fields.items()}
    rows = {
        "endpoint": (study.endpoints, given.pop("endpoints")),
        "prompt": (study.prompt_versions, given.pop("prompts")),
        "comparisons": (study.comparisons, given.pop("comparisons", [])),
    }
    given |= {name: keys_of(*chosen) for name, chosen in rows.items()}
    return MatrixForm(offered | _plain(given), study=study, actor=actor)


def _coherence(study: Study, actor: User, given: Given) -> PlanForm:
    given["systems"] = keys_of(study.systems, given.pop("systems", []))
    return CoherenceForm(as_typed(CoherenceForm, study, given), study=study, actor=actor)


def as_typed(form: type[PlanForm], study: Study, given: Given) -> Given:
    """What was sent as a form takes it: keys of rows, JSON as text, money in units."""
    offered = {name: field.initial for name, field in form.base_fields.items()}
    given["endpoint"] = key_of(study.endpoints, given["endpoint"])
    given["prompt"] = key_of(study.prompt_versions, given["prompt"])
    return offered | _plain(given)


def _plain(given: Given) -> Given:
    """JSON as text, money in units."""
    given["extra"] = json.dumps(given.get("extra", {}))
    if (cap := given.pop("cap_micro", None)) is not None:
        given["cap"] = Decimal(cap) / MILLION
    return given


RELEVANCE = Start(inputs.RunInput, _relevance)
ANSWERS = Start(inputs.AnswersRunInput, _answers)
COHERENCE = Start(inputs.CoherenceRunInput, _coherence)
BODY = PolymorphicProxySerializer(
    component_name="AnyRunInput",
    serializers=lambda: {kind: start_of(kind).body for kind in PARTS},
    resource_type_field_name="kind",
)
