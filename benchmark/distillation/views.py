"""Selection of training pairs: rules, counts and downloads."""

from collections.abc import Iterable

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path

from benchmark.distillation.forms import PairsForm
from benchmark.distillation.reports import choose, datasheet, jsonl, records
from benchmark.rubrics.models import default_rubric
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

LIMIT = 3


@study_page(*RESEARCHERS, only="GET")
def distillation(request: StudyRequest, study: Study) -> HttpResponseBase:
    """Show the rules and selected pairs, or download the requested `part` or `datasheet`."""
    rubric = default_rubric(study)
    initial = {"rubric": rubric.public_id}
    form = PairsForm(request.GET if "basis" in request.GET else None, study=study, initial=initial)
    context = {"study": study, "form": form}
    if not form.is_bound:
        return render(request, "benchmark/distillation/distillation.html", context)
    if not form.is_valid():
        return render(request, "benchmark/distillation/distillation.html", context, status=422)
    training = choose(form.cleaned_data["rubric"], form.rules())
    wanted = request.GET.get("file")
    if wanted == "datasheet":
        return _file([datasheet(training)], "datasheet.md", "text/markdown; charset=utf-8")
    if wanted in ("train", "validation"):
        return _file(jsonl(training, wanted), f"{wanted}.jsonl", "application/jsonl")
    query = request.GET.copy()
    query.pop("file", None)
    context |= {
        "training": training,
        "query": query.urlencode(),
        "examples": [record for record, _n in zip(records(training), range(LIMIT), strict=False)],
    }
    return render(request, "benchmark/distillation/distillation.html", context)


def _file(pieces: Iterable[str], name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(
        (piece.encode() for piece in pieces), content_type=content_type
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


urlpatterns = [path("scores/training-data/", distillation, name="distillation")]
