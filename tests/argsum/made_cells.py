"""Invented debate arguments with key points, systems' sets and people's counts, for tests."""

from datetime import date
from types import SimpleNamespace

from argsum.analysis.actions.edits import rename_point
from argsum.analysis.models import Analysis, FoundPoint
from argsum.counting.models import (
    ConflictingCount,
    CountingItem,
    CountingRound,
    CountingSlot,
    CountSheet,
)
from argsum.datasets.actions import CellBook, RawComment, count_comments
from argsum.datasets.models import (
    Cell,
    CellArgument,
    Dataset,
    KeyPointMatch,
    NearDuplicateGroup,
    ReferenceKeyPoint,
)
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary
from argsum.metrics.models import MetricScore
from argsum.scorers.models import Scorer
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.models import Place
from cqa_site.tabular.cells import text_key
from tests.argsum.analysis.made_comments import comment_on_all, write_analysis

TOPIC = "Every town should keep a public night bus"
SAID = ("The queue is too long. The food is good.", "The food is good.", "n/a")
# (stance, {key point: arguments that match it})
SIDES = (
    (
        1,
        {
            "Night buses keep people safe": (
                "Nobody should have to walk home alone after midnight.",
                "A bus at night is safer than a dark street.",
                "Drunk drivers stay off the road when a bus goes home.",
            ),
            "Night buses help shift workers": (
                "Nurses finish their shift long after the last tram.",
                "Bakers must reach their work before dawn.",
                "People with late shifts cannot all afford a car.",
            ),
        },
    ),
    (
        -1,
        {
            "Night buses cost too much": (
                "A bus with three passengers is paid by everybody else.",
                "The money would do more good in schools.",
                "Drivers at night earn extra, and the town cannot pay it.",
            ),
            "Night buses disturb sleep": (
                "An engine under the window wakes whole families.",
                "Loud passengers at three in the morning disturb the street.",
                "Old people sleep badly beside a bus stop.",
            ),
        },
    ),
)


def make_dataset(study: Study, *, name: str = "Night buses", split: str = "test") -> Dataset:
    """One topic with two stances, two key points each, three arguments for each of these."""
    dataset = Dataset.objects.create(study=study, name=name, source="invented.csv")
    for place, (stance, key_points) in enumerate(SIDES, start=1):
        about = {"topic": TOPIC, "stance": stance, "split": split, "position": place}
        _fill(Cell.objects.create(dataset=dataset, **about), key_points)
    return dataset


def _fill(cell: Cell, key_points: dict[str, tuple[str, ...]]) -> None:
    def about(kind: str, number: int, text: str) -> dict:
        own = {"position": number, "text": text, "name": f"{kind}_{number}"}
        return own | {"cell": cell, "sha256": text_key(text)}

    made = [
        ReferenceKeyPoint.objects.create(**about("kp", number, text))
        for number, text in enumerate(key_points, start=1)
    ]
    own = [(point, text) for point in made for text in key_points[point.text]]
    for number, (point, text) in enumerate(own, start=1):
        fields = about("arg", number, text) | {"quality": 0.9 - number / 100}
        argument = CellArgument.objects.create(**fields)
        KeyPointMatch.objects.bulk_create(
            KeyPointMatch(argument=argument, key_point=each, is_match=each == point)
            for each in made
        )


def make_comments(
    study: Study,
    *texts: str,
    name: str = "Canteen",
    topic: str = "What do you think of the canteen?",
    attributes: dict[str, str] | None = None,
) -> Cell:
    """A dataset of comments on one topic, as an import makes it; returns its cell."""
    recipe = {"holds": "comments", "steps": ["unique", "says_something"]}
    dataset = Dataset.objects.create(study=study, name=name, source="canteen.csv", recipe=recipe)
    cell = Cell.objects.create(dataset=dataset, topic=topic, stance=0, position=1)
    beside = {"site": "North"} if attributes is None else attributes
    raw = [
        RawComment(f"{place:064}", text, f"c{place}", beside, date(2024, 3, 1), "canteen.csv")
        for place, text in enumerate(texts or SAID, start=1)
    ]
    CellBook(cell, recipe["steps"]).add(raw, write=True)
    count_comments(dataset, attributes=beside)
    return cell


def duplicate_all(cell: Cell) -> NearDuplicateGroup:
    """Make all comments of a cell near-duplicates of its first, whatever they say."""
    comments = list(cell.comments.order_by("position"))
    group = NearDuplicateGroup.objects.create(cell=cell, centre=comments[0])
    for comment in comments:
        group.members.create(comment=comment, shared=1.0)
    return group


def make_learning_dataset(study: Study, *, name: str = "To learn from") -> Dataset:
    """The same cells three times, as train, dev and test: what is learned is found again."""
    dataset = make_dataset(study, name=name, split="train")
    for number, split in enumerate(("dev", "test"), start=1):
        other = make_dataset(study, name=f"{name}, {split}", split=split)
        for cell in other.cells.all():
            cell.dataset, cell.position = dataset, cell.position + 10 * number
            cell.topic = f"{cell.topic} ({split})"
            cell.save()
        other.delete()
    return dataset


def make_scorer(study: Study, *, name: str = "MiniLM", **fields) -> Scorer:
    """The packaged model as a match scorer."""
    usual = {"task": "match", "kind": "bi_encoder", "base_model": "all-MiniLM-L6-v2"}
    return Scorer.objects.create(study=study, name=name, **usual | fields)


def make_system_run(dataset: Dataset, *, number: int = 1, **fields) -> SystemRun:
    """A run that is over, with one set per cell; written directly, nothing is computed."""
    usual = {"label": f"MCArgSum {number}", "number": number, "state": SystemRun.State.DONE}
    usual |= {"system": "mcargsum", "split": "test", "grid": {"threshold": [0.5]}}
    run = SystemRun.objects.create(study=dataset.study, dataset=dataset, **usual | fields)
    for cell in dataset.cells.all():
        make_set(cell, run=run)
    return run


def make_set(
    cell: Cell,
    *,
    run: SystemRun | None = None,
    system: str = "Imported",
    texts: tuple[str, ...] = ("The first point", "The second point", "The second point again"),
    **fields,
) -> SummarySet:
    """Key points of one cell; the arguments are dealt to them in turn."""
    keys = list(cell.arguments.filter(left_out="").values_list("pk", flat=True))
    assigned = [place % len(texts) for place in range(len(keys))]
    origin = {"system_run": run, "system": run.label} if run else {"system": system}
    if run is None:
        origin |= {"source": f"{system}.csv", "position": cell.position}
    usual = {"state": SummarySet.State.DONE, "seconds": 0.25, "scores": [0.8] * len(keys)}
    usual |= {"setting": "threshold=0.5", "parameters": {"threshold": 0.5}}
    usual |= {"arguments": keys, "clusters": assigned, "assigned": assigned, "cell": cell}
    usual |= {"study": cell.dataset.study} | origin | fields
    made = SummarySet.objects.create(**usual)
    about = [
        {"position": at, "text": text, "cluster": at, "prevalence": assigned.count(at)}
        for at, text in enumerate(texts)
    ]
    SystemSummary.objects.bulk_create(SystemSummary(summary_set=made, **each) for each in about)
    return made


def make_count(
    summary_set: SummarySet, rater: Rater, *, covered: float = 1, unique: float = 2, **fields
) -> CountSheet:
    """A submitted sheet; from a file unless ``counting_round`` is given."""
    references = summary_set.cell.key_points.count()
    summaries = summary_set.summaries.count()
    usual = {"state": CountSheet.State.SUBMITTED, "covered": covered, "unique": unique}
    usual |= {"references": references, "coverage": covered / references}
    usual |= {"summaries": summaries, "redundancy": 1 - unique / summaries}
    if "round" not in fields:
        usual |= {"source": "counts.csv", "position": summary_set.pk}
    return CountSheet.objects.create(
        study=summary_set.study, summary_set=summary_set, rater=rater, **usual | fields
    )


def make_counting_round(
    study: Study, sets, *, name: str = "Counting", state: str = "open", raters: int = 2
) -> CountingRound:
    """A round over some sets, with its slots unless it is a draft; written directly."""
    made = CountingRound.objects.create(study=study, name=name, state=state, raters=raters)
    for place, each in enumerate(sets, start=1):
        item = CountingItem.objects.create(round=made, summary_set=each, position=place)
        numbers = range(1, 1 if state == "draft" else raters + 1)
        CountingSlot.objects.bulk_create(
            CountingSlot(round=made, item=item, number=number) for number in numbers
        )
    return made


def analyse_directly(study: Study, dataset: Dataset) -> Analysis:
    """Comments on the first cell with an analysis that somebody edited."""
    cell = dataset.cells.first()
    comment_on_all(cell)
    analysis = write_analysis(study, cell)
    points = list(analysis.points.all())
    FoundPoint.objects.filter(pk=points[1].pk).update(state="proposed", origin="proposed")
    FoundPoint.objects.filter(pk=points[2].pk).update(state="hidden")
    rename_point(analysis=analysis, actor=None, point=points[0], text="Renamed point.", seen=0)
    return analysis


def make_argsum(study: Study, rater: Rater, *, other: Rater | None = None) -> SimpleNamespace:
    """One of everything; ``rater`` has begun a sheet in the open round."""
    dataset, scorer = make_dataset(study), make_scorer(study)
    run = make_system_run(dataset, match_scorer=scorer)
    sets = list(run.sets.order_by("pk"))
    for each in sets:
        MetricScore.objects.create(summary_set=each, metric="rouge_1:recall", value=0.5)
    round_ = make_counting_round(study, sets)
    Place.objects.create(round=round_, rater=rater, served=1)
    slot = round_.slots.first()
    about = {"round": round_, "slot": slot, "place": 1, "references": 2, "summaries": 3}
    begun = CountSheet.objects.create(study=study, summary_set=sets[0], rater=rater, **about)
    CountingSlot.objects.filter(pk=slot.pk).update(state="done")
    analysis = analyse_directly(study, dataset)
    for place, point in enumerate(analysis.points.all()):
        point.theme = "On the other hand" if place else "On the one hand"
        point.save()
    return SimpleNamespace(
        dataset=dataset,
        cell=dataset.cells.first(),
        scorer=scorer,
        system_run=run,
        summary_set=sets[0],
        counting_round=round_,
        draft_counting=make_counting_round(study, sets, name="Draft counting", state="draft"),
        closed_counting=make_counting_round(study, sets, name="Closed counting", state="closed"),
        count_sheet=begun,
        count_conflict=ConflictingCount.objects.create(
            sheet=begun, base_version=0, content={"comment": "kept"}
        ),
        analysis=analysis,
        found_point=analysis.points.first(),
        placed=analysis.placements.select_related("argument").first().argument,
        imported_count=make_count(sets[1], other or rater),
    )
