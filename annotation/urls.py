"""URLs inside a study; each views module lists its own URLs."""

from annotation.answers import views as answers
from annotation.consensus import views as consensus
from annotation.editing.views import desk as editing_desk, rounds
from annotation.exports import views as exports
from annotation.faithfulness.views import (
    editing as faithfulness_editing,
    faithfulness,
    rows as faithfulness_rows,
)
from annotation.figures import views as figures
from annotation.generation import views as generation
from annotation.imports import views as imports
from annotation.judges.views import judges, runs as judge_runs
from annotation.labelling.views import label, label_page, rounds as labelling_rounds
from annotation.quality.views import quality, rules as quality_rules
from annotation.retrieval import views as retrieval
from annotation.study.views import overview, questions

urlpatterns = [
    *overview.urlpatterns,
    *labelling_rounds.label_round_urls,
    *labelling_rounds.guideline_urls,
    *label.urlpatterns,
    *label_page.urlpatterns,
    *quality.urlpatterns,
    *quality_rules.urlpatterns,
    *consensus.adjudication_urls,
    *rounds.start_urls,
    *rounds.round_urlpatterns,
    *rounds.discussion_urls,
    *editing_desk.desk_urls,
    *editing_desk.history_urls,
    *consensus.final_label_urls,
    *judges.label_compare_urls,
    *imports.urlpatterns,
    *exports.export_urls,
    *questions.argument_urls,
    *retrieval.corpus_urls,
    *retrieval.find_urls,
    *retrieval.cam_urls,
    *figures.figure_urls,
    *figures.file_urls,
    *figures.snapshot_urls,
    *judge_runs.run_list_urls,
    *judge_runs.new_run_urls,
    *judge_runs.run_compare_urls,
    *judges.judge_urls,
    *judges.trained_judge_urls,
    *answers.question_urls,
    *questions.question_urls,
    *generation.generation_urls,
    *generation.launch_urls,
    *generation.run_figure_urls,
    *exports.answers_file_urls,
    *answers.system_urls,
    *faithfulness.faithfulness_urls,
    *faithfulness_rows.urlpatterns,
    *faithfulness_editing.edited_urls,
    *faithfulness.coherence_urls,
    *faithfulness_editing.agreement_urls,
]
