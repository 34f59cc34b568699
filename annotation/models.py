"""Imports of all models, because Django looks for them in this module."""

# ruff: noqa: F401

import annotation.answers.models
import annotation.consensus.models
import annotation.corpus.models
import annotation.editing.models
import annotation.exports.models
import annotation.faithfulness.models
import annotation.figures.models
import annotation.generation.models
import annotation.judges.models
import annotation.labelling.models
import annotation.retrieval.models
