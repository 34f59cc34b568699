"""The scoring judge by a program: what a run would take, starting one, reading what it left."""

import pytest

from benchmark.judges.actions.kind import PROMPTS
from cqa_site.runs.actions.endpoints import first_prompts
from tests.benchmark.judges.test_scoring_judge import Lab
from tests.benchmark.made_judges import obedient
from tests.benchmark.made_scores import make_rater, make_sheets
from tests.runs.judging import script
from tests.worlds import built_once
from .conftest import client_of

pytestmark = pytest.mark.django_db


lab = built_once(Lab)


@pytest.fixture
def program(lab, django_capture_on_commit_callbacks):
    return Program(lab, django_capture_on_commit_callbacks)


class Program:
    """A client whose requests end with the work they asked for."""

    def __init__(self, lab, capture):
        self.client = client_of(lab.researcher)
        self.base = f"/api/v1/studies/{lab.study.public_id}/"
        self.capture = capture
        prompt = first_prompts(lab.study, PROMPTS, lab.researcher)[0]
        self.plan = {"kind": "scoring", "preflight": "off", "swap": 2}
        rows = {"endpoint": lab.endpoint, "prompt": prompt}
        self.plan |= {name: str(row.public_id) for name, row in rows.items()}

    def get(self, path, status=200):
        response = self.client.get(self.base + path)
        assert response.status_code == status, response.content
        return response.json()

    def post(self, path, status, *, works=True, **body):
        with self.capture(execute=works):
            response = self.client.post(self.base + path, body, format="json")
        assert response.status_code == status, response.content
        return response.json()

    def start(self, status=201, **chosen):
        return self.post("runs/", status, **self.plan | chosen)


def test_probes_stand_beside_the_plain_total(program, monkeypatch):
    script(monkeypatch, obedient)
    run = program.start()
    here = f"runs/{run['id']}/probes/"
    assert program.get(f"runs/{run['id']}/scoring/")["trust"] == "untrusted"
    assert program.get(here)["count"] == 5
    obeyed = program.get(here + "?probe=canary&obeyed=true")["results"]
    assert len(obeyed) == 3
    for probe in obeyed:
        assert probe["total"] == (0 if probe["name"] == "order_nothing" else 19)
        assert 0 < probe["plain"] < 19
    assert program.get(here + "?name=order_full")["count"] == 1
    assert "name" in program.get(here + "?name=unknown", 400)["errors"]


def test_examples_are_named_by_their_sheet(lab, program):
    make_sheets(lab.study, lab.answers[:4], [make_rater(lab.study, "Person")])
    sheet = lab.answers[2].score_sheets.get()
    run = program.start(works=False, shots=1, examples=[f"sheet:{sheet.public_id}"])
    spec = program.get(f"runs/{run['id']}/")["spec"]["target"]
    assert [each["answer"] for each in spec["examples"]] == [str(lab.answers[2].public_id)]
    refused = program.start(400, shots=1, examples=["sheet:unknown"])
    assert "example1" in refused["errors"]
