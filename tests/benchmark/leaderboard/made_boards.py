"""Small tables of sheets written by hand, with the columns that boards read."""

import pandas as pd

ABOUT = {
    "object1": "x",
    "object2": "y",
    "aspect": "",
    "system_kind": "model",
    "model": "",
    "reason": "",
    "rater_kind": "model",
    "round": 0,
    "choice": 1,
    "characters": 100,
}


def sheets(*rows: dict) -> pd.DataFrame:
    """Rows with system, question, total; scenario 1 and judge J unless said otherwise."""
    made = []
    for row in rows:
        full = {**ABOUT, "scenario": 1, "rater_id": "J", **row}
        name = "{system}/{scenario}/{question}/{choice}".format(**full)
        made.append(
            {
                **full,
                "answer_id": name,
                "question_id": full["question"],
                "system_id": f"id-{full['system']}",
                "rater_name": full.get("rater_name", full["rater_id"]),
            }
        )
    return pd.DataFrame(made)


def scores(system: str, totals: dict[str, float], **more) -> list[dict]:
    """One sheet for each question."""
    return [
        {"system": system, "question": question, "total": total, **more}
        for question, total in totals.items()
    ]
