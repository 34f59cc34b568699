"""Systems of other packages: from the document's recipe to the leaderboard, and what may break."""

import pytest

from argsum.keypoints.actions import system_runs
from argsum.keypoints.models import SystemRun
from argsum.systems.contract import Parameter, SummarizationSystem, SystemNotValid
from argsum.systems.registry import OWN, systems
from cqa_site.people.models import Rater
from tests.argsum.made_cells import make_count, make_dataset
from tests.argsum.made_runs import make_run, plan_of, work
from tests.argsum.signed_in import SignedIn
from tests.argsum.systems.packages import Packages, documented

pytestmark = pytest.mark.django_db
State = SystemRun.State
HEAD = "from argsum.systems.contract import *\n"
# A system in one line; what it returns is left open.
MADE = HEAD + (
    "SYSTEM = SummarizationSystem(name='odd', title='Odd', about='a', citation='c', "
    "variants={variants}, needs={needs}, summarize=lambda cell, parameters, tools: {made})\n"
)
NOTHING = {"made": "Summary(reason='none')", "variants": "('plain',)", "needs": "()"}


class Lab(SignedIn):
    """Two cells, and packages that come and go."""

    def __init__(self, packages):
        super().__init__()
        self.packages = packages
        self.dataset = make_dataset(self.study)

    def run(self, made, *, variants="('plain',)", needs="('match',)", **chosen):
        code = MADE.format(made=made, variants=variants, needs=needs)
        self.packages.add("odd-one", "odd = odd_one:SYSTEM", code)
        return make_run(self.dataset, self.researcher, system="odd", grid={}, **chosen)


@pytest.fixture
def packages(tmp_path, monkeypatch):
    made = Packages(tmp_path, monkeypatch)
    yield made
    monkeypatch.undo()
    made.forget()


@pytest.fixture
def lab(packages, place_scorer):
    return Lab(packages)


@pytest.fixture
def api(lab):
    base = f"/api/v1/studies/{lab.study.public_id}/"
    return lambda path, body=None: (
        lab.api.post(base + path, body, format="json") if body else lab.api.get(base + path)
    )


def test_the_system_of_the_document_runs_and_stands_on_the_leaderboard(lab, api):
    lab.packages.add(*documented())
    form = lab.get("system_run_new").context["form"]
    assert form.fields["longest-most"].label == "Most key points"
    given = {n: f.initial for n, f in form.fields.items() if f.initial not in (None, False)}
    given |= {"dataset": lab.dataset.pk, "split": "test", "system": "longest"}
    given |= {"settings": "typed", "longest-most": "1, 2"}
    wrong = lab.post("system_run_new", given | {"longest-most": "21"})
    assert "21 is not between 1 and 20" in wrong.text
    assert lab.post("system_run_new", given).status_code == 302
    run = work(lab.study.system_runs.get())
    label = "Longest arguments (Counterpoint match)"
    assert (run.state, run.error) == (State.DONE, "")
    assert (run.package, run.label) == ("longest-arguments 1.0", label)
    made = run.sets.get(cell__stance=1, setting="most=2 redundancy=0.5")
    # The longest two of one key point would repeat each other: one of each.
    assert [(each.text, each.prevalence) for each in made.summaries.all()] == [
        ("Nobody should have to walk home alone after midnight.", 3),
        ("Nurses finish their shift long after the last tram.", 3),
    ]
    person = Rater.objects.create(study=lab.study, kind="person", name="A")
    for each in run.sets.filter(setting=made.setting):
        make_count(each, person, covered=2, unique=2)
    assert label in lab.text("key_points", {"dataset": lab.dataset.public_id})
    [row] = api("key-points/leaderboard/").json()["system_rows"]
    assert (row["system"], row["setting"]) == (run.label, made.setting)
    assert row["figures"]["weighted"]["value"] == pytest.approx(1.0)
    assert "longest-arguments 1.0" in lab.text("system_run", system_run_id=run.public_id)


def test_the_same_by_api_with_types_and_bounds(lab, api):
    lab.packages.add(*documented())
    shown = api("summarization-systems/").json()["systems"]
    assert [each["name"] for each in shown] == [*(own.name for own in OWN), "longest"]
    most = shown[-1]["parameters"][0]
    assert (most["kind"], most["low"], most["high"], most["published"]) == ("int", 1, 20, [1, 4])
    body = {"dataset": str(lab.dataset.public_id), "system": "longest"}
    refused = api("system-runs/", body | {"grid": {"most": [2.5]}})
    assert (refused.status_code, "not a whole number" in refused.text) == (400, True)
    assert api("system-runs/", body | {"system": "shortest"}).status_code == 400
    started = api("system-runs/", body | {"settings": "published"})
    assert started.status_code == 201
    assert started.json()["grid"] == {"most": [1, 4], "redundancy": [0.5]}
    run = work(lab.study.system_runs.get())
    assert (run.state, run.sets.filter(state="done").count()) == (State.DONE, 4)
    for system, count in (("longest", 1), ("barh", 0)):
        assert api(f"system-runs/?system={system}").json()["count"] == count
    assert api("system-runs/?system=shortest").status_code == 400


OWN_POINT = "odd = odd_one:SYSTEM"


@pytest.mark.long
@pytest.mark.parametrize(
    ("points", "code", "said"),
    [
        (OWN_POINT, "1 / 0", "ZeroDivisionError while it was loaded"),
        (OWN_POINT, "raise SystemExit(3)", "SystemExit while it was loaded"),
        (OWN_POINT, "", "AttributeError while it was loaded"),
        ("odd = nowhere:SYSTEM", "", "ModuleNotFoundError while it was loaded"),
        (OWN_POINT, "SYSTEM = 3", "is not a SummarizationSystem"),
        ("odd", "", "entry points cannot be read"),
        (OWN_POINT, MADE.replace("'odd'", "'other'"), "name is “other”"),
        ("barh = odd_one:SYSTEM", MADE.replace("'odd'", "'barh'"), "another system has this name"),
    ],
)
def test_a_broken_package_is_named_and_takes_nothing_down(lab, api, points, code, said):
    lab.packages.add("odd-one", points, code.format(**NOTHING))
    assert systems() == OWN
    page = lab.text("system_run_new")
    assert said in page
    assert "odd-one 1.0" in page
    [fault] = api("summarization-systems/").json()["faults"]
    assert fault["package"] == "odd-one 1.0"
    grid = {"threshold": [0.5], "fill_up": [1.0]}
    assert make_run(lab.dataset, lab.researcher, system="barh", grid=grid).state == State.DONE


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_system_that_fails_stops_its_run_and_names_its_package(lab, alone):
    for made, said in (
        ("1 / 0", "ZeroDivisionError"),
        ("exit(1)", "SystemExit"),
        ("['text']", "it returned no Summary"),
        ("Summary()", "needs clusters or a reason"),
        ("Summary(['text'])", "must be a KeyPoint with a text"),
        ("Summary([KeyPoint(' ')])", "must be a KeyPoint with a text"),
        ("Summary([KeyPoint('x')] * 1001)", "more than 1,000 key points"),
        ("Summary(clusters=[0])", "1 cluster ids for 6 arguments"),
        ("Summary(clusters=[0.5] * 6)", "a whole number"),
        ("Summary([KeyPoint('x', 2)], clusters=[0] * 6)", "a key point of cluster 2"),
        ("Summary([KeyPoint('x')], match=tools.pairs)", "match scores have shape (6, 6)"),
        ("Summary([KeyPoint('x')], match=tools.pairs[:, :1] / 0)", "match score is not a number"),
        ("tools.pairs.fill(0)", "ValueError"),
        ("tools.vectors", "it asks for “vectors”"),
    ):
        with alone(made):
            run = lab.run(made)
            assert (run.state, run.sets.count()) == (State.FAILED, 0)
            assert run.error.startswith("“Odd” of the package odd-one 1.0 failed: ")
            assert said in run.error


@pytest.mark.long
def test_clusters_alone_are_put_into_words_here(lab):
    clusters = "Summary(clusters=__import__('numpy').array([0, 0, 0, 1, 1, 1]))"
    run = lab.run(clusters, variants="CLUSTERING")
    assert run.state == State.DONE
    made = run.sets.get(cell__stance=1)
    assert made.clusters == [0, 0, 0, 1, 1, 1]
    assert [each.cluster for each in made.summaries.all()] == [0, 1]
    assert lab.run(clusters, variants="CLUSTERING", variant="global").state == State.WRITING
    refused = lab.run("Summary([KeyPoint('x')])", variants="CLUSTERING", variant="local")
    assert "a writer should have written" in refused.error
    # What a system gets holds no row.
    run = lab.run("Summary([KeyPoint(repr(cell))])")
    text = run.sets.order_by("cell__position").values_list("summaries__text", flat=True)[0]
    assert text.startswith("CellData(topic='Every town")
    assert "written=None" in text


def test_a_run_goes_on_only_with_the_version_that_began_it(lab):
    done = lab.run("Summary([KeyPoint('x')])")
    plan = plan_of(lab.dataset, system="odd", grid={}, seed=2)
    run = system_runs.start_system(study=lab.study, actor=lab.researcher, plan=plan)
    system_runs.cancel_system(run=run, actor=lab.researcher)
    code = (lab.packages.folder / "odd_one.py").read_text()
    lab.packages.add("odd-one", "odd = odd_one:SYSTEM", code, version="2.0")
    run.refresh_from_db()
    system_runs.resume_system(run=run, actor=lab.researcher)
    assert work(run).error == (
        "The run was started with odd-one 1.0, but now odd-one 2.0 is installed. Start a new run."
    )
    again = make_run(lab.dataset, lab.researcher, system="odd", grid={})
    assert (again.state, again.package) == (State.DONE, "odd-one 2.0")
    # Tables never put two versions into one row.
    assert again.label != done.label


@pytest.mark.long
def test_runs_of_a_package_that_is_gone_are_still_shown(lab, api):
    run = lab.run("Summary([KeyPoint('x')])")
    lab.packages.remove("odd-one")
    assert run.label in lab.text("system_runs", {"system": "odd"})
    assert "odd-one 1.0" in lab.text("system_run", system_run_id=run.public_id)
    assert run.label in lab.text("key_points")
    assert api("system-runs/?system=odd").json()["count"] == 1
    SystemRun.objects.filter(pk=run.pk).update(state=State.FAILED)
    run.refresh_from_db()
    system_runs.resume_system(run=run, actor=lab.researcher)
    assert work(run).error == "There is no system named “odd”."


def test_a_broken_system_beside_a_good_one_is_named_and_of_two_with_one_name_none_is_taken(lab):
    good = MADE.format(**NOTHING)
    many = "parameters=tuple(Parameter('p' * 39 + str(n), (1,)) for n in range(6)), "
    lab.packages.add("odd-one", OWN_POINT, good.replace("variants=", many + "variants="))
    # A setting that cannot be stored is refused.
    grid = {each.name: [1] for each in systems()[-1].parameters}
    plan = plan_of(lab.dataset, system="odd", grid=grid)
    with pytest.raises(system_runs.SystemRunRefused, match="too long to be stored"):
        system_runs.start_system(study=lab.study, actor=lab.researcher, plan=plan)
    lab.packages.add("odd-one", f"bad = odd_one:NOTHING\n{OWN_POINT}", good)
    assert [each.name for each in systems()[len(OWN) :]] == ["odd"]
    with pytest.raises(system_runs.SystemRunRefused, match="“bad” of the package odd-one"):
        plan_of(lab.dataset, system="bad", grid={})
    lab.packages.add("odd-two", "odd = odd_two:SYSTEM", good)
    assert systems() == OWN
    page = lab.text("system_run_new")
    assert "odd-one 1.0" in page
    assert "odd-two 1.0" in page


def test_declarations_that_break_the_contract():
    usual = {"name": "odd", "title": "Odd", "about": "a", "citation": "c", "summarize": print}
    for changed, said in (
        ({"name": "Odd one"}, "is not a valid name"),
        ({"title": None}, "a title"),
        ({"summarize": None}, "a function"),
        ({"variants": ("global",)}, "variants must be"),
        ({"needs": ("money",)}, "needs can only"),
        ({"parameters": (Parameter("a", ()), Parameter("a", ()))}, "two parameters"),
        ({"parameters": (Parameter("a", (), kind="text"),)}, "the kind must"),
        ({"parameters": (Parameter("a", (2,)),)}, "is not between 0 and 1"),
        ({"parameters": (Parameter("a-b", ()),)}, "is not a valid name"),
    ):
        with pytest.raises(SystemNotValid, match=said):
            SummarizationSystem(**usual | changed)
