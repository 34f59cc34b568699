"""Audit rounds for tests."""

from argsum.analysis.models import Analysis
from argsum.auditing import actions
from argsum.auditing.models import AuditRound
from cqa_site.people.models import Study, User
from cqa_site.rounds.lifecycle import open_round
from tests.argsum.analysis.made_comments import fill, make_cell, write_analysis


def make_analysis(study: Study) -> Analysis:
    """An analysis of 13 comments with three key points, written directly."""
    cell = make_cell(study, name="Secretive dataset")
    fill(cell)
    return write_analysis(study, cell, name="Secretive analysis")


def open_audit(
    study: Study, actor: User, *, opens: bool = True, raters: int = 1, **fields
) -> AuditRound:
    """A round of the study's analysis, drawn and opened as a researcher does."""
    chosen = {
        "name": "First round",
        "seed": 1,
        "analysis": fields.get("analysis") or study.analyses.get(),
        "size": 8,
        "double_share": float(raters > 1),
    }
    plan = actions.AuditPlan(**chosen | fields)
    made = actions.plan_round(study=study, plan=plan, actor=actor)
    if opens:
        open_round(round_=made, actor=actor)
    made.refresh_from_db()
    return made
