"""The consolidated scores of people, linked to the answers of the study by letters and digits."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.answers.models.answers import Answer
from annotation.imports.methods.raw_answers import RawAnswer
from benchmark.imports.methods.human_links import OPENING, Link, Links, Origin, link_by_letters
from benchmark.imports.methods.human_scores import HumanScore, read_human_scores
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.rows import Flag, Line, Note, Source, rejected
from cqa_site.people.models import Rater, Study
from cqa_site.tabular import Problem

from .entries import BOOK, SheetEntry, chosen_rubric

# Nobody knows whose points were averaged, so a table is one rater, and one more for the answers
# that it has two rows for: those were two sheets of different people, not a repetition.
RATER = "consolidated"


def read_human_table(source: Source) -> Iterator[Line]:
    """One sheet a row, about the answer with its letters; rows without an answer are rejected."""
    rubric = chosen_rubric(source.study, source.options)
    scores: list[HumanScore] = []
    for record in read_human_scores(source.path, rubric.rubric, name=source.name):
        if isinstance(record, Problem):
            yield rejected(record, of=BOOK)
        else:
            scores.append(record)
    links = link_by_letters(scores, _answers(source.study, scores))
    yield from _counted(links)
    for score in links.unlinked:
        reason = _("no answer of “%s” in the study has these letters and digits") % score.system
        yield Flag(score.row, "comparison", reason, is_rejection=True, object=BOOK)
    earlier: Counter[int] = Counter()
    for link in links.links:
        yield from _remarks(link)
        yield _sheet(source, rubric, link, earlier[link.answer.position])
        earlier[link.answer.position] += 1


def _answers(study: Study, scores: Sequence[HumanScore]) -> dict[Origin, list[RawAnswer]]:
    """Answers of the systems named, in the order of their files; a position is a primary key."""
    found = Answer.objects.filter(
        study=study, system__name__in={each.system for each in scores}
    ).order_by("source", "position", "choice", "pk")
    rows = found.values_list(
        "system__name",
        "scenario",
        "pk",
        "question__comparison__object1",
        "question__comparison__object2",
        "question__aspect",
        "text",
        "choice",
    )
    by_origin: dict[Origin, list[RawAnswer]] = defaultdict(list)
    for system, scenario, pk, one, two, aspect, text, choice in rows.iterator(2_000):
        by_origin[system, scenario].append(RawAnswer(pk, one, two, aspect or None, text, choice))
    return by_origin


def _sheet(source: Source, rubric: RubricVersion, link: Link, earlier: int) -> SheetEntry:
    score = link.score
    number = earlier + 1
    name = _("Consolidated people")
    return SheetEntry(
        row=score.row,
        rubric=rubric,
        answer=link.answer.position,
        source=source.name,
        position=score.row,
        rater_kind=Rater.Kind.REFERENCE,
        rater_id=f"{RATER}-{number}" if earlier else RATER,
        rater_name=_("Consolidated people, sheet %s") % number if earlier else name,
        points=score.points,
        off_scale=score.off_scale,
        is_consolidated=True,
    )


def _remarks(link: Link) -> Iterator[Flag]:
    score = link.score
    if score.swallowed:
        text = ngettext(
            "The text had swallowed %s row below it; it ends at its first tab.",
            "The text had swallowed %s rows below it; it ends at its first tab.",
            score.swallowed,
        )
        yield Flag(score.row, "comparison", text % score.swallowed)
    if link.rivals:
        yield Flag(
            score.row, "comparison", _("Fits several answers; the first free one is taken.")
        )
    if link.how == OPENING:
        yield Flag(score.row, "comparison", _("Linked by the first 300 letters and digits."))
    if link.is_repeat:
        reason = _("Another row is about the same answer; kept as the sheet of another rater.")
        yield Flag(score.row, "", reason)
    for key in score.off_scale:
        reason = _("%s points are not on the scale; kept as they are and marked.")
        yield Flag(score.row, key, reason % f"{score.points[key]:g}")
    for key in score.blanks:
        yield Flag(score.row, key, _("No points; the sheet has no total."))


def _counted(links: Links) -> Iterator[Note]:
    number = len(links.links)
    shown = {
        "linked": number,
        "rows": number + len(links.unlinked),
        "ambiguous": len(links.ambiguous),
        "repeats": len(links.repeats),
        "swallowed": sum(each.score.swallowed for each in links.links),
    }
    yield Note(_("%(linked)s of %(rows)s rows found their answer in the study.") % shown)
    if not number:
        yield Note(_("Import the answers first, then this file again."))
        return
    yield Note(
        _(
            "Ambiguous links: %(ambiguous)s. Second rows about one answer: %(repeats)s. Rows "
            "swallowed by a text: %(swallowed)s."
        )
        % shown
    )
    yield Note(_("The total is the sum of the criteria; the column score is not used."))
