"""The address of the site state page."""

from django.urls import path

from . import views

urlpatterns = [path("", views.site_state, name="site_state")]
