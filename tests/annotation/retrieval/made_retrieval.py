"""Corpora and answers of a CAM service, written directly."""

from annotation.corpus.models import Comparison
from annotation.retrieval.methods.corpus import is_comparative
from annotation.retrieval.models import CamRequest, Corpus, CorpusSentence
from cqa_site.people.models import Study, User
from cqa_site.tabular.cells import text_key

SENTENCES = (
    "Tea is cheaper than coffee.",
    "We drank tea, then coffee.",
    "Coffee keeps you awake longer than tea does.",
)


def make_corpus(
    study: Study, *, name: str = "Forum", texts=SENTENCES, state: str = "ready", **fields
) -> Corpus:
    """A corpus whose sentences are there if it is ready."""
    ready = texts if state == "ready" else ()
    usual = {"file_name": "forum.txt", "sha256": "0" * 64, "size": 1, "state": state}
    usual |= {"found": {"sentences": len(texts)}, "sentence_count": len(ready)}
    corpus = Corpus.objects.create(study=study, name=name, **usual | fields)
    CorpusSentence.objects.bulk_create(
        CorpusSentence(
            corpus=corpus,
            text=text,
            text_sha256=text_key(text),
            source_url=f"https://forum.example/{number}",
            is_comparative=is_comparative(text),
        )
        for number, text in enumerate(ready)
    )
    return corpus


def make_cam_request(comparison: Comparison, actor: User, *, texts=SENTENCES) -> CamRequest:
    """A request that was answered with these sentences, every other one for object 2."""
    found = [
        {"text": text, "document": "", "score": 10.5 - number, "favours": number % 2 + 1}
        | {"address": f"https://page.example/{number}"}
        for number, text in enumerate(texts)
    ]
    asked = {"address": "https://cam.example/cam", "aspects": ["price"], "weight": 3, "most": 10}
    about = {"study": comparison.study, "comparison": comparison, "created_by": actor}
    return CamRequest.objects.create(found=found, **asked, **about)
