from django.urls import path

from . import views

urlpatterns = [
    path("s/<uuid:study_id>/jobs/<uuid:job_id>/", views.job_progress, name="job_progress"),
]
