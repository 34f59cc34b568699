from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation import tasks  # noqa: F401  handlers of jobs register themselves
        from annotation.answers.reports.integrity import find_violations
        from annotation.consensus.actions import consensus
        from annotation.consensus.actions.adjudication import disputes_in
        from annotation.consensus.reports import agreed_labels
        from annotation.editing.actions.kind import EDITING
        from annotation.faithfulness.actions import faithfulness
        from annotation.figures.actions import CAMPAIGNS
        from annotation.imports.formats import register_study_imports
        from annotation.judges.reports.doubts import least_sure_first
        from annotation.labelling.actions.kind import LABELS
        from annotation.menu import FINDERS, study_entries
        from annotation.quality.actions.quality import check_rater
        from annotation.run_kinds import register_kinds
        from annotation.study.paths.judge import JUDGE
        from annotation.study.paths.relevance import RELEVANCE
        from cqa_site.results import kind as results
        from cqa_site.rounds.kind import register
        from cqa_site.web import invariants
        from cqa_site.web.navigation import menu, paths, search

        menu.add(study_entries)
        search.add(*FINDERS)
        paths.add(RELEVANCE, JUDGE)
        register_kinds()
        register_study_imports()
        register(LABELS)
        register(EDITING)
        LABELS.after_closing = (consensus.after_closing,)
        LABELS.waits = disputes_in
        LABELS.after_block = (check_rater,)
        LABELS.least_sure_first = least_sure_first
        LABELS.agreed = agreed_labels
        EDITING.after_closing = (faithfulness.after_closing,)
        results.register(CAMPAIGNS)
        invariants.register(find_violations)
