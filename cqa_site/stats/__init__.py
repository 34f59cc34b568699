"""Statistics of ratings, in numpy and pandas: importing them loads neither Django nor Celery.

Every table has one shape: a long DataFrame with the columns ``item``, ``rater`` and ``value``.
"""
