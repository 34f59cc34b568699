"""REST views for faithfulness, verdicts and expert agreement, and for starting runs."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.answers.reports import whose_labels
from annotation.editing.models import EditingRound
from annotation.faithfulness.actions import figures
from annotation.faithfulness.actions.texts import embedding_of, freshness
from annotation.faithfulness.api.serializers import (
    AgreementSerializer,
    CoherenceRunInput,
    EditedTextSerializer,
    FaithfulnessSerializer,
    FiguresFilter,
    FiguresInput,
    FiguresSerializer,
    VerdictFilter,
    VerdictSerializer,
)
from annotation.faithfulness.forms import CoherenceForm
from annotation.faithfulness.models import FaithfulnessFigures
from annotation.faithfulness.reports.edited import edited_of
from annotation.faithfulness.reports.expert_agreement import ExpertAgreement, agreement_of
from annotation.faithfulness.reports.faithfulness import (
    FaithfulnessSelection,
    chosen_run,
    groups_of,
    judge_runs,
    state_of,
)
from annotation.faithfulness.reports.tables import (
    TextSelection,
    answer_of,
    relabelled_rows,
    rows_of,
)
from annotation.faithfulness.reports.texts import VerdictSelection, verdicts_of
from cqa_site.api.base import NothingInput, Request, StudyViews
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import Given, JobSerializer, Start, as_typed, keys_of
from cqa_site.runs.api.runs import RunPartViews
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.models import Run
from cqa_site.web.rest.queries import Conflict, refuse_unknown

MODE = OpenApiParameter("mode", str, enum=FaithfulnessFigures.Mode.values, default="sound")
CONDITION = OpenApiParameter(
    "condition", str, description="Id of a condition, or plain for the plain conditions."
)
LABELS = OpenApiParameter(
    "labels",
    str,
    description="Source of the final labels for precision, recall and F1: a round's id, or "
    "newest (of each sentence); by default the study's choice.",
)
RUN = OpenApiParameter("run", str, description="Run whose verdicts count; by default the newest.")


class FaithfulnessViews(StudyViews):
    """The figures of a study by system and condition."""

    queryset = FaithfulnessFigures.objects.none()
    serializer_class = FaithfulnessSerializer

    @extend_schema(parameters=[MODE, RUN, CONDITION, LABELS], responses=FaithfulnessSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return all groups with measures, intervals and n, and the number of stale texts."""
        refuse_unknown(request, {"mode", "run", "condition", "labels"})
        choice = choice_of(request, self.study)
        runs = list(judge_runs(self.study))
        run, state = chosen_run(runs, choice), freshness(self.study)
        seen = state_of(self.study, choice.labels)
        payload = {
            "mode": choice.mode,
            "labels": whose_labels(self.study, choice.labels),
            "embedding": embedding_of(self.study),
            "run": run.public_id if run else None,
            "texts": state.texts,
            "stale": state.stale,
            "without_similarity": state.without_vectors,
            "stale_edited": state.stale_pairs,
            "groups": groups_of(self.study, choice, run, seen),
        }
        return Response(FaithfulnessSerializer(payload).data)

    @extend_schema(request=FiguresInput, responses={202: JobSerializer})
    def compute(self, request: Request, **kwargs: Any) -> Response:
        """Update the figures in the background; only one such job runs per study at a time."""
        data = self.read(FiguresInput)
        embedding = data.get("embedding", embedding_of(self.study))
        job = figures.request_figures(study=self.study, embedding=embedding, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NothingInput, responses=JobSerializer)
    def cancel(self, request: Request, **kwargs: Any) -> Response:
        """Stop the computation; stored figures remain."""
        self.read(NothingInput)
        if not figures.cancel_figures(study=self.study, actor=request.user):
            raise Conflict("Nothing is being computed.")
        return Response(JobSerializer(figures.latest_job(self.study)).data)


class FiguresViews(StudyViews):
    """Figures of single texts."""

    serializer_class = FiguresSerializer
    filterset_class = FiguresFilter

    def rows(self) -> QuerySet:
        """List answers as written, or revisions if ``texts=edited``, ordered by question."""
        return rows_of(self.study, *self._wanted(choice_of(self.request)))

    def list(self, request: Request, **kwargs: Any) -> Response:
        """Return one page of texts with their figures."""
        choice = choice_of(request, self.study)
        rows: Any = self.filter_queryset(self.get_queryset())
        if choice.labels:
            rows = relabelled_rows(self.study, *self._wanted(choice))
        page = self.paginate_queryset(rows) or []
        for row in page:
            row.about = answer_of(row)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def _wanted(self, choice: FaithfulnessSelection) -> tuple[TextSelection, Run | None]:
        wanted = TextSelection.from_query(self.request.query_params, choice.mode, choice.labels)
        return wanted, chosen_run(list(judge_runs(self.study)), choice)


class EditedTextViews(StudyViews):
    """Texts written by people, with the machine answers they are based on."""

    serializer_class = EditedTextSerializer

    def rows(self) -> QuerySet:
        """List the newest revision of each task, and imported gold texts."""
        return edited_of(self.study)


class VerdictViews(RunPartViews):
    """Verdicts of a run that judged the coherence of citations."""

    serializer_class = VerdictSerializer
    filterset_class = VerdictFilter

    def rows(self) -> QuerySet:
        """Return the verdicts, text by text."""
        return verdicts_of(self.run, VerdictSelection())


class AgreementViews(StudyViews):
    """Similarity between experts' versions of a round's calibration answers."""

    queryset = EditingRound.objects.none()
    serializer_class = AgreementSerializer

    @extend_schema(parameters=[MODE], responses=AgreementSerializer)
    def retrieve(self, request: Request, round_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return the pairwise agreement of experts and machine, and each expert's changes."""
        refuse_unknown(request, {"mode"})
        rounds = EditingRound.objects.filter(study=self.study).select_related("study")
        editing_round = get_object_or_404(rounds, public_id=round_id)
        mode, model = choice_of(request).mode, embedding_of(self.study)
        agreement = agreement_of(editing_round, mode, model)
        return Response(AgreementSerializer(_told(agreement, mode, model)).data)


def choice_of(request: Request, study: Study | None = None) -> FaithfulnessSelection:
    """Return the selection in the query; raises 400 for an unknown mode or label set."""
    mode = request.query_params.get("mode", FaithfulnessFigures.Mode.SOUND)
    if mode not in FaithfulnessFigures.Mode.values:
        raise ValidationError({"mode": [f"One of {', '.join(FaithfulnessFigures.Mode.values)}."]})
    choice = FaithfulnessSelection.from_query(request.query_params, study)
    if study is not None and choice.labels != request.query_params.get("labels", ""):
        raise ValidationError({"labels": ["A round of the study with final labels, or newest."]})
    return choice


def _told(agreement: ExpertAgreement, mode: str, model: str) -> dict[str, Any]:
    """Return the agreement, with experts identified by number and the machine by 0."""
    numbers = [0, *(expert.number for expert in agreement.experts)]
    people = User.objects.in_bulk([expert.key for expert in agreement.experts])
    pairs = [
        {
            "one": numbers[place],
            "other": numbers[other],
            "mean_cosine": agreement.cells[place][other].value,
            "answers": agreement.cells[place][other].n,
        }
        for place in range(len(numbers))
        for other in range(place + 1, len(numbers))
    ]
    work = [
        vars(row) | {"expert": number, "user": people[row.key].public_id}
        for number, row in zip(numbers[1:], agreement.work, strict=True)
    ]
    return {
        "mode": mode,
        "embedding": model,
        "calibration_answers": agreement.n_answers,
        "versions": agreement.n_versions,
        "without_vector": agreement.without_vector,
        "pairs": pairs,
        "work": work,
    }


def _coherence(study: Study, actor: User, data: Given) -> RunPlanForm:
    data["systems"] = keys_of(study.systems, data.pop("systems", []))
    return CoherenceForm(as_typed(CoherenceForm, study, data), study=study, actor=actor)


COHERENCE = Start(CoherenceRunInput, _coherence)
