from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation import tasks  # noqa: F401  handlers of jobs register themselves
        from annotation.editing.actions.kind import EDITING
        from annotation.figures.actions import CAMPAIGNS
        from annotation.imports.formats import register_study_imports
        from annotation.labelling.actions.kind import LABELS
        from annotation.run_kinds import register_kinds
        from cqa_site.results import kind as results
        from cqa_site.rounds.kind import register
        from cqa_site.web import invariants

        register_kinds()
        register_study_imports()
        register(LABELS)
        register(EDITING)
        results.register(CAMPAIGNS)
        invariants.register("annotation.labelling.reports.find_violations")
