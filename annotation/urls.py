"""Addresses inside a study; each module of views lists its own."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
