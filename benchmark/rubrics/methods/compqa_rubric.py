"""The rubric of the CompQA benchmark: 15 criteria, 19 points.

Source: CompQA paper, section 2 and figure 3, for the criteria, their points and their groups. All
words and examples are ours; the examples are about invented answers on canoes and kayaks.
"""

import json
from pathlib import Path

from .rubric import rubric_from_dict

# As the criterion of length says; its sentences are counted by code.
FEWEST_SENTENCES, MOST_SENTENCES = 12, 20
COMPQA = rubric_from_dict(json.loads(Path(__file__).with_name("compqa.json").read_text("utf-8")))
