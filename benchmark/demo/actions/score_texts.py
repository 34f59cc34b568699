"""Invented comparisons for the demo's scores: per aspect one sentence about either object."""

SYSTEMS = ("Invented model A", "Invented model B", "Invented model C")
# (object 1, object 2), then (aspect, sentence on the first, sentence on the second).
Aspect = tuple[str, str, str]
PAIRS: list[tuple[tuple[str, str], list[Aspect]]] = [
    (
        ("bicycle", "kick scooter"),
        [
            ("Speed", "A bicycle keeps up with slow cars.", "A kick scooter beats a brisk walk."),
            (
                "Space",
                "A bicycle wants a rack or cellar.",
                "A kick scooter fits behind a door.",
            ),
            ("Load", "A bicycle takes two full bags.", "A kick scooter takes its rider alone."),
        ],
    ),
    (
        ("pencil", "ballpoint pen"),
        [
            ("Mistakes", "A pencil can be rubbed out.", "A ballpoint pen only crosses out."),
            ("Weather", "A pencil writes in the cold.", "A ballpoint pen stalls in the frost."),
            ("Lifetime", "A pencil shrinks with every week.", "A ballpoint pen lasts a year."),
        ],
    ),
    (
        ("curtain", "blind"),
        [
            ("Darkness", "A curtain leaks light at the top.", "A blind closes slat by slat."),
            ("Cleaning", "A curtain goes into the machine.", "A blind has to be wiped by hand."),
            ("Sound", "A curtain swallows some echo.", "A blind rattles in the wind."),
        ],
    ),
    (
        ("ferry", "bridge"),
        [
            ("Waiting", "A ferry leaves when its clock says so.", "A bridge is always there."),
            ("Building", "A ferry needs two landings.", "A bridge needs years of work."),
            ("View", "A ferry shows the river from below.", "A bridge shows it from above."),
        ],
    ),
    (
        ("wool blanket", "quilt"),
        [
            ("Warmth", "A wool blanket warms even when damp.", "A quilt warms once it is dry."),
            ("Weight", "A wool blanket lies heavily.", "A quilt is hardly felt."),
            ("Washing", "A wool blanket may felt in the wash.", "A quilt takes a gentle wash."),
        ],
    ),
    (
        ("paper map", "map on a phone"),
        [
            ("Power", "A paper map never runs empty.", "A map on a phone dies with its battery."),
            ("Searching", "A paper map makes you search.", "A map on a phone finds the street."),
            ("Overview", "A paper map shows the region.", "A map on a phone shows a keyhole."),
        ],
    ),
    (
        ("rowing", "swimming"),
        [
            ("Muscles", "Rowing asks for back and legs.", "Swimming asks for all of the body."),
            ("Cost", "Rowing needs a boat and a club.", "Swimming needs a ticket."),
            ("Weather", "Rowing stops in a storm.", "Swimming goes on in a hall."),
        ],
    ),
    (
        ("allotment", "balcony"),
        [
            ("Harvest", "An allotment fills a cellar.", "A balcony fills a bowl."),
            ("Distance", "An allotment is a walk away.", "A balcony is behind the door."),
            ("Work", "An allotment wants every Saturday.", "A balcony wants a jug of water."),
        ],
    ),
    (
        ("choir", "piano lesson"),
        [
            ("Company", "A choir brings forty people together.", "A piano lesson brings two."),
            ("Practice", "A choir forgives a lazy week.", "A piano lesson hears it at once."),
            ("Price", "A choir asks for a small fee.", "A piano lesson is paid by the hour."),
        ],
    ),
    (
        ("slow cooker", "pressure cooker"),
        [
            ("Time", "A slow cooker takes the whole day.", "A pressure cooker takes minutes."),
            ("Attention", "A slow cooker is left alone.", "A pressure cooker is watched."),
            ("Texture", "A slow cooker keeps meat whole.", "A pressure cooker softens beans."),
        ],
    ),
]


def answer_text(system: str, scenario: int, pair: tuple[str, str], aspects: list[Aspect]) -> str:
    """What an invented system says: A is thorough, B leaves things out, C repeats itself."""
    said = aspects[:2] if system == SYSTEMS[1] else aspects
    is_thorough = system == SYSTEMS[0]
    lines = [
        f"- {name}: {first} {second}" + f" {name} is seldom all that counts." * is_thorough
        for name, first, second in said
    ]
    if system == SYSTEMS[2]:
        lines.append(lines[0])
    plain = " ".join(f"{first} {second}" for _name, first, second in said)
    winner = pair[len(pair[0]) % 2]
    if scenario == 1:
        choice = "Both are fine." if system == SYSTEMS[2] else f"I would take the {winner}."
        return f"{pair[0].capitalize()} or {pair[1]}? {plain} {choice}"
    names = " and ".join(name.lower() for name, _first, _second in said)
    opening = f"Summary: The {pair[0]} and the {pair[1]} differ in {names}."
    opening += " None of these settles the matter alone." * is_thorough
    ending = "" if system == SYSTEMS[2] else f"\n\nBest option: {winner}"
    return f"{opening}\n\nMain aspects:\n" + "\n".join(lines) + ending
