"""Questions for screening, quizzes and surveys: their notation and their form."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from ..queue import own_order

# Each question is a block, and empty lines separate the blocks. The first line is the question.
# Choices begin with "-", or with "+" if they are right or admit people. A line with "=" is the
# explanation, and a line with "@" is the place in the guideline. In surveys, a question without
# choices asks for text, or for a number if it ends with "[number]".

MOST_QUESTIONS, MOST_CHOICES, LONGEST_LINE = 30, 20, 500
LONGEST_ANSWER = 2_000
NUMBER = "[number]"
Question = dict[str, Any]


def read_questions(text: str, *, purpose: str) -> list[Question]:
    """Return the questions in a text; raises ValidationError with the line number.

    ``purpose`` is ``screening`` (some choices admit people), ``quiz`` (one choice is right) or
    ``survey``.
    """
    questions: list[Question] = []
    is_new = True
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if len(line) > LONGEST_LINE:
            raise _wrong(number, _("it has more than %d characters") % LONGEST_LINE)
        if not line:
            is_new = True
        elif is_new and line[0] not in "-+=@":
            questions.append(_question(line, number))
            is_new = False
        elif questions and not is_new:
            _add_line(questions[-1], line, number)
        else:
            raise _wrong(number, _("it must follow a question"))
    if len(questions) > MOST_QUESTIONS:
        raise ValidationError(_("At most %d questions are possible.") % MOST_QUESTIONS)
    texts: set[str] = set()
    for question in questions:
        _check(question, purpose)
        if question["text"] in texts:
            raise _wrong(question["line"], _("the same question already appears above; reword it"))
        texts.add(question["text"])
    return [
        {name: value for name, value in question.items() if name != "line"}
        for question in questions
    ]


def _question(line: str, number: int) -> Question:
    is_number = line.endswith(NUMBER)
    return {
        "text": line.removesuffix(NUMBER).strip(),
        "is_number": is_number,
        "choices": [],
        "right": [],
        "why": "",
        "where": "",
        "line": number,
    }


def _add_line(question: Question, line: str, number: int) -> None:
    sign, text = line[0], line[1:].strip()
    if sign in "-+" and text:
        if sign == "+":
            question["right"].append(len(question["choices"]))
        question["choices"].append(text)
    elif sign in "=@" and text:
        name = "why" if sign == "=" else "where"
        if question[name]:
            raise _wrong(
                number, _("a question can have only one “%s”; put both texts in it") % sign
            )
        question[name] = text
    else:
        raise _wrong(
            number, _("begin choices with “-” or “+”, and leave an empty line before a question")
        )


def _check(question: Question, purpose: str) -> None:
    choices, right, line = question["choices"], question["right"], question["line"]
    if len(set(choices)) < len(choices) or len(choices) > MOST_CHOICES:
        raise _wrong(line, _("write at most %d choices, all different") % MOST_CHOICES)
    if purpose == "survey":
        if right or len(choices) == 1 or (choices and question["is_number"]):
            raise _wrong(
                line,
                _("in a survey, give no choices or several, and do not mark any choice as right"),
            )
    elif len(choices) < 2 or question["is_number"]:
        raise _wrong(line, _("it needs two choices or more"))
    elif purpose == "quiz" and len(right) != 1:
        raise _wrong(line, _("mark exactly one right choice with “+”"))
    elif not right:
        raise _wrong(line, _("use “+” to mark the choices that admit people"))


def _wrong(line: int, reason: str) -> ValidationError:
    return ValidationError(_("Line %(line)d: %(reason)s.") % {"line": line, "reason": reason})


def questions_text(questions: Sequence[Question]) -> str:
    """Return the questions in the notation that `read_questions` reads."""
    return "\n\n".join("\n".join(_lines(question)) for question in questions)


def _lines(question: Question) -> list[str]:
    lines = [f"{question['text']} {NUMBER}" if question["is_number"] else question["text"]]
    for index, choice in enumerate(question["choices"]):
        lines.append(f"{'+' if index in question['right'] else '-'} {choice}")
    lines += [f"= {question['why']}"] if question["why"] else []
    return [*lines, f"@ {question['where']}"] if question["where"] else lines


class QuestionsForm(forms.Form):
    """A form with questions; the order of choices is random if ``rater`` is given.

    In that case, the page reveals neither the right choice nor the original order.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        *args: Any,
        rater: int | None = None,
        is_required: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.questions = questions
        for number, question in enumerate(questions):
            field = _field(question, number, rater)
            field.required = is_required
            self.fields[f"q{number}"] = field

    @property
    def answers(self) -> dict[str, Any]:
        """The answers by field, without empty answers."""
        return {name: value for name, value in self.cleaned_data.items() if value != ""}

    @property
    def wrong(self) -> list[int]:
        return wrong_answers(self.questions, self.answers)


def _field(question: Question, number: int, rater: int | None) -> forms.Field:
    label = question["text"]
    if question["choices"]:
        order = list(range(len(question["choices"])))
        if rater is not None:
            order = own_order(order, seed=number, rater=rater)
        indexes = {choice_value(rater, number, index): index for index in order}
        return forms.TypedChoiceField(
            label=label,
            choices=[(value, question["choices"][index]) for value, index in indexes.items()],
            coerce=lambda value: str(indexes[value]),
            widget=forms.RadioSelect,
        )
    if question["is_number"]:
        return forms.FloatField(label=label, min_value=-1e9, max_value=1e9)
    return forms.CharField(
        label=label, max_length=LONGEST_ANSWER, widget=forms.Textarea(attrs={"rows": 2})
    )


def choice_value(rater: int | None, number: int, index: int) -> str:
    """Return a choice's value on the page; it hides the choice's position if ``rater`` is set."""
    if rater is None:
        return str(index)
    return salted_hmac("onboarding choice", f"{rater} {number} {index}").hexdigest()[:8]


def wrong_answers(questions: Sequence[Question], answers: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the questions that were not answered correctly."""
    return [
        number
        for number, question in enumerate(questions)
        if str(answers.get(f"q{number}", "")) not in {str(index) for index in question["right"]}
    ]


def spoken(question: Question, value: Any) -> str:
    if value in (None, ""):
        return ""
    if not question["choices"]:
        return f"{value:g}" if isinstance(value, float) else str(value)
    known = re.fullmatch(r"\d+", str(value)) and int(value) < len(question["choices"])
    return str(question["choices"][int(value)]) if known else ""
