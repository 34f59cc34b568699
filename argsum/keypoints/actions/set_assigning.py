"""Arguments for key points that came from a file without any: matched in the background."""

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from argsum.datasets.models import CellArgument, Dataset
from argsum.keypoints.models import SummarySet, SystemSummary
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import default_scorers, match_scorer_of
from argsum.scorers.models import Scorer
from argsum.systems.methods.assignment import UNASSIGNED, Assigned, assign, prevalence
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work, enqueue
from cqa_site.runs.models import Job

from .set_storing import DIGITS

JOB = "assign_key_points"
# Where sets come from that a file of a system's key points brings.
SOURCE = "key points of systems"


def request_assignment(*, dataset: Dataset, scorer: str, actor: User | None) -> Job:
    """Ask for arguments behind the imported key points of a dataset that have none.

    ``scorer`` is the name of a match scorer; the usual one where it is empty or not there.
    """
    rows = dataset.study.scorers.filter(task=Scorer.Task.MATCH, state=Scorer.State.READY)
    chosen = rows.filter(name=scorer).first() or default_scorers(dataset.study)[0]
    return enqueue(
        study=dataset.study,
        kind=JOB,
        key=f"{dataset.pk}:{chosen.pk}",
        actor=actor,
        dataset=str(dataset.public_id),
        scorer=str(chosen.public_id),
    )


def bare_sets(dataset: Dataset) -> QuerySet[SummarySet]:
    """Imported sets with key points for which the file named neither arguments nor numbers."""
    counted = SystemSummary.objects.filter(summary_set=OuterRef("pk"), prevalence__isnull=False)
    return SummarySet.objects.filter(
        ~Exists(counted),
        cell__dataset=dataset,
        source=SOURCE,
        state=SummarySet.State.DONE,
        assigned__isnull=True,
    )


def assign_arguments(work: Work) -> None:
    """Handle a job; sets that have arguments already stay as they are."""
    dataset = Dataset.objects.get(study=work.study, public_id=work.payload["dataset"])
    scorer = Scorer.objects.get(study=work.study, public_id=work.payload["scorer"])
    rows = bare_sets(dataset).select_related("cell").order_by("cell__position", "pk")
    cells: dict[int, list[SummarySet]] = defaultdict(list)
    for row in rows.prefetch_related("summaries"):
        cells[row.cell_id].append(row)
    total, done = sum(map(len, cells.values())), 0
    try:
        match = match_scorer_of(scorer)
        for sets in cells.values():
            arguments = CellArgument.objects.filter(cell=sets[0].cell_id, left_out="")
            found = list(arguments.order_by("position").values_list("pk", "text"))
            texts = list(dict.fromkeys(one.text for row in sets for one in row.summaries.all()))
            if found and texts:
                rows_of = [text for _pk, text in found]
                # All key points of a cell at once: its arguments are read only once.
                scores = match.matrix(rows_of, texts, topic=sets[0].cell.topic)
                at = {text: column for column, text in enumerate(texts)}
                for row in sets:
                    columns = [at[one.text] for one in _in_order(row)]
                    _store(row, [pk for pk, _text in found], assign(scores[:, columns]))
            done += len(sets)
            work.progress(done, total, _("sets with arguments by “%s”") % scorer.name)
    except (ScorerRefused, EmbeddingsUnavailable) as reason:
        raise JobRefused(str(reason)) from reason


def _in_order(row: SummarySet) -> list[SystemSummary]:
    return sorted(row.summaries.all(), key=lambda one: one.position)


@transaction.atomic
def _store(row: SummarySet, keys: Sequence[int], found: Assigned) -> None:
    """Keep where arguments belong; the key point with most comes first while nobody judged."""
    held = SummarySet.objects.select_for_update().get(pk=row.pk)
    if held.assigned is not None:
        return
    points = _in_order(row)
    counts = prevalence(found.positions, len(points))
    order = list(range(len(points)))
    if not (held.count_sheets.exists() or held.counting_items.exists()):
        order.sort(key=lambda place: -counts[place])
    rank = {old: new for new, old in enumerate(order)} | {UNASSIGNED: UNASSIGNED}
    held.arguments = list(keys)
    held.assigned = [rank[place] for place in found.positions]
    held.scores = [round(score, DIGITS) for score in found.scores]
    held.save(update_fields=["arguments", "assigned", "scores"])
    held.summaries.all().delete()
    SystemSummary.objects.bulk_create(
        SystemSummary(
            summary_set=held,
            position=new,
            text=points[old].text,
            cluster=points[old].cluster,
            prevalence=counts[old],
        )
        for new, old in enumerate(order)
    )
