"""Run the site and its worker together until one is told to stop."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

WORKER_RESTART_SECONDS = 2


class Command(BaseCommand):
    help = "Run the web server and one background worker; Ctrl+C stops both."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=1, help="web processes")
        parser.add_argument("--threads", type=int, default=4, help="threads per web process")
        parser.add_argument("--no-worker", action="store_true", help="web server only")

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _interrupt)
        web = subprocess.Popen(_web_command(options))
        worker = None if options["no_worker"] else subprocess.Popen(_worker_command())
        try:
            while web.poll() is None:
                time.sleep(0.5)
                if worker is not None and worker.poll() is not None:
                    self.stderr.write("The worker stopped; starting it again.")
                    time.sleep(WORKER_RESTART_SECONDS)
                    worker = subprocess.Popen(_worker_command())
        except KeyboardInterrupt:
            self.stdout.write("Stopping.")
        finally:
            _stop(worker)
            _stop(web)
        if web.returncode not in (0, -signal.SIGTERM, -signal.SIGINT):
            raise CommandError(
                f"The web server ended with code {web.returncode}. "
                f"If port {options['port']} is taken, choose another: --port 8001"
            )


def _interrupt(*args: Any) -> None:
    raise KeyboardInterrupt


def _web_command(options: dict[str, Any]) -> list[str]:
    return [
        sys.executable, "-m", "granian", "cqa_site.wsgi:application",
        "--interface", "wsgi",
        "--host", options["host"],
        "--port", str(options["port"]),
        "--workers", str(options["workers"]),
        "--blocking-threads", str(options["threads"]),
        "--log-level", "warning",
    ]  # fmt: skip


def _worker_command() -> list[str]:
    beat = settings.DATA_DIR / f"beat-{os.getpid()}"
    return [
        sys.executable, "-m", "celery", "--quiet", "-A", "cqa_site", "worker",
        "--pool", "threads", "--concurrency", "2",
        "--beat", "--schedule", str(beat),
        "--loglevel", "WARNING",
    ]  # fmt: skip


def _stop(process: subprocess.Popen | None) -> None:
    """Ask the process to end, and insist after ten seconds."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
