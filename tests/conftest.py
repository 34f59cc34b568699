"""Which tests follow each other in one process when there are several processes (``-n 2``)."""

import pytest

# Everything here leans on one dear preparation, or keeps the machine so busy that two at a time
# would make each other late.
TOGETHER = ("tests/api", "tests/faults")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The folder that takes longest begins, so that no process waits for it in the end."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/faults/"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a process whole files, or whole folders of `TOGETHER`, in the order given."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return next((each for each in TOGETHER if file.startswith(f"{each}/")), file)

    config.option.loadscopereorder = False
    return ByPlace(config, log)
