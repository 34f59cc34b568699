"""Other runners in the judging benchmark: the bare client, Inspect AI and promptfoo.

The peers live in a folder of their own:

    python3 -m venv PEERS/inspect && PEERS/inspect/bin/pip install inspect-ai openai
    mkdir PEERS/promptfoo && cd PEERS/promptfoo && npm init -y && npm install promptfoo

Each grades sentences it was given, so that one request leaves for each of them.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.judging_texts import rubric, sentence
from benchmarks.label_round_server import ROOT

INSPECT_TASK = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver

@solver
def given():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("given", state.metadata["sentence"])
        return state
    return solve

@task
def judging(texts: str):
    known = json.load(open(texts))
    samples = [
        Sample(id=place, input="How much does it help?", target=known["rubric"],
               metadata={"sentence": text})
        for place, text in enumerate(known["sentences"])
    ]
    return Task(dataset=samples, solver=given(), scorer=model_graded_qa())
"""
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_PASS_RATE_THRESHOLD": "0",
    "NO_PROXY": "127.0.0.1",
}


class PeerMissing(Exception):
    """A runner is not installed where it was looked for."""


@dataclass
class Peer:
    """One runner with one choice of settings, working in a folder of its own."""

    url: str
    calls: int
    in_flight: int
    folder: Path
    peers: Path
    best: bool = True
    capped: bool = False
    variables: dict[str, str] = field(default_factory=dict)

    style = "relevance"

    def prepare(self) -> None:
        """Write what the runner reads."""

    def command(self) -> list[str]:
        """How it is started."""
        raise NotImplementedError

    def again(self) -> list[str]:
        """How it goes on after it was killed."""
        return self.command()

    def scored(self) -> int:
        """How many sentences got a score."""
        raise NotImplementedError

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.folder / "log.txt"

    def start(self, command: list[str]) -> subprocess.Popen:
        """Start it in a session of its own."""
        with self.log.open("w") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=os.environ | self.variables, stdout=log,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip


class Bare(Peer):
    """The SDK's client and a semaphore."""

    def command(self) -> list[str]:
        """Python with this repository on its path."""
        self.variables = {"PYTHONPATH": str(ROOT)}
        asked = [self.url, str(self.calls), str(self.in_flight)]
        return [sys.executable, "-m", "benchmarks.judging_bare", *asked]

    def scored(self) -> int:
        """The number it printed."""
        return int(self.log.read_text().split()[-1])


class Inspect(Peer):
    """Inspect AI with `model_graded_qa` over given outputs."""

    style = "grade"

    def prepare(self) -> None:
        """The task and its texts."""
        if not self._program.exists():
            raise PeerMissing(f"no {self._program}")
        texts = {"rubric": rubric(), "sentences": [sentence(n) for n in range(self.calls)]}
        (self.folder / "texts.json").write_text(json.dumps(texts))
        (self.folder / "judging.py").write_text(INSPECT_TASK)
        self.variables = {"STUB_BASE_URL": self.url, "STUB_API_KEY": "sk-stub"}

    def command(self) -> list[str]:
        """``inspect eval``, at best with everything off that is only for looking on."""
        return [
            str(self._program), "eval", "judging.py", "-T", f"texts={self.folder}/texts.json",
            "--model", "openai-api/stub/stub-1", "--temperature", "0", "--max-tokens", "200",
            "--log-dir", "logs", *self._settings,
        ]  # fmt: skip

    def again(self) -> list[str]:
        """``inspect eval-retry`` of the log that was left."""
        log = max((self.folder / "logs").glob("*.eval"), key=lambda file: file.stat().st_mtime)
        return [str(self._program), "eval-retry", str(log), "--log-dir", "logs", *self._settings]

    def scored(self) -> int:
        """The number of scored samples in the newest log."""
        log = max((self.folder / "logs").glob("*.eval"), key=lambda file: file.stat().st_mtime)
        shown = [str(self._program), "log", "dump", "--header-only", str(log)]
        header = json.loads(subprocess.run(shown, capture_output=True, check=True).stdout)
        return int(header["results"]["scores"][0]["scored_samples"])

    @property
    def _program(self) -> Path:
        return self.peers / "inspect" / "bin" / "inspect"

    @property
    def _settings(self) -> list[str]:
        if not self.best:
            return []
        # A fixed number where the server takes it, the adaptive one where it refuses.
        limit = ["--max-connections", str(self.in_flight)]
        if self.capped:
            limit = ["--adaptive-connections", f"1-16-{self.in_flight}"]
        quiet = ["--display", "none", "--no-log-realtime", "--no-score-display"]
        return [*limit, "--max-samples", str(self.in_flight), *quiet]


class Promptfoo(Peer):
    """promptfoo with the echo provider and `llm-rubric`."""

    style = "rubric"

    def prepare(self) -> None:
        """The configuration."""
        if not self._program.exists():
            raise PeerMissing(f"no {self._program}")
        grader = {
            "id": "openai:chat:stub-1",
            "config": {
                "apiBaseUrl": self.url, "apiKey": "sk-stub", "temperature": 0, "max_tokens": 200,
            },
        }  # fmt: skip
        rubrics = [{"type": "llm-rubric", "value": rubric(), "provider": grader}]
        config = {
            "prompts": ["{{sentence}}"],
            "providers": ["echo"],
            "defaultTest": {"assert": rubrics},
            "tests": [{"vars": {"sentence": sentence(n)}} for n in range(self.calls)],
        }
        (self.folder / "promptfooconfig.json").write_text(json.dumps(config))
        self.variables = QUIET | {"PROMPTFOO_CONFIG_DIR": str(self.folder / "state")}

    def command(self) -> list[str]:
        """``promptfoo eval``; at best with the wished number in flight and no cache."""
        asked = ["eval", "-c", "promptfooconfig.json", "-o", "found.json", *self._settings]
        return [str(self._program), *asked]

    def again(self) -> list[str]:
        """``promptfoo eval --resume`` of the newest evaluation."""
        return [str(self._program), "eval", "--resume", "-o", "found.json", *self._settings]

    def scored(self) -> int:
        """The number of results with a score and without an error of their own."""
        found = json.loads((self.folder / "found.json").read_text())
        graded = [one.get("gradingResult") for one in found["results"]["results"]]
        return sum(bool(one) and one.get("score") is not None for one in graded)

    @property
    def _program(self) -> Path:
        return self.peers / "promptfoo" / "node_modules" / ".bin" / "promptfoo"

    @property
    def _settings(self) -> list[str]:
        if not self.best:
            return []
        return ["-j", str(self.in_flight), "--no-cache", "--no-table", "--no-progress-bar"]


PEERS: dict[str, type[Peer]] = {"bare": Bare, "inspect": Inspect, "promptfoo": Promptfoo}
