"""Invented survey exports as Qualtrics, SurveyMonkey, LimeSurvey and others write them."""

import csv
import io

# Per respondent: id, shift, means of travel, what is good, what to change.
PEOPLE = (
    ("R1", "Day", ("Bus", "Bicycle"), "The new lockers are wide enough for a helmet.", ""),
    ("R2", "Night", ("Car",), "Nobody waits for the lift any more.", "Open the canteen at night."),
    ("R3", "Day", ("Bus",), "", "The showers should be warm before six."),
    ("R4", "Night", (), "Quiet rooms on every floor are a blessing.", "More light in the yard!"),
    ("R5", "Day", ("Car", "Bus"), "I like that tools are labelled.", "Repair the bicycle racks."),
    ("R6", "Day", ("Bicycle",), "The coffee machine works again.", "Fewer meetings on Mondays."),
)
MEANS = ("Bus", "Car", "Bicycle")
GOOD, CHANGE = "What is good about the new building?", "What should we change first?"
SHIFT, TRAVEL = "Which shift do you work?", "How do you travel to work?"


def table(rows, *, delimiter=",", bom=False):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode("utf-8-sig" if bom else "utf-8")


def qualtrics(people=PEOPLE, *, split=True, preview="Survey Preview", **how):
    """Three header rows; the first row is a preview and the last one is unfinished."""
    about = ["StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)"]
    about += ["Finished", "RecordedDate", "ResponseId", "RecipientLastName", "RecipientEmail"]
    about += ["DistributionChannel", "UserLanguage"]
    titles = ["Start Date", "End Date", "Response Type", "IP Address", "Progress"]
    titles += ["Duration (in seconds)", "Finished", "Recorded Date", "Response ID"]
    titles += ["Recipient Last Name", "Recipient Email", "Distribution Channel", "User Language"]
    choice = f"{TRAVEL} - Selected Choice"
    if split:
        codes = ["Q2_1", "Q2_2", "Q2_3", "Q2_4_TEXT"]
        asked = [*(f"{choice} - {name}" for name in MEANS), f"{TRAVEL} - Other - Text"]
    else:
        codes, asked = ["Q2", "Q2_4_TEXT"], [choice, f"{TRAVEL} - Other - Text"]
    header = [*about, "Q1", *codes, "Q3", "Q4"]
    marks = [f'{{"ImportId":"QID{place}"}}' for place in range(len(header))]
    rows = [header, [*titles, SHIFT, *asked, GOOD, CHANGE], marks]
    everybody = [("R0", "Day", ("Bus",), "Only a test of mine.", "This is a test too."), *people]
    for at, (name, shift, means, good, change) in enumerate(everybody):
        status, channel = (preview, "preview") if at == 0 else ("IP Address", "anonymous")
        progress, finished = (60, "False") if at == len(everybody) - 1 else (100, "True")
        moment = f"2026-03-0{at % 9 + 1} 09:00:00"
        chosen = [name if name in means else "" for name in MEANS] if split else [",".join(means)]
        row = [moment, moment, status, f"192.0.2.{at}", progress, 90 + at, finished, moment, name]
        row += ["Doe", f"{name}@example.org", channel, "EN", shift, *chosen, "", good, change]
        rows.append(row)
    return table(rows, **how)


def surveymonkey(people=PEOPLE, **how):
    """Two header rows: questions with gaps, and below them the options or kinds of answers."""
    about = ["Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address"]
    about += ["Email Address", "First Name", "Last Name", "Custom Data 1"]
    asked = [SHIFT, TRAVEL, "", "", "", GOOD, CHANGE]
    kinds = ["Response", *MEANS, "Other (please specify)", *["Open-Ended Response"] * 2]
    rows = [[*about, *asked], [""] * len(about) + kinds]
    for at, (name, shift, means, good, change) in enumerate(people):
        moment = f"03/0{at + 1}/2026 09:00:00 AM"
        number = f"1180000000{name.removeprefix('R')}"
        chosen = [mean if mean in means else "" for mean in MEANS]
        about = [number, "4711", moment, moment, f"192.0.2.{at}", *[""] * 4]
        rows.append([*about, shift, *chosen, "", good, change])
    return table(rows, **how)


def limesurvey(people=PEOPLE, *, headings="codetext", **how):
    """One header row of codes, of questions, or of both; the last reply was not submitted."""
    columns = [
        *(("id", "Response ID"), ("submitdate", "Date submitted"), ("lastpage", "Last page")),
        *(("startlanguage", "Start language"), ("seed", "Seed"), ("ipaddr", "IP address")),
        *(("Q1", SHIFT), ("Q1[comment]", f"{SHIFT} [Comment]")),
        *((f"Q2[SQ00{at}]", f"{TRAVEL} [{name}]") for at, name in enumerate(MEANS, start=1)),
        *(("Q2[other]", f"{TRAVEL} [Other]"), ("Q3", GOOD), ("Q4", CHANGE)),
    ]
    ways = {"code": "{0}", "full": "{1}", "codetext": "{0}. {1}"}
    rows = [[ways[headings].format(*column) for column in columns]]
    for at, (name, shift, means, good, change) in enumerate(people):
        submitted = "" if at == len(people) - 1 else f"2026-03-0{at + 1} 09:00:00"
        chosen = ["Yes" if mean in means else "No" for mean in MEANS]
        comment = "I swap shifts with a friend." if at == 1 else ""
        about = [name.removeprefix("R"), submitted, 3, "en", 1700000 + at, f"192.0.2.{at}"]
        rows.append([*about, shift, comment, *chosen, "", good, change])
    return table(rows, **how)


def form(people=PEOPLE, **how):
    """One header row of questions, without ids, several answers in a cell."""
    rows = [["Timestamp", "Email Address", SHIFT, TRAVEL, GOOD, CHANGE]]
    for at, (name, shift, means, good, change) in enumerate(people):
        moment, mail = f"2026/03/0{at + 1} 9:00:00", f"{name}@example.org"
        rows.append([moment, mail, shift, ", ".join(means), good, change])
    return table(rows, **how)
