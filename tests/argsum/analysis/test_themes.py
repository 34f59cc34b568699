"""Themes of an analysis: counted, shown, moved, renamed, merged and taken back."""

import pytest

from argsum.analysis.actions.edits import (
    EditConflict,
    EditRefused,
    merge_points,
    split_point,
)
from argsum.analysis.actions.themes import merge_themes, move_to_theme, rename_theme
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.analyses import StatementSearch, theme_names
from argsum.analysis.reports.mentions import narrowed_counts, theme_counts
from argsum.analysis.reports.report import ReportRequest, report_of
from argsum.analysis.reports.themes import said_by_few
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once
from .labs import PointsLab
from .made_comments import say
from .made_comparing import finish
from .test_report import rows_of, sent

pytestmark = pytest.mark.django_db


class Lab(PointsLab):
    """Three key points in two themes: the first and the second are about the inside."""

    def __init__(self):
        super().__init__()
        # Says something of two key points of the inside.
        first, second = self.cell.arguments.order_by("position")[:2]
        say(self.cell, first.text, second.text, town="Altdorf")
        finish(self.analysis)
        self.analysis.points.update(theme="Inside")
        self.analysis.points.filter(position=3).update(theme="Outside")
        self.first, self.second, self.third = self.analysis.points.order_by("position")

    def edit(self, verb, *points, **given):
        given |= {"verb": verb, "seen": self.seen, "point": [each.public_id for each in points]}
        return self.post("analysis_edit", given, htmx=True)

    def names(self):
        return dict(self.analysis.points.values_list("text", "theme"))

    def making(self, *points, **about):
        """Comments that make one of some points, counted the slow way."""
        rows = self.cell.comments.filter(statements__argument__placements__point__in=points)
        return rows.filter(**about).distinct().count()


lab = built_once(Lab)


def test_a_comment_that_makes_two_points_of_a_theme_counts_once_under_each_filter(lab):
    every = theme_counts(lab.analysis)
    assert every["Inside"].comments == lab.making(lab.first, lab.second)
    assert every["Outside"].comments == lab.making(lab.third)
    assert every["Inside"].comments < lab.first.comments + lab.second.comments
    assert every["Inside"].statements == lab.first.statements + lab.second.statements
    counts = narrowed_counts(lab.analysis, StatementSearch(column="town", value="Altdorf")).themes
    in_town = lab.making(lab.first, lab.second, attributes__town="Altdorf")
    assert counts["Inside"].comments == in_town < every["Inside"].comments
    page = lab.get("analysis", {"group": '["town", "Altdorf"]'})
    rows = {row.name: row for row in page.context["page"]}
    assert rows["Inside"].counted == in_town
    assert rows["Inside"].share == 100 * in_town / page.context["total"]
    # Hidden key points are in no theme.
    before = theme_counts(lab.analysis)["Inside"].comments
    lab.put("hidden", lab.second)
    assert theme_counts(lab.fresh())["Inside"].comments == lab.making(lab.first) < before
    lab.put("hidden", lab.first)
    assert "Inside" not in theme_counts(lab.fresh())
    # Its name is still there to be chosen.
    assert theme_names(lab.analysis) == ["Inside", "Outside"]


def test_sure_comments_of_a_theme_count_apart(lab):
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.7)
    one = lab.first.placements.first()
    Placement.objects.filter(pk=one.pk).update(is_sure=True)
    counts = theme_counts(lab.fresh())["Inside"]
    assert counts.sure_comments == one.argument.said_in.count() < counts.comments
    words = lab.text("analysis")
    more = counts.comments - counts.sure_comments
    assert f"{counts.sure_comments} comments, perhaps {more} more" in words
    total = lab.analysis.comments
    both = f"{100 * counts.sure_comments / total:.0f}–{100 * counts.comments / total:.0f} %"
    assert both in words
    # Of two equal numbers one is enough.
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=10_000)
    assert "0–0 %" not in lab.text("analysis")
    assert "(0 %)" in lab.text("analysis_report")


def test_the_first_view_lists_themes_and_one_switch_leads_to_key_points(lab):
    page = lab.get("analysis")
    words = flat(page)
    assert "2 themes · 3 key points" in words
    assert "Themes are proposals that you can change" in words
    assert [row.name for row in page.context["page"]] == ["Inside", "Outside"]
    assert [len(row.points) for row in page.context["page"]] == [2, 1]
    rows = lab.get("analysis", {"view": "points"}).context["rows"]
    points = (lab.first, lab.second, lab.third)
    assert [row.point for row in rows] == sorted(
        points, key=lambda point: (-point.comments, point.position)
    )
    one = lab.get("analysis", {"view": "points", "theme": "Outside"})
    assert [row.point for row in one.context["rows"]] == [lab.third]
    assert "Outside · 1 key point" in flat(one)
    # Key points without a theme stand last; without any theme there are only key points.
    FoundPoint.objects.filter(pk=lab.first.pk).update(theme="")
    page = lab.get("analysis")
    assert [row.name for row in page.context["page"]][-1] == ""
    assert "No theme" in flat(page)
    assert "2 themes · 3 key points" in flat(page)
    lab.analysis.points.update(theme="")
    page = lab.get("analysis")
    assert len(page.context["rows"]) == 3
    assert "All key points" not in flat(page)


def test_a_page_of_themes_costs_few_queries_and_stays_light(lab, django_assert_max_num_queries):
    lab.client  # noqa: B018  signs in here, not below
    with django_assert_max_num_queries(21):
        lab.get("analysis")
    with django_assert_max_num_queries(17):
        lab.get("analysis")
    with django_assert_max_num_queries(20):
        lab.get("analysis", {"group": '["town", "Altdorf"]'})
    # A page of many themes stays light.
    usual = {"analysis": lab.analysis, "written": "x", "statements": 3, "comments": 3}
    long = f"A key point that goes on and on, so that it is long, number %d {'x' * 200}"
    FoundPoint.objects.bulk_create(
        FoundPoint(position=10 + n, text=long % n, theme=f"Quite a name {n // 12}", **usual)
        for n in range(480)
    )
    page = lab.get("analysis")
    assert page.context["page"].paginator.count == 42
    assert len(page.content) < 200_000
    last = lab.get("analysis", {"page": 2}).context["page"][-1]
    assert (len(last.points), last.more, last.number) == (6, 6, 12)


def test_the_history_names_what_was_moved_renamed_merged_and_split(lab):
    lab.do(rename_theme, theme="Inside", name="Rooms")
    lab.rename(lab.third, "Nicer parks")
    lab.do(merge_points, points=[lab.first, lab.second], into=lab.first)
    key = lab.third.placements.values_list("argument", flat=True)[0]
    lab.do(split_point, point=lab.third, statements=[key], text="Benches")
    lab.do(merge_themes, themes=["Rooms", "Outside"], name="All")
    change = lab.analysis.changes.first()
    lab.undo(change)
    rows = lab.get("analysis_history").context["rows"]
    assert [sorted(lines) for _change, lines in reversed(rows)] == [
        ["2 key points: theme “Inside” → “Rooms”"],
        [f"“{lab.third.text}” → “Nicer parks”"],
        [f"merged: “{lab.second.text}”"],
        ["new key point: “Benches”"],
        ["2 key points: theme “Outside” → “All”", "2 key points: theme “Rooms” → “All”"],
        ["2 key points: theme “All” → “Outside”", "2 key points: theme “All” → “Rooms”"],
    ]
    assert "theme “Inside” → “Rooms”" in lab.text("analysis_history")


def test_themes_become_the_one_with_most_comments_or_have_a_new_name(lab):
    change = lab.do(merge_themes, themes=["Outside", "Inside"])
    assert set(lab.names().values()) == {"Inside"}
    assert list(change.after["points"]) == [str(lab.third.pk)]
    lab.undo(change)
    lab.do(merge_themes, themes=["Outside", "Inside"], name="All of it")
    assert set(lab.names().values()) == {"All of it"}


REFUSED = [
    (rename_theme, {"theme": "Inside", "name": "Outside"}, "already exists"),
    (rename_theme, {"theme": "Inside", "name": " "}, "Enter the name"),
    (rename_theme, {"theme": "Inside", "name": "x" * 121}, "at most 120"),
    (rename_theme, {"theme": "", "name": "x"}, "no theme “”"),
    # No database keeps this name.
    (rename_theme, {"theme": "In\x00side", "name": "x"}, "no theme"),
    (merge_themes, {"themes": ["Inside", "Inside"]}, "at least two"),
    (merge_themes, {"themes": ["Inside", "Nowhere"]}, "no theme “Nowhere”"),
    (move_to_theme, {"points": [], "theme": "x"}, "Choose 1 to"),
]


def test_what_is_no_edit_of_themes_is_refused(lab):
    for action, given, reason in REFUSED:
        with pytest.raises(EditRefused, match=reason):
            lab.do(action, **given)
    with pytest.raises(EditRefused, match="already there"):
        lab.do(move_to_theme, points=[lab.first, lab.second], theme="Inside")
    assert lab.analysis.changes.count() == 0
    # A theme with a key point that changed meanwhile stays.
    seen = lab.seen
    lab.rename(lab.second, "Said otherwise.")
    for action, given in (
        (rename_theme, {"theme": "Inside", "name": "x"}),
        (merge_themes, {"themes": ["Inside", "Outside"]}),
        (move_to_theme, {"points": [lab.second], "theme": "x"}),
    ):
        with pytest.raises(EditConflict, match="changed in the meantime"):
            lab.do(action, **given, seen=seen)
    assert set(lab.names().values()) == {"Inside", "Outside"}


def test_names_that_differ_in_case_only_are_one_theme(lab):
    lab.do(move_to_theme, points=[lab.third], theme="inside")
    assert set(lab.names().values()) == {"Inside"}
    lab.do(move_to_theme, points=[lab.third], theme="Ämter")
    with pytest.raises(EditRefused, match="already exists"):
        lab.do(rename_theme, theme="Inside", name="ämter")
    lab.do(rename_theme, theme="Ämter", name="ämter")
    assert lab.names()["Third point."] == "ämter"


def test_parts_and_merged_key_points_have_the_theme_of_where_they_come_from(lab):
    statements = lab.at(lab.third)[:1]
    lab.do(split_point, point=lab.third, statements=statements, text="A part.")
    assert lab.names()["A part."] == "Outside"
    merged = lab.do(merge_points, points=[lab.first, lab.second], into=lab.first)
    lab.do(rename_theme, theme="Inside", name="The house")
    lab.undo(merged)
    assert lab.names()["Second point."] == "The house"
    lab.do(merge_points, points=[lab.first, lab.third], into=lab.third)
    assert lab.names()["Third point."] == "Outside"
    # A theme that is not on the page any more does not keep its name.
    lab.do(merge_points, points=[lab.second, lab.third], into=lab.second)
    lab.do(merge_points, points=[lab.second, *lab.analysis.points.filter(text="A part.")])
    lab.do(rename_theme, theme="The house", name="Outside")
    assert lab.names()["Second point."] == "Outside"


def test_the_page_moves_renames_and_merges(lab):
    answer = lab.edit("to_theme", lab.second, to_theme="Hall")
    assert "1 key point is now in “Hall”." in flat(answer)
    opened = {row.name for row in answer.context["page"] if row.is_open}
    assert opened == {"Hall"}
    answer = lab.edit("rename_theme", theme=["Hall"], name="The hall")
    assert "The theme was renamed to “The hall”." in flat(answer)
    answer = lab.edit("merge_themes", theme=["The hall", "Outside"], name="Elsewhere")
    assert "The themes were merged into “Elsewhere”." in flat(answer)
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
    assert said_by_few(lab.analysis, list(lab.analysis.points.all())) == []
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=1_000)
    for n, (comments, statements, distinctness) in enumerate(
        [(19, 3, 0.1), (19, 3, 0.4), (20, 3, 0.9), (1, 1, 0.9), (5, 2, None)]
    ):
        about = {"comments": comments, "statements": statements, "distinctness": distinctness}
        lab.analysis.points.create(
            position=10 + n, text=f"Point {n}.", written="x", theme="Inside", **about
        )
    lab.analysis.points.filter(position__lt=10).update(comments=200)
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.7)
    page = lab.get("analysis")
    # One statement that is not sure is no point of few people.
    rare = [row.point.text for row in page.context["themes"].rare]
    assert rare == ["Point 1.", "Point 0.", "Point 4."]
    inside = page.context["page"][0]
    assert (inside.rare, inside.number) == (3, 7)
    assert not {"Point 0.", "Point 1."} & {row.point.text for row in inside.points}
    assert "Said by few" in flat(page)
    FoundPoint.objects.filter(text="Point 3.").update(sure_comments=1)
    assert "Point 3." in {row.point.text for row in lab.get("analysis").context["themes"].rare}


# -- report, tables, interface --


def test_the_report_groups_key_points_by_theme_and_lists_what_few_say_apart(lab):
    report = report_of(lab.fresh(), None, ReportRequest())
    assert [theme.name for theme in report.themes] == ["Inside", "Outside"]
    assert report.themes[0].share.k == lab.making(lab.first, lab.second)
    page = lab.text("analysis_report")
    at = [page.index(text) for text in ("Inside", "First point.", "Outside", "Third point.")]
    assert at[0] < at[1] < at[3]
    assert at[2] < at[3]
    assert "Themes are proposals." in page
    # The report lists what few say apart.
    Analysis.objects.filter(pk=lab.analysis.pk).update(comments=1_000)
    report = report_of(lab.fresh(), None, ReportRequest())
    assert (len(report.points), len(report.few), report.beyond) == (0, 3, 0)
    # Not the most distinctive one.
    lab.analysis.points.filter(pk=lab.third.pk).update(distinctness=0.9, comments=1)
    report = report_of(lab.fresh(), None, ReportRequest())
    assert report.few[0].point == lab.third
    assert "Third point." not in report.says
    assert "Said by few" in lab.text("analysis_report")


def test_tables_have_a_column_of_themes_and_programs_edit_them(lab):
    for name, text in (("key-points.csv", "text"), ("statements.csv", "key_point_text")):
        themes = {row[text]: row["theme"] for row in rows_of(sent(lab, name))}
        assert (themes["First point."], themes["Third point."]) == ("Inside", "Outside")

    # Programs list move rename and merge themes.
    def send(name, /, **given):
        given |= {"seen": lab.seen}
        return lab.api.post(lab.url(f"api_{name}"), given, format="json")

    rows = lab.told("themes")["themes"]
    assert [(row["name"], row["key_points"]) for row in rows] == [("Inside", 2), ("Outside", 1)]
    assert rows[0]["comments"] == lab.making(lab.first, lab.second)
    (point,) = lab.told("found_points", {"theme": "Outside"})["results"]
    assert (point["text"], point["theme"]) == ("Third point.", "Outside")
    moved = send("found_points_theme", key_points=[str(lab.third.public_id)], theme="Inside")
    assert moved.json()["verb"] == "themed"
    renamed = [send("themes_rename", theme="Inside", name="All").status_code for _ in range(2)]
    assert renamed == [200, 409]
    assert [row["name"] for row in lab.told("themes")["themes"]] == ["All"]
    assert send("themes_merge", themes=["All"]).status_code == 409
