"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module

import pytest

from benchmarks.house import ROOT, module_of, product_files

MODULES = [
    module_of(path)
    for path in product_files()
    if ">>> " in (ROOT / path).read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    result = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0
