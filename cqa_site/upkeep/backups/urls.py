"""Addresses of backups."""

from django.urls import path

from . import views

urlpatterns = [path("", views.site_backups, name="site_backups")]
