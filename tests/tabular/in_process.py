"""Workbooks read without a process for each of them."""

import io
from dataclasses import asdict
from tempfile import TemporaryFile
from types import SimpleNamespace

import pytest

from cqa_site.tabular import xlsx_child


class FinishedChild:
    """What the child's code answers, written by this process; to start one takes longer.

    Without the bounds of memory and processor time, and with a parser that also knows lxml: tests
    about these start the process.
    """

    def __init__(self, file, sheet, limits):
        file.seek(0)
        answers = io.BytesIO()
        streams = SimpleNamespace(
            stdin=SimpleNamespace(buffer=file), stdout=SimpleNamespace(buffer=answers), modules={}
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENPYXL_DEFUSEDXML", "True")
            patch.setattr(xlsx_child, "sys", streams)
            xlsx_child._emit(*xlsx_child._outcome(asdict(limits), sheet))
        self.stdout = TemporaryFile()  # noqa: SIM115  closed by its reader
        self.stdout.write(answers.getvalue())
        self.stdout.seek(0)

    def poll(self):
        return 0

    def wait(self, timeout=None):
        return 0
