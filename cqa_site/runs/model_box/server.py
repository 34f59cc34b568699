"""Server for one GGUF file on the loopback interface.

Start it with ``python -m cqa_site.runs.model_box.server --model FILE``.

`cqa_site.runs.model_box.embedded` starts this program; it loads neither Django nor Celery. The key
is the first line of standard input, because everybody on the machine can read command-line
arguments. When the server is ready, it prints the port on one line. If it cannot start, it prints
the reason in one sentence and exits with status 1.
"""

import argparse
import ctypes
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HOST = "127.0.0.1"
# A relevance request with a sentence from the paper has up to 603 tokens, its answer about 200.
# A request with twenty sentences has up to 1,568, and its answer about 2,000.
CONTEXT_TOKENS = 4096
CACHE_MIB = 256
LOOKS_FOR_PARENT = 1.0
PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve until SIGTERM arrives or the parent process has ended."""
    arguments = _read_arguments()
    _die_with_parent()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *args: stop.set())
    key = sys.stdin.readline().strip()
    if not key:
        return _refuse("The key is expected as the first line of standard input.")
    try:
        server = _serve(arguments, key)
    except ImportError as problem:
        return _refuse(f"The package xllamacpp cannot be loaded: {problem}")
    except RuntimeError:
        return _refuse(
            f"{arguments.model.name} cannot be served: it is not a GGUF file that this version of "
            f"llama.cpp reads, there is too little memory, or the port is in use."
        )
    _say(str(urlsplit(server.listening_address).port))
    while not stop.wait(LOOKS_FOR_PARENT) and os.getppid() == arguments.parent:
        pass
    # Do not wait for a request that is still being answered.
    os._exit(0)


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve one GGUF file on the loopback.")
    parser.add_argument("--model", type=Path, required=True, help="GGUF file")
    parser.add_argument("--name", default="local", help="the model's name in answers")
    parser.add_argument("--port", type=int, default=0, help="0 for any free port")
    parser.add_argument("--context", type=int, default=CONTEXT_TOKENS, help="most tokens")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="end with this process")
    return parser.parse_args()


def _serve(arguments: argparse.Namespace, key: str) -> Any:
    """Load the model and answer requests in threads of llama.cpp; raises RuntimeError."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(arguments.model)
    params.model_alias = {arguments.name}
    params.hostnames, params.port = [HOST], arguments.port
    params.api_keys, params.cors_origins = [key], f"http://{HOST}"
    params.n_parallel, params.n_ctx = 1, arguments.context
    # One core is left for the site; threads that wait for each other stall on a busy machine.
    threads = max(1, (os.cpu_count() or 2) - 1)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    # The default of 8 GiB is more than many machines have.
    params.cache_ram_mib = CACHE_MIB
    params.ui, params.offline, params.endpoint_slots, params.verbosity = False, True, False, -1
    return xllamacpp.Server(params)


def _die_with_parent() -> None:
    """Let Linux kill this process when the thread that started it ends, for any reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _say(line: str) -> None:
    """Print the only line of output, and then discard all standard output of llama.cpp."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(sentence: str) -> int:
    _say(sentence)
    return 1


if __name__ == "__main__":
    sys.exit(main())
