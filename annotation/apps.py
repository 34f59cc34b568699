from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation import tasks  # noqa: F401  handlers of jobs register themselves
        from annotation.run_kinds import register_kinds
        from cqa_site.web import invariants

        register_kinds()
        invariants.register("annotation.reports.integrity.find_violations")
