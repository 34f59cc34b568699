"""Whether language packages are there: never half, and soon after they are."""

import json
import subprocess
import sys
from pathlib import Path

from cqa_site.judging import packages
from cqa_site.judging.packages import MODEL_PACKAGE, PackagePart, Stage, changing

ROOT = Path(__file__).parents[2]


def test_absent_packages_name_the_command_that_brings_them(place):
    for part in PackagePart:
        assert packages.state(part).stage == Stage.ABSENT
        assert str(packages.state(part)).endswith("Download with: make packages")


def test_versions_decide(place):
    cases = {
        "as pinned": ("2.13.0", True),
        "a build of its own": ("2.13.0+cpu", True),
        "later": ("2.14", True),
        "earlier": ("2.12.9", False),
    }
    for name, (version, is_there) in cases.items():
        place.install_all()
        place.install("torch", version)
        packages._WHOLE.clear()
        assert packages.state(PackagePart.LANGUAGE).is_there == is_there, name


def test_one_that_is_missing_is_all(place):
    place.install_all()
    place.remove("rouge-score")
    assert not packages.state(PackagePart.LANGUAGE).is_there
    assert packages.state(PackagePart.MODEL).is_there


def test_half_installed_packages_are_not_there_whatever_their_version_says(place):
    damages = {
        "a file is missing": lambda info: (info.parent / "torch.py").unlink(),
        "a file is cut": lambda info: (info.parent / "torch.py").write_text(""),
        "no RECORD": lambda info: (info / "RECORD").unlink(),
        "a cut RECORD": lambda info: (info / "RECORD").write_text("torch.py,"),
        "an empty RECORD": lambda info: (info / "RECORD").write_text(""),
        "no METADATA": lambda info: (info / "METADATA").unlink(),
        "neither": lambda info: [path.unlink() for path in info.iterdir()],
    }
    place.install_all()
    for name, damage in damages.items():
        damage(place.install("torch"))
        packages._WHOLE.clear()
        assert packages.state(PackagePart.LANGUAGE).stage == Stage.ABSENT, name
    # Installers compile files, and others throw that away.
    info = place.install("torch")
    with (info / "RECORD").open("a") as record:
        record.write("__pycache__/torch.cpython-311.pyc,,\n")
    assert packages.state(PackagePart.LANGUAGE).is_there


def test_a_remembered_failure_ends_with_its_cause(place):
    """Fetching was stopped or failed, and then something else installed the packages."""
    for failed in ("", "torch could not be installed."):
        packages._WHOLE.clear()
        place.remove("torch")
        packages.write_progress(["xllamacpp"], "torch", failed)
        assert packages.state(PackagePart.LANGUAGE).stage == Stage.FAILED
        place.install_all()
        for part in PackagePart:
            assert packages.state(part).is_there


def test_a_package_may_be_whole_before_those_that_it_needs(place):
    """While one is being fetched its files may be there; what it stands on may not."""
    place.install_all()
    with changing(packages.PREFIX):
        packages.write_progress(list(packages.pins())[:-2], "bert-score")
        assert packages.state(PackagePart.LANGUAGE).is_fetching
    assert packages.state(PackagePart.LANGUAGE).is_there


def test_the_model_is_there_before_the_rest(place):
    place.install("xllamacpp")
    with changing(packages.PREFIX):
        packages.write_progress(["xllamacpp"], MODEL_PACKAGE)
        assert packages.state(PackagePart.MODEL).is_fetching
        place.install(MODEL_PACKAGE)
        packages.write_progress(["xllamacpp", MODEL_PACKAGE], "torch")
        assert packages.state(PackagePart.MODEL).is_there
        state = packages.state(PackagePart.LANGUAGE)
    total = len(packages.pins())
    assert (state.done, state.total, state.now) == (2, total, "torch")
    assert f"2 of {total} packages, now torch" in str(state)


def test_a_model_of_ones_own_needs_the_server_alone(place, monkeypatch):
    place.install("xllamacpp")
    assert not packages.state(PackagePart.MODEL).is_there
    monkeypatch.setenv("EMBEDDED_GGUF", "/srv/own.gguf")
    assert packages.state(PackagePart.MODEL).is_there


def test_why_fetching_gave_up_is_told(place):
    packages.write_progress(["xllamacpp"], failed="torch could not be installed.")
    words = str(packages.state(PackagePart.LANGUAGE))
    assert "torch could not be installed." in words
    assert "Try again: make packages" in words
    packages.write_progress(["xllamacpp"], "torch")
    assert "the download was interrupted" in str(packages.state(PackagePart.LANGUAGE))


HOLD = """
import sys, time
from pathlib import Path
from cqa_site.judging.packages import changing
with changing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_fetching_ends_with_its_process_however_that_ends(place):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(packages.PREFIX)], cwd=ROOT, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()
        assert packages.state(PackagePart.LANGUAGE).is_fetching
        other.kill()
    assert packages.state(PackagePart.LANGUAGE).stage == Stage.ABSENT


LATER = """
import json, sys
from pathlib import Path
repository, folder = sys.argv[1:]
sys.path[:] = [each for each in sys.path if "site-packages" not in each] + [repository, folder]
from cqa_site.judging import packages
packages.PROGRESS, packages.PREFIX = Path(folder, "progress"), Path(folder)

def can_import():
    try:
        import pretended
    except ImportError:
        return False
    return True

found = [packages.state(packages.PackagePart.LANGUAGE).stage, can_import()]
for name, version in packages.pins().items():
    info = Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\\nVersion: {version}\\n")
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\\n")
Path(folder, "pretended.py").touch()
print(json.dumps([*found, packages.state(packages.PackagePart.LANGUAGE).stage, can_import()]))
"""


def test_a_process_that_began_without_them_loads_them_later(tmp_path):
    """With real metadata and importers, and nothing installed: the module needs Python alone."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LATER, str(ROOT), str(tmp_path)],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["absent", False, "there", True]
