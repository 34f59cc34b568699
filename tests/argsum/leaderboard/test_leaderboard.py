"""The leaderboard page and its files, from rows in the database."""

import pytest
from django.urls import reverse

from argsum.datasets.models import KeyPointMatch
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.reports.board import board_choice, summary_board
from argsum.leaderboard.reports.charts import tradeoff_rows, weighted_rows
from argsum.leaderboard.reports.scores import cluster_values
from argsum.metrics.models import CountingRun, MetricScore
from cqa_site.people.models import Rater
from cqa_site.runs.models import Run
from tests.argsum.counting.made_counting import make_counting_run
from tests.argsum.made_cells import make_count, make_dataset, make_set, make_system_run
from tests.cast import make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def raters(study):
    return [Rater.objects.create(study=study, kind="person", name=name) for name in "AB"]


def board_of(study, **query):
    return summary_board(board_choice(study, query))


def scores(each, **values):
    for metric, value in values.items():
        MetricScore.objects.create(
            summary_set=each, metric=metric, setting="#1 judge", value=value
        )


def test_people_count_with_every_rater_once(study, raters):
    sets = list(make_system_run(make_dataset(study)).sets.order_by("pk"))
    make_count(sets[0], raters[0], covered=2, unique=3)  # 1.0 and 0
    make_count(sets[0], raters[1], covered=1, unique=1.5)  # .5 and .5
    make_count(sets[1], raters[0], covered=1, unique=3)  # .5 and 0
    figures = board_of(study).rows[0].figures
    # Cells: coverage .75 and .5, redundancy .25 and 0.
    means = {"coverage": 0.625, "redundancy": 0.125, "weighted": 2 / 3 * 0.625 + 1 / 3 * 0.875}
    assert {name: figures[name].value for name in means} == pytest.approx(means)
    assert (figures["coverage"].low, figures["seconds"].value) == (None, 0.25)


def test_unsure_repeats_models_and_extra_sheets_are_left_out(study, raters):
    each = make_system_run(make_dataset(study)).sets.first()
    model = Rater.objects.create(study=study, kind="model", name="LM")
    make_count(each, raters[0], covered=2, unique=3)
    make_count(each, raters[1], coverage=None, covered_is_unsure=True, unique=3)
    make_count(each, model, covered=0, unique=0)
    make_count(each, raters[1], covered=0, unique=0, is_extra=True, source="other.csv")
    make_count(each, raters[1], covered=0, unique=0, replicate=1, source="third.csv")
    row = board_of(study).rows[0]
    assert (row.figures["coverage"].value, row.figures["redundancy"].value) == (1, 0)


def test_clusters_are_compared_with_the_only_key_point(study):
    cells = list(make_dataset(study).cells.all())
    # Three arguments of each of two key points, in order.
    make_set(cells[0], clusters=[0, 0, 0, 1, 1, 1])
    make_set(cells[1], clusters=[0, 0, 0, -1, -1, -1])
    figures = board_of(study, share="0.5").rows[0].figures
    assert [figures[name].value for name in ("excluding", "including", "share")] == [1, 1, 0.75]
    assert board_of(study, share="0.75").rows[0].figures["excluding"].n_values == 1
    # Arguments that match both key points or none are in no index, nor in its share.
    SummarySet.objects.all().delete()
    unsure = KeyPointMatch.objects.filter(argument__position__in=(3, 6), argument__cell=cells[0])
    unsure.update(is_match=False)
    made = make_set(cells[0], clusters=[0, 0, -1, 1, 1, -1])
    excluding, _including, share = cluster_values(SummarySet.objects.all(), "all")[made.pk]
    assert (excluding, share) == (1, 1)
    assert board_of(study, share="0.75").rows[0].figures["excluding"].n_values == 1


def test_charts_say_how_many_cells_a_mean_has(study, raters):
    cells = list(make_dataset(study).cells.all())
    for cell in cells:
        make_count(make_set(cell, system="All"), raters[0], covered=1)
    make_count(make_set(cells[0], system="Some"), raters[0], covered=2)
    found = board_of(study)
    for rows in (weighted_rows(found), tradeoff_rows(found)):
        assert [row["system"] for row in rows] == ["All", "Some (1 of 2 cells)"]


def test_the_best_per_cell_is_called_an_oracle(study, client):
    dataset = make_dataset(study)
    run = make_system_run(dataset)
    for each in run.sets.all():
        scores(each, llm_coverage=0.5, llm_redundancy=0.5)
    for cell, value in zip(dataset.cells.all(), (1.0, 0.0), strict=True):
        other = make_set(cell, run=run, setting="threshold=0.6")
        scores(other, llm_coverage=value, llm_redundancy=0.5)
    for selection, is_oracle, mean in (("oracle", True, 0.75), ("", False, 0.5)):
        found = board_of(study, selection=selection)
        assert (found.is_oracle, found.rows[0].figures["coverage"].value) == (is_oracle, mean)
    assert found.rows[0].selection == "fixed"
    url = reverse("key_points", args=[study.public_id])
    page = client.get(f"{url}?selection=oracle").text
    assert "This is an upper bound: each setting" in page
    assert '<span class="badge warn">Oracle</span>' in page
    assert "This is an upper bound: each setting" not in client.get(url).text


def test_dev_and_test_may_be_counted_by_two_runs_of_one_judge(study):
    boss = make_member(study, "researcher")
    dataset = make_dataset(study)
    first, second = dataset.cells.all()
    first.split = "dev"
    first.save()
    run = make_system_run(dataset)
    for cell in (first, second):
        make_set(cell, run=run, setting="threshold=0.6")
    endpoint = make_endpoint(study, boss)
    # The second setting is the better one by the counts, also where the dev split is another run.
    better = set(SummarySet.objects.filter(setting="threshold=0.6").values_list("pk", flat=True))
    for split in ("dev", "test"):
        made = make_counting_run(
            study, endpoint, boss, target={"dataset": str(dataset.public_id), "split": split}
        )
        for score in made.metric_scores.all():
            score.value = 0.75 if score.summary_set_id in better else 0.25
            score.save()
    found = board_of(study)
    assert found.choice.coverage.setting.startswith("#2 ")
    (row,) = found.rows
    assert (row.selection, row.criterion, row.setting) == ("dev", "coverage", "threshold=0.6")
    assert found.unfinished == ()
    Run.objects.filter(number=2).update(state="cancelled")
    page = sign_in(boss).get(reverse("key_points", args=[study.public_id])).text
    assert "run #2 is not complete (cancelled)" in page
    # Another judge's counts choose nothing.
    other = Rater.objects.create(study=study, kind="model", name="another")
    CountingRun.objects.filter(run__number=1).update(rater=other)
    assert board_of(study).rows[0].criterion == "including"


def test_a_source_without_redundancy_gives_no_weighted_score(study):
    each = make_system_run(make_dataset(study)).sets.first()
    MetricScore.objects.create(summary_set=each, metric="coverage_score", value=0.5)
    found = board_of(study)
    choice, figures = found.choice, found.rows[0].figures
    assert (choice.coverage.metric, choice.redundancy.metric) == ("coverage_score", "none")
    assert (figures["weighted"].value, figures["coverage"].value) == (None, 0.5)


def test_files_for_print_hold_what_has_values_and_fit_a_page(study, client, raters):
    for each in make_system_run(make_dataset(study)).sets.all():
        make_count(each, raters[0])

    def heads(figure, form):
        address = reverse("key_points_figure", args=[study.public_id, figure, form])
        lines = client.get(address).content.decode("utf-8-sig").splitlines()
        return next(line for line in lines if "Weighted" in line)

    assert heads("systems", "csv").count(",") > 28
    assert heads("systems", "tex").count("&") <= 9
    assert heads("cells", "tex").count("&") <= 9
    assert "other setting" not in heads("cells", "md")


def test_figures_without_an_interval_say_why(study, client):
    for cell in make_dataset(study).cells.all():
        for system in ("Alpha", "Beta"):
            scores(make_set(cell, system=system), coverage=0.5, redundancy=0.0)
    page = client.get(reverse("key_points", args=[study.public_id]), {"dataset": ""})
    sure = page.context["finding"].sure
    assert "A test needs 8 topics for which both systems have a value; there are 1." in sure
    assert "No interval for Alpha and Beta: an interval needs" in sure
    row = page.context["card"].data.rows[0]
    assert "Seconds per cell: an interval needs 10 or more topics" in row.about
    noted = [list(cell.notes) for cell in row.cells if cell.text != "–"]
    assert noted
    assert all(each == ["no interval"] for each in noted)


def test_queries_do_not_grow_with_sets(study, raters, django_assert_max_num_queries, client):
    make_system_run(make_dataset(make_study("Other")))
    assert board_of(study).rows == []
    dataset = make_dataset(study)
    for number in range(1, 4):
        run = make_system_run(dataset, number=number)
        for each in run.sets.all():
            make_count(each, raters[0])
            for k in range(5):
                make_set(each.cell, run=run, setting=f"threshold=0.{k}1")
    with django_assert_max_num_queries(14):
        assert len(board_of(study, selection="oracle").rows) == 3
    # A change of the form brings the board alone.
    url = reverse("key_points", args=[study.public_id])
    part = client.get(url, headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert "MCArgSum 1" in part
    assert 'value="0.666667"' in client.get(url).text
    # An address that makes no sense shows the usual.
    asked = {"dataset": "x", "split": "x", "weight": "nan", "share": "7", "selection": "x"}
    wild = board_choice(study, asked | {"coverage": "\x00"})
    assert wild.query == board_choice(study, {}).query
