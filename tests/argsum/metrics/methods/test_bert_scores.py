"""Loading a transformer for BERTScore, without one."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from argsum.metrics.actions import bert_scores
from argsum.metrics.actions.bert_scores import BertScores, _load


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


def test_a_score_stands_in_the_row_of_its_reference(monkeypatch):
    def score(summaries, references, *, batch_size):
        lengths = [10 * len(summary) for summary in summaries]
        return None, None, np.array(lengths) + [len(reference) for reference in references]

    monkeypatch.setattr(bert_scores, "_load", lambda *named: SimpleNamespace(score=score))
    scores = BertScores("own", "folder").matrix(["r", "rr"], ["s", "ss", "sss"])
    assert scores.tolist() == [[11, 21, 31], [12, 22, 32]]
