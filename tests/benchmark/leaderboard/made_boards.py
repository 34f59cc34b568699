"""Small tables of sheets written by hand, with the columns that boards read."""

import pandas as pd

ABOUT = dict.fromkeys(("aspect", "model", "reason"), "")
ABOUT |= {"object1": "x", "object2": "y", "system_kind": "model", "rater_kind": "model"}
ABOUT |= {"round": 0, "choice": 1, "characters": 100}


def sheets(*rows: dict) -> pd.DataFrame:
    """Rows with system, question, total; scenario 1 and judge J unless said otherwise."""
    made = []
    for row in rows:
        full = {**ABOUT, "scenario": 1, "rater_id": "J", **row}
        name = "{system}/{scenario}/{question}/{choice}".format(**full)
        full |= {"answer_id": name, "question_id": full["question"]}
        full |= {"system_id": f"id-{full['system']}"}
        made.append({"rater_name": full["rater_id"]} | full)
    return pd.DataFrame(made)


def scores(system: str, totals: dict[str, float], **more) -> list[dict]:
    """One sheet for each question."""
    return [
        {"system": system, "question": question, "total": total, **more}
        for question, total in totals.items()
    ]
