"""Import of tables of score sheets, with chosen columns and an answer for each row."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _, ngettext

from annotation.answers.models import Answer
from annotation.imports.actions.entries import AnswerEntry, kind_of
from annotation.imports.books.answers import Place
from annotation.imports.methods.releases import RaterNames
from benchmark.imports.methods.columns import EMPTY, UNSCORED, ScoreRow
from benchmark.imports.methods.human_scores import excerpts, letters_key, letters_of, likeness
from benchmark.imports.methods.score_files import read_score_table
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.files import OTHER, SAME, decided
from cqa_site.files.actions.imports import Flag, ImportSource, Line, Near, Note, rejected
from cqa_site.people.models import Rater, Study
from cqa_site.tabular import Problem
from cqa_site.tabular.cells import text_key
from .entries import SCORE_SHEETS, SheetEntry, chosen_rubric

# Matching of rows to the study's answers; missing answers are created if the row describes them.
#
# Texts are compared by their letters and digits, as for the consolidated scores of the release. A
# text that is only similar to an answer's is shown to a person, who decides whether it is that
# answer or a new one; until then, nothing is matched or created.

About = Mapping[str, Any]
Pair = tuple[str | None, str | None, str | None]
# Maximum answers of one system to one question to compare with a text, closest in length first.
MOST_COMPARED = 50
_PIECE = 2_000
_COLUMNS = (
    "pk", "public_id", "source", "position", "choice", "question__comparison__object1",
    "question__comparison__object2", "question__aspect", "system__name", "scenario", "text_sha256",
)  # fmt: skip
# How a row was matched to its answer; `NEW` means no match.
TOLD, EXACTLY, BY_LETTERS, CONFIRMED, NEW = "told", "exactly", "letters", "confirmed", "new"


class NoAnswer(Exception):
    """Raised if a row matches no answer in the study, or more than one."""

    def __init__(self, reason: str, near: Near | None = None) -> None:
        super().__init__(reason)
        self.near = near


@dataclass(frozen=True, slots=True)
class AnswerMatch:
    """Key of an answer, position of an answer from an earlier row, or a new answer.

    ``rivals`` is the number of other answers that also fit; ``near`` is the similar answer that a
    person confirmed or rejected.
    """

    answer: int | Place | AnswerEntry
    how: str
    rivals: int = 0
    near: Near | None = None


@dataclass(frozen=True, slots=True)
class _StoredAnswer:
    pk: int
    public_id: str
    aspect: str
    scenario: int
    choice: int
    text_sha256: str
    letters: bytes
    length: int

    def fits(self, wanted: Mapping[str, Any]) -> bool:
        return all(getattr(self, name) == value for name, value in wanted.items())


class AnswerFinder:
    """Index of a study's answers by id, by position and by content.

    It uses one query for all answers, and one for every 2,000 texts similar to those of the rows.
    """

    def __init__(
        self, study: Study, file: str, *, columns: Iterable[str], options: Mapping[str, Any]
    ) -> None:
        self.file = file
        self.options = options
        self.knows_aspect = "aspect" in columns
        self._by_id: dict[str, int] = {}
        self._by_place: dict[Place, int] = {}
        self._by_pair: dict[Pair, list[_StoredAnswer]] = defaultdict(list)
        self._texts: dict[int, str] = {}
        self._taken: set[tuple[str, str, int, int]] = set()
        # Answers that the file itself describes, with the positions they will have.
        self._made: dict[tuple, Place] = {}
        names = (*_COLUMNS, "text") if "text" in columns else _COLUMNS
        for row in study.answers.order_by("pk").values_list(*names).iterator(_PIECE):
            self._keep(dict(zip(names, row, strict=True)))

    def _keep(self, row: dict[str, Any]) -> None:
        self._by_id[str(row["public_id"])] = row["pk"]
        if row["source"]:
            self._by_place[row["source"], row["position"], row["choice"]] = row["pk"]
        names = ("question__comparison__object1", "question__comparison__object2", "system__name")
        text = row.get("text", "")
        known = _StoredAnswer(
            pk=row["pk"],
            public_id=str(row["public_id"]),
            aspect=row["question__aspect"],
            scenario=row["scenario"],
            choice=row["choice"],
            text_sha256=row["text_sha256"],
            letters=letters_key(text),
            length=len(text),
        )
        self._by_pair[row[names[0]], row[names[1]], row[names[2]]].append(known)

    def look_ahead(self, records: Iterable[ScoreRow]) -> None:
        """Load, in one batch, the texts that are similar to the texts of these rows."""
        wanted: set[int] = set()
        for record in records:
            if "text" in record.about and not self._is_told(record.about):
                among = self._among(record.about)
                if not _fitting(among, record.about):
                    wanted.update(answer.pk for answer in _comparable(among, record.about))
        keys = sorted(wanted)
        self._texts = {}
        for begin in range(0, len(keys), _PIECE):
            rows = Answer.objects.filter(pk__in=keys[begin : begin + _PIECE])
            self._texts |= dict(rows.values_list("pk", "text"))

    def find(self, record: ScoreRow) -> AnswerMatch:
        """Return the answer of the row; raise NoAnswer with the reason if it cannot be found.

        Call `look_ahead` first; without it, texts are not compared.
        """
        about = record.about
        if key := self._told(about):
            return AnswerMatch(key, TOLD)
        if not {"object1", "object2", "system"} <= set(about):
            raise NoAnswer(_("the study has no answer with this id or from this position"))
        among = self._among(about)
        fitting = _fitting(among, about)
        if "text" in about and len({(answer.aspect, answer.scenario) for answer in fitting}) == 1:
            return self._first_free(record, fitting)
        if len(fitting) == 1:
            return AnswerMatch(fitting[0].pk, TOLD)
        if fitting:
            raise NoAnswer(
                ngettext(
                    "%s answer in the study matches; identify it by its ID, choice or text",
                    "%s answers in the study match; identify one by its ID, choice or text",
                    len(fitting),
                )
                % len(fitting)
            )
        if not about.get("text", "").strip():
            raise NoAnswer(
                _("the study has no such answer, and the row has no text to create it from")
            )
        return self._nearly(record, among)

    def _told(self, about: About) -> int | None:
        return self._by_id.get(about.get("answer", "")) or self._by_place.get(_place(about))

    def _is_told(self, about: About) -> bool:
        return self._told(about) is not None

    def _among(self, about: About) -> list[_StoredAnswer]:
        """Return the answers by the same system to the same question that fit the row."""
        wanted = {"scenario": about.get("scenario"), "choice": about.get("choice")}
        if self.knows_aspect:
            wanted["aspect"] = about.get("aspect", "")
        values = {name: value for name, value in wanted.items() if value is not None}
        pair = (about.get("object1"), about.get("object2"), about.get("system"))
        return [answer for answer in self._by_pair.get(pair, ()) if answer.fits(values)]

    def _first_free(self, record: ScoreRow, fitting: list[_StoredAnswer]) -> AnswerMatch:
        """Return the first of the identical answers for which this rater has no earlier row."""
        who = (record.rater_kind, record.rater)
        free = [
            answer for answer in fitting if (*who, record.replicate, answer.pk) not in self._taken
        ]
        chosen = (free or fitting)[0]
        self._taken.add((*who, record.replicate, chosen.pk))
        is_exact = chosen.text_sha256 == text_key(record.about["text"])
        return AnswerMatch(chosen.pk, EXACTLY if is_exact else BY_LETTERS, len(fitting) - 1)

    def _nearly(self, record: ScoreRow, among: list[_StoredAnswer]) -> AnswerMatch:
        """Return the person's decision on a similar answer, or a new answer if none is similar."""
        about = record.about
        letters = letters_of(about["text"])
        compared = [
            (likeness(letters, letters_of(self._texts[answer.pk])), answer)
            for answer in _comparable(among, about)
            if answer.pk in self._texts
        ]
        alike = [(how_near, answer) for how_near, answer in compared if how_near]
        if not alike:
            return AnswerMatch(self._new(record.row, about), NEW)
        decision, chosen = decided(
            self.options, record.row, {answer.public_id: answer.pk for _near, answer in alike}
        )
        _best, nearest = max(alike, key=lambda pair: pair[0])
        pk = chosen if chosen is not None else nearest.pk
        passage, excerpt = excerpts(about["text"], self._texts[pk])
        how_near, known = next((ratio, answer) for ratio, answer in alike if answer.pk == pk)
        near = Near(
            record.row, _named(about), passage, excerpt, known.public_id, how_near, decision
        )
        if decision == SAME:
            return AnswerMatch(pk, CONFIRMED, near=near)
        if decision == OTHER:
            return AnswerMatch(self._new(record.row, about), NEW, near=near)
        reason = _(
            "almost the same text as an answer in the study; confirm whether it is the same"
        )
        raise NoAnswer(reason, near)

    def _new(self, row: int, about: About) -> Place | AnswerEntry:
        names = ("answer", "object1", "object2", "aspect", "system", "scenario", "choice")
        described = (*(about.get(name) for name in names), letters_key(about["text"]))
        if described in self._made:
            return self._made[described]
        scenario = about.get("scenario") or 0
        entry = AnswerEntry(
            row=row,
            object1=about["object1"],
            object2=about["object2"],
            aspect=about.get("aspect", ""),
            text=about["text"],
            source=about.get("source") or self.file,
            position=about.get("position") or row,
            choice=about.get("choice") or 1,
            system=about["system"],
            system_kind=kind_of(about["system"], scenario),
            scenario=scenario,
            column="text",
        )
        self._made[described] = (entry.source, entry.position, entry.choice)
        return entry


def _fitting(among: list[_StoredAnswer], about: About) -> list[_StoredAnswer]:
    """Return the answers with the row's text: exact matches first, then matches by letters.

    If the row has no text, return all answers.
    """
    if "text" not in about:
        return among
    exact, letters = text_key(about["text"]), letters_key(about["text"])
    same = [answer for answer in among if answer.letters == letters]
    return sorted(same, key=lambda answer: answer.text_sha256 != exact)


def _comparable(among: list[_StoredAnswer], about: About) -> list[_StoredAnswer]:
    length = len(about["text"])
    return sorted(among, key=lambda answer: abs(answer.length - length))[:MOST_COMPARED]


def _named(about: About) -> str:
    """Return the question and system as text."""
    pair = f"{about['object1']} – {about['object2']}"
    parts = (pair, about.get("aspect", ""), about["system"])
    scenario = about.get("scenario")
    named = " · ".join(filter(None, parts))
    return f"{named} · {_('scenario %s') % scenario}" if scenario else named


def _place(about: About) -> Place:
    return about.get("source", ""), about.get("position") or 0, about.get("choice") or 1


PIECE = 1_000
UNDECIDED = "undecided"
WAYS = (TOLD, EXACTLY, BY_LETTERS, CONFIRMED, UNDECIDED, NEW, EMPTY)


def read_score_sheets(source: ImportSource) -> Iterator[Line]:
    """Read one sheet per row; an answer identified only by its text is created once."""
    options = source.options
    rubric = chosen_rubric(source.study, options)
    mapping = dict(options.get("mapping") or {})
    table = source.table()
    source.log.unread += [column for column in table.columns if column not in mapping.values()]
    names = RaterNames(source.study.raters.values_list("external_id", flat=True))
    rows = read_score_table(
        table,
        mapping,
        rubric.rubric,
        rater=source.text("rater"),
        rater_kind=str(options.get("rater_kind") or Rater.Kind.PERSON),
    )
    records = iter(rows)
    finder: AnswerFinder | None = None
    tally: Counter[str] = Counter()
    while chunk := list(islice(records, PIECE)):
        if finder is None:
            finder = AnswerFinder(source.study, source.name, columns=mapping, options=options)
        finder.look_ahead(record for record in chunk if isinstance(record, ScoreRow))
        for record in chunk:
            if isinstance(record, Problem):
                yield rejected(record, of=SCORE_SHEETS)
            else:
                named = replace(record, rater=names.of(record.rater))
                yield from _lines(source, rubric, finder, named, mapping, tally)
    source.log.notes += names.notes()
    yield from _said(tally)


def _lines(
    source: ImportSource,
    rubric: RubricVersion,
    finder: AnswerFinder,
    record: ScoreRow,
    mapping: Mapping[str, str],
    tally: Counter[str],
) -> Iterator[Line]:
    if record.state == EMPTY:
        tally[EMPTY] += 1
        yield Flag(record.row, "", _("Left out because no points were given."))
        return
    if record.state in ("open", "void"):
        reason = _("Left out because it was not submitted or does not count.")
        yield Flag(record.row, mapping.get("state", ""), reason)
        return
    if record.rubric_sha256 not in ("", rubric.sha256):
        reason = _("scored with another version of the rubric")
        column = mapping.get("rubric_sha256", "")
        yield Flag(record.row, column, reason, is_rejection=True, object=SCORE_SHEETS)
        return
    try:
        match = finder.find(record)
    except NoAnswer as why:
        yield from _not_found(record, why, mapping)
        tally[UNDECIDED] += why.near is not None
        return
    tally[match.how] += 1
    yield from _with_answer(source, rubric, record, match)


def _not_found(record: ScoreRow, why: NoAnswer, mapping: Mapping[str, str]) -> Iterator[Line]:
    where = "text" if why.near else "answer"
    columns = (mapping.get(name) for name in (where, "answer", "object1", "source"))
    column = next(filter(None, columns), "")
    if why.near:
        yield why.near
    yield Flag(record.row, column, str(why), is_rejection=True, object=SCORE_SHEETS)


def _with_answer(
    source: ImportSource, rubric: RubricVersion, record: ScoreRow, match: AnswerMatch
) -> Iterator[Line]:
    if match.near:
        yield match.near
    if match.rivals:
        yield Flag(
            record.row, "", _("Matches several answers; the first unused answer is chosen.")
        )
    answer = match.answer
    if isinstance(answer, AnswerEntry):
        yield answer
        answer = (answer.source, answer.position, answer.choice)
    if record.state == UNSCORED:
        reason = _("Stored as unscored and left out of every mean: %s.") % record.reason
        yield Flag(record.row, "", reason)
    yield _sheet(source, rubric, answer, record)


def _said(tally: Counter[str]) -> Iterator[Note]:
    """Report how the rows were matched to answers."""
    n = {how: tally[how] for how in WAYS}
    words = {
        TOLD: ngettext(
            "%s row identifies its answer by ID, by position in a file, or by content.",
            "%s rows identify their answers by ID, by position in a file, or by content.",
            n[TOLD],
        ),
        EXACTLY: ngettext(
            "%s row has exactly the same text as an answer in the study.",
            "%s rows have exactly the same texts as answers in the study.",
            n[EXACTLY],
        ),
        BY_LETTERS: ngettext(
            "%s row has the same letters and digits as an answer in the study and is linked to "
            "it.",
            "%s rows have the same letters and digits as answers in the study and are linked to "
            "them.",
            n[BY_LETTERS],
        ),
        CONFIRMED: ngettext(
            "%s row has almost the same text as an answer that was confirmed to be the same.",
            "%s rows have almost the same texts as answers that were confirmed to be the same.",
            n[CONFIRMED],
        ),
        UNDECIDED: ngettext(
            "%s row has almost the same text as an answer in the study and needs your decision.",
            "%s rows have almost the same texts as answers in the study and need your decision.",
            n[UNDECIDED],
        ),
        NEW: ngettext(
            "%s row is about an answer that is not in the study; the answer is created.",
            "%s rows are about answers that are not in the study; the answers are created.",
            n[NEW],
        ),
        EMPTY: ngettext(
            "%s row has no points, so it is left out.",
            "%s rows have no points, so they are left out.",
            n[EMPTY],
        ),
    }
    for how, text in words.items():
        if n[how]:
            yield Note(text % f"{n[how]:,}")


def _sheet(
    source: ImportSource, rubric: RubricVersion, answer: Any, record: ScoreRow
) -> SheetEntry:
    is_machine = record.rater_kind in (Rater.Kind.MODEL, Rater.Kind.CLASSIFIER)
    return SheetEntry(
        row=record.row,
        rubric=rubric,
        answer=answer,
        source=source.name,
        position=record.row,
        rater_kind=record.rater_kind,
        rater_id=record.rater,
        rater_name=record.rater_name or (record.rater[:120] if is_machine else ""),
        replicate=record.replicate,
        points=record.points,
        unable=record.unable,
        notes=record.notes,
        comment=record.comment,
        reason=record.reason,
        off_scale=record.off_scale,
        given=record.given,
        is_consolidated=record.is_consolidated,
        is_extra=not record.is_counted,
        submitted_at=record.submitted_at,
        sheet=record.sheet,
    )
