"""An environment of packages with one file each, as installers leave them."""

import shutil
from importlib.metadata import distributions
from pathlib import Path

from cqa_site.judging import packages

CONTENT = "a = 1\n"


class MadeEnvironment:
    """Takes the place of the one that tests run in."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.site = folder / "lib/python3.11/site-packages"
        self.models = folder / "models"
        self.site.mkdir(parents=True)
        self.models.mkdir()
        (folder / "pyvenv.cfg").touch()
        monkeypatch.setattr(packages, "PREFIX", folder)
        monkeypatch.setattr(packages, "PROGRESS", folder / "progress.json")
        monkeypatch.setattr(packages, "_WHOLE", set())
        monkeypatch.setattr(packages, "distributions", self.distributions)
        monkeypatch.setenv("MODELS_DIR", str(self.models))
        monkeypatch.delenv("EMBEDDED_GGUF", raising=False)

    def distributions(self, name: str, path: list[str]):
        """Those of this environment alone."""
        is_model = path == [str(self.models)]
        return distributions(name=name, path=path if is_model else [str(self.site)])

    def install(self, package: str, version: str = "") -> Path:
        """Install a package in place of what is there; its metadata's folder."""
        self.remove(package)
        name, place = package.replace("-", "_"), self._place(package)
        info = place / f"{name}-{version or packages.pins()[package]}.dist-info"
        info.mkdir()
        (place / f"{name}.py").write_text(CONTENT)
        version = version or packages.pins()[package]
        (info / "METADATA").write_text(f"Name: {package}\nVersion: {version}\n")
        lines = [f"{name}.py,,{len(CONTENT)}", f"{info.name}/METADATA,,", f"{info.name}/RECORD,,"]
        (info / "RECORD").write_text("\n".join([*lines, ""]))
        return info

    def install_all(self) -> None:
        for package in packages.pins():
            self.install(package)

    def remove(self, package: str) -> None:
        for info in self._metadata(package):
            shutil.rmtree(info)

    def has_metadata(self, package: str) -> bool:
        return bool(self._metadata(package))

    def _metadata(self, package: str) -> list[Path]:
        return list(self._place(package).glob(f"{package.replace('-', '_')}-*.dist-info"))

    def _place(self, package: str) -> Path:
        return self.models if package == packages.MODEL_PACKAGE else self.site
