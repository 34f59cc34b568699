"""Runs in which a language model counts: their list, starting one, and the page of one."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.actions.judge import KIND, clipped_and_unparsable, dimension_of
from argsum.counting.forms.runs import CountingRunForm
from argsum.metrics.actions.making import Choice, scorable_sets
from argsum.metrics.models import CountingRun, CountReply, MetricScore
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.face import PER_PAGE, Part, RunFace, Taken, run_urls


def _taken(study: Study, form: PlanForm, requests: int) -> Taken:
    """How many sets there are, and requests about them."""
    sets = requests // form.cleaned_data["replicates"]
    return Taken([(lazy("Sets"), sets), (lazy("Requests, one for each set and reply"), requests)])


FACE = RunFace(
    kind=KIND,
    name="counting",
    form=CountingRunForm,
    parts=(
        Part(
            lazy("What is counted"),
            (("choice",), ("sample", "replicates"), ("dataset", "split"), ("systems",)),
        ),
    ),
    has_things=lambda study: scorable_sets(study, Choice()).exists(),
    taken=_taken,
    about=lazy(
        "Language models count covered references and unique key points, several times for each "
        "set. Coverage and redundancy are means over these replies."
    ),
    new=lazy("Let a judge count"),
    lead=lazy(
        "A model reads what people read: topic, side, references and key points, and nothing "
        "about the system. The prompt decides what it counts; a run for coverage and one for "
        "redundancy make a weighted score."
    ),
    nothing=lazy(
        "A judge counts sets of key points whose topic has references. Run a system, or import "
        "sets first."
    ),
)


def run_page(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it was asked, what it counted."""
    target = run.spec["target"]
    scores = run.metric_scores.select_related("summary_set__cell").order_by("summary_set__cell")
    rows = scores.defer(
        *(f"summary_set__{name}" for name in ("arguments", "clusters", "assigned", "scores"))
    )
    page = Paginator(rows.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "counting": CountingRun.objects.select_related("rater").get(run=run),
        "target": target,
        "dataset": study.argument_datasets.filter(
            public_id__in=[target["dataset"] or None]
        ).first(),
        "is_coverage": dimension_of(run) == CountReply.Dimension.COVERAGE,
        "totals": clipped_and_unparsable(run),
        "reasons": _reasons(run),
        "counts": _counts(run),
        "mean": _mean(run),
        "page": page,
    }
    return render(request, "argsum/counting/run.html", context)


def _counts(run: Run) -> list[tuple[float, int]]:
    rows = run.count_replies.filter(count__isnull=False).order_by("count")
    return list(rows.values_list("count").annotate(n=Count("pk")))


def _reasons(run: Run) -> dict[str, int]:
    rows = run.count_replies.exclude(reason="").order_by("reason")
    return dict(rows.values_list("reason").annotate(n=Count("pk")))


def _mean(run: Run) -> tuple[float | None, int]:
    """Mean over sets with a score, and how many these are."""
    values = [
        value
        for value in MetricScore.objects.filter(run=run).values_list("value", flat=True)
        if value is not None
    ]
    return (sum(values) / len(values) if values else None), len(values)


urlpatterns = run_urls(FACE, "key-points/judges/")
