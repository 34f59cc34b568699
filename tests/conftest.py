"""Many cases in one test, no model but where a test asks for it, and which tests go together."""

import gc
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.migrations import RunPython, RunSQL
from hypothesis import HealthCheck, settings

# Everything here leans on one dear preparation, or keeps the machine so busy that two at a time
# would make each other late.
TOGETHER = {"tests/api/": "api", "tests/faults/": "faults"}
# One process loads torch for all of these, which takes longer than most of them.
TOGETHER |= dict.fromkeys(
    (
        "tests/annotation/judges/test_relevance_embedding.py",
        "tests/argsum/metrics/",
        "tests/argsum/scorers/",
        "tests/argsum/writing/",
        "tests/benchmark/distillation/",
    ),
    "torch",
)
LONGEST = (
    "tests/faults/",
    "tests/api/",
    "tests/security/",
    "tests/golden/",
    "tests/browser/test_pages",
)
OURS = ("cqa_site", "annotation", "benchmark", "argsum")
# How long an example takes says how busy the machine is.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture
def alone(subtests):
    """A context for one of many cases in a test: named if it fails, undone in any case.

    A client, a world or a page made once serves a whole table of cases, and a table of three
    hundred lines is one test whose failure names the lines.
    """

    @contextmanager
    def case(name):
        with subtests.test(str(name)), transaction.atomic():
            try:
                yield
            finally:
                transaction.set_rollback(True)

    return case


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Tables straight from the models (--no-migrations), and what only migrations make.

    Applying the migrations takes half a minute in every process; tests/faults does it, on both
    databases.
    """
    with django_db_blocker.unblock():
        # No test that was collected may want this database; then it has no tables.
        if connection.introspection.table_names():
            make_by_hand()


def make_by_hand():
    """Make in the default database what no model tells."""
    with connection.schema_editor() as editor:
        for operation in written_by_hand():
            operation.code(apps, editor)


def written_by_hand():
    """The operations of our migrations that no model tells."""
    for app in apps.get_app_configs():
        if app.name.partition(".")[0] not in OURS:
            continue
        for file in sorted(Path(app.path).glob("migrations/0*.py")):
            module = import_module(f"{app.name}.migrations.{file.stem}")
            for operation in module.Migration.operations:
                assert not isinstance(operation, RunSQL), "Make it a RunPython."
                if isinstance(operation, RunPython):
                    yield operation


@pytest.fixture(scope="session", autouse=True)
def _vectors_from_words():
    """Figures of faithfulness follow many an action; only tests of the model itself load it."""
    from tests.annotation.faithfulness.made_faithfulness import WordVectors

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.faithfulness.actions.making.SentenceEmbedder", WordVectors)
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The folders that take longest begin, so that no process waits for them in the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish():
    """Modules and cases stay to the end: garbage is looked for among what tests make, and seldom.

    At its usual pace the search takes 4 % of the processor time of all tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a process whole files, or all that is `TOGETHER`, in the order given."""
    if config.option.dist != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return next((TOGETHER[each] for each in TOGETHER if file.startswith(each)), file)

    config.option.loadscopereorder = False
    return ByPlace(config, log)
