"""Other runners in the judging benchmark: the bare client, Inspect AI and promptfoo.

Install the peers in their own folder:

    python3 -m venv PEERS/inspect && PEERS/inspect/bin/pip install inspect-ai openai
    mkdir PEERS/promptfoo && cd PEERS/promptfoo && npm init -y && npm install promptfoo

Each runner grades given sentences, so it sends one request per sentence.
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
    """Raised if a runner is not installed in the expected folder."""


@dataclass
class Peer:
    """One runner with one set of settings and its own working folder."""

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
        """Write the runner's input files."""

    def command(self) -> list[str]:
        """Return the command that starts the runner."""
        raise NotImplementedError

    def again(self) -> list[str]:
        """Return the command that resumes the runner after a kill."""
        return self.command()

    def scored(self) -> int:
        """Return the number of sentences with a score."""
        raise NotImplementedError

    @property
    def log(self) -> Path:
        """The runner's output."""
        return self.folder / "log.txt"

    def start(self, command: list[str]) -> subprocess.Popen:
        """Start the command in its own session."""
        with self.log.open("w") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=os.environ | self.variables, stdout=log,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip


class Bare(Peer):
    """The SDK's client and a semaphore."""

    def command(self) -> list[str]:
        """Return a Python command with this repository on its path."""
        self.variables = {"PYTHONPATH": str(ROOT)}
        asked = [self.url, str(self.calls), str(self.in_flight)]
        return [sys.executable, "-m", "benchmarks.judging_bare", *asked]

    def scored(self) -> int:
        """Return the number that the client printed."""
        return int(self.log.read_text().split()[-1])


class Inspect(Peer):
    """Inspect AI with `model_graded_qa` over given outputs."""

    style = "grade"

    def prepare(self) -> None:
        """Write the task and its texts."""
        if not self._program.exists():
            raise PeerMissing(f"no {self._program}")
        texts = {"rubric": rubric(), "sentences": [sentence(n) for n in range(self.calls)]}
        (self.folder / "texts.json").write_text(json.dumps(texts))
        (self.folder / "judging.py").write_text(INSPECT_TASK)
        self.variables = {"STUB_BASE_URL": self.url, "STUB_API_KEY": "sk-stub"}

    def command(self) -> list[str]:
        """Return ``inspect eval``; the best settings turn off the display."""
        return [
            str(self._program), "eval", "judging.py", "-T", f"texts={self.folder}/texts.json",
            "--model", "openai-api/stub/stub-1", "--temperature", "0", "--max-tokens", "200",
            "--log-dir", "logs", *self._settings,
        ]  # fmt: skip

    def again(self) -> list[str]:
        """Return ``inspect eval-retry`` for the remaining log."""
        log = max((self.folder / "logs").glob("*.eval"), key=lambda file: file.stat().st_mtime)
        return [str(self._program), "eval-retry", str(log), "--log-dir", "logs", *self._settings]

    def scored(self) -> int:
        """Return the number of scored samples in the newest log."""
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
        # A fixed limit if the server accepts all calls, an adaptive limit if it refuses some.
        limit = ["--max-connections", str(self.in_flight)]
        if self.capped:
            limit = ["--adaptive-connections", f"1-16-{self.in_flight}"]
        quiet = ["--display", "none", "--no-log-realtime", "--no-score-display"]
        return [*limit, "--max-samples", str(self.in_flight), *quiet]


class Promptfoo(Peer):
    """promptfoo with the echo provider and `llm-rubric`."""

    style = "rubric"

    def prepare(self) -> None:
        """Write the configuration."""
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
        """Return ``promptfoo eval``; the best settings set concurrency and disable the cache."""
        asked = ["eval", "-c", "promptfooconfig.json", "-o", "found.json", *self._settings]
        return [str(self._program), *asked]

    def again(self) -> list[str]:
        """Return ``promptfoo eval --resume`` for the newest evaluation."""
        return [str(self._program), "eval", "--resume", "-o", "found.json", *self._settings]

    def scored(self) -> int:
        """Return the number of results that have a score and no error."""
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
