"""The counting judge: prompts, the sets that it reads, and its scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db.models import Count, Exists, Model, OuterRef, Prefetch, QuerySet
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.methods.counts import (
    READER_VERSION,
    CountScore,
    NoCount,
    mean_coverage,
    mean_redundancy,
    read_count,
)
from argsum.counting.models import CountSheet
from argsum.datasets.models import Cell, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from argsum.metrics.actions.metrics import SetSelection, scorable_sets, upsert
from argsum.metrics.methods import LLM_COVERAGE, LLM_REDUNDANCY
from argsum.metrics.models import CountingRun, CountReply, MetricScore
from argsum.writing.actions.prompts import SIDES
from cqa_site.judging.prompts import (
    Neutral,
    PromptLayout,
    PromptParts,
    fence_records,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.people.models import Study
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
    Subjects,
    rater_of,
)
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning import MOST, seeded_places

FOLDER = Path(__file__).parent.parent / "prompts"
COVERAGE, UNIQUENESS = "count_coverage", "count_redundancy"
DIMENSIONS: dict[str, str] = {
    COVERAGE: CountReply.Dimension.COVERAGE,
    UNIQUENESS: CountReply.Dimension.UNIQUENESS,
}
PROMPTS = {
    COVERAGE: PromptKind(
        lazy("Count of covered references"),
        PromptLayout((), ("topic", "stance", "references", "summaries")),
        FOLDER / "coverage.md",
    ),
    UNIQUENESS: PromptKind(
        lazy("Count of unique key points"),
        PromptLayout((), ("topic", "stance", "summaries")),
        FOLDER / "redundancy.md",
    ),
}


def write_request(prompt: PromptVersion, summary_set: SummarySet) -> CallRequest:
    """Return the request for one set, with quoted texts and without hidden characters.

    The set must include its cell, its summaries and the cell's key points, all in order.
    """
    summaries = [neutralise(summary.text) for summary in summary_set.summaries.all()]
    texts = list(summaries)
    cell = summary_set.cell
    values = {
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
        "summaries": _numbered(summaries, "summaries"),
    }
    if prompt.kind == COVERAGE:
        references = [neutralise(key_point.text) for key_point in cell.key_points.all()]
        values["references"] = _numbered(references, "references")
        texts += references
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    flags = tuple(name for text in texts for name in text.flags.names)
    return CallRequest(tuple(render(parts, values)), None, flags)


def _numbered(texts: Sequence[Neutral], name: str) -> str:
    plain = [neutral.text for neutral in texts]
    records = [{"id": number, "statement": text} for number, text in enumerate(plain, start=1)]
    return fence_records(records, fence_token(name, *plain))


LONG = ("arguments", "clusters", "assigned", "scores")


def target_of(
    *,
    dataset: str = "",
    split: str = "",
    systems: Iterable[str] = (),
    choice: str = "all",
    sample: int = 0,
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec.

    Parameters
    ----------
    dataset, split, systems
        Public id and names that narrow the choice; empty values select all.
    choice
        ``all`` sets, ``judged`` (only sets that people judged), or a seeded ``sample``.
    sample
        Size of the sample.
    """
    return {
        "dataset": str(dataset),
        "split": split,
        "systems": sorted(systems),
        "choice": choice,
        "sample": sample,
    }


def counted_sets(study: Study, target: Mapping[str, Any]) -> QuerySet[SummarySet]:
    """Return the countable sets of a target, before a sample is drawn."""
    wanted = SetSelection(target["dataset"], target["split"], tuple(target["systems"]))
    rows = scorable_sets(study, wanted)
    if target["choice"] == "judged":
        sheets = CountSheet.objects.filter(
            summary_set=OuterRef("pk"), state=CountSheet.State.SUBMITTED
        )
        rows = rows.filter(Exists(sheets))
    return rows.order_by("cell", "system", "setting", "pk")


def keys_of(study: Study, target: Mapping[str, Any], seed: int) -> list[int]:
    """Return the primary keys of the sets, in the order of the requests."""
    keys = list(counted_sets(study, target).values_list("pk", flat=True))
    if target["choice"] != "sample":
        return keys
    return [keys[place] for place in seeded_places(len(keys), target["sample"], seed)]


def with_texts(study: Study, keys: Sequence[int]) -> dict[int, SummarySet]:
    """Return the sets with all data that a request shows, using three queries."""
    rows = study.summary_sets.filter(pk__in=keys).select_related("cell").defer(*LONG)
    summaries = SystemSummary.objects.order_by("position")
    references = ReferenceKeyPoint.objects.order_by("position")
    return {
        row.pk: row
        for row in rows.prefetch_related(
            Prefetch("summaries", summaries), Prefetch("cell__key_points", references)
        )
    }


# Counting judge: how many references a set covers, or how many of its points are unique
#
# The kind of the prompt decides which of the two a run counts. There is one request per set and
# replicate.

KIND = "counting"
REPLIES, TEMPERATURE = 10, 1.0
METRICS = {
    CountReply.Dimension.COVERAGE: LLM_COVERAGE,
    CountReply.Dimension.UNIQUENESS: LLM_REDUNDANCY,
}
STORED_FIELDS = ["count", "reason", "fence", "at"]
NOTHING_READ = "no usable reply"


class CountingKind:
    """Hooks that the engine calls for runs of kind ``counting``."""

    parser_version = READER_VERSION
    values_title = lazy("Counts:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Link the run to a rater, so that it can be compared with people."""
        CountingRun.objects.create(run=run, rater=rater_of(run))

    def subjects(self, run: Run) -> Sequence[Subject]:
        """Return one subject per set."""
        keys = keys_of(run.study, run.spec["target"], run.spec["seed"])
        return Subjects("s", keys, range(len(keys)))

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests, using three queries."""
        sets = with_texts(run.study, [subject.ids[0] for subject in subjects])
        return [write_request(run.prompt, sets[subject.ids[0]]) for subject in subjects]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        try:
            return ReplyReading(
                value=read_count(reply.text, reply.finish_reason, refusal=reply.refusal)
            )
        except NoCount as problem:
            return ReplyReading.unscored(problem.reason)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call, then the score of each affected set."""
        CountReply.objects.bulk_create(
            [_row(run, reply) for reply in ended],
            update_conflicts=True,
            unique_fields=["run", "summary_set", "dimension", "replicate"],
            update_fields=["call", *STORED_FIELDS],
        )
        upsert(iter(scores_of(run, {reply.call.subject_ids[0] for reply in ended})))

    def values(self, run: Run) -> dict[str, int]:
        """Return how often each count was given."""
        rows = run.count_replies.filter(count__isnull=False).order_by("count")
        counts = rows.values_list("count").annotate(n=Count("pk"))
        return {f"{count:g}": n for count, n in counts}

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts, because replies contain counts and no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row that matches its fence and reply."""

        def is_as_said(row: CountReply, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return row.count is None or row.count == value

        rows = run.count_replies.all()
        problems = check_rows(run, rows, "count", is_as_said)
        return problems + _wrong_scores(run)


def dimension_of(run: Run) -> str:
    return DIMENSIONS[run.prompt.kind]


def setting_of(run: Run) -> str:
    """Return a name that distinguishes the scores of this run from those of other runs."""
    return f"#{run.number} {run.spec['model']}"[:200]


def scores_of(run: Run, sets: Iterable[int]) -> list[MetricScore]:
    """Return the score of each set from all its replies, using two queries."""
    keys = set(sets)
    replies: dict[int, list[float | None]] = {key: [] for key in keys}
    rows = run.count_replies.filter(summary_set__in=keys).order_by("summary_set", "replicate")
    for key, count in rows.values_list("summary_set", "count"):
        replies[key].append(count)
    dimension = dimension_of(run)
    sizes = _sizes(keys, dimension)
    return [
        _score(run, key, replies[key], sizes[key], dimension)
        for key in sorted(keys)
        if replies[key] and sizes.get(key)
    ]


def _sizes(keys: set[int], dimension: str) -> dict[int, int]:
    """Map each set to its number of references or summaries, the upper limit of a count."""
    of = "cell__key_points" if dimension == CountReply.Dimension.COVERAGE else "summaries"
    rows = SummarySet.objects.filter(pk__in=keys).order_by()
    return dict(rows.values_list("pk").annotate(n=Count(of)))


def _score(
    run: Run, key: int, replies: Sequence[float | None], size: int, dimension: str
) -> MetricScore:
    is_coverage = dimension == CountReply.Dimension.COVERAGE
    score: CountScore = (mean_coverage if is_coverage else mean_redundancy)(replies, size)
    return MetricScore(
        summary_set_id=key,
        metric=METRICS[CountReply.Dimension(dimension)],
        setting=setting_of(run),
        value=score.value,
        reason="" if score.value is not None else NOTHING_READ,
        run=run,
        details={
            "replies": score.n,
            "unparsable": score.unparsable,
            "clipped": score.clipped,
            "most": size,
            "temperature": run.spec["params"].get("temperature"),
        },
    )


def _row(run: Run, reply: EndedCall) -> CountReply:
    value: Any = reply.reading.value
    return CountReply(
        run=run,
        call=reply.call,
        summary_set_id=reply.call.subject_ids[0],
        dimension=dimension_of(run),
        replicate=reply.call.replicate,
        count=None if reply.reading.reason else value,
        reason=reply.reading.reason[:40],
        fence=reply.fence,
    )


def _wrong_scores(run: Run) -> list[str]:
    """Return a problem for each stored score that does not follow from the replies."""
    stored = dict(run.metric_scores.values_list("summary_set", "value"))
    values = {score.summary_set_id: score.value for score in scores_of(run, stored)}
    counted = set(run.count_replies.values_list("summary_set", flat=True))
    problems = [f"set {key} has replies but no score" for key in sorted(counted - set(stored))]
    for key, value in stored.items():
        recount = values.get(key)
        if (value is None) != (recount is None) or abs((value or 0) - (recount or 0)) > 1e-9:
            problems.append(f"the score of set {key} does not match its replies")
    return problems


def clipped_and_unparsable(run: Run) -> Counter[str]:
    """Return the counts of readable, clipped and unparsable replies in a run."""
    counts: Counter[str] = Counter()
    for details in run.metric_scores.values_list("details", flat=True):
        for name in ("replies", "clipped", "unparsable"):
            counts[name] += details.get(name, 0)
    return counts


def _sets(study: Study) -> QuerySet[SummarySet]:
    """Return the sets with key points and references."""
    return counted_sets(study, target_of()).select_related("cell").defer(*LONG)


def _draft(study: Study, version: PromptVersion, model: Model) -> tuple[Run, list[Model]]:
    spec = {"target": target_of(), "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [model]


COUNTING = PreviewTargets(lazy("Set of key points"), _sets, _draft)
