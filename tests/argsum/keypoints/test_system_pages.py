"""Pages of runs of systems, and of their key points."""

import json

import pytest

from argsum.datasets.models import CellArgument, ReferenceKeyPoint
from argsum.keypoints.actions import solver
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.keypoints.reports import system_runs as system_runs_report
from argsum.keypoints.reports.key_points import prevalence_chart, sides_of
from argsum.keypoints.reports.system_runs import cell_lines
from tests.argsum.made_cells import make_dataset, make_set
from tests.argsum.made_runs import PlaceScorer, make_run, work
from tests.argsum.signed_in import SignedIn
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
GRID = {"threshold": [0.1, 0.5, 0.95], "min_size": [3]}


class Lab(SignedIn):
    """Two cells, and a run of MCArgSum on request."""

    def __init__(self):
        super().__init__()
        self.dataset = make_dataset(self.study)

    def run(self, **chosen):
        return make_run(self.dataset, self.researcher, **{"grid": GRID} | chosen)


def build():
    """A lab without a run, and one with a run that is done."""
    ran = Lab()
    with pytest.MonkeyPatch.context() as patch:
        scorer = PlaceScorer()
        patch.setattr(solver, "match_scorer_of", lambda _scorer: scorer)
        ran.done = ran.run()
    return Lab(), ran


built = built_once(build)


@pytest.fixture
def labs(built, place_scorer):
    return built


@pytest.fixture
def lab(labs):
    return labs[0]


@pytest.fixture
def ran(labs):
    return labs[1]


def initial_of(page):
    """The fields of the page's form as a browser sends them."""
    fields = page.context["form"].fields.items()
    return {name: field.initial for name, field in fields if field.initial not in (None, False)}


def test_a_run_is_started_from_the_form(lab):
    page = lab.get("system_run_new")
    assert "0.05–0.95 step 0.025" in page.text
    given = initial_of(page) | {"dataset": lab.dataset.pk, "split": "test"}
    given |= {"settings": "typed", "mcargsum-threshold": "0.1, 0.5"}
    estimate = lab.post("system_run_estimate", given).text
    assert "Sets of key points</dt><dd><strong>4</strong>" in estimate
    response = lab.post("system_run_new", given)
    run = lab.study.system_runs.get()
    here = {"system_run_id": run.public_id}
    assert response["Location"] == lab.url("system_run", **here)
    assert run.grid == {"threshold": [0.1, 0.5], "min_size": [3]}
    assert run.label == "MCArgSum (Counterpoint match)"
    assert work(run).state == SystemRun.State.DONE
    page = lab.text("system_run", **here)
    assert "4 of 4 sets" in page
    assert "Best (oracle)" in page


@pytest.mark.long
def test_the_setting_that_dev_chose_is_one_choice(lab):
    given = initial_of(lab.get("system_run_new"))
    given |= {"dataset": lab.dataset.pk, "split": "test", "settings": "chosen"}
    page = lab.post("system_run_new", given)
    assert page.status_code == 422
    assert "with a match scorer that was trained here" in page.text
    scorer = lab.study.scorers.get(pk=given["match_scorer"])
    scorer.figures = {"chosen": {"beyond_threshold": 0.6, "profile": 0.5, "refines": True}}
    scorer.save()
    assert lab.post("system_run_new", given).status_code == 302
    assert set(work(lab.study.system_runs.get()).sets.values_list("setting", "state")) == {
        ("threshold=0.6 min_size=3 profile=0.5 refines=on", "done")
    }


def test_what_cannot_be_run_is_said_beside_the_field(lab):
    usual = initial_of(lab.get("system_run_new"))
    usual |= {"dataset": lab.dataset.pk, "settings": "typed"}
    for changed, said in (
        ({"mcargsum-threshold": "0.5-0.1 step 0.1"}, "A range must increase"),
        ({"variant": "candidates"}, "This system only supports"),
        ({"variant": "seq2seq"}, "Enter the name of a model"),
        ({"system": "uskpm", "variant": "plain", "uskpm-neighbours": "1"}, "between 2 and 100"),
        ({"dataset": 0}, "Select a valid choice"),
    ):
        response = lab.post("system_run_new", usual | changed)
        assert (response.status_code, said in response.text) == (422, True), changed
        assert said in lab.post("system_run_estimate", usual | changed).text
    assert not lab.study.system_runs.exists()


def test_the_best_setting_of_a_cell_is_marked_as_an_oracle_unless_too_many_compare(
    ran, monkeypatch
):
    run = ran.done
    for line in cell_lines(run, list(ran.dataset.cells.all())):
        assert (line.done, line.none) == (1, 2)
        assert line.excluding.row.setting == "threshold=0.5 min_size=3"
        assert line.excluding.figure.excluding == 1.0
        by_setting = {one.row.setting: one for one in line.lines}
        # One cluster of everything tells nothing apart; nothing clustered has no figure.
        assert by_setting["threshold=0.1 min_size=3"].figure.excluding == 0.0
        assert by_setting["threshold=0.95 min_size=3"].figure.excluding is None
        assert [one.is_best_excluding for one in line.lines] == [False, True, False]
    content = ran.get("system_run", {"format": "csv"}, system_run_id=run.public_id).content
    rows = content.decode("utf-8-sig").strip().splitlines()
    assert len(rows) == 1 + 6
    assert "Fewer than two clusters." in rows[1]
    monkeypatch.setattr(system_runs_report, "MOST_COMPARED", 10)
    for line in cell_lines(run, list(ran.dataset.cells.all())):
        assert (line.done, line.none, line.arguments) == (1, 2, 6)
        assert (line.excluding, line.including) == (None, None)
    assert ran.get("system_run", system_run_id=run.public_id).status_code == 200


def test_a_run_page_costs_a_bounded_number_of_queries(ran, django_assert_max_num_queries):
    assert ran.client
    large = ran.run(grid={"threshold": [n / 20 for n in range(20)], "min_size": [3]})
    for run in (ran.done, large):
        with django_assert_max_num_queries(21):
            ran.get("system_run", system_run_id=run.public_id)
    with django_assert_max_num_queries(14):
        ran.get("system_runs")


@pytest.mark.long
def test_the_curve_of_the_parameter_that_varies(ran):
    here = {"system_run_id": ran.done.public_id}
    page = ran.text("system_run", **here)
    assert "Clusters by threshold" in page
    assert "clusters fewer than 75 % of a cell's arguments has no index" in page
    here |= {"figure": "curve"}
    table = ran.get("system_run_figure", **here, format="csv").content.decode("utf-8-sig")
    lines = table.splitlines()
    assert lines[0].startswith('threshold,ARI excluding noise,cells,"ARI excluding')
    # One cluster of all, the key points, and nothing clustered.
    figures = [line.split(",")[:3] for line in lines[1:4]]
    assert figures == [["0.1", "0.0", "2"], ["0.5", "1.0", "2"], ["0.95", "", "0"]]
    picture = ran.get("system_run_figure", **here, format="svg")
    assert picture["Content-Type"] == "image/svg+xml"
    assert b"1.000" in picture.content
    assert ran.get("system_run_figure", **here, format="exe").status_code == 404
    for threshold, min_size in (([0.4, 0.5], [3]), ([0.4, 0.5, 0.6], [2, 3])):
        other = ran.run(grid={"threshold": threshold, "min_size": min_size})
        here |= {"system_run_id": other.public_id}
        assert "Clusters by" not in ran.text("system_run", **here)
        assert ran.get("system_run_figure", **here, format="svg").status_code == 404


@pytest.mark.long
def test_stop_and_go_on_from_the_page(lab):
    run = lab.run(variant="global")
    here = {"system_run_id": run.public_id}
    lab.post("system_run_cancel", **here)
    run.refresh_from_db()
    assert run.state == SystemRun.State.CANCELLED
    assert "Resume" in lab.text("system_run", **here)
    lab.post("system_run_resume", **here)
    assert work(run).state == SystemRun.State.WRITING
    state = lab.get("system_run_state", **here)
    assert state["HX-Refresh"] == "true"
    assert "Choose language model" in state.text
    lab.study.jobs.create(kind="system_run", key=f"system_run:{run.public_id}")
    state = lab.get("system_run_state", **here)
    assert "every 2s" in state.text
    assert "HX-Refresh" not in state
    assert lab.post("system_run_resume", **here).status_code == 302


def test_key_points_of_both_stances_stand_side_by_side(ran, django_assert_max_num_queries):
    run = ran.done
    made = run.sets.get(cell__stance=-1, state="done")
    assert ran.client
    with django_assert_max_num_queries(16):
        page = ran.get("summary_set", set_id=made.public_id)
    both = sides_of(made)
    for sides in (both, both[1:]):
        assert '"domain": ["Supporting", "Opposing"]' in json.dumps(
            prevalence_chart(sides, "wide")
        )
    text = page.text
    assert [side.cell.stance for side, _refs in page.context["sides"]] == [1, -1]
    assert text.index("Supporting") < text.index("Opposing")
    assert "2 key points · 6 of 6 arguments belong to one (100 %)" in text
    assert "Night buses cost too much" in text
    assert 'class="fill" width="50.00"' in text
    finding = page.context["finding"]
    assert finding.says.startswith("4 key points represent 100 % of 12 arguments; ")
    assert finding.says.endswith("4 of them share first place, with 3 each (25 %).")
    assert "No person or judge has compared" in finding.sure
    assert text.index(finding.says[:40]) < text.index("Supporting")
    # Key points come from clusters; arguments from outside belong to one all the same.
    SummarySet.objects.filter(pk=made.pk).update(clusters=[-1, 0, 0, -1, 1, 1])
    text = ran.text("summary_set", set_id=made.public_id)
    assert "6 of 6 arguments belong to one (100 %)." in text
    assert "The underlying clusters contained 67 % of the arguments" in text
    empty = run.sets.filter(state=SummarySet.State.NO_RESULT).first()
    text = ran.text("summary_set", set_id=empty.public_id)
    assert empty.reason in text


def test_the_slider_moves_weak_matches_out(ran):
    made = ran.done.sets.get(cell__stance=1, state="done")
    here = {"set_id": made.public_id}
    [side, _other] = sides_of(made, 0.95)
    # Only the central argument of each cluster scores 1 with its key point; others score .9.
    assert ([point.count for point in side.points], len(side.unassigned)) == ([1, 1], 4)
    text = ran.text("summary_set", {"least": "0.95"}, **here)
    assert "4 arguments belong to no key point" in text
    assert 'Minimum match score: <output id="least-shown">0.95' in text
    assert 'aria-describedby="least-words"' in text
    for wrong in ("2", "much", "nan"):
        assert ran.get("summary_set", {"least": wrong}, **here).status_code == 400
    # Files hold every argument of both stances.
    made = ran.done.sets.get(cell__stance=1, state="done")
    ids = {"set_id": made.public_id}
    rows = ran.get("summary_set_file", format="csv", **ids).content.decode("utf-8-sig")
    assert len(rows.strip().splitlines()) == 1 + 12
    lines = ran.get("summary_set_file", format="jsonl", **ids).text.splitlines()
    first = json.loads(lines[0])
    assert (first["prevalence"], first["stance"], len(first["arguments"])) == (3, 1, 3)
    about = {"topic": made.cell.topic, "stance": 1, "system": ran.done.label}
    about |= {"setting": made.setting, "key_point": None, "arguments": []}
    assert json.loads(lines[2]) | {"arguments": []} == about
    text = ran.get("summary_set_file", format="md", **ids).text
    assert text.startswith("# Every town should keep a public night bus\n")
    assert text.count("\n- ") == 12
    assert ran.get("summary_set_file", format="exe", **ids).status_code == 404
    chart = ran.get("summary_set_figure", figure="prevalence", format="svg", **ids)
    assert chart["Content-Type"] == "image/svg+xml"


@pytest.mark.long
def test_a_set_shows_the_first_arguments_and_a_page_of_its_own_has_all(lab):
    cell = lab.dataset.cells.first()
    CellArgument.objects.bulk_create(
        CellArgument(cell=cell, position=100 + n, text=f"Argument {n}.", sha256=f"{n:064d}")
        for n in range(3_000)
    )
    ids = {"set_id": make_set(cell).public_id}
    page = lab.get("summary_set", **ids)
    assert len(page.content) < 200_000
    assert f"{lab.url('summary_set_arguments', **ids)}?key_point=1" in page.text

    def paginator(query):
        return lab.get("summary_set_arguments", query, **ids).context["page"].paginator

    shown = paginator({"key_point": 1})
    assert (len(shown.page(1)), shown.count) == (50, 1_002)
    assert paginator({"key_point": 1, "q": "argument 2999 "}).count <= 1
    assert paginator({"least": "0.9"}).count == 3_006
    assert lab.get("summary_set_arguments", {"key_point": 9}, **ids).status_code == 404


def test_without_references_a_run_opens_the_usual_setting_or_that_of_dev(lab):
    ReferenceKeyPoint.objects.all().delete()
    run = lab.run(grid={"threshold": [0.1, 0.3, 0.45, 0.6], "min_size": [3]})
    cells = list(lab.dataset.cells.all())
    page = lab.text("system_run", system_run_id=run.public_id)
    assert cell_lines(run, cells)[0].shown.row.setting != "threshold=0.1 min_size=3"
    assert "the closest to the default setting" in page or "the default setting" in page
    scorer = run.match_scorer
    scorer.figures = {"chosen": {"beyond_threshold": 0.3, "profile": 0.0, "refines": False}}
    scorer.save()
    run.refresh_from_db()
    assert cell_lines(run, cells)[0].shown.row.setting == "threshold=0.3 min_size=3"
