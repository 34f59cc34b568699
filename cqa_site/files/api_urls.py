"""URLs of imports in the REST API."""

from cqa_site.api.base import CREATE, LIST, REMOVE, S, address, resource
from .api import imports

urlpatterns = [
    *resource(
        S + "imports/",
        "imports",
        "import",
        imports.ImportViews,
        "check apply",
        listed=CREATE,
        row=REMOVE,
        list_views=imports.ImportUploadViews,
    ),
    address(
        S + "imports/<uuid:import_id>/matches/",
        "import_matches",
        imports.ImportMatchViews,
        get="list",
        post="decide",
    ),
    address(
        S + "imports/<uuid:import_id>/problems/",
        "import_problems",
        imports.ImportProblemViews,
        **LIST,
    ),
    *resource(
        S + "import-batches/",
        "import_batches",
        "import_batch",
        imports.ImportBatchViews,
        "check apply",
        listed=CREATE,
        row=REMOVE,
        list_views=imports.ImportBatchUploadViews,
    ),
]
