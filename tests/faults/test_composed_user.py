"""Who the processes of `benchmarks.composed` belong to, wherever root keeps Python."""

import os
import shutil
import sys

import pytest

from benchmarks.composed import USER, Composed

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
WHO = ("python", "-c", "import os; print(os.getuid())")


@pytest.fixture
def composed():
    made = []

    def compose():
        made.append(Composed({"SECRET_KEY": "x"}))
        return made[-1]

    yield compose
    for site in made:
        site.remove()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of another user")
def test_a_python_in_a_private_folder_is_run_by_its_owner(composed, monkeypatch, tmp_path):
    folder = tmp_path / "home"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(sys.executable)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(folder / "bin/python"))
    with pytest.warns(UserWarning, match="run as the present user"):
        site = composed()
    assert site.ask("web", *WHO).strip() == "0"
    assert site.folder.joinpath("data").stat().st_uid == 0


def test_who_may_read_everything_is_the_user_of_the_image(composed, recwarn):
    site = composed()
    wanted = USER if site.user else os.geteuid()
    assert site.ask("web", *WHO).strip() == str(wanted)
    assert bool(recwarn) == (os.geteuid() == 0 and not site.user)
