"""Every address of the API with a request that works, as the tests' one list."""

import uuid
from dataclasses import dataclass

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from cqa_site.runs.models import Endpoint
from tests.annotation.made_generations import scenario
from tests.everything import COMPARED

from .addresses import ADDRESSES

# What is called in a world as in the table.
ROWS = """
    analysis waiting_analysis stopped_analysis found_point dataset spare_dataset cell scorer
    survey spare_survey
    training_scorer stopped_scorer system_run summary_set waiting_system_run
    stopped_system_run counting_round draft_counting closed_counting imported_count
    open_audit draft_audit closed_audit audit_sheet
    open_preferring draft_preferring closed_preferring preference_sheet open_scoring
    draft_scoring closed_scoring rubric live_board live_key_points frozen_key_points
    frozen_board judged_sheet rater adoption exclusion vote snapshot export imported
    import_batch job argument control invitation crowd_link participant member endpoint
    spare_endpoint prompt run checked_run running_run writing_run paused_run call
    trained_judge corpus checked_corpus cam_request question system answer editing_round
    draft_round closed_round editing_task revision round_comment onboarding qualification
"""
NAMED = ROWS.split()
LEVELS = [{"value": 0, "name": "No"}, {"value": 1, "name": "Yes"}]


@dataclass(frozen=True, eq=False)
class Route:
    """One address and method.

    ``ids`` names what its ids come from, ``body`` builds the body, ``caller``
    is the least who may, ``queries`` is what a page of a list costs at most, ``query`` is what
    an address cannot do without.
    """

    name: str
    method: str
    status: int
    ids: tuple[str, ...] = ("study",)
    body: object = None
    is_list: bool = False
    label_round: str = "label_round"
    caller: str = "researcher"
    queries: int = 5
    query: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.name}"

    @property
    def is_write(self) -> bool:
        return self.method != "get"

    def kwargs(self, world) -> dict:
        source = {
            "study": ("study_id", world.study),
            "label_round": ("label_round_id", getattr(world, self.label_round)),
            "any_round": ("any_round_id", getattr(world, self.label_round)),
            "import_of": ("import_id", world.imported),
            "run_of": ("run_id", world.run),
            "round_of": ("round_id", world.editing_round),
            "other_run": ("other_id", world.other_run),
            "other_writing_run": ("other_id", world.other_writing_run),
            "launch": ("public_id", world.launch),
            "judging_run_of": ("run_id", world.judging_run),
            "scoring_run_of": ("run_id", world.scoring_run),
            "scoring_of": ("round_id", world.open_scoring),
            "counting_run_of": ("run_id", world.counting_run),
            "assignment_of": ("run_id", world.assignment_run),
            "scoring_draft_of": ("round_id", world.draft_scoring),
            "scoring_rater": ("rater_id", world.scoring_rater),
            "counting_of": ("counting_id", world.counting_round),
            "preferring_of": ("preference_id", world.open_preferring),
            "preferrer": ("rater_id", world.scoring_rater),
            "audit_of": ("audit_id", world.open_audit),
            "auditor": ("rater_id", world.auditor),
            "audited": ("analysis_id", world.audited_analysis),
            "dataset_of": ("dataset_id", world.dataset),
            "analysis_of": ("analysis_id", world.analysis),
            "cell_of": ("cell_id", world.cell),
            "commented": ("cell_id", world.commented),
            "duplicates": ("public_id", world.duplicates),
            "counter": ("rater_id", world.counter),
            "faithful_round_of": ("round_id", world.faithful_round),
            "own_label_round": ("public_id", getattr(world, self.label_round)),
            **{name: ("public_id", getattr(world, name)) for name in NAMED},
            "link_of": ("link_id", world.crowd_link),
            "onboarding_of": ("onboarding_id", world.onboarding),
            "comparison": ("public_id", world.argument.comparison),
            "comparison_of": ("comparison_id", world.argument.comparison),
            "guideline": ("public_id", world.label_round.guideline),
        }
        return {key: row.public_id for key, row in (source[name] for name in self.ids)}

    def url(self, world, **replaced) -> str:
        return reverse(f"api_{self.name}", kwargs=self.kwargs(world) | replaced)

    def send(self, client, world, *, query="", **replaced):
        url = self.url(world, **replaced) + (query or self.query)
        if not self.is_write:
            return client.get(url)
        given = self.body(world) if callable(self.body) else (self.body or {})
        is_upload = isinstance(given, dict) and not {"file", "files"}.isdisjoint(given)
        return getattr(client, self.method)(
            url, given, format="multipart" if is_upload else "json"
        )


def what_to_audit(world) -> dict:
    analysis = str(world.audited_analysis.public_id)
    return {"name": "Another audit", "analysis": analysis, "size": 10}


def upload(world) -> dict:
    content = b"object1,object2,text\ntea,coffee,Tea is green.\n"
    return {
        "file": SimpleUploadedFile("new.csv", content, "text/csv"),
        "kind": "table",
        "mapping": '{"object1": "object1", "object2": "object2", "text": "text"}',
    }


def upload_many(world) -> dict:
    content = b"object1,object2,text\ntea,coffee,Tea is green.\n"
    names = ("one.csv", "two.csv")
    files = [SimpleUploadedFile(name, content, "text/csv") for name in names]
    return {"files": files, "kind": "table"}


def scoring_key(world) -> dict:
    criteria = world.draft_scoring.rubric.rubric.criteria
    points = {each.key: each.maximum for each in criteria}
    return {"answer": str(world.answer.public_id), "points": points, "notes": {"C1": "Clear."}}


def what_to_learn(world) -> dict:
    return {"name": "Taught", "task": "match", "dataset": str(world.learning_dataset.public_id)}


def what_to_write_after(world) -> dict:
    return {"name": "Scribe", "dataset": str(world.learning_dataset.public_id)}


def what_to_run(world) -> dict:
    return {
        "dataset": str(world.dataset.public_id),
        "split": "test",
        "system": "mcargsum",
        "grid": {"threshold": "0.4-0.6 step 0.1"},
    }


def what_to_analyse(world) -> dict:
    return {"cell": str(world.cell.public_id)}


def key_point_text(world) -> dict:
    return {"text": "Called otherwise.", "seen": world.analysis.revision}


def key_points_to_hide(world) -> dict:
    points = [str(world.found_point.public_id)]
    return {"verb": "hidden", "key_points": points, "seen": world.analysis.revision}


def key_points_to_merge(world) -> dict:
    points = [str(each.public_id) for each in world.analysis.points.all()]
    return {"key_points": points, "seen": world.analysis.revision}


def key_points_to_sign(world) -> dict:
    return {"seen": world.audited_analysis.revision}


def statements_to_move(world) -> dict:
    placed = world.analysis.placements.filter(point=world.found_point)
    return {
        "key_point": str(world.found_point.public_id),
        "statements": [str(placed.first().argument.public_id)],
        "to": None,
        "seen": world.analysis.revision,
    }


def statements_to_split(world) -> dict:
    given = statements_to_move(world)
    del given["to"]
    return given | {"text": "A part of it."}


def key_points_to_theme(world) -> dict:
    given = key_points_to_merge(world)
    return given | {"theme": "A theme of its own"}


def theme_to_rename(world) -> dict:
    theme = world.found_point.theme
    return {"theme": theme, "name": "Renamed", "seen": world.analysis.revision}


def themes_to_merge(world) -> dict:
    themes = sorted({each.theme for each in world.analysis.points.all()})
    return {"themes": themes, "seen": world.analysis.revision}


def key_point_in_parts(world) -> dict:
    world.found_point.statements = 4
    world.found_point.save()
    return {"key_point": str(world.found_point.public_id), "seen": world.analysis.revision}


def what_to_compare(world) -> dict:
    systems = world.study.systems.filter(name__in=COMPARED)
    return {
        "name": "Compared again",
        "size": 4,
        "leave_out_used": False,
        "is_mixed": False,
        "systems": [str(each.public_id) for each in systems],
    }


def rubric_text(world) -> dict:
    return {
        "content": world.rubric.content | {"name": "Copy"},
        "derived_from": str(world.rubric.public_id),
    }


def upload_sentences(world) -> dict:
    content = b"Tea is older than coffee.\n"
    return {"name": "New", "file": SimpleUploadedFile("new.txt", content, "text/plain")}


def keys_of(world) -> dict:
    return {"keys": [row.text_sha256 for row in world.corpus.sentences.all()]}


def ask(world) -> dict:
    return {"comparison": str(world.argument.comparison.public_id), "aspects": ["price"]}


def free_argument(world) -> str:
    return str(world.study.arguments.exclude(items__round=world.draft).first().public_id)


def adoption(world) -> dict:
    return {
        "label_round": str(world.experts.public_id),
        "rater": str(world.expert_rater.public_id),
        "only_tied": False,
    }


def new_key(world) -> dict:
    item = world.label_round.items.get(argument=world.control)
    return {"item_id": item.external_id, "label": 2, "reason": "Both objects, no reason."}


def plan(world) -> dict:
    return {
        "label_round": str(world.label_round.public_id),
        "endpoint": str(world.endpoint.public_id),
        "prompt": str(world.prompt.public_id),
    }


def offered(world) -> dict:
    """An endpoint of a third study."""
    return {"offer": str(Endpoint.objects.get(is_offered=True).public_id)}


def question_asked(world) -> dict:
    comparison = world.argument.comparison
    return {"comparison": str(comparison.public_id), "aspect": "price"}


def launch_plan(world) -> dict:
    """One model under two scenarios."""
    return {
        "endpoints": [str(world.endpoint.public_id)],
        "prompts": [str(scenario(world.study, number).public_id) for number in (2, 3)],
    }


def round_plan(world) -> dict:
    return {
        "name": "Gold",
        "experts": [str(world.people.expert.public_id)],
        "calibration": 1,
        "individual": 0,
        "leave": "nothing",
    }


def round_comment(world) -> dict:
    return {"answer": str(world.editing_task.answer.public_id), "text": "Look at the choice."}


ENDPOINT = {
    "name": "Lab",
    "base_url": "https://lab.example/v1",
    "model": "m",
    "key": "sk-abcdefgh",
}
PROMPT = {
    "kind": "relevance_single",
    "name": "Short",
    "system": "Label by this scale. {{levels}}",
    "user": "{{object1}} {{object2}} {{sentence}}",
}
CODES = {
    "completed_code": "A",
    "screened_out_code": "B",
    "no_work_code": "C",
    "fault_code": "D",
}
S, C, RUN = ("study",), ("study", "label_round"), ("study", "run_of")
ANY = ("study", "any_round")
STEPS = ("study", "onboarding_of")
ROUND = ("study", "round_of")
ROUTES = [
    Route("study", "get", 200),
    Route("study", "patch", 200, body={"description": "Tea and coffee."}, caller="admin"),
    # Runs are under way there; `tests/upkeep/test_put_away.py` archives and deletes.
    Route("study", "delete", 409, body=lambda world: {"name": world.study.name}, caller="admin"),
    Route("study_archive", "post", 409, caller="admin"),
    Route("study_unarchive", "post", 200, caller="admin"),
    Route("log", "get", 200, is_list=True),
    Route("members", "get", 200, is_list=True),
    Route("member", "patch", 200, (*S, "member"), {"role": "expert"}, caller="admin"),
    Route("invitations", "get", 200, is_list=True),
    Route("invitations", "post", 201, body={"note": "Student", "role": "expert"}, caller="admin"),
    Route("invitation", "get", 200, (*S, "invitation")),
    Route("invitation_revoke", "post", 200, (*S, "invitation"), caller="admin"),
    Route("comparisons", "get", 200, is_list=True),
    Route("comparison", "get", 200, (*S, "comparison")),
    Route("comparisons", "post", 201, body={"object1": "rain", "object2": "snow"}),
    Route("find", "get", 200, (*S, "comparison_of")),
    Route("find_take", "post", 200, (*S, "comparison_of"), keys_of),
    Route("corpora", "get", 200, is_list=True),
    Route("corpora", "post", 202, body=upload_sentences),
    Route("corpus", "get", 200, (*S, "corpus")),
    Route("corpus", "delete", 204, (*S, "corpus")),
    Route("corpus_check", "post", 202, (*S, "checked_corpus")),
    Route("corpus_load", "post", 202, (*S, "checked_corpus")),
    Route("cam_service", "get", 200),
    Route("cam_service", "patch", 200, body={"address": "https://cam.example/api"}),
    Route("cam_requests", "get", 200, is_list=True),
    Route("cam_requests", "post", 202, body=ask),
    Route("cam_request", "get", 200, (*S, "cam_request")),
    Route("cam_take", "post", 200, (*S, "cam_request"), {"places": [1, 3]}),
    Route("arguments", "get", 200, is_list=True),
    Route("argument", "get", 200, (*S, "argument")),
    Route("guidelines", "get", 200, is_list=True),
    Route("guidelines", "post", 201, body={"title": "New", "body": "Read.", "levels": LEVELS}),
    Route("guideline", "get", 200, (*S, "guideline")),
    Route("jobs", "get", 200, is_list=True),
    Route("job", "get", 200, (*S, "job")),
    Route("import_batches", "get", 200, is_list=True),
    Route("import_batches", "post", 202, body=upload_many),
    Route("import_batch", "get", 200, (*S, "import_batch")),
    Route("import_batch", "delete", 204, (*S, "import_batch")),
    Route("import_batch_check", "post", 202, (*S, "import_batch")),
    Route("import_batch_apply", "post", 202, (*S, "import_batch")),
    Route("imports", "get", 200, is_list=True),
    Route("imports", "post", 202, body=upload),
    Route("import", "get", 200, (*S, "imported")),
    Route("import", "delete", 204, (*S, "imported")),
    Route("import_check", "post", 202, (*S, "imported")),
    Route("import_apply", "post", 202, (*S, "imported")),
    Route("import_matches", "get", 200, (*S, "import_of"), is_list=True),
    Route("import_matches", "post", 202, (*S, "import_of"), {"decision": "same"}),
    Route("import_problems", "get", 200, (*S, "import_of"), is_list=True),
    Route("label_rounds", "get", 200, is_list=True),
    Route("label_rounds", "post", 201, body={"name": "Made by a program"}),
    Route("label_round", "get", 200, (*S, "own_label_round")),
    Route(
        "label_round",
        "patch",
        200,
        (*S, "own_label_round"),
        {"votes_per_item": 5},
        label_round="draft",
    ),
    Route("label_round", "delete", 204, (*S, "own_label_round"), label_round="spare"),
    Route("label_round_open", "post", 200, (*S, "own_label_round"), label_round="draft"),
    Route("label_round_pause", "post", 200, (*S, "own_label_round")),
    Route("label_round_close", "post", 200, (*S, "own_label_round")),
    Route("label_round_reopen", "post", 200, (*S, "own_label_round"), label_round="closed"),
    Route("items", "get", 200, C, is_list=True),
    Route(
        "items",
        "post",
        201,
        C,
        lambda world: {"arguments": [free_argument(world)]},
        label_round="draft",
    ),
    Route(
        "item_control",
        "post",
        200,
        C,
        lambda world: {"item_id": world.draft.items.last().external_id, "label": 1},
        label_round="draft",
    ),
    Route(
        "item_retire",
        "post",
        200,
        C,
        lambda world: {"item_id": world.argument.items.first().external_id, "is_retired": True},
    ),
    Route("crowd_links", "get", 200, ANY, is_list=True, queries=6),
    Route("crowd_links", "post", 201, ANY, CODES),
    Route("crowd_link", "get", 200, (*ANY, "crowd_link")),
    Route("crowd_link_close", "post", 200, (*ANY, "crowd_link")),
    Route("crowd_link_connect", "post", 200, (*ANY, "crowd_link"), {"platform_study": "STUDY-1"}),
    Route("crowd_pay", "get", 200, (*ANY, "link_of")),
    Route("crowd_pay", "patch", 200, (*ANY, "link_of"), {"reward": 1.5}),
    Route("round_rules", "get", 200, ANY),
    Route("round_rules", "patch", 200, ANY, {"fast_action": "warn", "fast_window": 10}),
    Route("round_rule_people", "get", 200, ANY, is_list=True, queries=6),
    Route("round_typing", "get", 200, ANY, is_list=True, queries=6),
    Route("participants", "get", 200, ANY, is_list=True, queries=6),
    Route("participant_release", "post", 200, (*ANY, "participant")),
    Route("participant_fault", "post", 200, (*ANY, "participant")),
    Route("onboardings", "get", 200, is_list=True),
    Route("onboardings", "post", 201, body={"name": "Short", "consent": "We store answers."}),
    Route("onboarding", "get", 200, ("study", "onboarding")),
    Route("onboarding_versions", "get", 200, STEPS, is_list=True, queries=6),
    Route("onboarding_versions", "post", 201, STEPS, {"text": "Another text."}),
    Route("onboarding_steps", "get", 200, STEPS, is_list=True, queries=6),
    Route("onboarding_people", "get", 200, STEPS, is_list=True, queries=6),
    Route("qualifications", "get", 200, STEPS, is_list=True, queries=6),
    Route(
        "qualifications",
        "post",
        201,
        STEPS,
        lambda world: {"person": str(world.people.expert.public_id), "reason": "Known"},
    ),
    Route("qualification_withdraw", "post", 200, (*STEPS, "qualification"), {"reason": "Left."}),
    Route("votes", "get", 200, C, is_list=True),
    Route("vote", "get", 200, (*C, "vote")),
    Route("raters", "get", 200, C, is_list=True, queries=6),
    Route("rater", "get", 200, (*C, "rater")),
    Route("rater_exclude", "post", 200, (*C, "rater"), {"reason": "Always the same label."}),
    Route("rater_reinstate", "post", 200, (*C, "rater"), {"reason": "A mistake."}),
    Route("annotators", "get", 200, C, is_list=True, queries=7),
    Route("annotator", "get", 200, (*C, "rater")),
    Route("annotators_exclude_low", "get", 200, C),
    Route("exclusions", "get", 200, C, is_list=True),
    Route("exclusion", "get", 200, (*C, "exclusion")),
    Route("exclusion_undo", "post", 200, (*C, "exclusion")),
    Route("annotators_exclude_low", "post", 200, C, {"reason": "Below the mark."}),
    Route("controls", "get", 200, C, is_list=True, queries=6),
    Route("control", "get", 200, (*C, "control")),
    Route("control_change", "post", 200, C, new_key),
    Route("consensus", "get", 200, C),
    Route("consensus", "patch", 200, C, {"aggregator": "mace"}),
    Route("final_labels", "get", 200, C, is_list=True),
    Route("preferred_labels", "get", 200),
    Route("preferred_labels", "patch", 200, ("study",), {"label_round": None}),
    Route("final_labels_compare", "get", 200, C),
    Route("final_labels_recompute", "post", 202, C),
    Route("adjudications", "get", 200, C, is_list=True),
    Route(
        "adjudications",
        "post",
        201,
        C,
        lambda world: {"argument": str(world.argument.public_id), "label": 3},
    ),
    Route("adoptions", "get", 200, C, is_list=True),
    Route("adoptions", "post", 201, C, adoption),
    Route("adoptions_preview", "post", 200, C, adoption),
    Route("adoption", "get", 200, (*C, "adoption")),
    Route("adoption_withdraw", "post", 200, (*C, "adoption")),
    Route("snapshots", "get", 200, C, is_list=True),
    Route("snapshots_refresh", "post", 202, C),
    Route("snapshot", "get", 200, (*C, "snapshot")),
    Route("snapshot_freeze", "post", 200, (*C, "snapshot"), {"note": "For the paper."}),
    Route("exports", "get", 200, C, is_list=True),
    Route("exports", "post", 202, C, {"contents": ["annotators", "crowdkit"], "format": "jsonl"}),
    Route("export", "get", 200, (*C, "export")),
    Route("export_file", "get", 200, (*C, "export")),
    Route("export_manifest", "get", 200, (*C, "export")),
    Route("endpoints", "get", 200, is_list=True),
    Route("endpoints", "post", 201, body=ENDPOINT),
    Route("endpoint_embedded", "post", 200),
    Route("endpoint_offers", "get", 200, is_list=True),
    Route("endpoint_offers", "post", 201, body=offered),
    Route("endpoint_offer", "post", 200, (*S, "endpoint"), {"is_offered": False}),
    Route("endpoint", "get", 200, (*S, "endpoint")),
    Route("endpoint", "patch", 200, (*S, "endpoint"), {"deadline_seconds": 60}),
    Route("endpoint_probe", "post", 202, (*S, "endpoint")),
    Route("endpoint_archive", "post", 200, (*S, "spare_endpoint")),
    Route("prompts", "get", 200, is_list=True, queries=6),
    Route("prompts", "post", 201, body=PROMPT),
    Route("prompt", "get", 200, (*S, "prompt")),
    Route("prompt", "patch", 200, (*S, "prompt"), {"note": "Shorter."}),
    Route("prompt_preview", "post", 200, (*S, "prompt")),
    Route("runs", "get", 200, is_list=True),
    Route("runs", "post", 201, body=plan),
    Route("run_estimate", "post", 200, body=plan),
    Route("run", "get", 200, (*S, "run")),
    Route("run", "patch", 200, (*S, "run"), {"ceiling": 4}),
    Route("run_go_on", "post", 200, (*S, "checked_run")),
    Route("run_pause", "post", 200, (*S, "running_run")),
    Route("run_resume", "post", 200, (*S, "paused_run")),
    Route("run_correct", "post", 200, (*S, "paused_run")),
    Route("run_cancel", "post", 200, (*S, "running_run")),
    Route("run_retry", "post", 200, (*S, "run")),
    Route("run_again", "post", 201, (*S, "run")),
    Route("run_compare", "get", 200, (*S, "run", "other_run")),
    Route("run_compare_answers", "get", 200, (*S, "writing_run", "other_writing_run")),
    Route("calls", "get", 200, RUN, is_list=True, queries=6),
    Route("call", "get", 200, (*RUN, "call")),
    Route("replies", "get", 200, RUN, is_list=True),
    Route("judge_labels", "get", 200, RUN, is_list=True),
    Route("verdicts", "get", 200, (*S, "judging_run_of"), is_list=True),
    Route("scoring_rounds", "get", 200, is_list=True),
    Route("scoring_rounds", "post", 201, body={"name": "Another", "overlap_share": 0.5}),
    Route("scoring_round", "get", 200, (*S, "open_scoring")),
    Route("scoring_round", "patch", 200, (*S, "draft_scoring"), {"seed": 3}),
    Route("scoring_round", "delete", 204, (*S, "draft_scoring")),
    Route("scoring_round_open", "post", 200, (*S, "draft_scoring")),
    Route("scoring_round_close", "post", 200, (*S, "open_scoring")),
    Route("scoring_round_reopen", "post", 200, (*S, "closed_scoring")),
    Route("scoring_items", "get", 200, (*S, "scoring_of"), is_list=True),
    Route("scoring_examples", "post", 204, (*S, "scoring_draft_of"), scoring_key),
    Route("scorers", "get", 200, (*S, "scoring_of"), is_list=True, queries=6),
    Route("key_points", "get", 200, queries=16),
    Route("key_point_boards", "get", 200, is_list=True),
    Route("key_point_boards_ask", "post", 202),
    Route("key_point_board", "get", 200, (*S, "frozen_key_points")),
    Route("key_point_board_rows", "get", 200, (*S, "frozen_key_points")),
    Route("key_point_board_freeze", "post", 200, (*S, "live_key_points"), {"note": "A table."}),
    Route("key_point_board_publish", "post", 200, (*S, "frozen_key_points")),
    Route("key_point_board_withdraw", "post", 200, (*S, "frozen_key_points")),
    Route("summary_metrics", "get", 200),
    Route("summary_metric_points", "get", 200, query="?metric=rouge_1:recall"),
    Route("summary_people", "get", 200),
    Route("metric_scores", "get", 200, is_list=True),
    Route("metric_scores_compute", "post", 202, body={"functions": ["rouge_1"]}),
    Route("run_counts", "get", 200, (*S, "counting_run_of"), is_list=True),
    Route("run_codes", "get", 200, (*S, "assignment_of"), is_list=True),
    Route("analysis_sign_off", "get", 200, (*S, "audited")),
    Route("analysis_sign_off", "post", 201, (*S, "audited"), key_points_to_sign),
    Route("analysis_groups", "get", 200, (*S, "analysis_of")),
    Route("analysis_trends", "get", 200, (*S, "analysis_of")),
    Route("analysis_report", "get", 200, (*S, "analysis_of")),
    Route("summary_sets", "get", 200, is_list=True),
    Route("summary_set", "get", 200, (*S, "summary_set")),
    Route("summarization_systems", "get", 200),
    Route("system_runs", "get", 200, is_list=True),
    Route("system_runs", "post", 201, body=what_to_run),
    Route("system_run", "get", 200, (*S, "system_run")),
    Route("system_run_figures", "get", 200, (*S, "system_run")),
    Route("system_run_cancel", "post", 200, (*S, "waiting_system_run")),
    Route("system_run_resume", "post", 200, (*S, "stopped_system_run")),
    Route("analyses", "get", 200, is_list=True),
    Route("analyses", "post", 201, body=what_to_analyse),
    Route(
        "analyses_dataset",
        "post",
        201,
        body=lambda world: {"dataset": str(world.dataset.public_id)},
    ),
    Route("analysis", "get", 200, (*S, "analysis")),
    Route("analysis", "delete", 204, (*S, "stopped_analysis")),
    Route("analysis_cancel", "post", 200, (*S, "waiting_analysis")),
    Route("analysis_resume", "post", 202, (*S, "stopped_analysis")),
    Route("analysis_place", "post", 202, (*S, "analysis")),
    Route("found_points", "get", 200, (*S, "analysis_of"), is_list=True, queries=6),
    Route("found_points", "post", 201, (*S, "analysis_of"), {"text": "Added by hand."}),
    Route("found_points_state", "post", 200, (*S, "analysis_of"), key_points_to_hide),
    Route("found_points_merge", "post", 200, (*S, "analysis_of"), key_points_to_merge),
    Route("found_points_move", "post", 200, (*S, "analysis_of"), statements_to_move),
    Route("found_points_split", "post", 200, (*S, "analysis_of"), statements_to_split),
    Route("found_points_theme", "post", 200, (*S, "analysis_of"), key_points_to_theme),
    Route("themes", "get", 200, (*S, "analysis_of")),
    Route("themes_rename", "post", 200, (*S, "analysis_of"), theme_to_rename),
    Route("themes_merge", "post", 200, (*S, "analysis_of"), themes_to_merge),
    Route("found_points_parts", "post", 202, (*S, "analysis_of"), key_point_in_parts),
    Route("found_point", "get", 200, (*S, "analysis_of", "found_point")),
    Route("found_point", "patch", 200, (*S, "analysis_of", "found_point"), key_point_text),
    Route(
        "found_point_statements",
        "get",
        200,
        (*S, "analysis_of", "found_point"),
        is_list=True,
        queries=7,
    ),
    Route("analysis_rest", "get", 200, (*S, "analysis_of"), is_list=True, queries=6),
    Route("point_changes", "get", 200, (*S, "analysis_of"), is_list=True, queries=6),
    Route("point_changes_undo", "post", 200, (*S, "analysis_of"), {"revision": 1}),
    Route("datasets", "get", 200, is_list=True),
    Route("dataset", "get", 200, (*S, "dataset")),
    Route("dataset", "delete", 204, (*S, "spare_dataset")),
    Route("dataset_recipe", "post", 200, (*S, "spare_dataset"), {"steps": ["one_sentence"]}),
    Route("surveys", "get", 200, is_list=True),
    Route("survey", "get", 200, (*S, "survey")),
    Route("survey", "delete", 204, (*S, "spare_survey")),
    Route("survey_analyse", "post", 201, (*S, "survey"), {}),
    Route("dataset_cells", "get", 200, (*S, "dataset_of"), is_list=True),
    Route("cell", "get", 200, (*S, "cell")),
    Route("cell_arguments", "get", 200, (*S, "cell_of"), is_list=True, queries=6),
    Route("cell_comments", "get", 200, (*S, "commented"), is_list=True, queries=6),
    Route("near_duplicates", "get", 200, (*S, "commented"), is_list=True, queries=6),
    Route("near_duplicates_find", "post", 202, (*S, "commented"), {}),
    Route(
        "near_duplicate_group",
        "get",
        200,
        (*S, "commented", "duplicates"),
        is_list=True,
        queries=7,
    ),
    Route(
        "near_duplicate_group_change",
        "post",
        200,
        (*S, "commented", "duplicates"),
        {"is_out": True},
    ),
    Route("text_scorers", "get", 200, is_list=True),
    Route(
        "text_scorers",
        "post",
        201,
        body={"name": "Another", "way": "match_bi", "model": "all-MiniLM-L6-v2"},
    ),
    Route("encoders", "get", 200),
    Route("encoder_install", "post", 202, body={"encoder": "mpnet"}, caller="site_admin"),
    Route("text_scorers_train", "post", 202, body=what_to_learn),
    Route("writers_train", "post", 202, body=what_to_write_after),
    Route("text_scorer", "get", 200, (*S, "scorer")),
    Route("text_scorer", "delete", 204, (*S, "stopped_scorer")),
    Route("text_scorer_cancel", "post", 200, (*S, "training_scorer")),
    Route("text_scorer_resume", "post", 202, (*S, "stopped_scorer")),
    Route("text_scorer_score", "post", 202, (*S, "scorer"), {"first": "Safe.", "second": "Safe"}),
    Route("counting_rounds", "get", 200, is_list=True),
    Route("counting_rounds", "post", 201, body={"name": "Another count", "raters": 2}),
    Route("counting_round", "get", 200, (*S, "counting_round")),
    Route("counting_round", "patch", 200, (*S, "draft_counting"), {"seed": 3}),
    Route("counting_round", "delete", 204, (*S, "draft_counting")),
    Route("counting_round_open", "post", 200, (*S, "draft_counting")),
    Route("counting_round_close", "post", 200, (*S, "counting_round")),
    Route("counting_round_reopen", "post", 200, (*S, "closed_counting")),
    Route("counting_items", "get", 200, (*S, "counting_of"), is_list=True),
    Route("counters", "get", 200, (*S, "counting_of"), is_list=True, queries=6),
    Route("counter_decide", "post", 200, (*S, "counting_of", "counter"), {"decision": "exclude"}),
    Route("audit_rounds", "get", 200, is_list=True),
    Route("audit_rounds", "post", 201, body=what_to_audit),
    Route("audit_round", "get", 200, (*S, "open_audit")),
    Route("audit_round", "patch", 200, (*S, "draft_audit"), {"seed": 3}),
    Route("audit_round", "delete", 204, (*S, "draft_audit")),
    Route("audit_round_open", "post", 200, (*S, "draft_audit")),
    Route("audit_round_close", "post", 200, (*S, "open_audit")),
    Route("audit_round_reopen", "post", 200, (*S, "closed_audit")),
    Route("audit_items", "get", 200, (*S, "audit_of"), is_list=True),
    Route("auditors", "get", 200, (*S, "audit_of"), is_list=True, queries=6),
    Route("auditor_decide", "post", 200, (*S, "audit_of", "auditor"), {"decision": "exclude"}),
    Route("audit_sheets", "get", 200, is_list=True),
    Route("audit_sheet", "get", 200, (*S, "audit_sheet")),
    Route("analysis_audit", "get", 200, (*S, "audited"), queries=12),
    Route("count_sheets", "get", 200, is_list=True),
    Route("count_sheet", "get", 200, (*S, "imported_count")),
    Route(
        "scorer_decide", "post", 200, (*S, "scoring_of", "scoring_rater"), {"decision": "exclude"}
    ),
    Route("preference_rounds", "get", 200, is_list=True),
    Route("preference_rounds", "post", 201, body=what_to_compare),
    Route("preference_round", "get", 200, (*S, "open_preferring")),
    Route("preference_round", "patch", 200, (*S, "draft_preferring"), {"seed": 3}),
    Route("preference_round", "delete", 204, (*S, "draft_preferring")),
    Route("preference_round_open", "post", 200, (*S, "draft_preferring")),
    Route("preference_round_close", "post", 200, (*S, "open_preferring")),
    Route("preference_round_reopen", "post", 200, (*S, "closed_preferring")),
    Route("preference_items", "get", 200, (*S, "preferring_of"), is_list=True),
    Route("preferrers", "get", 200, (*S, "preferring_of"), is_list=True, queries=6),
    Route(
        "preferrer_decide",
        "post",
        200,
        (*S, "preferring_of", "preferrer"),
        {"decision": "exclude", "reason": "Too fast."},
    ),
    Route("preference_sheets", "get", 200, is_list=True),
    Route("preference_sheet", "get", 200, (*S, "preference_sheet")),
    Route("preferences", "get", 200, queries=16),
    Route("distillation", "get", 200),
    Route("rubrics", "get", 200, is_list=True),
    Route("rubrics", "post", 201, body=rubric_text),
    Route("rubric", "get", 200, (*S, "rubric")),
    Route("score_sheets", "get", 200, is_list=True),
    Route("score_sheet", "get", 200, (*S, "judged_sheet")),
    Route("score_agreement", "get", 200),
    Route("scoring", "get", 200, (*S, "scoring_run_of")),
    Route("run_sheets", "get", 200, (*S, "scoring_run_of"), is_list=True),
    Route("probes", "get", 200, (*S, "scoring_run_of"), is_list=True, queries=8),
    Route("boards", "get", 200, is_list=True),
    Route("boards_refresh", "post", 202),
    Route("board", "get", 200, (*S, "frozen_board")),
    Route("board_rows", "get", 200, (*S, "frozen_board")),
    Route("board_part", "post", 202, (*S, "frozen_board"), {"column": "C9", "scenario": "1"}),
    Route("board_freeze", "post", 200, (*S, "live_board"), {"note": "For the paper."}),
    Route("board_publish", "post", 200, (*S, "frozen_board")),
    Route("board_withdraw", "post", 200, (*S, "frozen_board")),
    Route("faithfulness", "get", 200),
    Route("faithfulness_compute", "post", 202, body={"embedding": ""}),
    Route("faithfulness_cancel", "post", 200),
    Route("figures", "get", 200, is_list=True, queries=6),
    Route("edited_texts", "get", 200, is_list=True),
    Route("expert_agreement", "get", 200, (*S, "faithful_round_of")),
    Route("judges", "get", 200, C, is_list=True, queries=20),
    Route("judge_figures", "get", 200, C),
    Route("trained_judges", "get", 200, C, is_list=True),
    Route("trained_judges", "post", 202, C),
    Route("trained_judge", "get", 200, (*C, "trained_judge")),
    Route("trained_judges_cancel", "post", 200, C, label_round="training"),
    Route("questions", "get", 200, is_list=True),
    Route("questions", "post", 201, body=question_asked),
    Route("questions_missing", "post", 200),
    Route("question", "get", 200, (*S, "question")),
    Route("generation_launches", "get", 200, is_list=True),
    Route("generation_launches", "post", 201, body=launch_plan),
    Route("generation_launch_estimate", "post", 200, body=launch_plan),
    Route("generation_launch", "get", 200, (*S, "launch")),
    Route("generation_launch", "patch", 200, (*S, "launch"), {"cap_micro": 2_000_000}),
    Route("conditions", "get", 200, is_list=True),
    Route("systems", "get", 200, is_list=True),
    Route("system", "get", 200, (*S, "system")),
    Route("system", "patch", 200, (*S, "system"), {"name": "Model B"}),
    Route("system_learned", "post", 200, (*S, "system"), {"questions": []}),
    Route("editing_rounds", "get", 200, is_list=True),
    Route("editing_rounds", "post", 201, body=round_plan),
    Route("editing_round", "get", 200, (*S, "editing_round")),
    Route("editing_round", "patch", 200, (*S, "draft_round"), {"seed": 3}),
    Route("editing_round", "delete", 204, (*S, "draft_round")),
    Route("editing_round_open", "post", 200, (*S, "draft_round")),
    Route("editing_round_close", "post", 200, (*S, "editing_round")),
    Route("editing_round_reopen", "post", 200, (*S, "closed_round")),
    Route("editing_round_answers", "post", 200, (*S, "editing_round")),
    Route("editing_tasks", "get", 200, ROUND, is_list=True, queries=6),
    Route("editing_task", "get", 200, (*ROUND, "editing_task")),
    Route("revisions", "get", 200, ROUND, is_list=True, queries=6),
    Route("revision", "get", 200, (*ROUND, "revision")),
    Route("round_comments", "get", 200, ROUND, is_list=True, queries=6),
    Route("round_comments", "post", 201, ROUND, round_comment),
    Route("round_comment", "get", 200, (*ROUND, "round_comment")),
    Route("answers", "get", 200, is_list=True),
    Route("answer", "get", 200, (*S, "answer")),
]
OUTSIDE = [
    Route("me", "get", 200, ()),
    Route("studies", "get", 200, (), is_list=True),
    Route("studies", "post", 201, (), {"name": "Study C"}, caller="site_admin"),
]
EVERY = [*OUTSIDE, *ROUTES]
LISTS = [route for route in EVERY if route.is_list]
WRITES = [route for route in EVERY if route.is_write]
NOWHERE = uuid.UUID(int=7)


def declared() -> set[tuple[str, str]]:
    """Name and method of everything the address file knows."""
    found = set()
    for pattern in ADDRESSES:
        name = pattern.name.removeprefix("api_")
        actions = getattr(pattern.callback, "actions", None) or {"get": "get"}
        # A view that was asked once has "head" beside its "get".
        found |= {(name, method) for method in actions if method != "head"}
    return found
