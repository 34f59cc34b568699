"""A study with an open round of each kind of work, and what people fill into its forms."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.editing.actions.kind import EditContent
from argsum.auditing.actions import AuditContent
from argsum.counting.actions.rounds import CountContent
from benchmark.preferences.kind import PreferenceContent
from benchmark.scoring.actions import ScoreContent
from cqa_site.people.actions import rater_for
from cqa_site.rounds.drafts import DraftSubmission, save_draft, submit_sheet
from cqa_site.rounds.kind import TaskKind, kind_of
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Place
from cqa_site.rounds.queue import next_sheet
from tests.annotation import editing_cast
from tests.argsum.auditing.made_auditing import make_analysis, open_audit
from tests.argsum.counting.made_counting import marked_form, open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.benchmark.made_rounds import full_form, make_round as make_scoring
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_label_round, make_member, make_study

KEYS = count()
JSON = {"HTTP_ACCEPT": "application/json"}
ITEMS = 8
POINTS = {f"C{number}": 1 for number in range(1, 16)}


@dataclass(frozen=True)
class Work:
    """How a round of a kind of sheets is made, and what stands on its form.

    ``full`` and ``changed`` can be submitted, ``unfit`` only be saved; each is a content and the
    fields that a browser sends of it. ``met`` and ``missed`` are known answers that the full
    content meets or not; ``hidden`` says what no work page of a sheet may tell.
    """

    fill: Callable[["World"], Any]
    make_round: Callable[..., Any]
    full: Any
    changed: Any
    unfit: Any
    full_form: dict[str, Any]
    changed_form: dict[str, Any]
    unfit_form: dict[str, Any]
    hidden: Callable[[Any], list[str]]
    met: dict[str, Any] | None = None
    missed: dict[str, Any] | None = None


class World:
    """A study with a researcher, three experts, and an open round of one kind."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self.study = make_study(f"Study of {name}")
        self.researcher = make_member(self.study, "researcher")
        self.people = [make_member(self.study, "expert") for _ in range(3)]
        self.raters = [rater_for(membership=each.memberships.get()) for each in self.people]
        self.fill()
        self.round = self.make_round(**fields)

    @property
    def work(self) -> Work:
        """What is special about the kind."""
        return WORKS[self.name]

    @property
    def kind(self) -> TaskKind:
        """The kind of the round."""
        return kind_of(self.round)

    def fill(self) -> None:
        """Make things for a round in the study."""
        if self.name != "label":
            self.work.fill(self)

    def make_round(self, *, opens: bool = True, name: str = "First round", **fields: Any) -> Any:
        """A round over all things of the study; ``raters`` people get each of them."""
        make = make_labels if self.name == "label" else self.work.make_round
        return make(self, opens=opens, name=name, **fields)

    def take(self, person: int = 0, round_: Any = None) -> Any:
        """The sheet that waits for somebody, or None."""
        return self.ask(person, round_).sheet

    def ask(self, person: int = 0, round_: Any = None) -> Any:
        """The answer of serving: a sheet, or why there is none."""
        round_ = self.kind.Round.objects.get(pk=(round_ or self.round).pk)
        work = next_sheet(round_=round_, rater=self.raters[person])
        return work if work.sheet is None else type(work)(self.again(work.sheet))

    def again(self, sheet: Any) -> Any:
        """The sheet as it is stored, with what it is about."""
        return self.kind.sheets("round", "slot", "rater").get(pk=sheet.pk)

    def save(self, sheet: Any, content: Any, base: int = 0, **page: Any) -> Any:
        """Save a content as the page of a sheet does."""
        return save_draft(sheet=self.again(sheet), sent=DraftSubmission(content, base, **page))

    def submit(self, sheet: Any, content: Any = None, *, key: str = "", **page: Any) -> Any:
        """Submit a content, the full one if none is given."""
        stored = self.again(sheet)
        base = page.pop("base", stored.version)
        sent = DraftSubmission(content or self.work.full, base, **page)
        submitted = submit_sheet(sheet=stored, sent=sent, key=key or f"key {next(KEYS)}")
        return self.again(submitted)

    def do(self, person: int = 0, at_most: int = 100) -> list[Any]:
        """Let somebody submit whatever comes; return the sheets."""
        done: list[Any] = []
        while len(done) < at_most and (sheet := self.take(person)) is not None:
            done.append(self.submit(sheet))
        return done

    def place(self, person: int = 0) -> Place:
        """How somebody stands in the round."""
        return Place.objects.get(round=self.round, rater=self.raters[person])

    def slots(self, **filters: Any) -> Any:
        """Slots of the round."""
        return self.kind.Slot.objects.filter(round=self.round, **filters)

    def let_leases_end(self) -> None:
        """As if everybody had been away for long."""
        self.slots(state="leased").update(lease_until=timezone.now() - timedelta(minutes=1))

    def address(self, end: str, row: Any = None, *ids: Any) -> str:
        """A work page: of the round, or of one of its sheets."""
        place = [self.study.public_id, (row or self.round).public_id, *ids]
        return reverse(f"{self.kind.work_page}{end}", args=place)

    def office(self, end: str = "", row: Any = None, *ids: Any) -> str:
        """A researchers' page of a round."""
        place = [self.study.public_id, (row or self.round).public_id, *ids]
        return reverse(f"{self.kind.audit.round}{end}", args=place)


class Sitting(World):
    """The same, and somebody has a sheet before them."""

    def __init__(self, name: str, **fields: Any) -> None:
        super().__init__(name, **fields)
        self.sheet = self.take()


def make_labels(world: World, *, opens: bool, name: str, raters: int = 1) -> Any:
    """A label round with two control items."""
    made = make_label_round(
        world.study, name=name, ordinary=ITEMS, controls=2, votes_per_item=raters
    )
    if opens:
        open_round(round_=made, actor=world.researcher)
        made.refresh_from_db()
    return made


def fill_answers(world: World) -> None:
    """Answers to eight questions, of one system or two."""
    systems = ("Secretive", "Other one")[: 2 if world.name == "prefer" else 1]
    make_scored_answers(world.study, systems=systems, questions=ITEMS)


def fill_sets(world: World) -> None:
    """Four systems' sets for two cells."""
    for cell in make_dataset(world.study).cells.all():
        for system in ("Secretive", "Beta", "Gamma", "Delta"):
            make_set(cell, system=system)


def fill_machine_answers(world: World) -> None:
    """Eight answers that experts correct."""
    for answer in editing_cast.make_answers(world.study, questions=ITEMS):
        answer.source = "Secretive.json"
        answer.save()
    world.study.systems.update(name="Secretive")


def make_scores(world: World, *, raters: int = 1, **fields: Any) -> Any:
    """A round in which each answer goes to as many people."""
    overlap = {"overlap_share": float(raters > 1), "overlap_raters": max(2, raters)}
    return make_scoring(world.study, world.researcher, **overlap | fields)


def make_counts(world: World, **fields: Any) -> Any:
    """A round over all sets."""
    return open_counting(world.study, world.researcher, **fields)


def make_audit(world: World, **fields: Any) -> Any:
    """A round over eight pairs of an analysis."""
    return open_audit(world.study, world.researcher, **fields)


def make_preferences(world: World, **fields: Any) -> Any:
    """A round over one pair for each question."""
    usual = {"size": ITEMS, "leave_out_used": False}
    return make_pairs_round(world.study, world.researcher, **usual | fields)


def make_edits(world: World, *, opens: bool, raters: int = 1, **fields: Any) -> Any:
    """A round in which everybody has two answers, all the same or none of them."""
    sizes = {"calibration": 2, "individual": 0} if raters > 1 else {"individual": 2}
    people = {"people": world.people, "leave": "nothing", "is_open": opens}
    return editing_cast.make_round(world.study, **{"calibration": 0} | people | sizes | fields)


def answer_secrets(answer: Any) -> list[str]:
    """Where an answer comes from."""
    return [answer.system.name, answer.source, str(answer.public_id)]


def pair_secrets(sheet: Any) -> list[str]:
    """Where both answers come from, and how they stand."""
    pair = sheet.pair
    both = [*answer_secrets(pair.first), *answer_secrets(pair.second)]
    return [*both, pair.first.get_scenario_display(), "swapped", "links systems", "uncertain"]


def set_secrets(sheet: Any) -> list[str]:
    """Where a set comes from, and how large its points are."""
    made = sheet.summary_set
    ids = [made.public_id, made.cell.public_id, made.cell.dataset.public_id]
    return [made.system, made.setting, *map(str, ids), "threshold", "revalence"]


def audit_secrets(sheet: Any) -> list[str]:
    """Where the machine placed a comment, and how sure it was."""
    pair = sheet.pair
    analysis = pair.round.analysis
    ids = [analysis.public_id, pair.point.public_id, pair.round.frame["state"]]
    if pair.comment:
        ids.append(pair.comment.public_id)
    scores = [f"{row.score:g}" for row in analysis.placements.all()]
    return ["Secretive", *map(str, ids), *scores, "perhaps", "probability"]


EDITED = {"text": "Tea is better.", "reasons": ["wording"]}
WORKS = {
    "score": Work(
        fill=fill_answers,
        make_round=make_scores,
        full=ScoreContent(POINTS),
        changed=ScoreContent(POINTS | {"C1": 0}),
        unfit=ScoreContent({"C1": 1}),
        full_form=full_form(),
        changed_form=full_form(**{"points-C1": "0"}),
        unfit_form=full_form(**{"points-C3": ""}),
        hidden=lambda sheet: [*answer_secrets(sheet.answer), "scenario"],
        met=POINTS,
        missed=dict.fromkeys(POINTS, 0),
    ),
    "prefer": Work(
        fill=fill_answers,
        make_round=make_preferences,
        full=PreferenceContent("first", "Because."),
        changed=PreferenceContent("tie", "Because."),
        unfit=PreferenceContent("", "Hm."),
        full_form={"verdict": "left"},
        changed_form={"verdict": "tie"},
        unfit_form={"comment": "Hm."},
        hidden=pair_secrets,
        met={"verdict": "first"},
        missed={"verdict": "second"},
    ),
    "count": Work(
        fill=fill_sets,
        make_round=make_counts,
        full=CountContent(covered=1.0, unique=2.0),
        changed=CountContent(covered=0.0, unique=2.0),
        unfit=CountContent(comment="Hm."),
        full_form=marked_form(),
        changed_form=marked_form(**{"level-1": "none"}),
        unfit_form=marked_form(**{"level-1": ""}),
        hidden=set_secrets,
        met={"covered": 1.0, "unique": 2.0},
        missed={"covered": 2.0, "unique": 1.0},
    ),
    "audit": Work(
        fill=lambda world: make_analysis(world.study),
        make_round=make_audit,
        full=AuditContent("makes", "Because."),
        changed=AuditContent("partly", "Because."),
        unfit=AuditContent("", "Hm."),
        full_form={"answer": "makes"},
        changed_form={"answer": "partly"},
        unfit_form={"comment": "Hm."},
        hidden=audit_secrets,
        met={"answer": "makes"},
        missed={"answer": "opposite"},
    ),
    "edit": Work(
        fill=fill_machine_answers,
        make_round=make_edits,
        full=EditContent("Tea is better.", ["wording"]),
        changed=EditContent("Coffee is better.", ["wording"]),
        unfit=EditContent("Tea, without a reason."),
        full_form=EDITED,
        changed_form=EDITED | {"text": "Coffee is better."},
        unfit_form={"text": "Tea, without a reason."},
        hidden=lambda sheet: answer_secrets(sheet.answer),
    ),
}
SHEETS = tuple(WORKS)
# Those whose next sheet is drawn when somebody comes.
SERVED = ("score", "prefer", "count", "audit")
KINDS = ("label", *SHEETS)
