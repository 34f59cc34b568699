"""Comparison of a survey export with a study: one comment dataset per question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from argsum.datasets.imports.comment_files import CommentEntry
from argsum.datasets.imports.comments import CommentReconciliation
from argsum.datasets.methods.argument_cells import LONGEST_NAME, LONGEST_TOPIC
from argsum.surveys.methods.headings import SurveyColumn
from argsum.surveys.models import Respondent, Survey, SurveyQuestion
from cqa_site.files.actions.imports import ImportEntry, Reconciliation
from .files import RESPONDENTS, SurveyEntry, SurveyPlan


class QuestionReconciliation(CommentReconciliation):
    """Comparison of the answers to one question; flags name the question's column."""

    column = ""

    def mention(self, entry: ImportEntry, column: str, reason: str) -> None:
        """Flag an answer that is imported nevertheless."""
        super().mention(entry, self.column, reason)


class SurveyReconciliation(Reconciliation):
    """Comparison of one file; each question's comments are compared as in any other import."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._survey: Survey | None = None
        self._plan: SurveyPlan | None = None
        self._parts: dict[str, QuestionReconciliation] = {}
        self._stored: dict[str, SurveyQuestion] = {}
        self._names: dict[str, str] = {}

    def compare(self, entries: Sequence[SurveyEntry]) -> None:
        """Compare a chunk of respondents, question by question."""
        plan = entries[0].plan
        survey = self._survey or self._open(plan)
        self._compare_respondents(survey, entries)
        for place, question in enumerate(plan.questions):
            answers = [
                (entry.row, replace(entry.respondent, text=text))
                for entry in entries
                if (text := entry.answers[place])
            ]
            if answers:
                about = self._dataset(plan, question), self._topic(question)
                comments = [CommentEntry(row, *about, comment) for row, comment in answers]
                self._part(question).compare(comments)

    def finish(self) -> None:
        """Finish every dataset and link new datasets to the survey."""
        for part in self._parts.values():
            part.finish()
        if self._survey is None or self._plan is None:
            return
        plan, survey = self._plan, self._survey
        silent = [
            question.text[:80]
            for question in plan.questions
            if question.header not in self._parts and question.header not in self._stored
        ]
        for question in plan.questions:
            stored = self._stored.get(question.header)
            if stored and question.text[:LONGEST_TOPIC] not in (stored.text, stored.column):
                about = {"column": question.header[:80], "text": stored.text}
                text = _(
                    "“%(column)s” was previously “%(text)s”. Its answers are added to that "
                    "question."
                )
                self.outcome.notes.append(text % about)
        if silent:
            self.outcome.notes.append(_("Questions without answers: %s.") % " · ".join(silent))
        if self.write:
            self._link(survey, plan)

    def _open(self, plan: SurveyPlan) -> Survey:
        rows = Survey.objects.filter(study=self.study, name=plan.name)
        survey = (rows.select_for_update() if self.write else rows).first()
        if survey is None:
            survey = Survey(study=self.study, name=plan.name, created_by=self.actor)
            if self.write:
                survey.save()
        else:
            questions = survey.questions.select_related("dataset")
            self._stored = {question.column: question for question in questions}
        self._survey, self._plan = survey, plan
        return survey

    def _compare_respondents(self, survey: Survey, entries: Sequence[SurveyEntry]) -> None:
        known: set[str] = set()
        if survey.pk:
            rows = survey.respondents.filter(key__in=[entry.respondent.key for entry in entries])
            known = set(rows.values_list("key", flat=True))
        new = [entry.respondent for entry in entries if entry.respondent.key not in known]
        self.outcome.counts[RESPONDENTS]["new"] += len(new)
        self.outcome.counts[RESPONDENTS]["same"] += len(entries) - len(new)
        if self.write:
            Respondent.objects.bulk_create(
                Respondent(survey=survey, key=own.key, name=own.name) for own in new
            )

    def _part(self, question: SurveyColumn) -> QuestionReconciliation:
        """Return the comparison of one question's comments, with the counts of the whole file."""
        if question.header not in self._parts:
            about = {"write": self.write, "update_changed": self.update_changed}
            part = QuestionReconciliation(self.study, actor=self.actor, **about)
            part.outcome, part.column = self.outcome, question.header
            self._parts[question.header] = part
        return self._parts[question.header]

    def _dataset(self, plan: SurveyPlan, question: SurveyColumn) -> str:
        """Return the name of a question's dataset: its text, plus the survey's name if needed."""
        if stored := self._stored.get(question.header):
            return stored.dataset.name
        if question.header not in self._names:
            name = question.text[:LONGEST_NAME]
            longer = (
                f"{question.text[: LONGEST_NAME // 2]} ({plan.name[: LONGEST_NAME // 2 - 10]})"
            )
            number = 1
            while self._is_taken(name):
                name = longer if number == 1 else f"{longer} {number}"
                number += 1
            self._names[question.header] = name
        return self._names[question.header]

    def _is_taken(self, name: str) -> bool:
        datasets = self.study.argument_datasets.filter(name=name)
        return name in self._names.values() or datasets.exists()

    def _topic(self, question: SurveyColumn) -> str:
        if stored := self._stored.get(question.header):
            return stored.text
        return question.text[:LONGEST_TOPIC]

    def _link(self, survey: Survey, plan: SurveyPlan) -> None:
        roles = {name: role for name, role in plan.roles.items() if name not in plan.empty}
        survey.tool, survey.roles = plan.tool, survey.roles | roles
        survey.groups = list(dict.fromkeys([*survey.groups, *plan.groups]))
        survey.save(update_fields=["tool", "roles", "groups"])
        columns = list(plan.roles)
        for question in plan.questions:
            part = self._parts.get(question.header)
            if part is None or part.dataset is None or question.header in self._stored:
                continue
            SurveyQuestion.objects.create(
                survey=survey,
                dataset=part.dataset,
                position=columns.index(question.header),
                column=question.header,
                text=self._topic(question),
            )
