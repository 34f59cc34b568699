"""The relevance judge: a language model labels the arguments of a round."""

from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models import Argument
from annotation.judges.models import JudgeLabel, RelevanceRun
from annotation.labelling.actions.rounds import default_levels
from annotation.labelling.models import LabelRound, label_rounds_of
from cqa_site.judging.chat import digest
from cqa_site.judging.prompts import (
    Neutral,
    PromptLayout,
    PromptParts,
    fence,
    fence_items,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.judging.reply_parsing import (
    PARSER_VERSION,
    LabelReading,
    ReplyNotUsable,
    UnscoredReason,
    batch_schema,
    label_schema,
    parse_batch,
    parse_single,
)
from cqa_site.people.models import Rater, Study
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
    Subjects,
)
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning import MOST, seeded_places

# Relevance judge
#
# Depending on the kind of prompt version, a request contains one sentence or, as in the paper,
# several sentences of one comparison as a JSON batch.

FOLDER = Path(__file__).parents[1] / "prompts"

KIND = "relevance"
SINGLE, BATCH = "relevance_single", "relevance_batch"
PROMPTS = {
    SINGLE: PromptKind(
        lazy("One sentence per request"),
        PromptLayout(("levels",), ("object1", "object2", "sentence")),
        FOLDER / "relevance_single.md",
    ),
    BATCH: PromptKind(
        lazy("Several sentences per request"),
        PromptLayout(("levels",), ("object1", "object2", "sentences")),
        FOLDER / "relevance_batch.md",
    ),
}
BATCH_SIZE = 20
CHUNK = 2_000


class RelevanceArgument(NamedTuple):
    """The parts of an argument that a request contains."""

    text: str
    object1: str
    object2: str


class RelevanceRubric(NamedTuple):
    """The content shared by all requests of a run."""

    parts: PromptParts
    levels: str
    allowed: list[int]


class RelevanceKind:
    """Run-engine hooks for ``relevance`` runs."""

    parser_version = PARSER_VERSION
    values_title = lazy("Labels given:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Link the run to its round and its rater."""
        label_round = label_rounds_of(run.study).get(public_id=run.spec["target"]["label_round"])
        RelevanceRun.objects.create(run=run, label_round=label_round, rater=_rater(run))

    def subjects(self, run: Run) -> Subjects:
        """Return one subject per argument or per batch of a comparison's arguments."""
        keys, comparisons = chosen_arguments(run.study, run.spec["target"], run.spec["seed"])
        if run.prompt.kind == SINGLE:
            return Subjects("a", keys, range(len(keys)))
        return Subjects("b", keys, _batches(comparisons, run.spec["target"]["batch_size"]))

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Write the prompts, with one query."""
        rows = Argument.objects.filter(
            study=run.study_id, pk__in={pk for subject in subjects for pk in subject.ids}
        ).values_list("pk", "text", "comparison__object1", "comparison__object2")
        argument = {pk: RelevanceArgument(*texts) for pk, *texts in rows}
        levels = run.spec["target"]["levels"]
        rubric = RelevanceRubric(
            PromptParts(run.prompt.system, run.prompt.user, PROMPTS[run.prompt.kind].layout),
            "\n".join(
                f"{level['value']}: {level['name']}. {level['meaning']}".strip()
                for level in levels
            ),
            [level["value"] for level in levels],
        )
        write = _single if run.prompt.kind == SINGLE else _batch
        return [write(rubric, [argument[pk] for pk in subject.ids]) for subject in subjects]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read one reply into ``{argument: Label | Unscored}``."""
        allowed = [level["value"] for level in run.spec["target"]["levels"]]
        if run.prompt.kind == SINGLE:
            return _read_single(call, reply, allowed)
        return _read_batch(call, reply, allowed)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store a label, or the reason that it is missing, for each argument and replicate."""
        label_round = RelevanceRun.objects.values_list("label_round", flat=True).get(run=run)
        rows = [row for reply in ended for row in _rows(run, label_round, reply)]
        JudgeLabel.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["run", "argument", "replicate"],
            update_fields=["label", "reason", "rationale", "fence", "call", "at"],
        )

    def values(self, run: Run) -> dict[str, int]:
        """Count the occurrences of each label."""
        labels = run.judge_labels.filter(label__isnull=False).values_list("label")
        return {str(label): n for label, n in labels.annotate(n=Count("pk")).order_by("label")}

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts; labels contain no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row per argument, with the call's fence."""
        problems = []
        rows: Counter[tuple[int, int]] = Counter(run.judge_labels.values_list("call", "fence"))
        for call in run.calls.filter(state__in=(Call.State.DONE, Call.State.UNSCORED)):
            if rows.pop((call.pk, call.fence), 0) != len(call.subject_ids):
                problems.append(f"call {call.pk} does not have one result for each of its items")
        reopened = set(run.calls.filter(state__in=Call.OPEN).values_list("pk", flat=True))
        problems += [
            f"call {pk} has a result from an earlier lease" for pk, _ in rows if pk not in reopened
        ]
        return problems


def target_of(
    label_round: LabelRound, *, choice: str = "all", sample: int = 0, batch_size: int = BATCH_SIZE
) -> dict[str, Any]:
    """Return the target of a relevance run, as stored in its spec.

    Parameters
    ----------
    label_round
        The levels of its guideline are copied, so a later guideline does not change the run.
    choice
        ``all``, ``final``, ``undecided`` or ``sample``: all arguments, those with or without a
        final label, or a seeded random sample.
    sample
        Size of the sample.
    batch_size
        Maximum number of arguments in a batch request.
    """
    return {
        "label_round": str(label_round.public_id),
        "levels": [
            {name: level.get(name, "") for name in ("value", "name", "meaning")}
            for level in label_round.guideline.levels
        ],
        "choice": choice,
        "sample": sample,
        "batch_size": batch_size,
    }


def chosen_arguments(
    study: Study, target: dict[str, Any], seed: int
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the arguments that are not blank, with their comparisons, in request order."""
    label_round = label_rounds_of(study).get(public_id=target["label_round"])
    rows = study.arguments.filter(items__round=label_round).exclude(text__regex=r"^\s*$")
    final = label_round.final_labels.filter(label__isnull=False).values("argument")
    if target["choice"] == "final":
        rows = rows.filter(pk__in=final)
    elif target["choice"] == "undecided":
        rows = rows.exclude(pk__in=final)
    rows = rows.order_by("comparison", "pk").distinct()
    keys, comparisons = array("q"), array("q")
    for pk, comparison in rows.values_list("pk", "comparison").iterator(CHUNK):
        keys.append(pk)
        comparisons.append(comparison)
    if target["choice"] == "sample":
        places = seeded_places(len(keys), target["sample"], seed)
        keys = array("q", (keys[place] for place in places))
        comparisons = array("q", (comparisons[place] for place in places))
    return keys, comparisons


def _batches(comparisons: Sequence[int], size: int) -> Sequence[int]:
    """Return the start of each batch of at most ``size`` arguments of one comparison."""
    starts = array("q")
    last = None
    for place, comparison in enumerate(comparisons):
        if comparison != last or place - starts[-1] >= size:
            starts.append(place)
        last = comparison
    return starts


def _rater(run: Run) -> Rater:
    """Return the rater for a combination of endpoint, model, prompt version and parameters."""
    fields = ("endpoint", "origin", "model", "prompt", "params")
    rater, _is_new = Rater.objects.get_or_create(
        study=run.study,
        kind=Rater.Kind.MODEL,
        external_id=digest({name: run.spec[name] for name in fields}),
        defaults={"name": f"{run.spec['model']} · {run.prompt}"[:120]},
    )
    return rater


def _single(rubric: RelevanceRubric, arguments: Sequence[RelevanceArgument]) -> CallRequest:
    neutral = neutralise(arguments[0].text)
    sentence = fence(neutral.text, fence_token("single", neutral.text))
    values = _common(rubric, arguments[0]) | {"sentence": sentence}
    messages = tuple(render(rubric.parts, values))
    return CallRequest(messages, label_schema(rubric.allowed), _flags([neutral]))


def _batch(rubric: RelevanceRubric, arguments: Sequence[RelevanceArgument]) -> CallRequest:
    neutral = [neutralise(argument.text) for argument in arguments]
    texts = [sentence.text for sentence in neutral]
    numbered = list(enumerate(texts, start=1))
    sentences = fence_items(numbered, fence_token("batch", *texts))
    values = _common(rubric, arguments[0]) | {"sentences": sentences}
    messages = tuple(render(rubric.parts, values))
    schema = batch_schema([number for number, _text in numbered], rubric.allowed)
    return CallRequest(messages, schema, _flags(neutral))


def _flags(texts: Sequence[Neutral]) -> tuple[str, ...]:
    """Return the names of the flags of all texts in one request."""
    return tuple(name for text in texts for name in text.flags.names)


def _common(rubric: RelevanceRubric, argument: RelevanceArgument) -> dict[str, str]:
    return {
        "levels": rubric.levels,
        "object1": _quoted(argument.object1),
        "object2": _quoted(argument.object2),
    }


@lru_cache(maxsize=1024)
def _quoted(name: str) -> str:
    """Return an object's name as shown in prompts; all sentences of a comparison share it."""
    return quote(neutralise(name).text)


def _read_single(call: Call, reply: Reply, allowed: list[int]) -> ReplyReading:
    try:
        label = parse_single(reply.text, reply.finish_reason, allowed, refusal=reply.refusal)
    except ReplyNotUsable as problem:
        return ReplyReading.unscored(problem.reason, {})
    return ReplyReading(value={call.subject_ids[0]: label})


def _read_batch(call: Call, reply: Reply, allowed: list[int]) -> ReplyReading:
    numbers = range(1, len(call.subject_ids) + 1)
    batch = parse_batch(
        reply.text, reply.finish_reason, list(numbers), allowed, refusal=reply.refusal
    )
    value = dict(zip(call.subject_ids, batch.values(), strict=True))
    missing = Counter(outcome for outcome in value.values() if isinstance(outcome, UnscoredReason))
    if not missing:
        return ReplyReading(value=value)
    return ReplyReading.unscored(missing.most_common(1)[0][0], value)


def _rows(run: Run, label_round: int, reply: EndedCall) -> list[JudgeLabel]:
    return [_row(run, label_round, reply, pk) for pk in reply.call.subject_ids]


def _row(run: Run, label_round: int, reply: EndedCall, argument: int) -> JudgeLabel:
    outcome = (reply.reading.value or {}).get(argument)
    label = outcome if isinstance(outcome, LabelReading) else None
    reason = outcome.value if isinstance(outcome, UnscoredReason) else reply.reading.reason
    return JudgeLabel(
        label_round_id=label_round,
        argument_id=argument,
        run=run,
        call=reply.call,
        replicate=reply.call.replicate,
        label=None if label is None else label.value,
        reason=reason if label is None else "",
        rationale="" if label is None else label.rationale,
        fence=reply.fence,
    )


# Number of sentences of one comparison in the preview of a batch prompt.
SHOWN_TOGETHER = 3


def _arguments(study: Study) -> QuerySet[Argument]:
    """Return the study's arguments except blank sentences, which are never judged."""
    return study.arguments.exclude(text__regex=r"^\s*$").order_by("pk")


def _relevance(
    study: Study, version: PromptVersion, argument: Argument
) -> tuple[Run, list[Argument]]:
    """Return a sample run on the newest scale; a batch prompt also includes the next sentences."""
    arguments = [argument]
    if version.kind == BATCH:
        same = _arguments(study).filter(comparison=argument.comparison_id, pk__gte=argument.pk)
        arguments = list(same[:SHOWN_TOGETHER])
    guideline = study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    spec = {"target": {"levels": levels}}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), arguments


RELEVANCE = PreviewTargets(lazy("Argument"), _arguments, _relevance)
