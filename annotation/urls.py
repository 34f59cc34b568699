"""Addresses inside a study; each module of views lists its own."""

from annotation.answers.views import answers, systems
from annotation.consensus.views import adjudication, final_labels
from annotation.editing.views import desk as editing_desk
from annotation.editing.views import discussion as editing_discussion
from annotation.editing.views import editing
from annotation.editing.views import history as editing_history
from annotation.editing.views import rounds as editing_rounds
from annotation.exports.views import answers_files, exports
from annotation.faithfulness.views import coherence, expert_agreement, faithfulness
from annotation.faithfulness.views import edited as faithfulness_edited
from annotation.faithfulness.views import rows as faithfulness_rows
from annotation.figures.views import figures, snapshots
from annotation.figures.views import files as figure_files
from annotation.generation.views import generation
from annotation.generation.views import launch as generation_launch
from annotation.generation.views import run as generation_run
from annotation.imports import views as imports
from annotation.judges.views import compare as judge_compare
from annotation.judges.views import judges, label_compare
from annotation.judges.views import new as judge_new
from annotation.judges.views import runs as judge_runs
from annotation.judges.views import trained as trained_judges
from annotation.labelling.views import campaigns, guidelines, label, label_trial
from annotation.quality.views import exclusion, quality
from annotation.retrieval.views import corpora, find_arguments, find_cam
from annotation.study.views import answers as study_answers
from annotation.study.views import overview, questions

urlpatterns = [
    *overview.urlpatterns,
    *campaigns.urlpatterns,
    *guidelines.urlpatterns,
    *label.urlpatterns,
    *label_trial.urlpatterns,
    *quality.urlpatterns,
    *exclusion.urlpatterns,
    *adjudication.urlpatterns,
    *editing.urlpatterns,
    *editing_rounds.urlpatterns,
    *editing_discussion.urlpatterns,
    *editing_desk.urlpatterns,
    *editing_history.urlpatterns,
    *final_labels.urlpatterns,
    *label_compare.urlpatterns,
    *imports.urlpatterns,
    *exports.urlpatterns,
    *questions.urlpatterns,
    *corpora.urlpatterns,
    *find_arguments.urlpatterns,
    *find_cam.urlpatterns,
    *figures.urlpatterns,
    *figure_files.urlpatterns,
    *snapshots.urlpatterns,
    *judge_runs.urlpatterns,
    *judge_new.urlpatterns,
    *judge_compare.urlpatterns,
    *judges.urlpatterns,
    *trained_judges.urlpatterns,
    *answers.urlpatterns,
    *study_answers.urlpatterns,
    *generation.urlpatterns,
    *generation_launch.urlpatterns,
    *generation_run.urlpatterns,
    *answers_files.urlpatterns,
    *systems.urlpatterns,
    *faithfulness.urlpatterns,
    *faithfulness_rows.urlpatterns,
    *faithfulness_edited.urlpatterns,
    *coherence.urlpatterns,
    *expert_agreement.urlpatterns,
]
