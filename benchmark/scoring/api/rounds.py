"""Scoring rounds: draw, set examples, open, close; who has done what in them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from benchmark.rubrics.methods.rubric import RubricError
from benchmark.scoring.actions import rounds as actions
from cqa_site.api.requests import Request
from cqa_site.rounds.api.bodies import QualificationInput
from cqa_site.rounds.api.rounds import RoundApi, round_views
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.web.rest.problems import conflict_on

from . import round_bodies as bodies

ROUNDS = round_views(
    RoundApi(
        plan=bodies.ScoringRoundInput,
        decision=QualificationInput,
        shown=bodies.ScoringRoundSerializer,
        item=bodies.ScoringItemSerializer,
        person=bodies.ScorerSerializer,
        related=("rubric",),
    ),
    "round_id",
)


class ScoringExampleViews(ROUNDS.items):  # type: ignore[name-defined]
    """The examples of a round's qualification."""

    @extend_schema(request=bodies.ExampleInput, responses={204: None})
    def set_example(self, request: Request, **kwargs: Any) -> Response:
        """Set the key of an example of a draft, or take an example out."""
        given = self.read(bodies.ExampleInput)
        answer = self.study.answers.filter(public_id=given["answer"]).first()
        if answer is None:
            raise ValidationError({"answer": ["No such answer in this study."]})
        try:
            with conflict_on(RoundNotReady):
                actions.set_example(
                    round_=self.round,
                    answer=answer,
                    points=given["points"],
                    notes=given.get("notes"),
                )
        except RubricError as problem:
            raise ValidationError({"points": [str(problem)]}) from problem
        return Response(status=204)
