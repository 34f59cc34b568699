"""CompQA's rubric and its scores in plain Python and pandas: no Django, no Celery."""
