"""Context of board pages: snapshot, filters, judge, figures and updates."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from benchmark.leaderboard.actions import boards_of, find_slice, is_due, latest_job, request_board
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import Filters, board_marker
from benchmark.leaderboard.reports.standings import chosen_judge
from benchmark.rubrics.models import RubricVersion
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.results.boards import SHOW
from cqa_site.results.figures import Files
from cqa_site.runs.models import Job
from cqa_site.web.rest.queries import id_from

# The value of ``recipe`` in URLs for the paper's recipe.
PAPER = "paper"
LONGEST_COLUMN = 40


@dataclass(frozen=True)
class BoardView:
    """A snapshot with the requested filters and judge.

    ``board`` is None while the figures for these filters are being computed. ``of_rows`` is the
    hash of older rows if the figures are outdated, otherwise empty. ``columns`` are the
    leaderboard columns requested in the URL.
    """

    snapshot: BoardSnapshot | None
    filters: Filters
    judge: str = ""
    board: ScoreBoard | None = None
    job: Job | None = None
    is_stale: bool = False
    is_live: bool = False
    of_rows: str = ""
    is_paper: bool = False
    is_public: bool = False
    columns: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[BoardSnapshot, ScoreBoard]:
        """The snapshot and its figures; raises Http404 if there are no figures."""
        if self.snapshot is None or self.board is None:
            raise Http404
        return self.snapshot, self.board

    @property
    def is_failed(self) -> bool:
        """Whether the computation failed; ``job.error`` has the reason."""
        return self.is_stale and self.job is not None and self.job.state == Job.State.FAILED

    @property
    def is_polling(self) -> bool:
        """Whether the page polls for updates."""
        return (self.is_live or self.is_stale) and not self.is_failed

    @property
    def version(self) -> str:
        """Text that changes whenever the fragment changes."""
        state = "failed" if self.is_failed else "stale" if self.is_stale else "fresh"
        if self.snapshot is None:
            return f"none-{state}"
        kind = "board" if self.board else "waiting"
        frozen = "frozen" if self.snapshot.is_frozen else "live"
        recipe = f"-{PAPER}" if self.is_paper else ""
        return f"{self.digest}-{kind}-{frozen}-{state}{recipe}"

    @property
    def digest(self) -> str:
        """Short hash of these figures."""
        if self.snapshot is None:
            return ""
        newest: str = self.snapshot.recipe["figures_sha256"][:12]
        return f"{newest}-{self.of_rows[:12]}" if self.of_rows else newest

    @property
    def place(self) -> int:
        """The position of the judge, used on public pages instead of its key."""
        keys = [judge.key for judge in self.board.judges] if self.board else []
        return keys.index(self.judge) if self.judge in keys else 0

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The selection as form fields."""
        recipe = [("recipe", PAPER)] if self.is_paper else []
        return [*parse_qsl(self.filters.key), ("judge", self.judge), *recipe]

    @property
    def files(self) -> Files:
        """Download URLs of the figures; public URLs contain no ids of studies or people."""
        snapshot, _board = self.found
        if self.is_public:
            paper = f"&recipe={PAPER}" if self.is_paper else ""
            return Files(
                view="public_board_figure",
                ids=(snapshot.public_token,),
                query=f"judge={self.place}{paper}",
                version=self.digest,
            )
        return Files(
            view="board_figure",
            ids=(snapshot.study.public_id, snapshot.number),
            query=self.query,
            version=self.digest,
        )

    @property
    def here(self) -> str:
        """The selection and the columns as a query string."""
        selection = urlencode([(SHOW, column) for column in self.columns])
        return "&".join(part for part in (self.query, selection) if part)

    @property
    def query(self) -> str:
        """The selection as a query string."""
        parts = [self.filters.key, f"judge={self.judge}" if self.judge else ""]
        parts += [f"recipe={PAPER}"] if self.is_paper else []
        return "&".join(part for part in parts if part)


def with_board(rows: QuerySet) -> QuerySet[BoardSnapshot]:
    """Add the leaderboard to snapshots as ``stored``, and defer rows and other figures."""
    return rows.defer("rows", "figures").annotate(stored=KeyTransform("board", "figures"))


def board_or_404(study: Study, number: int) -> BoardSnapshot:
    """Return one snapshot of the study with figures; raises Http404 if not found."""
    rows = with_board(study.board_snapshots.filter(computed_at__isnull=False))
    snapshot = get_object_or_404(rows.select_related("rubric", "frozen_by"), number=number)
    snapshot.study = study
    return snapshot


def rubric_of(study: Study, request: HttpRequest) -> tuple[RubricVersion | None, list]:
    """Return the requested or newest rubric with sheets, and all rubrics with sheets."""
    known = boards_of(study)
    wanted = request.GET.get("rubric", "")
    if not wanted:
        return (known[0] if known else None), known
    version = next(
        (candidate for candidate in known if candidate.public_id == id_from(wanted)), None
    )
    if version is None:
        raise Http404
    return version, known


def live_board(request: StudyRequest, study: Study, rubric: RubricVersion) -> BoardView:
    """Return the latest snapshot, and request a new one if sheets have changed."""
    rows = rubric.snapshots.filter(computed_at__isnull=False).select_related("frozen_by")
    snapshot = with_board(rows).first()
    is_stale = snapshot is None or snapshot.marker != board_marker(rubric)
    job = latest_job(rubric) if is_stale else None
    if is_stale and is_due(job):
        job = request_board(study=study, rubric=rubric, actor=request.user) or job
    if snapshot is None:
        return BoardView(None, Filters(), job=job, is_stale=True, is_live=True)
    snapshot.study, snapshot.rubric = study, rubric
    return shown_board(request, snapshot, is_live=True, is_stale=is_stale, job=job)


def shown_board(
    request: StudyRequest,
    snapshot: BoardSnapshot,
    *,
    is_live: bool = False,
    is_stale: bool = False,
    job: Job | None = None,
) -> BoardView:
    """Return a snapshot with the filters from the URL, and request missing figures."""
    filters = Filters.from_query(request.GET, snapshot.recipe)
    snapshot.board = ScoreBoard.from_dict(snapshot.stored)
    board: ScoreBoard | None = snapshot.board
    of_rows = ""
    if filters.key:
        board_slice, slice_job = find_slice(snapshot, filters, request.user)
        board = ScoreBoard.from_dict(board_slice.figures) if board_slice else None
        if slice_job is not None:
            is_stale, of_rows, job = True, board_slice.marker if board_slice else "", slice_job
    judge = chosen_judge(board, request.GET.get("judge", "")) if board else ""
    is_paper = wants_paper(request)
    return BoardView(
        snapshot,
        filters,
        judge,
        board,
        job,
        is_stale,
        is_live,
        of_rows,
        is_paper,
        columns=wanted_columns(request),
    )


def wants_paper(request: HttpRequest) -> bool:
    """Whether the URL requests the paper's recipe."""
    return request.GET.get("recipe") == PAPER


def wanted_columns(request: HttpRequest) -> tuple[str, ...]:
    return tuple(column for column in request.GET.getlist(SHOW) if len(column) <= LONGEST_COLUMN)
