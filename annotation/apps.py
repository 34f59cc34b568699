from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation.answers.reports import find_violations
        from annotation.background import register_kinds
        from annotation.consensus.actions import consensus
        from annotation.consensus.actions.decisions import disputes_in
        from annotation.consensus.reports import agreed_labels, known_labels
        from annotation.editing.actions.kind import EDITING
        from annotation.faithfulness.actions import figures
        from annotation.figures.actions import LABEL_ROUNDS
        from annotation.imports.formats import register_study_imports
        from annotation.judges.reports.results import least_sure_first
        from annotation.labelling.actions.blocks import LABELS
        from annotation.menu import FINDERS, study_entries
        from annotation.quality.actions import check_rater
        from annotation.study.paths import JUDGE, RELEVANCE
        from cqa_site.results import snapshots
        from cqa_site.rounds.kind import register
        from cqa_site.web import housekeeping, navigation

        navigation.add_entries(study_entries)
        navigation.add_finders(*FINDERS)
        navigation.add_paths(RELEVANCE, JUDGE)
        register_kinds()
        register_study_imports()
        register(LABELS)
        register(EDITING)
        LABELS.after_closing = (consensus.after_closing,)
        LABELS.waits = disputes_in
        LABELS.after_block = (check_rater,)
        LABELS.least_sure_first = least_sure_first
        LABELS.agreed = agreed_labels
        LABELS.known = known_labels
        EDITING.after_closing = (figures.after_closing,)
        snapshots.register(LABEL_ROUNDS)
        housekeeping.register(find_violations)
