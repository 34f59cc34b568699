"""Themes of an analysis: counted, shown, moved, renamed, merged and taken back."""

import csv
import io

import pytest

from argsum.analysis.actions.edits import (
    EditConflict,
    EditRefused,
    merge_points,
    rename_point,
    set_state,
    split_point,
    undo_change,
)
from argsum.analysis.actions.themes import merge_themes, move_to_theme, rename_theme
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.analyses import StatementSearch
from argsum.analysis.reports.mentions import narrowed_counts, theme_counts
from argsum.analysis.reports.report import ReportRequest, report_of
from argsum.analysis.reports.themes import said_by_few, theme_names
from tests.argsum.signed_in import SignedIn
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once

from .made_comments import fill, make_cell, say, write_analysis
from .test_comparing import _nothing_cached

pytestmark = pytest.mark.django_db
__all__ = ["_nothing_cached"]


class Lab(SignedIn):
    """Three key points in two themes: the first and the second are about the inside."""

    def __init__(self):
        super().__init__()
        self.cell = make_cell(self.study)
        fill(self.cell)
        # Says something of two key points of the inside.
        first, second = self.cell.arguments.order_by("position")[:2]
        say(self.cell, first.text, second.text, town="Altdorf")
        self.analysis = write_analysis(self.study, self.cell)
        self.first, self.second, self.third = self.analysis.points.order_by("position")
        for point in (self.first, self.second, self.third):
            point.theme = "Outside" if point == self.third else "Inside"
            point.save()

    @property
    def ids(self):
        return {"analysis_id": self.analysis.public_id}

    @property
    def seen(self):
        return Analysis.objects.get(pk=self.analysis.pk).revision

    def theme(self, action, **given):
        usual = {"analysis": self.analysis, "actor": self.researcher, "seen": self.seen}
        return action(**usual | given)

    def edit(self, verb, *points, **given):
        given |= {"verb": verb, "seen": self.seen, "point": [each.public_id for each in points]}
        return self.post("analysis_edit", given, htmx=True)

    def names(self):
        return dict(self.analysis.points.values_list("text", "theme"))

    def making(self, *points, **about):
        """Comments that make one of some points, counted the slow way."""
        return (
            self.cell.comments.filter(statements__argument__placements__point__in=points, **about)
            .distinct()
            .count()
        )


lab = built_once(Lab)


def test_a_comment_that_makes_two_points_of_a_theme_counts_once(lab):
    counts = theme_counts(lab.analysis)
    assert counts["Inside"].comments == lab.making(lab.first, lab.second)
    assert counts["Outside"].comments == lab.making(lab.third)
    lab.first.refresh_from_db()
    lab.second.refresh_from_db()
    assert counts["Inside"].comments < lab.first.comments + lab.second.comments
    assert counts["Inside"].statements == lab.first.statements + lab.second.statements


def test_themes_are_counted_under_the_filters_of_the_page(lab):
    town = StatementSearch(column="town", value="Altdorf")
    counts = narrowed_counts(lab.analysis, town).themes
    about = {"attributes__town": "Altdorf"}
    assert counts["Inside"].comments == lab.making(lab.first, lab.second, **about)
    assert counts["Inside"].comments < theme_counts(lab.analysis)["Inside"].comments
    page = lab.get("analysis", {"group": '["town", "Altdorf"]'})
    rows = {row.name: row for row in page.context["page"]}
    assert rows["Inside"].counted == counts["Inside"].comments
    assert rows["Inside"].share == 100 * counts["Inside"].comments / page.context["total"]


def test_hidden_key_points_are_in_no_theme(lab):
    before = theme_counts(lab.analysis)["Inside"].comments
    lab.theme(set_state, points=[lab.second], verb="hidden")
    fresh = Analysis.objects.get(pk=lab.analysis.pk)
    assert theme_counts(fresh)["Inside"].comments == lab.making(lab.first) < before
    lab.theme(set_state, points=[lab.first], verb="hidden")
    assert "Inside" not in theme_counts(Analysis.objects.get(pk=lab.analysis.pk))
    # Its name is still there to be chosen.
    assert theme_names(lab.analysis) == ["Inside", "Outside"]


def test_sure_comments_of_a_theme_count_apart(lab):
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.7)
    one = lab.first.placements.first()
    Placement.objects.filter(pk=one.pk).update(is_sure=True)
    counts = theme_counts(Analysis.objects.get(pk=lab.analysis.pk))["Inside"]
    assert counts.sure_comments == one.argument.said_in.count() < counts.comments
    words = flat(lab.get("analysis"))
    more = counts.comments - counts.sure_comments
    assert f"{counts.sure_comments} comments, perhaps {more} more" in words
    total = lab.analysis.comments
    both = f"{100 * counts.sure_comments / total:.0f}–{100 * counts.comments / total:.0f} %"
    assert both in words
    # Of two equal numbers one is enough.
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=10_000)
    assert "0–0 %" not in flat(lab.get("analysis"))
    assert "(0 %)" in flat(lab.get("analysis_report"))


def test_the_first_view_lists_themes_and_one_switch_leads_to_key_points(lab):
    page = lab.get("analysis")
    words = flat(page)
    assert "2 themes · 3 key points" in words
    assert "Themes are proposals that you can change" in words
    assert [row.name for row in page.context["page"]] == ["Inside", "Outside"]
    assert [len(row.points) for row in page.context["page"]] == [2, 1]
    flat_page = lab.get("analysis", {"view": "points"})
    assert [row.point for row in flat_page.context["rows"]] == sorted(
        (lab.first, lab.second, lab.third),
        key=lambda point: (-FoundPoint.objects.get(pk=point.pk).comments, point.position),
    )
    one = lab.get("analysis", {"view": "points", "theme": "Outside"})
    assert [row.point for row in one.context["rows"]] == [lab.third]
    assert "Outside · 1 key point" in flat(one)


def test_without_themes_the_page_lists_key_points(lab):
    lab.analysis.points.update(theme="")
    page = lab.get("analysis")
    assert len(page.context["rows"]) == 3
    assert "All key points" not in flat(page)


def test_key_points_without_a_theme_stand_last(lab):
    FoundPoint.objects.filter(pk=lab.first.pk).update(theme="")
    page = lab.get("analysis")
    assert [row.name for row in page.context["page"]][-1] == ""
    assert "No theme" in flat(page)
    assert "2 themes · 3 key points" in flat(page)


def test_a_page_of_themes_costs_few_queries(lab, django_assert_max_num_queries):
    lab.client  # noqa: B018  signs in here, not below
    with django_assert_max_num_queries(21):
        lab.get("analysis")
    with django_assert_max_num_queries(17):
        lab.get("analysis")
    with django_assert_max_num_queries(20):
        lab.get("analysis", {"group": '["town", "Altdorf"]'})


def test_a_page_of_many_themes_stays_light(lab):
    FoundPoint.objects.bulk_create(
        FoundPoint(
            analysis=lab.analysis,
            position=10 + n,
            text=f"A key point that goes on and on, so that it is long, number {n} {'x' * 200}",
            written="x",
            theme=f"A theme with quite a name {n // 12}",
            statements=3,
            comments=3,
        )
        for n in range(480)
    )
    page = lab.get("analysis")
    assert page.context["page"].paginator.count == 42
    assert len(page.content) < 200_000
    last = lab.get("analysis", {"page": 2}).context["page"][-1]
    assert (len(last.points), last.more, last.number) == (6, 6, 12)


def test_the_history_names_what_was_moved_renamed_merged_and_split(lab):
    lab.theme(rename_theme, theme="Inside", name="Rooms")
    lab.theme(rename_point, point=lab.third, text="Nicer parks")
    lab.theme(merge_points, points=[lab.first, lab.second], into=lab.first)
    key = lab.third.placements.values_list("argument", flat=True)[0]
    lab.theme(split_point, point=lab.third, statements=[key], text="Benches")
    lab.theme(merge_themes, themes=["Rooms", "Outside"], name="All")
    change = lab.analysis.changes.first()
    undo_change(analysis=lab.analysis, actor=lab.researcher, change=change)
    rows = lab.get("analysis_history").context["rows"]
    assert [sorted(lines) for _change, lines in reversed(rows)] == [
        ["2 key points: theme “Inside” → “Rooms”"],
        [f"“{lab.third.text}” → “Nicer parks”"],
        [f"merged: “{lab.second.text}”"],
        ["new key point: “Benches”"],
        ["2 key points: theme “Outside” → “All”", "2 key points: theme “Rooms” → “All”"],
        ["2 key points: theme “All” → “Outside”", "2 key points: theme “All” → “Rooms”"],
    ]
    assert "theme “Inside” → “Rooms”" in flat(lab.get("analysis_history"))


def test_a_merged_key_point_comes_back_into_the_renamed_theme(lab):
    merged = lab.theme(merge_points, points=[lab.first, lab.second], into=lab.first)
    lab.theme(rename_theme, theme="Inside", name="The house")
    undo_change(analysis=lab.analysis, actor=lab.researcher, change=merged)
    assert lab.names()["Second point."] == "The house"


def test_themes_become_the_one_with_most_comments_or_have_a_new_name(lab):
    change = lab.theme(merge_themes, themes=["Outside", "Inside"])
    assert set(lab.names().values()) == {"Inside"}
    assert list(change.after["points"]) == [str(lab.third.pk)]
    undo_change(analysis=lab.analysis, actor=lab.researcher, change=change)
    lab.theme(merge_themes, themes=["Outside", "Inside"], name="All of it")
    assert set(lab.names().values()) == {"All of it"}


@pytest.mark.parametrize(
    ("action", "given", "message"),
    [
        (rename_theme, {"theme": "Inside", "name": "Outside"}, "already exists"),
        (rename_theme, {"theme": "Inside", "name": " "}, "Enter the name"),
        (rename_theme, {"theme": "Inside", "name": "x" * 121}, "at most 120"),
        (rename_theme, {"theme": "", "name": "x"}, "no theme “”"),
        (merge_themes, {"themes": ["Inside", "Inside"]}, "at least two"),
        (merge_themes, {"themes": ["Inside", "Nowhere"]}, "no theme “Nowhere”"),
        (move_to_theme, {"points": [], "theme": "x"}, "Choose 1 to"),
    ],
)
def test_what_is_no_edit_of_themes_is_refused(lab, action, given, message):
    with pytest.raises(EditRefused, match=message):
        lab.theme(action, **given)
    assert lab.analysis.changes.count() == 0


def test_names_that_differ_in_case_only_are_one_theme(lab):
    lab.theme(move_to_theme, points=[lab.third], theme="inside")
    assert set(lab.names().values()) == {"Inside"}
    lab.theme(move_to_theme, points=[lab.third], theme="Ämter")
    with pytest.raises(EditRefused, match="already exists"):
        lab.theme(rename_theme, theme="Inside", name="ämter")
    lab.theme(rename_theme, theme="Ämter", name="ämter")
    assert lab.names()["Third point."] == "ämter"


def test_the_name_of_a_theme_that_is_not_on_the_page_is_free(lab):
    lab.theme(merge_points, points=[lab.first, lab.third], into=lab.first)
    lab.theme(rename_theme, theme="Inside", name="Outside")
    assert set(lab.names().values()) == {"Outside"}


def test_a_name_that_no_database_keeps_is_no_theme(lab):
    answer = lab.edit("rename_theme", theme=["In\x00side"], name="x")
    assert answer.status_code == 422
    assert "There is no theme" in flat(answer)


def test_key_points_that_are_there_already_are_not_moved(lab):
    with pytest.raises(EditRefused, match="already there"):
        lab.theme(move_to_theme, points=[lab.first, lab.second], theme="Inside")


def test_a_theme_with_a_key_point_that_changed_meanwhile_stays(lab):
    seen = lab.seen
    lab.theme(rename_point, point=lab.second, text="Said otherwise.")
    for action, given in (
        (rename_theme, {"theme": "Inside", "name": "x"}),
        (merge_themes, {"themes": ["Inside", "Outside"]}),
        (move_to_theme, {"points": [lab.second], "theme": "x"}),
    ):
        with pytest.raises(EditConflict, match="changed in the meantime"):
            lab.theme(action, **given, seen=seen)
    assert set(lab.names().values()) == {"Inside", "Outside"}


def test_parts_and_merged_key_points_have_the_theme_of_where_they_come_from(lab):
    statements = list(lab.third.placements.values_list("argument", flat=True)[:1])
    lab.theme(split_point, point=lab.third, statements=statements, text="A part.")
    assert lab.names()["A part."] == "Outside"
    lab.theme(merge_points, points=[lab.first, lab.third], into=lab.third)
    assert lab.names()["Third point."] == "Outside"


def test_the_page_moves_renames_and_merges(lab):
    answer = lab.edit("to_theme", lab.second, to_theme="Hall")
    assert "1 key point is in “Hall” now." in flat(answer)
    opened = {row.name for row in answer.context["page"] if row.is_open}
    assert opened == {"Hall"}
    answer = lab.edit("rename_theme", theme=["Hall"], name="The hall")
    assert "The theme is now called “The hall”." in flat(answer)
    answer = lab.edit("merge_themes", theme=["The hall", "Outside"], name="Elsewhere")
    assert "The themes are now one: “Elsewhere”." in flat(answer)
    assert set(lab.names().values()) == {"Inside", "Elsewhere"}
    wrong = lab.edit("rename_theme", theme=["Inside", "Elsewhere"], name="x")
    assert wrong.status_code == 422
    assert "Choose one theme to rename." in flat(wrong)
    # What was chosen stays so.
    assert wrong.context["chosen"] == {"Inside", "Elsewhere"}
    given = {"verb": "to_theme", "to_theme": "", "seen": lab.seen}
    lab.post("found_point_edit", given, point_id=lab.first.public_id, htmx=True)
    assert lab.names()["First point."] == ""


# -- said by few --


def test_key_points_of_few_comments_stand_below_the_most_distinctive_first(lab):
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=1_000)
    for n, (comments, statements, distinctness) in enumerate(
        [(19, 3, 0.1), (19, 3, 0.4), (20, 3, 0.9), (1, 1, 0.9), (5, 2, None)]
    ):
        FoundPoint.objects.create(
            analysis=lab.analysis,
            position=10 + n,
            text=f"Point {n}.",
            written="x",
            theme="Inside",
            comments=comments,
            sure_comments=0,
            statements=statements,
            distinctness=distinctness,
        )
    lab.analysis.points.filter(position__lt=10).update(comments=200)
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.7)
    page = lab.get("analysis")
    # One statement that is not sure is no point of few people.
    assert [row.point.text for row in page.context["themes"].rare] == [
        "Point 1.", "Point 0.", "Point 4.",
    ]  # fmt: skip
    inside = page.context["page"][0]
    assert (inside.rare, inside.number) == (3, 7)
    assert not {"Point 0.", "Point 1."} & {row.point.text for row in inside.points}
    assert "Said by few" in flat(page)
    FoundPoint.objects.filter(text="Point 3.").update(sure_comments=1)
    assert "Point 3." in {row.point.text for row in lab.get("analysis").context["themes"].rare}


def test_in_few_comments_no_point_is_rare(lab):
    points = list(lab.analysis.points.all())
    assert said_by_few(lab.analysis, points) == []


# -- report, tables, interface --


def test_the_report_groups_key_points_by_theme(lab):
    report = report_of(Analysis.objects.get(pk=lab.analysis.pk), None, ReportRequest())
    assert [theme.name for theme in report.themes] == ["Inside", "Outside"]
    assert report.themes[0].share.k == lab.making(lab.first, lab.second)
    page = lab.text("analysis_report")
    at = [page.index(text) for text in ("Inside", "First point.", "Outside", "Third point.")]
    assert at[0] < at[1] < at[3]
    assert at[2] < at[3]
    assert "Themes are proposals." in page


def test_the_report_lists_what_few_say_apart(lab):
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=1_000)
    report = report_of(Analysis.objects.get(pk=lab.analysis.pk), None, ReportRequest())
    assert (len(report.points), len(report.few), report.beyond) == (0, 3, 0)
    # Not the most distinctive one.
    lab.analysis.points.filter(pk=lab.third.pk).update(distinctness=0.9, comments=1)
    report = report_of(Analysis.objects.get(pk=lab.analysis.pk), None, ReportRequest())
    assert report.few[0].point == lab.third
    assert "Third point." not in report.says
    assert "Said by few" in lab.text("analysis_report")


def test_tables_have_a_column_of_themes(lab):
    for name in ("key-points.csv", "statements.csv"):
        response = lab.get("analysis_report_file", name=name)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
        themes = {row["text" if "text" in row else "key_point_text"]: row["theme"] for row in rows}
        assert themes["First point."] == "Inside"
        assert themes["Third point."] == "Outside"


def test_programs_list_move_rename_and_merge_themes(lab):
    rows = lab.told("themes")["themes"]
    assert [(row["name"], row["key_points"]) for row in rows] == [("Inside", 2), ("Outside", 1)]
    assert rows[0]["comments"] == lab.making(lab.first, lab.second)
    points = lab.told("found_points", {"theme": "Outside"})["results"]
    assert [(row["text"], row["theme"]) for row in points] == [("Third point.", "Outside")]
    body = {"key_points": [str(lab.third.public_id)], "theme": "Inside", "seen": lab.seen}
    send = lambda name, given: lab.api.post(lab.url(f"api_{name}"), given, format="json")  # noqa: E731
    assert send("found_points_theme", body).json()["verb"] == "themed"
    body = {"theme": "Inside", "name": "All", "seen": lab.seen}
    assert send("themes_rename", body).status_code == 200
    again = send("themes_rename", body)
    assert again.status_code == 409
    assert [row["name"] for row in lab.told("themes")["themes"]] == ["All"]
    body = {"themes": ["All"], "seen": lab.seen}
    assert send("themes_merge", body).status_code == 409
