"""Near-duplicate comments: found once, changed by people, counted as voices by one switch."""

from collections import defaultdict
from datetime import date
from types import SimpleNamespace

import pytest

from argsum.analysis.actions.voices import GroupRefused, ask_to_group, change_group
from argsum.analysis.models import Analysis
from argsum.analysis.reports.counts import THEMES, count
from argsum.analysis.reports.voices import VOICES, changes, voices_of
from argsum.datasets.actions import RawComment, replace_comment
from argsum.datasets.methods.near_duplicates import find_near_duplicates
from argsum.datasets.models import Dataset, NearDuplicate, NearDuplicateGroup
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from tests.argsum.analysis.made_comments import analyse, reading_words, say
from tests.argsum.analysis.made_comparing import finish, make_analysis, place
from tests.argsum.analysis.test_comparing import rows_of
from tests.argsum.analysis.test_report import sent
from tests.argsum.signed_in import SignedIn
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

LOUD = "The canteen is so loud that nobody at my table can follow a conversation at noon."
WISH = "Please put up curtains and felt under the chairs, as the firm next door did last year."


class Lab(SignedIn):
    """An analysis of eighty comments and six copies of a letter from two departments."""

    def __init__(self):
        super().__init__()
        # At most two sentences each: no two are nearly the same.
        self.analysis = make_analysis(
            self.study, mentions={"Care": (26, 8, 0), "Sales": (6, 9, 0)}
        )
        self.cell = self.analysis.cell
        place(self.analysis, self.analysis.points.get(position=1), LOUD)
        place(self.analysis, None, WISH)
        place(self.analysis, None, "Thank you.")
        for number in range(6):
            send_letter(self.cell, number)
        finish(self.analysis)
        self.ids = {"analysis_id": self.analysis.public_id, "cell_id": self.cell.public_id}

    def find(self):
        """Have a worker look for near-duplicates; return the newest group."""
        self.cell.refresh_from_db()
        ask_to_group(cell=self.cell, actor=self.researcher)
        jobs.drain()
        self.analysis.refresh_from_db()
        self.cell.refresh_from_db()
        return NearDuplicateGroup.objects.order_by("-pk").first()


lab = built_once(Lab)


def send_letter(cell, number):
    """A copy of the letter; every second one ends in its own words."""
    own = ["Thank you."] if number % 2 else []
    day = date(2025, 2, 1 + number)
    department = "Care" if number < 4 else "Sales"
    return say(cell, LOUD, WISH, *own, day=day, department=department)


# -- groups --


def test_copies_are_one_voice_and_later_ones_join_them(lab, monkeypatch):
    for _copy in range(5):
        say(lab.cell, "Very good.")
    group = lab.find()
    assert NearDuplicateGroup.objects.count() == 1
    letters = {f"{LOUD} {WISH}", f"{LOUD} {WISH} Thank you."}
    assert set(group.members.values_list("comment__text", flat=True)) == letters
    assert group.members.count() == 6
    assert (lab.analysis.comments, lab.analysis.voices) == (86, 81)
    assert voices_of(lab.cell, lab.cell.comments.count()) == 86
    # Looking again changes nothing and later copies join.
    before = list(NearDuplicate.objects.order_by("pk").values())
    with pytest.raises(GroupRefused, match="All comments have been compared"):
        ask_to_group(cell=lab.cell, actor=lab.researcher)
    later = send_letter(lab.cell, 7)
    say(lab.cell, "I have something else to say.")
    lab.find()
    assert NearDuplicateGroup.objects.count() == 1
    assert list(NearDuplicate.objects.order_by("pk").values())[:6] == before
    assert later.duplicate.group == group
    # A group undone while a worker compares stays undone.
    later = send_letter(lab.cell, 8)

    def undo_first(*args, **how):
        change_group(group=group, actor=lab.researcher, is_out=True)
        return find_near_duplicates(*args, **how)

    monkeypatch.setattr("argsum.analysis.actions.voices.find_near_duplicates", undo_first)
    lab.find()
    assert later.duplicate.is_out
    assert not group.members.filter(is_out=False).exists()


def test_what_people_decided_stays(lab):
    group = lab.find()
    member = group.members.exclude(comment=group.centre).order_by("pk").first().comment
    change_group(group=group, actor=lab.researcher, is_out=True, comment=member)
    lab.analysis.refresh_from_db()
    assert lab.analysis.voices == 82
    send_letter(lab.cell, 7)
    lab.find()
    member.duplicate.refresh_from_db()
    assert member.duplicate.is_out
    assert group.members.filter(is_out=False).count() == 6
    # Copies that come after a group was undone form no new one.
    change_group(group=group, actor=lab.researcher, is_out=True)
    send_letter(lab.cell, 8)
    lab.find()
    assert NearDuplicateGroup.objects.count() == 1
    assert not group.members.filter(is_out=False).exists()
    assert lab.analysis.voices == lab.analysis.comments
    with pytest.raises(GroupRefused, match="Restore it first"):
        change_group(group=group, actor=lab.researcher, is_out=False, comment=member)
    change_group(group=group, actor=lab.researcher, is_out=False)
    assert group.members.filter(is_out=False).count() == 8
    verbs = AuditEvent.objects.filter(verb__startswith="near_dup").values_list("verb", flat=True)
    assert sorted(verbs) == [
        "near_duplicate_removed", "near_duplicates_restored", "near_duplicates_undone",
    ]  # fmt: skip


def test_later_copies_count_once_their_comments_are_placed(lab):
    """Shares refer to the comments that were there when statements were last placed."""
    lab.find()
    point = lab.analysis.points.get(position=1)
    before = point.comments, point.voices
    for number in range(100):
        send_letter(lab.cell, number % 2)
    lab.find()
    point.refresh_from_db()
    assert (point.comments, point.voices) == before
    assert lab.analysis.comments == 86
    finish(lab.analysis)
    point.refresh_from_db()
    assert (point.comments, point.voices) == (before[0] + 100, before[1])


def test_an_analysis_looks_for_copies_first_and_is_counted_again_while_it_is_stored(lab):
    with reading_words():
        made = analyse(lab.cell, lab.researcher)
    assert made.state == Analysis.State.DONE
    assert (made.comments, made.voices) == (86, 81)
    # The earlier analysis of the same comments counts them, too.
    lab.analysis.refresh_from_db()
    assert lab.analysis.voices == 81
    # Its counts may be from before a change; the row's lock decides who is first.
    Analysis.objects.update(state=Analysis.State.RUNNING)
    group = NearDuplicateGroup.objects.get()
    change_group(group=group, actor=lab.researcher, is_out=True)
    lab.analysis.refresh_from_db()
    assert lab.analysis.voices == 86


def test_a_replaced_comment_is_compared_again_and_a_deleted_one_is_not(lab):
    comment = lab.find().members.first().comment
    raw = RawComment(comment.key, "Something else.", "", {}, None, "")
    replace_comment(SimpleNamespace(link=lambda comment: None), comment, raw)
    assert not NearDuplicateGroup.objects.exists()
    assert lab.find().members.count() == 5
    send_letter(lab.cell, 7)
    job = ask_to_group(cell=lab.cell, actor=lab.researcher)
    Analysis.objects.all().delete()
    lab.cell.dataset.delete()
    jobs.drain()
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")


# -- counts --


def test_voices_are_counted_as_the_rows_say(lab):
    lab.find()
    found = count(lab.analysis, VOICES)
    groups, at, days = defaultdict(set), defaultdict(set), {}
    for comment in lab.cell.comments.order_by("position"):
        member = NearDuplicate.objects.filter(comment=comment, is_out=False).first()
        voice = f"group {member.group_id}" if member else comment.pk
        groups[comment.attributes["department"]].add(voice)
        days.setdefault(voice, comment.written_on)
        for link in comment.statements.all():
            placement = link.argument.placements.get(analysis=lab.analysis)
            at[placement.point_id].add((comment.attributes["department"], voice))
    department = found.columns[0]
    assert found.comments == len(days) == 81
    assert department.sizes == [len(groups[value]) for value in department.values] == [41, 41]
    for point, counts in zip(found.points, department.counts, strict=True):
        mentions = [sum(value == own for own, _voice in at[point]) for value in department.values]
        assert counts == mentions
        assert lab.analysis.points.get(pk=point).voices == len({v for _own, v in at[point]})
    assert found.dated == 81
    assert sum(size for _day, size, _hits in found.days) == 81
    assert {day: size for day, size, _hits in found.days} == {
        day: list(days.values()).count(day) for day in set(days.values())
    }
    plain = count(lab.analysis)
    assert (plain.comments, plain.columns[0].sizes) == (86, [44, 42])
    # One theme of all key points: a voice counts once for it, too.
    lab.analysis.points.update(theme="All")
    every = set().union(*(pairs for point, pairs in at.items() if point))
    mentions = [sum(value == own for own, _voice in every) for value in department.values]
    assert count(lab.analysis, VOICES, THEMES).columns[0].counts == [mentions]


# -- pages and files --


def test_one_switch_counts_voices_everywhere(lab):
    lab.find()
    first = lab.analysis.points.get(position=1)
    assert (first.comments, first.voices) == (38, 33)
    page = lab.text("analysis")
    assert "81 distinct voices" in page
    assert "38 comments / 33 distinct voices" in page
    asked = {"count": "voices"}
    page = lab.get("analysis", asked)
    row = page.context["rows"][0]
    assert (row.counted, round(row.share, 2)) == (33, round(100 * 33 / 81, 2))
    assert "?count=voices" in page.text
    # The tabs outside the fragment follow the switch.
    fragment = lab.get("analysis", asked, htmx=True).text
    assert 'hx-swap-oob="true"' in fragment
    assert 'hx-swap-oob="true"' not in page.text
    assert fragment.count("?count=voices") >= 5
    assert 'hx-swap-oob="true"' in lab.get("analysis_rest", asked, htmx=True).text
    narrow = lab.get("analysis", asked | {"group": '["department", "Care"]'})
    assert narrow.context["total"] == 41
    assert narrow.context["rows"][0].counted == 27
    groups = lab.text("analysis_groups", asked)
    assert "82 distinct voices in 2 groups of 41 each" in groups
    assert "count=voices" in groups
    assert "86 comments in 2 groups" in lab.text("analysis_groups")
    # The forms of these pages ask for their own address.
    for name in ("analysis_groups", "analysis_trends", "analysis_report"):
        assert f'hx-get="{lab.url(name)}"' in lab.text(name)
    assert "81 distinct voices in" in lab.text("analysis_trends", asked)
    # Copies are one in no test of comments.
    for name in ("analysis_groups", "analysis_trends"):
        pages = [lab.text(name, query) for query in (None, asked)]
        warning = "treat near-duplicate comments as independent"
        assert [warning in page for page in pages] == [True, False]
    report = lab.text("analysis_report", asked)
    assert "33 distinct voices / 38 comments (41 %)" in report
    assert "38 comments / 33 distinct voices (44 %)" in lab.text("analysis_report")
    for name in ("report.html", "report.docx"):
        assert lab.get("analysis_report_file", asked, name=name).status_code == 200


@pytest.mark.long
def test_files_count_both(lab):
    group = lab.find()
    row = rows_of(sent(lab, "key-points.csv"))[0]
    assert (row["comments"], row["voices"]) == ("38", "33")
    assert float(row["share"]) == 38 / 86
    assert float(row["share of voices"]) == 33 / 81
    named = [row for row in rows_of(sent(lab, "statements.csv")) if row["near_duplicates"]]
    assert {row["near_duplicates"] for row in named} == {str(group.public_id)}
    assert len(named) == 15
    Dataset.objects.update(recipe={"holds": "comments"})
    export = lab.get("comments_export", dataset_id=lab.cell.dataset.public_id)
    named = [row["near_duplicates"] for row in rows_of(b"".join(export.streaming_content))]
    assert named.count(str(group.public_id)) == 6
    assert named.count("") == 80
    figure = {"figure": "groups", "format": "csv"}
    file = lab.get("analysis_groups_figure", {"count": "voices"}, **figure)
    assert rows_of(file.content)[0]["voices"] == "41"


def test_groups_are_read_and_changed_on_their_pages(lab, django_assert_max_num_queries):
    assert "86 comments have not been compared" in lab.text("near_duplicates")
    lab.post("near_duplicates_find")
    jobs.drain()
    with django_assert_max_num_queries(14):
        page = lab.text("near_duplicates")
    assert "6 comments, one voice" in page
    assert "<ins" in page
    group = NearDuplicateGroup.objects.get()
    ids = {"group_id": group.public_id}
    page = lab.text("near_duplicate_group", **ids)
    assert page.count("Take out") == 5
    comment = group.members.exclude(comment=group.centre).first().comment
    given = {"comment": str(comment.public_id), "is_out": "1"}
    lab.post("near_duplicate_group_change", given, **ids)
    assert group.members.get(is_out=True).comment == comment
    assert "Put back" in lab.text("near_duplicate_group", **ids)
    assert "5 comments, one voice" in lab.text("near_duplicates")
    other = lab.cell.comments.filter(duplicate=None).first()
    lab.post("near_duplicate_group_change", given | {"comment": str(other.public_id)}, **ids)
    assert group.members.filter(is_out=True).count() == 1
    lab.post("near_duplicate_group_change", {"is_out": "1"}, **ids)
    group.refresh_from_db()
    assert group.is_undone
    assert "Restore group" in lab.text("near_duplicate_group", **ids)


@pytest.mark.long
def test_pages_of_long_letters_stay_small(lab):
    words = [f"word{number}" for number in range(2_000)]
    for letter in range(6):
        centre = say(lab.cell, f"{' '.join(words)} {letter}")
        group = NearDuplicateGroup.objects.create(cell=lab.cell, centre=centre)
        for copy in range(20):
            # Every second word is another one.
            text = (f"{word}{copy}" if at % 2 else word for at, word in enumerate(words))
            group.members.create(comment=say(lab.cell, " ".join(text)), shared=0.5)
    for name in ("near_duplicates", "near_duplicate_group"):
        assert len(lab.get(name, group_id=group.public_id).content) < 200_000


@pytest.mark.long
def test_programs_read_and_change_the_same(lab):
    group = lab.find()
    (row,) = lab.told("near_duplicates")["results"]
    assert (row["comments"], row["out"]) == (6, 0)
    ids = {"public_id": group.public_id}
    members = lab.told("near_duplicate_group", **ids)["results"]
    assert len(members) == 6
    change = lab.url("api_near_duplicate_group_change", **ids)
    given = {"is_out": True, "comment": members[1]["comment"]}
    assert lab.api.post(change, given, format="json").json()["out"] == 1
    assert lab.api.post(change, given, format="json").status_code == 409
    given["comment"] = str(lab.cell.comments.filter(duplicate=None).first().public_id)
    assert lab.api.post(change, given, format="json").status_code == 400
    assert lab.told("found_points")["results"][0]["voices"] == 34
    assert lab.told("analysis_groups", {"count": "voices"})["groups"][0]["comments"] == 42
    share = lab.told("analysis_report", {"count": "voices"})["key_points"][0]["share"]
    assert (share["k"], share["n"]) == (34, 82)
    address = lab.url("api_analysis_groups")
    assert lab.api.get(address, {"count": "people"}).status_code == 400


def test_changes_are_words_with_their_surroundings():
    assert changes("we ask you", "we ask you") == []
    before = " ".join(f"w{number}" for number in range(60))
    after = before.replace("w30", "other") + " end"
    parts = changes(before, after)
    marks = [mark for _text, mark in parts]
    assert marks == ["gap", "same", "removed", "added", "same", "gap", "same", "added"]
    assert parts[2:4] == [("w30", "removed"), ("other", "added")]
    assert sum(len(text) for text, _mark in parts) < len(after)
    # Also far behind.
    text = "We ask you to keep the night bus. " * 300
    far = [("…", "gap"), (" to keep the night bus. ", "same")]
    assert changes(text + "Ada", text + "Bob") == [*far, ("Ada", "removed"), ("Bob", "added")]
