"""Preference as a round kind for people and a run kind for models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Case, Count, Exists, F, Model, OuterRef, Q, QuerySet, Value as V, When
from django.forms import ChoiceField, Field
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from benchmark.judges.actions.kind import NO_ASPECT, question_text
from benchmark.preferences.methods.pairs import BOTH_BAD, FIRST, LEFT, RIGHT, SECOND, TIE
from benchmark.preferences.models import (
    ConflictingPreference,
    Pair,
    PreferenceEvent,
    PreferenceItem,
    PreferenceRound,
    PreferenceSheet,
    PreferenceSlot,
)
from benchmark.scoring.reports.sheets import PEOPLE
from cqa_site.judging.chat import digest
from cqa_site.judging.extraction import ReplyNotUsable
from cqa_site.judging.prompts import (
    PromptLayout,
    PromptParts,
    fence,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.judging.reply_parsing import PARSER_VERSION, WordReading, parse_choice
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.kind import Audit, Card, SheetNotValid, Words
from cqa_site.rounds.lifecycle import OneByOne
from cqa_site.rounds.models import COUNTED, HANDED_IN
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.kinds import (
    CallRequest,
    CallSubjects,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    RequestItem,
    Subject,
    Titles,
    rater_of,
)
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning import MOST, seeded_places

# Preferring as a kind of work: choosing the better of two answers without knowing who wrote them.

SAID_LEFT = Q(verdict=FIRST, is_swapped=False) | Q(verdict=SECOND, is_swapped=True)
SAID_RIGHT = Q(verdict=FIRST, is_swapped=True) | Q(verdict=SECOND, is_swapped=False)


@dataclass(frozen=True)
class PreferenceContent:
    """Content of a form, with a verdict on the pair's first and second answer."""

    verdict: str = ""
    comment: str = ""


def turned(word: str, *, is_swapped: bool) -> str:
    """Convert left or right to first or second, or back; ties and both bad are unchanged.

    Examples
    --------
    >>> turned("left", is_swapped=True), turned("second", is_swapped=True)
    ('second', 'left')
    """
    sides = (RIGHT, LEFT) if is_swapped else (LEFT, RIGHT)
    names = dict(zip(sides, (FIRST, SECOND), strict=True))
    return {**names, **{name: side for side, name in names.items()}}.get(word, word)


class PreferenceRoundKind(OneByOne):
    """Round kind with one pair at a time; a repeated pair is shown with the sides swapped."""

    name = "prefer"
    audit = Audit(round="preference_round", person="preferrer")
    words = Words(
        rounds=lazy("Preference rounds"),
        about=lazy(
            "People see two answers to a question side by side, without knowing who wrote them, "
            "and choose the better one."
        ),
        things=lazy("Pairs"),
        results=lazy("Preferences"),
    )
    section = "score"
    submits_at_once = True
    results_page = "preferences"
    terms = ("verdict", "control pair", "contradiction", "qualification")
    work_page = "prefer"
    sheet_page = "prefer_form"
    takes_crowd = True
    subject = "pair"
    needed = ("pair__question__comparison", "pair__first", "pair__second")
    item_needed = (
        "pair__question__comparison",
        "pair__first__system",
        "pair__second__system",
        "pair__first__condition",
        "pair__second__condition",
    )
    Round = PreferenceRound
    Item = PreferenceItem
    Slot = PreferenceSlot
    Sheet = PreferenceSheet
    Event = PreferenceEvent
    Conflict = ConflictingPreference
    Content = PreferenceContent
    settled = ("verdict", "comment")
    # A rater who always chooses one side gives two different verdicts on a repeated pair.
    value = (Case(When(SAID_LEFT, V(LEFT)), When(SAID_RIGHT, V(RIGHT)), default="verdict"),)
    figures = {
        "left": Count("pk", filter=HANDED_IN & SAID_LEFT),
        "right": Count("pk", filter=HANDED_IN & SAID_RIGHT),
        "tie": Count("pk", filter=HANDED_IN & Q(verdict="tie")),
        "both_bad": Count("pk", filter=HANDED_IN & Q(verdict="both_bad")),
    }

    def begin(self, round_: PreferenceRound, item: PreferenceItem, rater: Rater) -> dict[str, Any]:
        """Choose the sides at random, balanced for each person.

        One of every two sheets, chosen at random, is swapped.
        """
        return {"is_swapped": self._is_swapped(round_, item, rater)}

    def _is_swapped(self, round_: PreferenceRound, item: PreferenceItem, rater: Rater) -> bool:
        same = Q(pair=item.pair_id)
        seen = PreferenceSheet.objects.filter(round=round_, rater=rater).aggregate(
            firsts=Count("pk", filter=Q(replicate=0)),
            before=Count("pk", filter=same),
            swapped=Count("pk", filter=same & Q(is_swapped=True)),
        )
        if seen["before"]:
            return not seen["swapped"]
        block, is_later = divmod(seen["firsts"], 2)
        draw = int(digest(["sides", round_.seed, rater.pk, block])[:2], 16)
        return bool(draw % 2) != bool(is_later)

    def submitted(self, sheet: PreferenceSheet) -> PreferenceContent:
        return PreferenceContent(sheet.verdict, sheet.comment)

    def problem(self, sheet: PreferenceSheet, content: PreferenceContent) -> SheetNotValid | None:
        """Return an error if the verdict is missing; a reason is optional."""
        if content.verdict:
            return None
        return SheetNotValid(
            _("Choose the better answer, or say that neither is better."), ["verdict"]
        )

    def settle(self, sheet: PreferenceSheet, content: PreferenceContent) -> None:
        """Copy the content to the sheet unchanged."""
        sheet.verdict, sheet.comment = content.verdict, content.comment

    def mark(self, sheet: PreferenceSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Return 1 for a match with the known verdict or 0 otherwise, and the maximum of 1."""
        return int(sheet.verdict == key["verdict"]), 1

    def answer_fields(self, round_: PreferenceRound) -> dict[str, Field]:
        """Return the field for the verdict."""
        choices = PreferenceSheet.Verdict.choices
        return {"verdict": ChoiceField(label=lazy("Known verdict"), choices=choices)}

    def slots(self, round_: PreferenceRound, items: Iterable[int]) -> dict[int, int]:
        """Return the same number of raters for every pair."""
        return dict.fromkeys(items, round_.raters)

    def check_opening(self, round_: PreferenceRound) -> None:
        """Accept every round: pairs do not change after they are drawn."""

    def card(self, done: int) -> Card:
        """Return the texts for a person's start page."""
        return Card(
            text=_("Choose the better of two answers, one pair at a time."),
            button=_("Continue comparing") if done else _("Start comparing"),
            badge=ngettext("%d compared by you", "%d compared by you", done) % done
            if done
            else "",
        )

    def check(self) -> Iterator[str]:
        """Yield pairs with an answer to another question or from another study."""
        strange = Pair.objects.exclude(
            first__question=F("question"),
            second__question=F("question"),
            first__study=F("study"),
            second__study=F("study"),
        )
        for pk in strange.values_list("pk", flat=True):
            yield f"pair {pk} has an answer to another question or from another study"


PREFERRING = PreferenceRoundKind()

# Preferences of a judge: a language model compares the pairs that people compare.
#
# There is one request for each pair in each order. The model's reply becomes a sheet like a
# person's, with a verdict on the pair's first and second answer, regardless of their sides.

KIND, PROMPT = "preferring", "preference"
ORDERS = (0, 1)
LONGEST_REASON = 1_000
# Words of a model's reply, and the sides that they mean.
SAYS = {"A": LEFT, "B": RIGHT, "tie": TIE, "both_bad": BOTH_BAD}
SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "verdict": {"type": "string", "enum": list(SAYS)},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
LAYOUT = PromptLayout((), ("question", "aspect", "answer_a", "answer_b"))
PROMPTS = {
    PROMPT: PromptKind(
        lazy("Comparison of two answers"),
        LAYOUT,
        Path(__file__).parent / "prompts" / "preference.md",
    )
}
STORED_FIELDS = ("call", "fence", "state", "verdict", "comment", "reason", "submitted_at")
NEEDED = ("question__comparison", "first__system", "second__system")


def target_of(*, choice: str = "all", round_: str = "", sample: int = 0) -> dict[str, Any]:
    """Return the selection of pairs for a run, in the format stored in its spec.

    Parameters
    ----------
    choice
        ``all``, ``judged``, ``round`` or ``sample``: all pairs, pairs that people judged, pairs of
        a round in any state, or a seeded sample.
    round_, sample
        Public id of the round and size of the sample, for the choices that need them.
    """
    return {"choice": choice, "round": str(round_), "sample": sample}


def pairs_of(study: Study, target: Mapping[str, Any]) -> QuerySet[Pair]:
    """Return the pairs that a target selects, before a sample is drawn."""
    pairs = study.pairs.order_by("pk")
    if target["choice"] == "round":
        return pairs.filter(items__round__public_id=target["round"])
    if target["choice"] == "judged":
        sheets = PreferenceSheet.objects.filter(COUNTED, pair=OuterRef("pk"))
        return pairs.filter(Exists(sheets.filter(rater__kind__in=PEOPLE)))
    return pairs


class PreferringKind:
    """Implementation of the run kind ``preferring`` for the engine."""

    parser_version = PARSER_VERSION
    values_title = lazy("Verdicts:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Create the run's rater; refuse more than one reply per order."""
        if run.spec["replicates"] != 1:
            raise RunRefused(_("Each pair is compared once in each order."))
        rater_of(run)

    def subjects(self, run: Run) -> list[Subject]:
        """Return two adjacent subjects for each pair, one per order."""
        target = run.spec["target"]
        keys = list(pairs_of(run.study, target).values_list("pk", flat=True))
        if target["choice"] == "sample":
            places = seeded_places(len(keys), target["sample"], run.spec["seed"])
            keys = [keys[place] for place in places]
        return [Subject(f"p{pk}-{order}", (pk, order)) for pk in keys for order in ORDERS]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Write the prompts with one query."""
        rows = run.study.pairs.select_related(*NEEDED)
        pairs = rows.in_bulk({subject.ids[0] for subject in subjects})
        return [
            write_request(run.prompt, pairs[pk], is_swapped=bool(order))
            for pk, order in (subject.ids for subject in subjects)
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the verdict of one reply as a `WordReading`."""
        try:
            choice = parse_choice(
                reply.text, reply.finish_reason, "verdict", SAYS, refusal=reply.refusal
            )
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=choice)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one sheet for each call."""
        rater = rater_of(run)
        PreferenceSheet.objects.bulk_create(
            [_sheet(run, rater, outcome) for outcome in ended],
            update_conflicts=True,
            unique_fields=["run", "pair", "is_swapped"],
            update_fields=STORED_FIELDS,
        )

    def values(self, run: Run) -> dict[str, int]:
        """Count how often each side was chosen, regardless of the answer shown there."""
        sheets = run.preference_sheets.exclude(verdict="")
        return sheets.aggregate(
            A=Count("pk", filter=SAID_LEFT),
            B=Count("pk", filter=SAID_RIGHT),
            tie=Count("pk", filter=Q(verdict=TIE)),
            both_bad=Count("pk", filter=Q(verdict=BOTH_BAD)),
        )

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts, because judges give verdicts rather than prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check that each ended call has one sheet, with its fence and its reply's verdict."""

        def is_as_said(sheet: PreferenceSheet, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return sheet.verdict in ("", _about_the_pair(value, call) if value else "")

        sheets = run.preference_sheets.all()
        return check_rows(run, sheets, "preference sheet", is_as_said)


def write_request(prompt: PromptVersion, pair: Pair, *, is_swapped: bool) -> CallRequest:
    """Return the request for a pair in one order, with its texts quoted and neutralized."""
    texts = [neutralise(answer.text) for answer in (pair.first, pair.second)]
    left, right = reversed(texts) if is_swapped else texts
    token = fence_token("preference", left.text, right.text)
    aspect = neutralise(pair.question.aspect).text
    values = {
        "question": quote(neutralise(question_text(pair.question)).text),
        "aspect": quote(aspect) if aspect.strip() else NO_ASPECT,
        "answer_a": fence(left.text, token),
        "answer_b": fence(right.text, token),
    }
    parts = PromptParts(prompt.system, prompt.user, LAYOUT)
    flags = tuple(name for text in texts for name in text.flags.names)
    return CallRequest(tuple(render(parts, values)), SCHEMA, flags)


def _about_the_pair(choice: WordReading, call: Call) -> str:
    return turned(SAYS[choice.value], is_swapped=bool(call.subject_ids[1]))


def _sheet(run: Run, rater: Rater, outcome: EndedCall) -> PreferenceSheet:
    pair, order = outcome.call.subject_ids
    sheet = PreferenceSheet(
        study_id=run.study_id,
        run=run,
        rater=rater,
        call=outcome.call,
        fence=outcome.fence,
        pair_id=pair,
        is_swapped=bool(order),
    )
    if outcome.reading.reason:
        sheet.state, sheet.reason = PreferenceSheet.State.UNSCORED, outcome.reading.reason[:40]
        return sheet
    value: Any = outcome.reading.value
    sheet.state = PreferenceSheet.State.SUBMITTED
    sheet.verdict = _about_the_pair(value, outcome.call)
    sheet.comment = value.rationale
    sheet.submitted_at = outcome.call.finished_at
    return sheet


def _draft(study: Study, version: PromptVersion, pair: Model) -> tuple[Run, list[Model]]:
    spec = {"target": target_of(), "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [pair]


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    pairs = study.pairs.select_related(*NEEDED).in_bulk({call.subject_ids[0] for call in calls})
    sheets = PreferenceSheet.objects.filter(call__in=[call.pk for call in calls])
    by_call = {sheet.call_id: sheet for sheet in sheets}
    return {
        call.pk: [_item(pairs.get(call.subject_ids[0]), call, by_call.get(call.pk))]
        for call in calls
    }


def _item(pair: Pair | None, call: Call, sheet: PreferenceSheet | None) -> RequestItem | None:
    if pair is None:
        return None
    systems = [pair.first.system.name, pair.second.system.name]
    left, right = reversed(systems) if call.subject_ids[1] else systems
    context = _("%(left)s on the left, %(right)s on the right") % {"left": left, "right": right}
    if sheet is None:
        return RequestItem(str(pair.question), context)
    value = sheet.get_verdict_display() if sheet.verdict in (TIE, BOTH_BAD) else ""
    side = turned(sheet.verdict, is_swapped=sheet.is_swapped)
    value = {LEFT: left, RIGHT: right}.get(side, value)
    return RequestItem(str(pair.question), context, value, sheet.comment, sheet.reason)


PREVIEWED = PreviewTargets(
    lazy("Pair of answers"),
    lambda study: study.pairs.select_related(*NEEDED).order_by("pk"),
    _draft,
    lambda pairs: (pairs[0].pk, 0),
)
SUBJECTS = CallSubjects(
    Titles(lazy("Question"), lazy("Better"), lazy("The judge's reason")), _items
)
