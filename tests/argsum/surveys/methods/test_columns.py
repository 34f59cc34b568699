"""Questions behind the columns of survey exports, and what each column is proposed for."""

import pytest

from argsum.surveys.methods.headings import SurveyTool, survey_columns, tool_of
from argsum.surveys.methods.roles import (
    is_preview,
    is_unfinished,
    proposed_roles,
    role_problem,
    separator_of,
)
from cqa_site.tabular import TableRow, open_table
from ..survey_files import PEOPLE, surveymonkey, table


def roles(values, header="Q1", title=""):
    """The role of a column with these values, and why it is left out."""
    column = survey_columns([header], {header: title} if title else {})
    rows = [TableRow(number, {header: value}) for number, value in enumerate(values, 2)]
    (proposal,) = proposed_roles(column, rows)
    return proposal.role.value, proposal.reason.value


SENTENCES = [f"The lift on floor {number} is out of order." for number in range(12)]
SCALE = ["I fully agree", "I rather agree", "I do not agree at all"] * 4


OPEN, CLOSED, SEVERAL = ("open", ""), ("closed", ""), ("several", "")
PERSONAL, DIFFERENT = ("left_out", "personal"), ("left_out", "different")
TECHNICAL, EMPTY = ("left_out", "technical"), ("left_out", "empty")
PLEASE = "Please leave your name and phone number if we may call you back."


@pytest.mark.parametrize(
    ("values", "title", "role"),
    [
        (SENTENCES, "What is broken?", OPEN),
        (SENTENCES * 5, "What is broken?", CLOSED),
        ([f"Room {n} is too warm." for n in range(30)] * 5, "What else?", OPEN),
        (SCALE, "The building is fine.", CLOSED),
        (["3", "4", "4", "5", "3", "3"], "How satisfied are you?", CLOSED),
        (["Bus,Car", "Bus", "Car", "Car,Bus", "Train,Car"], "Travel", SEVERAL),
        (["Bus;Car;", "Bus;", "Car;", "Car;", "Train;Car;"], "Travel", SEVERAL),
        (["a@b.example", "", "c@d.example"], "How can we reach you again?", PERSONAL),
        (["192.0.2.1", "192.0.2.1"], "Source", PERSONAL),
        (["Ada", "Bob", "Cem", "Dot", "Eve"], "Who are you?", DIFFERENT),
        (["Ada", "Bob", "Cem"], "What is your name?", PERSONAL),
        (["Ada", "Bob", "Cem"], "Vorname", PERSONAL),
        (["Ada", "Bob", "Ada", "Cem"], "Wie heißen Sie?", PERSONAL),
        ([f"Ada Doe {n}, 030 123{n}" for n in range(6)], PLEASE, PERSONAL),
        (SENTENCES, "How could our support by e-mail and phone serve you better?", OPEN),
        (SENTENCES, "What went wrong when you changed your phone number?", OPEN),
        (["good", "bad"] * 5, "Rate our e-mail support", CLOSED),
        (["2026-03-01 10:00", "2026-03-02 11:00"], "When?", ("left_out", "time")),
        (["", None, "N/A"], "Anything else?", EMPTY),
    ],
)
def test_a_column_is_proposed_by_its_wording_and_values(values, title, role):
    assert roles(values, title=title) == role


@pytest.mark.parametrize(
    ("header", "values", "role"),
    [
        ("Status", ["IP Address"] * 3, TECHNICAL),
        ("Q1_First Click", ["1.2", "3.4"], TECHNICAL),
        ("groupTime12", ["1.2", "3.4"], TECHNICAL),
        ("Q7[comment]", ["Too loud", "", ""], OPEN),
        ("Q7[comment]", ["", "", ""], OPEN),
        ("Q2[SQ001]", ["Y", "", "Y"], ("option", "")),
        ("Q2[SQ001]", ["No", "No", "No"], CLOSED),
        ("Q3[SQ001]", ["A1", "A2", "A1"], CLOSED),
        ("Q2[other]", ["by boat", "on foot", "", "skates", "a kite", "raft"], DIFFERENT),
    ],
)
def test_codes_of_programs_are_known(header, values, role):
    assert roles(values, header) == role


@pytest.mark.parametrize(
    ("header", "title", "question", "part"),
    [
        ("Q2", "How? - Selected Choice", "How?", ""),
        ("Q2[SQ001]. How do you travel? [Bus]", "", "How do you travel?", "Bus"),
        ("How do you travel? [Bus]", "", "How do you travel?", "Bus"),
        ("Q2[SQ001]", "", "Q2", "SQ001"),
        ("Q3. What else?", "", "What else?", ""),
    ],
)
def test_a_heading_has_a_question_and_a_part(header, title, question, part):
    about = ["ResponseId", "RecordedDate"] if "Selected" in title else []
    column = survey_columns([*about, header], {header: title} if title else {})[-1]
    assert (column.question, column.part) == (question, part)


def test_columns_of_a_code_are_titled_alike_up_to_their_part():
    titles = {
        "Q2_1": "How - roughly? - Selected Choice - Bus - night line",
        "Q2_2": "How - roughly? - Selected Choice - Car",
        "Q2_2_TEXT": "How - roughly? - Car - Text",
    }
    columns = survey_columns(["ResponseId", "RecordedDate", *titles], titles)[2:]
    assert [column.question for column in columns] == ["How - roughly?"] * 3
    assert [column.part for column in columns] == ["Bus - night line", "Car", "Car - Text"]
    # An option that nobody chose is one beside others.
    headers = ["Q2[SQ001]", "Q2[SQ002]", "Q2[SQ003]", "Q3[SQ001]"]
    values = [("Yes", "No", "", ""), ("No", "No", "", "")]
    rows = [TableRow(n, dict(zip(headers, own, strict=True))) for n, own in enumerate(values, 2)]
    proposed = [row.role.value for row in proposed_roles(survey_columns(headers, {}), rows)]
    assert proposed == ["option", "option", "option", "left_out"]


def test_questions_above_many_options_are_found(tmp_path):
    """Most columns of the first row have no heading then."""
    options = [f"Option {number}" for number in range(40)]
    first = ["Respondent ID", "Collector ID", "Which of these?", *[""] * 39, "Why do you say so?"]
    second = ["", "", *options, "Open-Ended Response"]
    rows = [[f"11{n}", "4", *options[:n], *[""] * (40 - n), f"Reason {n}."] for n in range(1, 3)]
    path = tmp_path / "wide.csv"
    path.write_bytes(table([first, second, *rows], bom=True))
    with open_table(path, name=path.name) as opened:
        columns = survey_columns(opened.columns, opened.titles)
        assert (opened.header_row, [row.number for row in opened.rows]) == (1, [3, 4])
    assert tool_of(columns) == SurveyTool.SURVEYMONKEY
    assert {column.question for column in columns[2:-1]} == {"Which of these?"}
    assert [column.part for column in columns[2:-1]] == options
    assert (columns[-1].question, columns[-1].is_open) == ("Why do you say so?", True)
    # One reply is enough for two rows of headings.
    path.write_bytes(surveymonkey(PEOPLE[:1]))
    with open_table(path, name=path.name) as opened:
        assert [row.number for row in opened.rows] == [3]


@pytest.mark.parametrize(
    ("values", "is_tried", "is_open_ended"),
    [
        ({"Status": "Survey Preview", "Finished": "True"}, True, False),
        ({"Status": "1", "Finished": "1"}, True, False),
        ({"Status": "IP Address", "DistributionChannel": "preview"}, True, False),
        ({"Status": "0", "Finished": "0"}, False, True),
        ({"Status": "IP Address", "Finished": "False"}, False, True),
        ({}, False, False),
    ],
)
def test_qualtrics_says_which_replies_are_previews_and_unfinished(values, is_tried, is_open_ended):
    row = TableRow(4, values)
    assert is_preview(SurveyTool.QUALTRICS, row) == is_tried
    assert is_unfinished(SurveyTool.QUALTRICS, row) == is_open_ended
    assert not is_preview(SurveyTool.OTHER, row)


def test_without_its_column_limesurvey_does_not_say_who_finished():
    assert not is_unfinished(SurveyTool.LIMESURVEY, TableRow(2, {"lastpage": "3"}))
    for header in ("submitdate", "Date submitted", "submitdate. Date submitted"):
        assert is_unfinished(SurveyTool.LIMESURVEY, TableRow(2, {header: ""}))
        assert not is_unfinished(SurveyTool.LIMESURVEY, TableRow(2, {header: "2026-03-01"}))


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["A,B", "A", "B", "B,C"], r",(?!\s)"),
        (["A, B", "A", "B", "C, B"], r",\s+"),
        (["A|B", "A", "B", "C|B"], r"\s*\|\s*"),
        (["Yes, daily", "Yes, weekly", "No", "No"], ""),
        (["Well, I like it", "Good, but late", "Late, and loud"], ""),
        (["A", "B", "A"], ""),
    ],
)
def test_several_answers_in_a_cell_are_told_from_commas(texts, pattern):
    assert separator_of(texts) == pattern


def test_wrong_roles_are_explained():
    headers = [f"Q{number}" for number in range(60)]
    assert "at most 50" in role_problem(dict.fromkeys(headers, "open"), headers)
    assert role_problem({"Q1": "open"}, headers) == ""
