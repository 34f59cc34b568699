"""Processor seconds of each step up to the first page of a fresh clone.

    python -m benchmarks.first_steps
    python -m benchmarks.first_steps --repository ANOTHER

Installs what `make demo` installs. Then runs the steps of `manage.py demo` one after another, with
nothing compiled yet, and finally starts the web server.
"""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

from benchmarks.first_minute import HERE, new_clone, newcomer_variables

STEPS = """
import gc, importlib, sys, time
if "set_threshold" in open("manage.py").read():
    gc.set_threshold(50_000, 20, 100)
began = 0.0
def tell(step):
    global began
    now = time.process_time()
    print(f"{step:<44}{now - began:6.2f} s", flush=True)
    began = now
import django
django.setup()
from annotation.management.commands import demo
from cqa_site import preparing
tell("load the project")
preparing.pack_files()
tell("pack static files")
getattr(preparing, "make_tables", lambda: preparing._call("migrate", interactive=False))()
preparing._call("createcachetable")
tell("make the tables")
demo.Command().check()
tell("check the project")
demo.build_demo()
tell("build the demo study")
"""
WEB = """
import time, cqa_site.wsgi
print(f"{'load the web server':<44}{time.process_time():6.2f} s")
"""
MAKE = (
    "from pathlib import Path; from cqa_site.judging.installing import make_environment; "
    "make_environment(Path('.venv'))"
)
INSTALLING = "cqa_site.judging.installing"


def main() -> None:
    """Print the steps in order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", default=str(HERE), help="whose last commit is measured")
    with tempfile.TemporaryDirectory() as folder:
        clone = new_clone(folder, parser.parse_args().repository)
        python = str(clone / ".venv/bin/python")
        tell("make the environment, with pip", run(["python3", "-c", MAKE], clone))
        tell("install uv and packages", run([python, "-m", INSTALLING, ".venv", "site"], clone))
        run([python, "-c", STEPS], clone)
        run([python, "-c", WEB], clone)


def tell(step: str, seconds: float) -> None:
    """Print one line of the table."""
    print(f"{step:<44}{seconds:6.2f} s", flush=True)


def run(command: list[str], clone: Path) -> float:
    """Run a command in the clone; return the processor seconds of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = newcomer_variables() | {"DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    subprocess.run(command, cwd=clone, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
