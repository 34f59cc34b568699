"""Import of many questions, from a file or pasted text."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from annotation.answers.forms import QuestionListForm
from annotation.imports.methods.question_list import pasted_list
from cqa_site.files.actions.files import request_check, store_upload
from cqa_site.files.views.imports import too_large_page
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web.uploads import TooLarge, is_too_large


@csrf_exempt  # _question_list checks the token, after the size: reading the token reads the body
@study_page(*RESEARCHERS)
def question_list(request: StudyRequest, study: Study) -> HttpResponse:
    """Import a list of questions, from a file or pasted text."""
    if request.method == "POST" and is_too_large(request):
        return too_large_page(request, study)
    return _question_list(request, study)


@csrf_protect
def _question_list(request: StudyRequest, study: Study) -> HttpResponse:
    form = QuestionListForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        context = {"study": study, "form": form}
        status = 422 if form.errors else 200
        return render(request, "annotation/imports/question_list.html", context, status=status)
    upload = form.cleaned_data["file"]
    name, chunks = (upload.name, upload.chunks()) if upload else _pasted(form)
    try:
        stored = store_upload(
            study=study, kind="questions", name=name, chunks=chunks, actor=request.user
        )
    except TooLarge:
        return too_large_page(request, study)
    request_check(import_file=stored, actor=request.user)
    return redirect("import_file", study.public_id, stored.public_id)


def _pasted(form: QuestionListForm) -> tuple[str, list[bytes]]:
    name, content = pasted_list(form.cleaned_data["pasted"])
    return name, [content]


urlpatterns = [path("questions/list/", question_list, name="question_list")]
