"""Every address of the API with a request that works, as the tests' one list."""

import uuid
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from cqa_site.runs.models import Endpoint
from tests.annotation.made_generations import scenario
from tests.everything import COMPARED
from .addresses import ADDRESSES

# Names of ids that are neither `public_id` nor of a row of the world that is called so.
IDS = """
    study=study_id:study import_of=import_id:imported run_of=run_id:run
    label_round=label_round_id:label_round any_round=any_round_id:label_round
    own_label_round=public_id:label_round round_of=round_id:editing_round
    other_run=other_id:other_run other_writing_run=other_id:other_writing_run
    judging_run_of=run_id:judging_run scoring_run_of=run_id:scoring_run
    controlled=any_round_id:open_scoring
    scoring_of=round_id:open_scoring counting_run_of=run_id:counting_run
    assignment_of=run_id:assignment_run drafted=any_round_id:draft_scoring
    scoring_rater=rater_id:scoring_rater counting_of=counting_id:counting_round
    preferring_of=preference_id:open_preferring preferrer=rater_id:scoring_rater
    audit_of=audit_id:open_audit auditor=rater_id:auditor audited=analysis_id:audited_analysis
    dataset_of=dataset_id:dataset analysis_of=analysis_id:analysis cell_of=cell_id:cell
    commented=cell_id:commented counter=rater_id:counter
    faithful_round_of=round_id:faithful_round link_of=link_id:crowd_link
    onboarding_of=onboarding_id:onboarding comparison=public_id:argument.comparison
    comparison_of=comparison_id:argument.comparison guideline=public_id:label_round.guideline
"""
SOURCES = {name: source.split(":") for name, source in (pair.split("=") for pair in IDS.split())}
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
        sources = [SOURCES.get(name, ("public_id", name)) for name in self.ids]
        return {
            key: attrgetter(self.label_round if row == "label_round" else row)(world).public_id
            for key, row in sources
        }

    def url(self, world, **replaced) -> str:
        return reverse(f"api_{self.name}", kwargs=self.kwargs(world) | replaced)

    def send(self, client, world, *, query="", **replaced):
        url = self.url(world, **replaced) + (query or self.query)
        if not self.is_write:
            return client.get(url)
        given = self.body(world) if callable(self.body) else (self.body or {})
        is_upload = isinstance(given, dict) and not {"file", "files"}.isdisjoint(given)
        kind = "multipart" if is_upload else "json"
        return getattr(client, self.method)(url, given, format=kind)


TABLE = b"object1,object2,text\ntea,coffee,Tea is green.\n"


def upload(world) -> dict:
    mapping = '{"object1": "object1", "object2": "object2", "text": "text"}'
    return {"file": SimpleUploadedFile("new.csv", TABLE), "kind": "table", "mapping": mapping}


def upload_many(world) -> dict:
    files = [SimpleUploadedFile(name, TABLE) for name in ("one.csv", "two.csv")]
    return {"files": files, "kind": "table"}


def upload_sentences(world) -> dict:
    file = SimpleUploadedFile("new.txt", b"Tea is older than coffee.\n", "text/plain")
    return {"name": "New", "file": file}


def keys_of(world) -> dict:
    return {"keys": [row.text_sha256 for row in world.corpus.sentences.all()]}


def first_item(world) -> dict:
    return {"item_id": world.argument.items.first().external_id, "is_retired": True}


def last_item(world) -> dict:
    return {"item_id": world.draft.items.last().external_id, "label": 1}


def round_plan(world) -> dict:
    about = {"name": "Gold", "calibration": 1, "individual": 0, "leave": "nothing"}
    return about | {"experts": [str(world.people.expert.public_id)]}


def agreed_answer(world) -> dict:
    return {"id": str(world.agreed_scores.public_id)}


def scoring_key(world) -> dict:
    criteria = world.draft_scoring.rubric.rubric.criteria
    points = {each.key: each.maximum for each in criteria}
    return {"position": 1, "known": points, "notes": {"C1": "Clear."}}


def seen(row="analysis", /, **more):
    """What builds the body of somebody who changes an analysis as they saw it."""
    return lambda world: {"seen": getattr(world, row).revision, **more}


def found_points(world, **more) -> dict:
    points = [str(each.public_id) for each in world.analysis.points.all()]
    return seen(key_points=points, **more)(world)


def one_point(world, **more) -> dict:
    return seen(key_point=str(world.found_point.public_id), **more)(world)


def hidden_point(world) -> dict:
    return seen(key_points=[str(world.found_point.public_id)], verb="hidden")(world)


def statements(world, **more) -> dict:
    placed = world.analysis.placements.filter(point=world.found_point)
    return one_point(world, statements=[str(placed.first().argument.public_id)], **more)


def theme_to_rename(world) -> dict:
    return seen(theme=world.found_point.theme, name="Renamed")(world)


def themes_to_merge(world) -> dict:
    return seen(themes=sorted({each.theme for each in world.analysis.points.all()}))(world)


def key_point_in_parts(world) -> dict:
    world.found_point.statements = 4
    world.found_point.save()
    return one_point(world)


def what_to_compare(world) -> dict:
    systems = world.study.systems.filter(name__in=COMPARED)
    plan = {"name": "Compared again", "size": 4, "leave_out_used": False, "is_mixed": False}
    return plan | {"systems": [str(each.public_id) for each in systems]}


def rubric_text(world) -> dict:
    content = world.rubric.content | {"name": "Copy"}
    return {"content": content, "derived_from": str(world.rubric.public_id)}


def free_argument(world) -> dict:
    free = world.study.arguments.exclude(items__round=world.draft).first()
    return {"arguments": [str(free.public_id)]}


def new_key(world) -> dict:
    item = world.label_round.items.get(argument=world.control)
    return {"item_id": item.external_id, "label": 2, "reason": "Both objects, no reason."}


def offered(world) -> dict:
    """An endpoint of a third study."""
    return {"offer": str(Endpoint.objects.get(is_offered=True).public_id)}


def launch_plan(world) -> dict:
    """One model under two scenarios."""
    prompts = [str(scenario(world.study, number).public_id) for number in (2, 3)]
    return {"endpoints": [str(world.endpoint.public_id)], "prompts": prompts}


def named(rows: str, **more):
    """What builds a body with the ids of rows of the world: "dataset cell=some_cell"."""
    pairs = [pair.partition("=") for pair in rows.split()]

    def body(world) -> dict:
        ids = {key: attrgetter(row or key)(world).public_id for key, _is, row in pairs}
        return more | {key: str(public_id) for key, public_id in ids.items()}

    return body


ENDPOINT = {
    "name": "Lab", "base_url": "https://lab.example/v1", "model": "m", "key": "sk-abcdefgh"
}  # fmt: skip
PROMPT = {
    "kind": "relevance_single",
    "name": "Short",
    "system": "Label by this scale. {{levels}}",
    "user": "{{object1}} {{object2}} {{sentence}}",
}
CODES = dict(
    zip(("completed_code", "screened_out_code", "no_work_code", "fault_code"), "ABCD", strict=True)
)
GRID = {"threshold": "0.4-0.6 step 0.1"}
PLAN = named("label_round endpoint prompt")
ADOPTION = named("label_round=experts rater=expert_rater", only_tied=False)
S, C, RUN = ("study",), ("study", "label_round"), ("study", "run_of")
CONTROLLED, DRAFTED = ("study", "controlled"), ("study", "drafted")
CONTROL_LISTS = "round_controls round_agreed_answers round_control_people"
ANY, STEPS, ROUND = ("study", "any_round"), ("study", "onboarding_of"), ("study", "round_of")
ANALYSIS, POINT = ("study", "analysis_of"), ("study", "analysis_of", "found_point")
OWN, DUPLICATES = ("study", "own_label_round"), ("study", "commented", "duplicates")


def gets(ids, names: str, **more) -> list[Route]:
    """Addresses that are read; "=row" says whose id comes last, "=" that it is called as they."""
    pairs = [name.partition("=") for name in names.split()]
    return [
        Route(name, "get", 200, (*ids, *([row or name] if mark else [])), **more)
        for name, mark, row in pairs
    ]


def lists(ids, names: str, **more) -> list[Route]:
    return gets(ids, names, is_list=True, **more)


def posts(status: int, ids, names: str, **more) -> list[Route]:
    """Changes that need no body."""
    return [replace(each, method="post", status=status) for each in gets(ids, names, **more)]


def sent(method: str, status: int, ids, bodies: dict, **more) -> list[Route]:
    """Changes with a body each."""
    return [
        replace(*gets(ids, name, **more), method=method, status=status, body=body)
        for name, body in bodies.items()
    ]


def round_of(name: str, opened: str, draft: str, closed: str) -> list[Route]:
    """What every kind of round but that of labels has."""
    return [
        *gets(S, f"{name}={opened}"),
        Route(name, "patch", 200, (*S, draft), {"seed": 3}),
        Route(name, "delete", 204, (*S, draft)),
        *posts(200, S, f"{name}_open={draft} {name}_close={opened} {name}_reopen={closed}"),
    ]


# Named by what is done, the status, and what the ids begin with.
READ_S = """
study cam_service preferred_labels summary_metrics summary_people summarization_systems
encoders distillation score_agreement faithfulness invitation= comparison= corpus=
cam_request= argument= guideline= job= import_batch= import=imported onboarding= endpoint=
prompt= run= label_round=own_label_round key_point_board=frozen_key_points
key_point_board_rows=frozen_key_points find=comparison_of scoring=scoring_run_of
expert_agreement=faithful_round_of analysis_sign_off=audited analysis_groups=analysis_of
analysis_trends=analysis_of analysis_report=analysis_of themes=analysis_of summary_set=
system_run= system_run_figures=system_run analysis= dataset= survey= cell=
text_scorer=scorer audit_sheet= count_sheet=imported_count preference_sheet= rubric=
score_sheet=judged_sheet board=frozen_board board_rows=frozen_board question=
generation_launch=launch system= answer=
"""
READ_C = """
vote= rater= annotator=rater exclusion= control= adoption= snapshot= export=
export_file=export export_manifest=export trained_judge=
"""
LISTED_S = """
log members invitations comparisons corpora cam_requests arguments guidelines jobs
import_batches imports label_rounds onboardings endpoints endpoint_offers runs
scoring_rounds key_point_boards metric_scores summary_sets system_runs analyses datasets
surveys text_scorers counting_rounds audit_rounds audit_sheets count_sheets
preference_rounds preference_sheets rubrics score_sheets boards edited_texts questions
generation_launches conditions systems editing_rounds answers import_matches=import_of
import_problems=import_of verdicts=judging_run_of scoring_items=scoring_of
run_counts=counting_run_of run_codes=assignment_of dataset_cells=dataset_of
counting_items=counting_of audit_items=audit_of preference_items=preferring_of
run_sheets=scoring_run_of
"""
LISTED_S_QUERIES6 = """
prompts figures analysis_rest=analysis_of point_changes=analysis_of
found_points=analysis_of cell_arguments=cell_of cell_comments=commented
near_duplicates=commented counters=counting_of auditors=audit_of preferrers=preferring_of
"""
DONE_200_S = """
endpoint_embedded questions_missing faithfulness_cancel prompt_preview=prompt
run_go_on=checked_run run_pause=running_run run_resume=paused_run run_correct=paused_run
run_cancel=running_run run_retry=run label_round_pause=own_label_round
label_round_close=own_label_round endpoint_archive=spare_endpoint
key_point_board_publish=frozen_key_points key_point_board_withdraw=frozen_key_points
system_run_cancel=waiting_system_run system_run_resume=stopped_system_run
analysis_cancel=waiting_analysis text_scorer_cancel=training_scorer
board_publish=frozen_board board_withdraw=frozen_board
editing_round_answers=editing_round
"""
DONE_202_S = """
key_point_boards_ask boards_refresh corpus_check=checked_corpus corpus_load=checked_corpus
import_batch_check=import_batch import_batch_apply=import_batch import_check=imported
import_apply=imported endpoint_probe=endpoint analysis_resume=stopped_analysis
analysis_place=analysis text_scorer_resume=stopped_scorer
"""
DONE_200_ANY = """
crowd_link_close=crowd_link participant_release=participant participant_fault=participant
"""
PATCHED_S = {
    "cam_service": {"address": "https://cam.example/api"},
    "preferred_labels": {"label_round": None},
    "endpoint=": {"deadline_seconds": 60},
    "prompt=": {"note": "Shorter."},
    "run=": {"ceiling": 4},
    "generation_launch=launch": {"cap_micro": 2_000_000},
    "system=": {"name": "Model B"},
}
SENT_200_S = {
    "find_take=comparison_of": keys_of,
    "cam_take=cam_request": {"places": [1, 3]},
    "endpoint_offer=endpoint": {"is_offered": False},
    "run_estimate": PLAN,
    "key_point_board_freeze=live_key_points": {"note": "A table."},
    "board_freeze=live_board": {"note": "For the paper."},
    "dataset_recipe=spare_dataset": {"steps": ["one_sentence"]},
    "generation_launch_estimate": launch_plan,
    "system_learned=system": {"questions": []},
}
SENT_201_S = {
    "comparisons": {"object1": "rain", "object2": "snow"},
    "guidelines": {"title": "New", "body": "Read.", "levels": LEVELS},
    "label_rounds": {"name": "Made by a program"},
    "onboardings": {"name": "Short", "consent": "We store answers."},
    "endpoints": ENDPOINT,
    "endpoint_offers": offered,
    "prompts": PROMPT,
    "runs": PLAN,
    "scoring_rounds": {"name": "Another", "overlap_share": 0.5},
    "analysis_sign_off=audited": seen("audited_analysis"),
    "system_runs": named("dataset", split="test", system="mcargsum", grid=GRID),
    "analyses": named("cell"),
    "analyses_dataset": named("dataset"),
    "survey_analyse=survey": {},
    "text_scorers": {"name": "Another", "way": "match_bi", "model": "all-MiniLM-L6-v2"},
    "counting_rounds": {"name": "Another count", "raters": 2},
    "audit_rounds": named("analysis=audited_analysis", name="Another audit", size=10),
    "preference_rounds": what_to_compare,
    "rubrics": rubric_text,
    "questions": named("comparison=argument.comparison", aspect="price"),
    "generation_launches": launch_plan,
    "editing_rounds": round_plan,
}
SENT_202_S = {
    "corpora": upload_sentences,
    "cam_requests": named("comparison=argument.comparison", aspects=["price"]),
    "import_batches": upload_many,
    "imports": upload,
    "import_matches=import_of": {"decision": "same"},
    "metric_scores_compute": {"functions": ["rouge_1"]},
    "near_duplicates_find=commented": {},
    "text_scorers_train": named("dataset=learning_dataset", name="Taught", task="match"),
    "writers_train": named("dataset=learning_dataset", name="Scribe"),
    "text_scorer_score=scorer": {"first": "Safe.", "second": "Safe"},
    "board_part=frozen_board": {"column": "C9", "scenario": "1"},
    "faithfulness_compute": {"embedding": ""},
}
SENT_200_C = {
    "item_retire": first_item,
    "rater_exclude=rater": {"reason": "Always the same label."},
    "rater_reinstate=rater": {"reason": "A mistake."},
    "annotators_exclude_low": {"reason": "Below the mark."},
    "control_change": new_key,
    "adoptions_preview": ADOPTION,
    "snapshot_freeze=snapshot": {"note": "For the paper."},
}
SENT_201_STEPS = {
    "onboarding_versions": {"text": "Another text."},
    "qualifications": named("person=people.expert", reason="Known"),
}
SENT_200_ANALYSIS = {
    "found_points_state": hidden_point,
    "found_points_merge": found_points,
    "found_points_move": partial(statements, to=None),
    "found_points_split": partial(statements, text="A part of it."),
    "found_points_theme": partial(found_points, theme="A theme of its own"),
    "themes_rename": theme_to_rename,
    "themes_merge": themes_to_merge,
    "point_changes_undo": {"revision": 1},
}
ROUTES = [
    *gets(S, READ_S),
    *gets(C, "annotators_exclude_low consensus final_labels_compare judge_figures"),
    *gets(C, READ_C),
    *gets(ANY, "crowd_link= crowd_pay=link_of round_rules"),
    *gets((*S, "run"), "run_compare=other_run"),
    *gets((*S, "writing_run"), "run_compare_answers=other_writing_run"),
    *gets(RUN, "call="),
    *gets(ROUND, "editing_task= revision= round_comment="),
    *gets(ANALYSIS, "found_point="),
    *gets(S, "key_points preferences", queries=16),
    *gets(S, "analysis_audit=audited", queries=12),
    Route("summary_metric_points", "get", 200, query="?metric=rouge_1:recall"),
    *lists(S, LISTED_S),
    *lists(S, LISTED_S_QUERIES6, queries=6),
    *lists(S, "scorers=scoring_of", queries=7),
    *lists(S, "probes=scoring_run_of", queries=8),
    *lists(C, "items votes exclusions final_labels adjudications adoptions snapshots exports"),
    *lists(C, "trained_judges"),
    *lists(C, "raters controls", queries=6),
    *lists(C, "annotators", queries=7),
    *lists(C, "judges", queries=20),
    *lists(ANY, "crowd_links participants round_rule_people round_typing", queries=6),
    *lists(CONTROLLED, CONTROL_LISTS, queries=10),
    *lists(DRAFTED, "round_examples round_offered_examples", queries=10),
    *lists(STEPS, "onboarding_versions onboarding_steps qualifications", queries=6),
    *lists(STEPS, "onboarding_people", queries=7),
    *lists(RUN, "replies judge_labels"),
    *lists(RUN, "calls", queries=6),
    *lists(ROUND, "editing_tasks revisions round_comments", queries=6),
    *lists(POINT, "found_point_statements", queries=7),
    *lists(DUPLICATES, "near_duplicate_group", queries=7),
    *posts(200, S, DONE_200_S),
    *posts(202, S, DONE_202_S),
    *posts(201, S, "run_again=run"),
    *posts(200, S, "label_round_open=own_label_round", label_round="draft"),
    *posts(200, S, "label_round_reopen=own_label_round", label_round="closed"),
    *posts(200, C, "exclusion_undo=exclusion adoption_withdraw=adoption"),
    *posts(202, C, "final_labels_recompute snapshots_refresh trained_judges"),
    *posts(200, C, "trained_judges_cancel", label_round="training"),
    *posts(200, ANY, DONE_200_ANY),
    # Runs are under way there; `tests/upkeep/test_put_away.py` archives and deletes.
    Route("study", "delete", 409, body=lambda world: {"name": world.study.name}, caller="admin"),
    *posts(409, S, "study_archive", caller="admin"),
    *posts(200, S, "study_unarchive invitation_revoke=invitation", caller="admin"),
    *(
        Route(name, "delete", 204, (*S, row))
        for name, row in (
            ("corpus", "corpus"),
            ("import_batch", "import_batch"),
            ("import", "imported"),
            ("analysis", "stopped_analysis"),
            ("dataset", "spare_dataset"),
            ("survey", "spare_survey"),
            ("text_scorer", "stopped_scorer"),
        )
    ),
    Route("label_round", "delete", 204, OWN, label_round="spare"),
    *round_of("scoring_round", "open_scoring", "draft_scoring", "closed_scoring"),
    *round_of("counting_round", "counting_round", "draft_counting", "closed_counting"),
    *round_of("audit_round", "open_audit", "draft_audit", "closed_audit"),
    *round_of("preference_round", "open_preferring", "draft_preferring", "closed_preferring"),
    *round_of("editing_round", "editing_round", "draft_round", "closed_round"),
    *sent("patch", 200, S, {"study": {"description": "Tea and coffee."}}, caller="admin"),
    *sent("patch", 200, S, {"member=": {"role": "expert"}}, caller="admin"),
    *sent("post", 201, S, {"invitations": {"note": "Kim", "role": "expert"}}, caller="admin"),
    *sent("post", 202, S, {"encoder_install": {"encoder": "mpnet"}}, caller="site_admin"),
    *sent("patch", 200, S, PATCHED_S),
    *sent("patch", 200, OWN, {"label_round": {"votes_per_item": 5}}, label_round="draft"),
    *sent("patch", 200, ANY, {"crowd_pay=link_of": {"reward": 1.5}}),
    *sent("post", 204, CONTROLLED, {"round_controls": {"position": 1, "known": None}}),
    *sent("post", 204, CONTROLLED, {"round_agreed_answers": agreed_answer}),
    *sent("patch", 200, CONTROLLED, {"round_controls": {"tolerance": 2}}),
    *sent("patch", 200, ANY, {"round_rules": {"fast_action": "warn", "fast_window": 10}}),
    *sent("patch", 200, C, {"consensus": {"aggregator": "mace"}}),
    *sent("patch", 200, POINT, {"found_point": seen("analysis", text="Called otherwise.")}),
    *sent("post", 200, S, SENT_200_S),
    *sent("post", 201, S, SENT_201_S),
    *sent("post", 202, S, SENT_202_S),
    *sent("post", 204, DRAFTED, {"round_examples": scoring_key}),
    *sent("post", 204, DRAFTED, {"round_offered_examples": agreed_answer}),
    *sent("post", 201, C, {"items": free_argument}, label_round="draft"),
    *sent("post", 200, C, {"item_control": last_item}, label_round="draft"),
    *sent("post", 200, C, SENT_200_C),
    *sent("post", 201, C, {"adjudications": named("argument", label=3), "adoptions": ADOPTION}),
    *sent(
        "post", 202, C, {"exports": {"contents": ["annotators", "crowdkit"], "format": "jsonl"}}
    ),
    *sent("post", 201, ANY, {"crowd_links": CODES}),
    *sent("post", 200, ANY, {"crowd_link_connect=crowd_link": {"platform_study": "STUDY-1"}}),
    *sent("post", 201, STEPS, SENT_201_STEPS),
    *sent("post", 200, STEPS, {"qualification_withdraw=qualification": {"reason": "Left."}}),
    *sent("post", 201, ANALYSIS, {"found_points": {"text": "Added by hand."}}),
    *sent("post", 202, ANALYSIS, {"found_points_parts": key_point_in_parts}),
    *sent("post", 200, ANALYSIS, SENT_200_ANALYSIS),
    *sent("post", 200, DUPLICATES, {"near_duplicate_group_change": {"is_out": True}}),
    *(
        Route(
            f"{name}_decide", "post", 200, (*S, *ids), {"decision": "exclude", "reason": "Slow."}
        )
        for name, ids in {
            "scorer": ("scoring_of", "scoring_rater"),
            "counter": ("counting_of", "counter"),
            "auditor": ("audit_of", "auditor"),
            "preferrer": ("preferring_of", "preferrer"),
        }.items()
    ),
    *sent(
        "post", 201, ROUND, {"round_comments": named("answer=editing_task.answer", text="Odd.")}
    ),
]
OUTSIDE = [
    Route("me", "get", 200, ()),
    Route("studies", "get", 200, (), is_list=True),
    Route("studies", "post", 201, (), {"name": "Study C"}, caller="site_admin"),
]
EVERY = [*OUTSIDE, *ROUTES]
LISTS = [route for route in EVERY if route.is_list]
WRITES = [route for route in EVERY if route.is_write]
# Rows of the world that are called as the table calls them.
NAMED = sorted({name for route in ROUTES for name in route.ids} - SOURCES.keys())
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
