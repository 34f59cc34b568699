"""Where Django looks for the tables of the app; each stands in its room."""

# ruff: noqa: F401

import annotation.answers.models.answers
import annotation.answers.models.conditions
import annotation.answers.models.learned
import annotation.consensus.models
import annotation.corpus.models.embeddings
import annotation.corpus.models.questions
import annotation.editing.models
import annotation.exports.models
import annotation.faithfulness.models
import annotation.figures.models
import annotation.generation.models
import annotation.judges.models
import annotation.labelling.models.campaigns
import annotation.labelling.models.votes
import annotation.retrieval.models
