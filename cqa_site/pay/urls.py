"""URLs for a crowd link's pay, submissions and payments."""

from django.urls import path

from . import pages

LINK = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/crowd/<uuid:link_id>/"

urlpatterns = [
    path(f"{LINK}pay/", pages.crowd_pay, name="crowd_pay"),
    path(
        f"{LINK}pay/<slug:figure>.<slug:format>", pages.crowd_pay_figure, name="crowd_pay_figure"
    ),
    path(f"{LINK}submissions/", pages.crowd_submissions, name="crowd_submissions"),
    path(f"{LINK}submissions/<slug:act>/", pages.crowd_money, name="crowd_money"),
]
