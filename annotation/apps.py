from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    label = "annotation"

    def ready(self) -> None:
        from annotation import tasks  # noqa: F401  handlers of jobs register themselves
        from cqa_site.runs.kinds import register

        register("relevance", "annotation.actions.relevance_judge.RelevanceKind")
        register("answers", "annotation.actions.answer_generation.AnswersKind")
        register("coherence", "annotation.actions.coherence_judge.CoherenceKind")
