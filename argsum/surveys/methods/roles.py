"""Uses of survey columns, proposed from headings and values, and their checks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from argsum.datasets.methods.comment_columns import as_date, texts_of
from cqa_site.tabular import TableRow
from cqa_site.tabular.cells import as_words, is_missing
from cqa_site.tabular.layout import bare
from .headings import SurveyColumn, SurveyTool


class ColumnRole(StrEnum):
    """How a column is used."""

    OPEN = "open"
    CLOSED = "closed"
    SEVERAL = "several"
    OPTION = "option"
    RESPONDENT = "respondent"
    DATE = "date"
    LEFT_OUT = "left_out"


class Reason(StrEnum):
    """Reason for proposing to leave a column out."""

    NONE = ""
    PERSONAL = "personal"
    TIME = "time"
    TECHNICAL = "technical"
    EMPTY = "empty"
    DIFFERENT = "different"


# Reasons that users must be told about.
PRIVATE = (Reason.PERSONAL, Reason.TIME)
MOST_QUESTIONS = 50
_FREE_WORDS = 3.0
_LONGEST_FIELD = 6
# Average number of words of a name with an address or a telephone number.
_MOST_DETAILS = 8
# From this number of answers on, short answers that are all different may identify people.
_FEWEST = 5
_MOST_OPTIONS, _LONGEST_OPTION = 40, 12
# Maximum number of different answers of a closed question with long answers.
_MOST_ANSWERS = 20
# Separators of several answers in one cell; Qualtrics puts no space after the comma.
SEPARATORS = (r"\s*;\s*", r"\s*\|\s*", r",(?!\s)", r",\s+")
ANY_SEPARATOR = r"\s*[;|,]\s*"
NOT_CHOSEN = frozenset(
    "n no nein non nej não nee 0 false unchecked notselected unselected".split()  # noqa: SIM905
)
_CHOSEN = frozenset(
    "y yes ja oui sí si sim 1 x true checked selected quoted".split()  # noqa: SIM905
)
# Qualtrics uses words and the numbers that stand for them.
_PREVIEWS = frozenset("surveypreview surveytest preview 1 2 9 17".split())  # noqa: SIM905
_RESPONDENTS = tuple(
    "responseid respondentid id participantid antwortid lfdn caseid case sessionid uuid".split()  # noqa: SIM905
)
_PERSONAL = frozenset(
    """
    ipaddress ipaddr ip email emailaddress mail recipientemail recipientfirstname recipientlastname
    firstname lastname surname fullname name username phone telephone mobile phonenumber address
    postaladdress dateofbirth birthdate locationlatitude locationlongitude latitude longitude
    externalreference externaldatareference customdata1 customdata token participant ipadresse
    emailadresse vorname nachname telefon telefonnummer adresse anschrift geburtsdatum prenom
    prénom nom nomdefamille courriel adresseip téléphone nombre apellido apellidos correo
    correoelectronico telefono teléfono nome cognome voornaam achternaam naam
    """.split()  # noqa: SIM905
)
_TIMES = frozenset(
    """
    startdate enddate recordeddate submitdate datesubmitted startdatetime datestamp datestarted
    datelastaction timestamp date time completed created createdat submittedat zeitstempel datum
    horodateur fecha tijdstempel
    """.split()  # noqa: SIM905
)
_TECHNICAL = frozenset(
    """
    status progress finished durationinseconds duration distributionchannel userlanguage lastpage
    startlanguage seed refurl referrerurl collectorid interviewtime totaltime qrecaptchascore
    """.split()  # noqa: SIM905
)
_TIMING = re.compile(
    r"(?:group|question)?time\w*\d+|.*(?:firstclick|lastclick|pagesubmit|clickcount)"
)
_ASKS_PERSON = re.compile(
    r"\b(?:e-?mail|phone|telephone|(?:your|first|last|full) name|postal address|date of birth|"
    r"telefon\w*|ihr name|vor- und nachname|wie heißen|votre nom|su nombre)\b",
    re.IGNORECASE,
)
# Phrases that ask for personal details in a heading of any length.
_ASKS_DETAILS = re.compile(
    r"\b(?:your|first|last|full) name\b|\bcontact details|\be-?mail address|\bphone number|"
    r"\b(?:ihr|dein)e?n? (?:namen?|e-?mail\S*|telefonnummer|kontaktdaten)\b|\bdate of birth|"
    r"\bvotre (?:nom|adresse|num[ée]ro)\b|\bcoordonn[ée]es\b",
    re.IGNORECASE,
)
# A text field that accompanies options.
_FREE_PART = re.compile(r"^$|\bother\b|\btext$|specify|sonstige|autre|otro|altro", re.IGNORECASE)
_IDENTIFIES = re.compile(
    r"[^@\s]+@[^@\s]+\.\w+|\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}", re.I
)


@dataclass(frozen=True, slots=True)
class ProposedRole:
    """A column with its proposed use, the reason for leaving it out, and sample values."""

    column: SurveyColumn
    role: ColumnRole
    reason: Reason = Reason.NONE
    examples: tuple[str, ...] = ()


def proposed_roles(
    columns: Sequence[SurveyColumn], rows: Sequence[TableRow]
) -> list[ProposedRole]:
    """Return the likely use of each column.

    Answers to open questions have several words and rarely repeat; those to closed questions
    repeat. Personal data, times and the program's own counts are left out, and so are short
    answers that are all different, because they may identify people.
    """
    result = []
    for column in columns:
        texts = texts_of(rows, column.header)
        role, reason = _role(column, texts)
        result.append(ProposedRole(column, role, reason, tuple(dict.fromkeys(texts))[:2]))
    return _with_respondent(_with_unchosen(result, rows), rows)


def role_problem(roles: Mapping[str, str], headers: Sequence[str]) -> str:
    """Return the problem with the chosen roles as a sentence, or "" if there is no problem.

    Examples
    --------
    >>> role_problem({"Q1": "closed"}, ["Q1"])
    'Choose at least one open question.'
    """
    for column, role in roles.items():
        if column not in headers:
            return f"The file has no column {column[:80]!a}."
        if role not in list(ColumnRole):
            problem = f"{role[:40]!a} is not a role for {column[:80]!a}"
            return f"{problem}. Use one of {', '.join(ColumnRole)}."
    counts = Counter(roles.values())
    if counts[ColumnRole.RESPONDENT] > 1 or counts[ColumnRole.DATE] > 1:
        return "Only one column can identify respondents, and only one can hold the date."
    if counts[ColumnRole.OPEN] > MOST_QUESTIONS:
        return f"A survey can have at most {MOST_QUESTIONS} open questions."
    return "" if counts[ColumnRole.OPEN] else "Choose at least one open question."


def separator_of(texts: Sequence[str]) -> str:
    """Return the pattern that separates answers in a cell, or "" if each cell has only one answer.

    Answers are split if their pieces repeat, and if there are more combinations than pieces or
    half of the pieces also occur alone.

    Examples
    --------
    >>> separator_of(["Bus,Train", "Bus", "Train,Car", "Car"])
    ',(?!\\\\s)'
    >>> separator_of(["Yes, daily", "Yes, weekly", "No", "No"])
    ''
    """
    answers = set(texts)
    for pattern in SEPARATORS:
        split = [pieces_of(text, pattern) for text in texts]
        counts = Counter(piece for pieces in split for piece in pieces)
        if not any(len(pieces) > 1 for pieces in split) or len(counts) > _MOST_OPTIONS:
            continue
        if any(len(piece.split()) > _LONGEST_OPTION for piece in counts):
            continue
        alone = sum(piece in answers for piece in counts)
        has_mixtures = len(answers) > len(counts) or 2 * alone >= len(counts)
        if has_mixtures and counts.total() >= 2 * len(counts):
            return pattern
    return ""


def pieces_of(text: str, pattern: str) -> list[str]:
    """Return the answers in a cell, without empty ones."""
    return [piece.strip() for piece in re.split(pattern, text) if piece.strip()]


def is_chosen(text: str) -> bool:
    """Return whether the cell of an option shows that the option was chosen."""
    return bool(text) and "".join(text.lower().split()) not in NOT_CHOSEN


def is_preview(tool: str, row: TableRow) -> bool:
    """Return whether Qualtrics marks the row as a preview of the survey."""
    if tool != SurveyTool.QUALTRICS:
        return False
    is_tried = bare(_named(row, "distributionchannel")) == "preview"
    return is_tried or bare(_named(row, "status")) in _PREVIEWS


def is_unfinished(tool: str, row: TableRow) -> bool:
    """Return whether the program marks the respondent as not having reached the end."""
    if tool == SurveyTool.QUALTRICS:
        finished = _named(row, "finished")
        return finished is not None and not is_chosen(finished)
    if tool == SurveyTool.LIMESURVEY:
        return "" in (_named(row, "submitdate"), _named(row, "datesubmitted"))
    return False


@lru_cache(maxsize=2_000)
def _plain(header: str) -> str:
    return bare(header.partition(". ")[0])


def _named(row: TableRow, name: str) -> str | None:
    """Return the value of a column by its plain name, or None if there is no such column."""
    for header, value in row.values.items():
        if _plain(header) == name:
            return "" if is_missing(value) else as_words(value).strip()
    return None


def _role(column: SurveyColumn, texts: Sequence[str]) -> tuple[ColumnRole, Reason]:
    if reason := _left_out_by_name(column):
        return ColumnRole.LEFT_OUT, reason
    if column.part and texts and _is_option(column.part, texts):
        return ColumnRole.OPTION, Reason.NONE
    if _asks_person(column, texts):
        return ColumnRole.LEFT_OUT, Reason.PERSONAL
    if not texts:
        return (
            (ColumnRole.OPEN, Reason.NONE)
            if column.is_open
            else (ColumnRole.LEFT_OUT, Reason.EMPTY)
        )
    if all(as_date(text) for text in texts):
        return ColumnRole.LEFT_OUT, Reason.TIME
    words = sum(_words(text) for text in texts) / len(texts)
    differ = len(set(texts)) / len(texts)
    if separator_of(texts):
        return ColumnRole.SEVERAL, Reason.NONE
    is_free = differ > 0.5 or len(set(texts)) > _MOST_ANSWERS
    if words >= (2 if column.is_open else _FREE_WORDS) and is_free:
        return ColumnRole.OPEN, Reason.NONE
    if differ > 0.8 and len(texts) >= _FEWEST:
        return ColumnRole.LEFT_OUT, Reason.DIFFERENT
    return ColumnRole.CLOSED, Reason.NONE


def _left_out_by_name(column: SurveyColumn) -> Reason:
    names = column.names
    if names & _PERSONAL:
        return Reason.PERSONAL
    if names & _TIMES:
        return Reason.TIME
    if names & _TECHNICAL or any(map(_TIMING.fullmatch, names)):
        return Reason.TECHNICAL
    return Reason.NONE


def _asks_person(column: SurveyColumn, texts: Sequence[str]) -> bool:
    """Return whether a form field asks for personal details, or its answers contain them."""
    # Repeated answers rate something, such as the e-mail support.
    differ = 2 * len(set(texts)) >= len(texts)
    is_field = len(column.text.split()) <= _LONGEST_FIELD
    is_short = sum(map(_words, texts)) <= _MOST_DETAILS * len(texts)
    asks = (is_field and _ASKS_PERSON.search(column.text)) or (
        is_short and _ASKS_DETAILS.search(column.text)
    )
    if bare(column.part) in _PERSONAL or (differ and asks):
        return True
    identifying = sum(bool(_IDENTIFIES.fullmatch(text)) for text in texts)
    return bool(texts) and 2 * identifying >= len(texts)


def _is_option(part: str, texts: Sequence[str]) -> bool:
    """Return whether the values of a column only show whether its part was chosen."""
    plain = {"".join(text.lower().split()) for text in texts}
    name = "".join(part.lower().split())
    return plain <= NOT_CHOSEN | _CHOSEN | {name} and not plain <= NOT_CHOSEN


def _words(text: str) -> float:
    # Some scripts have no spaces between words.
    return max(len(text.split()), len(text) / 10)


def _with_unchosen(
    proposals: Sequence[ProposedRole], rows: Sequence[TableRow]
) -> list[ProposedRole]:
    """Also propose options that nobody chose, if other columns of their question are options."""
    chosen = {row.column.question for row in proposals if row.role == ColumnRole.OPTION}
    result = []
    for row in proposals:
        is_beside = row.column.question in chosen and not _FREE_PART.search(row.column.part)
        if is_beside and not any(map(is_chosen, texts_of(rows, row.column.header))):
            row = ProposedRole(row.column, ColumnRole.OPTION)
        result.append(row)
    return result


def _with_respondent(
    proposals: list[ProposedRole], rows: Sequence[TableRow]
) -> list[ProposedRole]:
    """Use the first column with a suitable name and values as the respondents' key."""
    by_name = {
        name: at for at, row in reversed([*enumerate(proposals)]) for name in row.column.names
    }
    for name in _RESPONDENTS:
        if (at := by_name.get(name)) is None:
            continue
        column = proposals[at].column
        texts = texts_of(rows, column.header)
        # The import rejects single rows with a missing or repeated id.
        is_private = proposals[at].reason in PRIVATE
        if texts and 2 * len(set(texts)) > len(rows) and not is_private:
            proposals[at] = ProposedRole(
                column, ColumnRole.RESPONDENT, Reason.NONE, tuple(texts[:2])
            )
            break
    return proposals
