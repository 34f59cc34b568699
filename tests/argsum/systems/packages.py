"""Small installed packages on the path of a test, as pip would leave them."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

from argsum.systems import registry

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "key-points.md"


class Packages:
    """A folder on ``sys.path``; whatever was found before is forgotten with every change."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self._before = folder, set(sys.modules)
        monkeypatch.syspath_prepend(folder)
        self.forget()

    def add(self, package: str, points: str, code: str = "", version: str = "1.0") -> None:
        """A package with one module of its own name, and what it says of its entry points."""
        module = package.replace("-", "_")
        info = self.folder / f"{module}.dist-info"
        info.mkdir(exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}\n")
        (self.folder / f"{module}.py").write_text(code)
        self.forget()

    def remove(self, package: str) -> None:
        """Uninstall it."""
        module = package.replace("-", "_")
        for path in (self.folder / f"{module}.dist-info").iterdir():
            path.unlink()
        (self.folder / f"{module}.dist-info").rmdir()
        (self.folder / f"{module}.py").unlink()
        self.forget()

    def forget(self) -> None:
        """What a restart does."""
        for name, module in list(sys.modules.items()):
            if str(self.folder) in str(getattr(module, "__file__", "")):
                del sys.modules[name]
        importlib.invalidate_caches()
        registry.installed.cache_clear()


def documented() -> tuple[str, str, str, str]:
    """The package of the document: name, entry point, code and version."""
    text = DOCUMENT.read_text().split("## Add a system\n")[1].split("\n## ")[0]
    blocks = dict(re.findall(r"```(python|toml)\n(.*?)```", text, re.DOTALL))
    project = tomllib.loads(blocks["toml"])["project"]
    [(name, value)] = project["entry-points"][registry.GROUP].items()
    return project["name"], f"{name} = {value}", blocks["python"], project["version"]
