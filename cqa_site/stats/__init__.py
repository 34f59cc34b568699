"""Statistics of ratings in numpy and pandas; importing them loads neither Django nor Celery.

Every table has the same format: a long DataFrame with the columns ``item``, ``rater`` and
``value``.
"""
