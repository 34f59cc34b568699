"""Figures of a run, and the sets behind a correlation, as programs read them."""

import pytest
from django.urls import reverse


@pytest.fixture
def get(world, researcher):
    def answer(name, *ids, **query):
        url = reverse(f"api_{name}", args=[world.study.public_id, *ids])
        return researcher.get(url, query)

    return answer


def test_a_run_tells_every_cell_and_setting(world, get):
    run = world.system_run
    found = get("system_run_figures", run.public_id).json()["cells"]
    # A run over the test split has sets of other cells here, which are not its own.
    cells = run.dataset.cells.filter(split="test").order_by("position")
    assert found
    assert [each["cell"] for each in found] == [str(each.public_id) for each in cells]
    for each in found:
        [row] = run.sets.filter(cell__public_id=each["cell"])
        [one] = each["sets"]
        assert (one["id"], one["setting"], one["state"]) == (
            str(row.public_id),
            row.setting,
            row.state,
        )
        assert one["key_points"] == row.summaries.count()
        assert (one["clusters"] is None) == (row.clusters is None)


def test_the_sets_behind_a_correlation(world, get):
    found = get("summary_metric_points", metric="rouge_1:recall").json()["points"]
    judged = world.imported_count
    mine = {each["summary_set"]: each for each in found}[str(judged.summary_set.public_id)]
    assert (mine["metric"], mine["people"]) == (0.5, judged.coverage)
    assert get("summary_metric_points", metric="unknown").status_code == 400
    assert get("summary_metric_points").status_code == 400
    assert get("summary_metric_points", metric="rouge_1:recall", datset="x").status_code == 400
