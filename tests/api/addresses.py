"""Every address of the REST API but the one that answers all others."""

from importlib import import_module

from cqa_site.urls import API

ADDRESSES = [each for module in API for each in import_module(module).urlpatterns]
