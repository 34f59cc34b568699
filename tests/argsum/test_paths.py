"""The way from comments to key points."""

import pytest

from argsum.analysis.actions.analyses import start_analysis
from argsum.navigation import steps
from cqa_site.runs import jobs
from tests.argsum.analysis.made_comments import fill, make_cell

pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_the_way_leads_over_the_key_points_to_the_report(
    settings, word_engine, study, researcher, client
):
    settings.JOBS_INLINE = False

    def pages():
        found = steps(study)
        assert [client.get(each.url).status_code for each in found] == [200] * 3
        return [(each.button, each.is_done) for each in found]

    first = client.get(steps(study)[0].url).text
    assert '<option value="comments" selected>Comments, one per row' in first
    names = ("Import comments", "Find key points", "Key point analysis")
    assert pages() == [(name, False) for name in names]
    cell = make_cell(study)
    fill(cell)
    assert client.get(steps(study)[1].url).context["form"].initial["cell"] == cell
    waiting = start_analysis(study=study, actor=researcher, cell=cell)
    assert pages()[1:] == [("View progress", False), ("Key point analysis", False)]
    assert steps(study)[1].text == "In progress."
    jobs.drain()
    assert pages() == [("Datasets", True), ("Key points", True), ("Report", True)]
    assert str(waiting.public_id) in steps(study)[2].url
