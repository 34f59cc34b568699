"""What make installs: repaired where an earlier command was stopped, in any order."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cqa_site.judging import installing, packages
from cqa_site.judging.packages import PackagePart

STAMPS = (".site", ".dev")


@pytest.fixture
def commands(place, monkeypatch):
    """Installers that do nothing, and what they were told."""
    called = []
    monkeypatch.setattr(packages, "run", lambda command, output: called.append(command) or True)
    return called


def stamps():
    return [name for name in STAMPS if (packages.PREFIX / name).exists()]


def test_each_step_sets_what_it_stands_for(commands):
    assert installing.install("site") == 0
    assert stamps() == [".site"]
    assert "--torch-backend" not in str(commands)
    assert installing.install("dev") == 0
    assert stamps() == [".site", ".dev"]
    assert not packages.PROGRESS.exists()
    assert commands[-1][-1].endswith("requirements-dev.txt")


def test_a_step_that_was_stopped_is_done_again(place, monkeypatch, capsys):
    place.install_all()
    for name in STAMPS:
        (packages.PREFIX / name).touch()

    def stop(command, output):
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        installing.install("dev")
    # Whatever it left: neither make nor who fetches takes it for done.
    assert stamps() == []
    assert packages.PROGRESS.exists()
    monkeypatch.setattr(packages, "run", lambda command, output: False)
    assert installing.install("site") == 1
    assert stamps() == []
    assert "without a network connection" in capsys.readouterr().out
    monkeypatch.setattr(packages, "run", lambda command, output: True)
    assert installing.install("dev") == 0
    assert stamps() == [*STAMPS]
    assert all(packages.state(part).is_there for part in PackagePart)


def test_half_installed_packages_are_forgotten_first(place, commands):
    place.install_all()
    broken = place.install("torch")
    (broken.parent / "torch.py").unlink()
    assert installing.install("dev") == 0
    assert not place.has_metadata("torch")
    assert place.has_metadata("peft")


def test_packages_of_the_system_are_left_alone(place):
    """A distribution may leave RECORD out."""
    (packages.PREFIX / "pyvenv.cfg").unlink()
    (place.install("torch") / "RECORD").unlink()
    packages.remove_half_installed(packages.PREFIX)
    assert place.has_metadata("torch")


def test_the_model_is_no_reason_to_stop(place, monkeypatch, capsys):
    monkeypatch.setattr("cqa_site.judging.fetching.LOG", packages.PREFIX / "log")
    monkeypatch.setattr(packages, "run", lambda command, output: False)
    assert installing.install_model() == 0
    assert "everything else works without it" in capsys.readouterr().out.lower()
    assert not (place.models / ".ready").exists()


@pytest.mark.long
def test_an_environment_whose_making_was_stopped_is_made_whole(tmp_path):
    """With real ones: before pip, in the midst of it, and with a Python that is gone."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    for name in ("python", "python3"):
        (folder / "bin" / name).unlink()
        (folder / "bin" / name).symlink_to(tmp_path / "gone")
    assert installing.make_environment(folder)
    assert has_pip(folder)
    (module,) = folder.glob("lib/python*/site-packages/pip/_internal/cli/main.py")
    module.unlink()
    assert installing.make_environment(folder)
    assert has_pip(folder)
    made = (folder / "pyvenv.cfg").stat().st_mtime_ns
    assert installing.make_environment(folder)
    assert (folder / "pyvenv.cfg").stat().st_mtime_ns == made


@pytest.mark.long
def test_a_new_environment_has_the_pip_of_its_python(tmp_path):
    folder = tmp_path / "with a space"
    assert installing.make_environment(folder)
    assert has_pip(folder)
    told = subprocess.run([folder / "bin/pip", "--version"], capture_output=True, text=True)
    assert str(folder) in told.stdout


def test_where_python_bundles_no_wheel_venv_installs_pip(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "call", lambda command: commands.append(command) or 0)
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: None)
    assert installing._make_with_pip(tmp_path, tmp_path / "nothing")
    assert commands == [[sys.executable, "-m", "venv", tmp_path]]


def has_pip(folder):
    command = [folder / "bin/python", "-m", "pip", "--version"]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def test_two_at_once_wait_for_each_other(place, monkeypatch, capsys):
    """A lock belongs to an open file, so threads are as good as processes."""
    at_work, most = [], []

    def run(command, output):
        at_work.append(command)
        most.append(len(at_work))
        threading.Event().wait(0.05)
        at_work.pop()
        return True

    monkeypatch.setattr(packages, "run", run)
    threads = [
        threading.Thread(target=installing.install, args=[step]) for step in ("site", "dev")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert capsys.readouterr().out.count("waiting for it") == 1
    assert stamps() == [*STAMPS]


def test_make_asks_again_where_fetching_was_stopped(tmp_path):
    """A whole environment is believed until something was stopped in it."""
    root = Path(__file__).parents[2]
    for name in STAMPS:
        (tmp_path / name).touch()

    def is_done():
        question = ["make", "--question", f"VENV={tmp_path}", f"{tmp_path}/.dev"]
        return subprocess.run(question, cwd=root, stdout=subprocess.DEVNULL).returncode == 0

    def touch_later(name, seconds):
        """Two touches within a tick of the clock are of the same age."""
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() + seconds,) * 2)

    assert is_done()
    touch_later("language-packages.json", 10)
    assert not is_done()
    touch_later(".dev", 20)
    assert is_done()
