"""Our model server without a model: the package that loads models is a pretended one."""

import os
import sys
from pathlib import Path

PRETENDED = Path(__file__).parent / "pretended"


def command() -> list[str]:
    """How it is started."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1));"
    code += "from cqa_site.runs.model_box.server import main; sys.exit(main())"
    beside = ["--model", "none.gguf", "--name", "smollm2-135m-instruct"]
    return [sys.executable, "-c", code, str(PRETENDED), *beside, "--parent", str(os.getpid())]
