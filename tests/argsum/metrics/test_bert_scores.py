"""Loading a transformer for BERTScore, without one."""

import json
import sys
from types import SimpleNamespace

import pytest

from argsum.metrics.actions.bert_scores import _load


@pytest.fixture
def asked(monkeypatch):
    """What the library was asked for; it knows one model, by its name alone."""
    found = {}
    library = SimpleNamespace(BERTScorer=lambda **options: found.update(options))
    utils = SimpleNamespace(model2layers={"known-large": 17})
    monkeypatch.setitem(sys.modules, "bert_score", library)
    monkeypatch.setitem(sys.modules, "bert_score.utils", utils)
    return found


@pytest.mark.parametrize(("name", "layers"), [("known-large", 17), ("own", 4)])
def test_a_local_folder_has_the_layer_of_its_model(asked, tmp_path, name, layers):
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 4}))
    _load(name, str(tmp_path))
    assert (asked["model_type"], asked["num_layers"]) == (str(tmp_path), layers)
