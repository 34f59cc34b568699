"""The web server dies right after it answered the request that starts a run."""

import re

import pytest

from benchmarks.http_annotator import CSRF, Annotator
from benchmarks.label_round_server import PASSWORD
from tests.faults.fault_site import FaultSite

FORM = {
    "choice": "sample", "sample": "50", "batch_size": "20", "temperature": "0",
    "max_tokens": "200", "seed": "1", "replicates": "1", "preflight": "off", "mode": "live",
}  # fmt: skip


@pytest.mark.long
def test_a_run_whose_web_server_died_after_its_answer_is_carried(site):
    with site.stub() as stub:
        form = FORM | chosen(site, site.offer(stub))
        site.start()
        try:
            browser = Annotator(site.port, site.work, seed=1)
            browser.sign_in("boss@bench.example", PASSWORD)
            path = f"/s/{site.study}/label-rounds/{site.label_round}/judges/new/"
            _status, page = browser.request("GET", path)
            browser.token = CSRF.search(page)[1].decode()
            _status, page = browser.request("POST", path, form)
            agreed = re.search(rb'name="agreed" value="([^"]+)"', page)[1].decode()
            status, _page = browser.request("POST", path, form | {"agreed": agreed})
        finally:
            site.kill()
        assert status == 302
        [(run,)] = site.sql("SELECT public_id FROM runs_run")
        site.nursery.work()
        site.wait(str(run), 60)
    site.check(str(run), kept=50)


def chosen(site: FaultSite, endpoint: str) -> dict[str, str]:
    """Endpoint and prompt as the form names them."""
    [(found,)] = site.sql(f"SELECT id FROM runs_endpoint WHERE name = '{endpoint}'")
    [(prompt,)] = site.sql("SELECT id FROM runs_promptversion WHERE kind = 'relevance_single'")
    return {"endpoint": str(found), "prompt": str(prompt)}
