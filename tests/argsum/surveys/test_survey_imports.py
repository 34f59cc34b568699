"""Survey exports into datasets: three programs, again, longer ones, and refusals."""

import pytest

from argsum.datasets.models import Comment, Dataset
from argsum.surveys.models import Respondent, Survey
from cqa_site.files.actions.imports import ImportRefused, import_path
from cqa_site.files.actions.recognition import look_at, recognised
from ..datasets.test_comment_imports import stored
from .survey_files import (
    CHANGE,
    GOOD,
    PEOPLE,
    SHIFT,
    TRAVEL,
    form,
    limesurvey,
    qualtrics,
    surveymonkey as monkey,
    table,
)

pytestmark = pytest.mark.django_db
LATER = (*PEOPLE, ("R7", "Night", ("Bus",), "The doors open by themselves.", "Buy better chairs."))


@pytest.fixture
def bring(study, tmp_path):
    def import_it(
        content, name="building.csv", *, write=True, reject=True, update=False, **options
    ):
        path = tmp_path / name
        path.write_bytes(content)
        how = {"write": write, "leave_out_rejected": not reject, "update_changed": update}
        return import_path(
            study=study, kind="survey", path=path, name=name, options=options, **how
        )

    return import_it


def datasets():
    """Datasets with the numbers of their comments."""
    return {row.name: row.recipe["comments"] for row in Dataset.objects.all()}


EXPORTS = {
    "qualtrics": (qualtrics, "Qualtrics"),
    "qualtrics in one column": (lambda *rows: qualtrics(*rows, split=False), "Qualtrics"),
    "qualtrics in numbers": (lambda *rows: qualtrics(*rows, preview="1"), "Qualtrics"),
    "surveymonkey": (lambda *rows: monkey(*rows, bom=True), "SurveyMonkey"),
    "limesurvey": (lambda *rows: limesurvey(*rows, delimiter=";"), "LimeSurvey"),
    "limesurvey in full": (lambda *rows: limesurvey(*rows, headings="full"), "LimeSurvey"),
    "form": (form, ""),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_a_question_is_a_dataset_with_the_same_respondents_and_groups(bring, tmp_path, export):
    make, tool = EXPORTS[export]
    path = tmp_path / "look.csv"
    path.write_bytes(make())
    assert list(recognised(look_at(path, name=path.name))) == ["survey"]
    done = bring(make())
    assert (done.rejected, done.counts["respondents"]["new"]) == (0, 6)
    survey = Survey.objects.get()
    assert (survey.name, survey.tool) == ("building", tool)
    # A comment field is a question of its own.
    own = {f"{SHIFT} – Comment": 1} if tool == "LimeSurvey" else {}
    assert datasets() == {GOOD: 5, CHANGE: 5} | own
    assert survey.groups == [SHIFT, *(f"{TRAVEL} – {means}" for means in survey_order(export))]
    # The same people stand behind every question.
    keys = set(Respondent.objects.values_list("key", flat=True))
    assert set(Comment.objects.values_list("key", flat=True)) <= keys
    assert len(keys) == 6
    assert not Comment.objects.filter(text__icontains="test").exists()
    nobody = Comment.objects.get(text="More light in the yard!")
    assert nobody.attributes == {SHIFT: "Night"}
    both = Comment.objects.get(text="Repair the bicycle racks.").attributes
    chosen = {"Bus": "yes", "Car": "yes", "Bicycle": "no"}
    assert both == {SHIFT: "Day"} | {f"{TRAVEL} – {name}": on for name, on in chosen.items()}
    # Nothing personal is stored anywhere.
    row = str([*Comment.objects.values(), *Respondent.objects.values()])
    assert "example.org" not in row
    assert "192.0.2" not in row
    assert "2026-03-0" not in row


def survey_order(export):
    """Options in the order of the file: of one cell, as they first occur."""
    is_one = export in ("qualtrics in one column", "form")
    return ("Bus", "Bicycle", "Car") if is_one else ("Bus", "Car", "Bicycle")


@pytest.mark.parametrize("export", ["qualtrics", "limesurvey in full", "form"])
def test_the_same_file_adds_nothing_and_a_longer_one_its_new_respondents(bring, export):
    make = EXPORTS[export][0]
    looked = bring(make(), write=False)
    assert not Survey.objects.exists()
    assert not Dataset.objects.exists()
    assert bring(make()).counts == looked.counts
    before = stored()
    # Under another name, as programs give every export one of its own.
    again = bring(make(), name="building_2.csv")
    assert (again.added, again.changed, stored()) == (0, 0, before)
    more = bring(make(LATER), name="building_3.csv")
    assert (more.counts["respondents"]["new"], more.counts["comments"]["new"]) == (1, 2)
    assert (Survey.objects.count(), datasets()[GOOD], datasets()[CHANGE]) == (1, 6, 6)


def test_it_says_what_was_left_out(bring):
    notes = bring(qualtrics(), write=False).notes
    assert "Recognized as an export from Qualtrics." in notes
    private = next(note for note in notes if note.startswith("Left out because they may identify"))
    for column in ("IPAddress", "RecipientEmail", "RecipientLastName", "StartDate"):
        assert column in private
    assert "1 preview answer is left out." in notes
    assert "1 unfinished reply is included." in notes
    assert "Questions without answers: " not in " ".join(notes)
    # Unfinished replies can be left out.
    done = bring(limesurvey(), unfinished="leave_out")
    assert done.counts["respondents"]["new"] == 5
    assert "1 unfinished reply is left out." in done.notes
    with pytest.raises(ImportRefused, match="maybe"):
        bring(limesurvey(), unfinished="maybe")


def test_a_person_decides_over_the_proposal_by_roles_that_fit(bring):
    for roles, reason in (
        ({"Wrong": "open"}, "The file has no column 'Wrong'"),
        ({GOOD: "essay"}, "'essay' is not a role"),
        ({GOOD: "closed", CHANGE: "closed"}, "at least one open question"),
        ({"Timestamp": "respondent", "Email Address": "respondent"}, "Only one column"),
    ):
        with pytest.raises(ImportRefused, match=reason):
            bring(form(), mapping=roles)
    assert not Survey.objects.exists()
    # A person decides over the proposal.
    roles = {CHANGE: "left_out", "Email Address": "respondent", "Timestamp": "date"}
    bring(form(), mapping=roles)
    assert datasets() == {GOOD: 5}
    comment = Comment.objects.get(name="R1@example.org")
    assert comment.written_on.isoformat() == "2026-03-01"
    # The next export starts from what was decided for the last one.
    bring(form(LATER), name="later.csv")
    assert datasets() == {GOOD: 6}


def test_a_respondent_comes_once(bring):
    people = [*PEOPLE, PEOPLE[0], ("R2", "Day", (), "Something else entirely.", "")]
    looked = bring(monkey(people), write=False)
    rejected = [flag for flag in looked.flags if flag.is_rejection]
    assert [(flag.row, flag.column) for flag in rejected] == [(10, "Respondent ID")]
    assert "11800000002" in rejected[0].reason
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        bring(monkey(people))
    assert not Survey.objects.exists()
    assert not Comment.objects.exists()
    assert bring(monkey(people), reject=False).counts["respondents"]["new"] == 6


def test_a_changed_answer_is_reported_and_replaced_on_demand(bring):
    bring(monkey())
    changed = (("R1", "Night", ("Bus",), "The lockers are too small now.", ""), *PEOPLE[1:])
    done = bring(monkey(changed))
    assert (done.added, done.counts["comments"]["changed"]) == (0, 1)
    assert [(flag.row, flag.column) for flag in done.flags] == [(3, GOOD)]
    assert Comment.objects.filter(text__contains="wide enough").exists()
    bring(monkey(changed), update=True)
    assert not Comment.objects.filter(text__contains="wide enough").exists()
    (comment,) = Comment.objects.filter(name="11800000001")
    means = {f"{TRAVEL} – {name}": "no" for name in ("Bus", "Car", "Bicycle")}
    assert comment.attributes == {SHIFT: "Night"} | means | {f"{TRAVEL} – Bus": "yes"}


def test_two_surveys_with_the_same_question_keep_their_own_datasets(bring):
    bring(qualtrics(tuple((*row[:4], "") for row in PEOPLE)), survey="Spring")
    bring(qualtrics(), survey="Autumn")
    autumn = {f"{GOOD} (Autumn)": 5, CHANGE: 5}
    assert datasets() == {GOOD: 5} | autumn
    # An answer to a question that nobody answered before.
    bring(qualtrics(LATER), survey="Spring")
    assert datasets() == {GOOD: 6, f"{CHANGE} (Spring)": 6} | autumn


def test_another_wording_of_a_code_is_told(bring):
    bring(qualtrics(), survey="Building")
    other = qualtrics().replace(GOOD.encode(), b"What is bad about it?")
    notes = bring(other, survey="Building", write=False).notes
    assert f"“Q3” was previously “{GOOD}”. Its answers are added to that question." in notes
    # Without a name it is a survey of its own.
    assert bring(other, name="other.csv").counts["respondents"]["new"] == 6
    assert Survey.objects.count() == 2


def test_a_file_name_alone_does_not_join_two_surveys(bring):
    """Both have a respondent R1, who need not be the same person."""
    bring(qualtrics(), name="export.csv")
    other = qualtrics().replace(GOOD.encode(), b"What is bad about it?")
    looked = bring(other, name="export.csv", write=False)
    assert looked.counts["respondents"]["new"] == 6
    # Codes say too little to find a survey by, unless the file has its name as well.
    codes = limesurvey(headings="code")
    for content, name, *numbers in (
        (other, "export.csv", 6, 0),
        (codes, "export.csv", 6, 0),
        (codes, "spring.csv", 6),
    ):
        for number in numbers:
            assert bring(content, name=name).counts["respondents"]["new"] == number
    assert {row.name for row in Survey.objects.all()} == {
        "export", "export (2)", "export (3)", "spring",
    }  # fmt: skip
    assert datasets()["Q3"] == datasets()["Q3 (spring)"] == 5


def test_ids_that_are_addresses_are_not_stored_unasked(bring, tmp_path):
    mails = form().replace(b"Email Address", b"Participant ID")
    done = bring(mails)
    assert done.counts["respondents"]["new"] == 6
    assert not Respondent.objects.filter(name__contains="@").exists()
    private = next(note for note in done.notes if note.startswith("Left out because"))
    assert "Participant ID" in private
    # A table with one text column stays a file of comments.
    rows = [["Respondent ID", SHIFT, GOOD], *((row[0], row[1], row[3]) for row in PEOPLE)]
    path = tmp_path / "one.csv"
    path.write_bytes(table(rows))
    assert list(recognised(look_at(path, name=path.name))) == ["comments"]


@pytest.mark.long
def test_the_command_imports_the_same(command, tmp_path):
    path = tmp_path / "staff.csv"
    path.write_bytes(form())
    text = command("import_survey", path, role=[f"{CHANGE}=left_out"], dry_run=True)
    assert "Dry run: nothing was imported." in text
    assert not Survey.objects.exists()
    command("import_survey", path, survey="Staff", role=[f"{CHANGE}=left_out"])
    assert (Survey.objects.get().name, datasets()) == ("Staff", {GOOD: 5})
    assert "is not a role" in command("import_survey", path, role=["Timestamp=when"])
