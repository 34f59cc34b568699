from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation import tasks  # noqa: F401  handlers of jobs register themselves
