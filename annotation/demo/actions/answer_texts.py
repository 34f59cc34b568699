"""Invented answers about invented preferences, by two systems that do not exist.

They cite the demo's sentences by their place. Some break the rules of a good
answer on purpose (a number that stands for nothing, a claim without support,
a repetition), so that there is something to find.
"""

SYSTEMS = ("Invented model A", "Invented model B")
Text = tuple[tuple[str, str], str, int, str]

TEXTS: list[Text] = [
    (
        ("tea", "coffee"),
        SYSTEMS[0],
        1,
        "It depends on what you want from a cup. Coffee wakes you up faster, tea is gentler and "
        "costs less. Most people would be happy with either, but for a long afternoon I would "
        "choose tea.",
    ),
    (
        ("tea", "coffee"),
        SYSTEMS[0],
        4,
        "Summary:\n"
        "Tea and coffee are close, and the choice turns on what a drinker cares about. Coffee "
        "brings about twice as much caffeine into the cup [2], which makes it the stronger start "
        "to a day. Tea leaves paler teeth [1] and a fuller purse, since brewing it well costs "
        "less for each cup [3]. Preferences pull both ways [4, 5].\n\n"
        "Main aspects:\n"
        "- Effect: coffee carries roughly double the caffeine [2], so one cup goes further.\n"
        "- Teeth: tea leaves weaker stains than coffee [1].\n"
        "- Price: cup for cup, good tea is the cheaper habit [3].\n"
        "- Preparation: green tea is easily spoiled by boiling water [6]; coffee forgives more "
        "[generated].\n"
        "- Taste: some prefer tea [4], others call coffee the best drink there is [7].\n\n"
        "Best option: tea\n\n"
        "Arguments used: 1, 2, 3, 4, 5, 6, 7",
    ),
    (
        ("tea", "coffee"),
        SYSTEMS[1],
        3,
        "Summary: Both drinks are old companions. Tea calms and keeps, coffee drives and smells "
        "wonderful.\n\n"
        "Aspects:\n"
        "- Energy: coffee acts quickly and fades quickly; tea does the reverse.\n"
        "- Habit: tea invites a pot and company, coffee a cup and the road.\n"
        "- Cost: leaves are light to ship and cheap to brew.\n\n"
        "Winner: coffee",
    ),
    (
        ("tea", "coffee"),
        SYSTEMS[1],
        4,
        "Summary:\n"
        "Coffee is the better drink for those who need to be awake, tea for those who count "
        "their coins. A cup of coffee holds about twice the caffeine of a cup of tea [2]. Tea "
        "has been shown to lengthen life by ten years [12].\n\n"
        "Main aspects:\n"
        "- Alertness: coffee has about twice the caffeine [2].\n"
        "- Strength: coffee has about twice the caffeine of tea [2].\n"
        "- Cost: tea is cheaper to brew well [3].\n"
        "- Looks: coffee stains teeth more than tea [Argument 1].\n"
        "- Fame: coffee is the best drink in the world [7].\n\n"
        "Best option: coffee",
    ),
    (
        ("train", "plane"),
        SYSTEMS[0],
        1,
        "For short trips take the train, for long ones the plane. The train is calmer and kinder "
        "to the climate; the plane crosses oceans.",
    ),
    (
        ("train", "plane"),
        SYSTEMS[0],
        4,
        "Summary:\n"
        "On most journeys within a continent the train comes out ahead. It starts in the middle "
        "of the city and so is often faster from door to door [1], it burns far less fuel for "
        "each passenger [2], and it leaves room for the knees [3]. The plane has its friends "
        "[4], but fog can keep it from landing at small airports [6].\n\n"
        "Main aspects:\n"
        "- Time: no way to an airport, no queue, and you arrive in the centre [1].\n"
        "- Climate: a jet uses much more fuel for each person it carries [2].\n"
        "- Comfort: there is room to stretch [3], and night trains offer beds with clean sheets "
        "[7].\n"
        "- Reliability: thick fog stops planes at small airports [6]; rails need no clear sky "
        "[generated].\n"
        "- Taste: the debate goes on [4, 5].\n\n"
        "Best option: train\n\n"
        "Arguments used: 1-7",
    ),
    (
        ("train", "plane"),
        SYSTEMS[1],
        3,
        "Summary: The plane is quick in the air, the train quick on the whole.\n\n"
        "Aspects:\n"
        "- Speed: a plane flies at several times the speed of a train, then waits.\n"
        "- Comfort: trains let you walk about and look out.\n"
        "- Price: fares change by the hour for both.\n\n"
        "Winner: train",
    ),
    (
        ("train", "plane"),
        SYSTEMS[1],
        4,
        "Summary:\n"
        "The plane is preferred by many travellers [4] and remains the only choice across the "
        "sea. The train is pleasant, and there are beds on night trains [7].\n\n"
        "Main aspects:\n"
        "- Preference: a sister prefers the plane to the train [4].\n"
        "- Sleep: the night train has beds with clean sheets. [7]\n"
        "- Space: knees touch the seat in front on the plane [3].\n"
        "- Safety: planes are the safest way to travel.\n"
        "- Weather: a plane cannot land in thick fog at a small airport [6].\n\n"
        "Best option: plane",
    ),
    (
        ("gas grill", "charcoal grill"),
        SYSTEMS[0],
        1,
        "Charcoal if you have time and like smoke, gas if you are hungry now.",
    ),
    (
        ("gas grill", "charcoal grill"),
        SYSTEMS[0],
        4,
        "Summary:\n"
        "A gas grill is the practical choice, a charcoal grill the tasty one. Gas is hot after "
        "five minutes where charcoal takes half an hour [1], and cleaning it is quicker because "
        "no ashes have to be carried away [3]. Charcoal answers with a smokier taste [2], and "
        "its admirers would not trade it [4].\n\n"
        "Main aspects:\n"
        "- Waiting: five minutes against thirty [1].\n"
        "- Taste: meat from charcoal is smokier [2].\n"
        "- Cleaning: gas leaves no ashes [3].\n"
        "- Safety: charcoal must not be lit indoors [6], and gas bottles want care too "
        "[generated].\n"
        "- Equipment: three burners and a lid with a thermometer are within reach [7].\n\n"
        "Best option: gas\n\n"
        "Arguments used: 1, 2, 3, 4, 6, 7",
    ),
    (
        ("gas grill", "charcoal grill"),
        SYSTEMS[1],
        3,
        "Summary: Fire is fun, buttons are fast.\n\n"
        "Aspects:\n"
        "- Flavour: coals and dripping fat give a taste that gas cannot copy.\n"
        "- Control: a knob sets the heat exactly.\n"
        "- Upkeep: gas is cleaner, charcoal is simpler.\n\n"
        "Winner: charcoal",
    ),
    (
        ("gas grill", "charcoal grill"),
        SYSTEMS[1],
        4,
        "Summary:\n"
        "For me a charcoal grill beats a gas grill any day [4]. Its meat tastes smokier [2], "
        "and half an hour of waiting [1] is half an hour with friends.\n\n"
        "Main aspects:\n"
        "- Taste: smokier meat [2].\n"
        "- Time: a gas grill is ready in five minutes, while a charcoal grill needs half an "
        "hour. [1]\n"
        "- Cleaning: ashes take longer than a wipe [3].\n"
        "- Followers: each kind has people who swear by it [5].\n\n"
        "Best option: charcoal",
    ),
]
