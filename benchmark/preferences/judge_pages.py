"""Pages of runs in which a model compares pairs of answers."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as lazy

from benchmark.preferences.judge import KIND, NEEDED, ORDERS, PreferringKind
from benchmark.preferences.judge_form import PreferringRunForm
from benchmark.preferences.methods.verdicts import TIE
from benchmark.preferences.models import PreferenceRound, PreferenceSheet
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.raters import rater_of
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.face import PER_PAGE, Part, RunFace, Taken, run_urls


def _taken(study: Study, form: PlanForm, requests: int) -> Taken:
    """How many pairs there are, and requests about them."""
    pairs = requests // len(ORDERS)
    return Taken([(lazy("Pairs"), pairs), (lazy("Requests, one for each order"), requests)])


FACE = RunFace(
    kind=KIND,
    name="preference",
    form=PreferringRunForm,
    parts=(Part(lazy("What is compared"), (("choice",), ("preference_round", "sample"))),),
    has_things=lambda study: study.pairs.exists(),
    taken=_taken,
    about=lazy(
        "Language models compare the pairs of answers that people compare, each in both orders. "
        "Two different verdicts on a pair count as a tie."
    ),
    new=lazy("Let a judge compare"),
    lead=lazy(
        "A model reads what people read: the question and two answers, and nothing about who "
        "wrote them. Each pair is asked about in both orders."
    ),
    nothing=lazy("A judge compares the pairs of preference rounds. Draw some; a draft will do."),
)


@dataclass(frozen=True)
class Compared:
    """What a judge said of one pair: with its first answer on the left, on the right, and both."""

    left: PreferenceSheet | None
    right: PreferenceSheet | None

    @property
    def sheets(self) -> tuple[PreferenceSheet | None, ...]:
        """In the order of the columns."""
        return self.left, self.right

    @property
    def said(self) -> list[str]:
        """The verdicts that were read."""
        return [each.verdict for each in self.sheets if each and each.verdict]

    @property
    def is_contradiction(self) -> bool:
        """Whether the two orders gave two verdicts."""
        return len(set(self.said)) == 2

    @property
    def verdict(self) -> str:
        """The one that counts; empty where no reply could be read."""
        return TIE if self.is_contradiction else next(iter(self.said), "")

    @property
    def counts_as(self) -> str:
        """The verdict in words."""
        return str(PreferenceSheet.Verdict(self.verdict).label) if self.verdict else "–"

    @property
    def known(self) -> str:
        """What is known of a control pair."""
        return next((each.known for each in self.sheets if each), "")


def compared(sheets: Iterable[PreferenceSheet]) -> dict[int, Compared]:
    """Pair → what was said of it."""
    found: dict[int, dict[bool, PreferenceSheet]] = {}
    for sheet in sheets:
        found.setdefault(sheet.pair_id, {})[sheet.is_swapped] = sheet
    return {key: Compared(two.get(False), two.get(True)) for key, two in found.items()}


def totals_of(found: Iterable[Compared]) -> Counter[str]:
    """How many pairs were read in both orders, alike or not, in one, in none; controls met."""
    totals: Counter[str] = Counter()
    for each in found:
        n = len(each.said)
        totals[("none", "one", "both")[n]] += 1
        totals["contradictions"] += each.is_contradiction
        totals["same"] += n == 2 and not each.is_contradiction
        totals["controls"] += bool(each.known and each.verdict)
        totals["met"] += bool(each.known) and each.verdict == each.known
    return totals


def run_page(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it was asked, what it said and how far it held to it."""
    target = run.spec["target"]
    sheets = run.preference_sheets.defer("draft")
    pairs = study.pairs.filter(sheets__run=run).distinct().select_related(*NEEDED)
    pairs = pairs.prefetch_related(Prefetch("sheets", sheets, to_attr="said_here"))
    page = Paginator(pairs.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "target": target,
        "round": PreferenceRound.objects.filter(
            study=study, public_id__in=[target["round"] or None]
        ).first(),
        "rater": rater_of(run),
        "totals": totals_of(compared(sheets.defer("comment", "draft")).values()),
        "sides": PreferringKind().values(run),
        "page": page,
        "rows": [(pair, compared(vars(pair)["said_here"])[pair.pk]) for pair in page],
    }
    return render(request, "benchmark/preferences/run.html", context)


urlpatterns = run_urls(FACE, "preferences/judges/")
