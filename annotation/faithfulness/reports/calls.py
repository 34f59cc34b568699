"""What requests of the coherence judge are about, and what was read from their replies."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from annotation.editing.models import Revision
from annotation.faithfulness.models import CoherenceVerdict
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call

from .coherence_rows import Cited


def _citations(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    cited = {call.pk: Cited(*call.subject_ids) for call in calls}
    answers = study.answers.select_related("question__comparison")
    found = answers.in_bulk({each.answer for each in cited.values()})
    revisions = Revision.objects.in_bulk({each.revision for each in cited.values()})
    verdicts = CoherenceVerdict.objects.filter(call__in=[call.pk for call in calls])
    said = {verdict.call_id: verdict for verdict in verdicts}
    return {
        pk: [_citation(found.get(each.answer), revisions.get(each.revision), each, said.get(pk))]
        for pk, each in cited.items()
    }


def _citation(
    answer: Answer | None, revision: Revision | None, cited: Cited, said: CoherenceVerdict | None
) -> Item | None:
    if answer is None or (cited.revision and revision is None):
        return None
    text = (revision or answer).text[cited.start : cited.end]
    context = f"[{cited.number}] · {answer.question}"
    if said is None:
        return Item(text, context)
    words = {True: _("coherent"), False: _("not coherent"), None: ""}
    return Item(text, context, words[said.is_coherent], said.rationale, said.reason)


COHERENCE = CallSubjects(
    Titles(lazy("Segment"), lazy("Verdict"), lazy("The judge's reason")), _citations
)
