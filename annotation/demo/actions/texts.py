"""Invented sentences with their labels, and invented answers of two systems."""


# Invented sentences about invented preferences, each with the label it was written for.

PAIRS: list[tuple[str, str, list[tuple[str, int]]]] = [
    (
        "gas grill",
        "charcoal grill",
        [
            (
                "A gas grill is ready in five minutes, while a charcoal grill needs half an hour.",
                3,
            ),
            ("Meat from a charcoal grill tastes smokier than meat from a gas grill.", 3),
            (
                "Cleaning a gas grill is quicker than emptying the ashes of a charcoal grill.",
                3,
            ),
            ("For me a charcoal grill beats a gas grill any day.", 2),
            ("Some swear by the gas grill, others by the charcoal grill.", 2),
            ("A charcoal grill should never be lit indoors.", 1),
            ("Our gas grill has three burners and a lid with a thermometer.", 1),
            ("We sold the old grill before we moved.", 0),
            ("The neighbours invited us on Saturday and it rained.", 0),
        ],
    ),
    (
        "tea",
        "coffee",
        [
            ("Tea stains your teeth less than coffee does.", 3),
            ("A cup of coffee holds about twice the caffeine of a cup of tea.", 3),
            ("Brewing good tea is cheaper than brewing good coffee, cup for cup.", 3),
            ("I like tea better than coffee.", 2),
            ("Nobody should say that coffee is worse than tea.", 2),
            ("Green tea goes bitter when the water boils.", 1),
            ("Coffee is the best drink in the world.", 1),
            ("The coffee shop next to the tea room closes at six.", 0),
            ("She poured two cups and sat down.", 0),
        ],
    ),
    (
        "train",
        "plane",
        [
            (
                "The train leaves from the centre, so door to door it is faster than the plane.",
                3,
            ),
            ("A jet burns far more fuel per passenger than a train.", 3),
            ("On the plane my knees touch the seat in front; on the train they do not.", 3),
            ("My sister prefers the plane to the train.", 2),
            ("Train or plane, the debate never ends.", 2),
            ("A plane cannot land in thick fog at a small airport.", 1),
            ("The night train has beds with clean sheets.", 1),
            ("We missed the train and later the plane as well.", 0),
            ("Please keep your ticket until the exit.", 0),
        ],
    ),
    (
        "cats",
        "dogs",
        [
            ("Cats need less attention than dogs, because they do not have to be walked.", 3),
            ("Dogs learn commands faster than cats do.", 3),
            ("Keeping dogs costs more than keeping cats: food alone is twice the price.", 3),
            ("Cats are simply better than dogs.", 2),
            ("My brother favours dogs over cats.", 2),
            ("Cats sleep most of the day.", 1),
            ("Dogs guard the house and bark at strangers.", 1),
            ("I once had a cat and a dog.", 0),
            ("The vet is on holiday this week.", 0),
        ],
    ),
    (
        "laptop",
        "tablet",
        [
            ("Typing a long text is quicker on a laptop than on a tablet.", 3),
            ("A tablet weighs half as much as a laptop and lasts longer on one charge.", 3),
            ("With a tablet you can draw by hand, which hardly any laptop lets you do.", 3),
            ("A laptop is better than a tablet, full stop.", 2),
            ("It is hard to tell whether a tablet or a laptop suits students more.", 2),
            ("The tablet comes in three colours and with a pen.", 1),
            ("A laptop has a keyboard and two ports.", 1),
            ("The shop sells laptops, tablets and phones.", 0),
            ("He forgot his charger at the hotel.", 0),
        ],
    ),
    (
        "chess",
        "draughts",
        [
            ("Chess takes longer to learn than draughts, since each piece moves differently.", 3),
            ("A game of draughts is over sooner than a game of chess.", 3),
            ("Chess offers more openings to study than draughts.", 3),
            ("Nobody should claim that chess is harder than draughts.", 2),
            ("My uncle enjoys draughts more than chess.", 2),
            ("Chess is the hardest game there is.", 1),
            ("In draughts every man moves diagonally.", 1),
            ("The club has a chess night and a draughts night.", 0),
            ("They served cake after the tournament.", 0),
        ],
    ),
    (
        "oven",
        "microwave",
        [
            ("A microwave reheats soup in two minutes; an oven needs twenty.", 3),
            ("Bread gets a crust in the oven but turns soft in the microwave.", 3),
            ("A microwave uses less power than an oven for a single plate.", 3),
            ("I would take an oven over a microwave.", 2),
            ("The microwave and the oven each have their fans.", 2),
            ("Never put metal in a microwave.", 1),
            ("An oven with a fan bakes two trays at once.", 1),
            ("The kitchen has an oven, a microwave and a sink.", 0),
            ("Dinner was served at eight.", 0),
        ],
    ),
    (
        "bicycle",
        "car",
        [
            ("In rush hour a bicycle gets through town faster than a car.", 3),
            ("A car keeps you dry when it rains, a bicycle does not.", 3),
            ("Parking a bicycle costs nothing, parking a car costs four coins an hour.", 3),
            ("I would rather have a bicycle than a car.", 2),
            ("Whether the car or the bicycle wins is a matter of taste.", 2),
            ("A car needs a check every two years.", 1),
            ("The bicycle has twenty-one gears.", 1),
            ("The bicycle shop is behind the car park.", 0),
            ("The road was closed on Sunday.", 0),
        ],
    ),
    (
        "cinema",
        "streaming",
        [
            ("The screen of a cinema shows far more detail than streaming on a phone.", 3),
            ("Streaming costs less per film than a cinema ticket.", 3),
            ("With streaming you can pause, which no cinema will do for you.", 3),
            ("The cinema beats streaming.", 2),
            ("Many compare the cinema with streaming and reach no conclusion.", 2),
            ("Streaming needs a fast connection.", 1),
            ("The cinema in our street has red seats.", 1),
            ("We talked about cinema, streaming and the weather.", 0),
            ("The film lasted three hours.", 0),
        ],
    ),
    (
        "paper book",
        "e-reader",
        [
            ("An e-reader holds a whole library, a paper book just one story.", 3),
            ("You can lend a paper book to anybody, which an e-reader rarely allows.", 3),
            ("In the sun an e-reader glares less than the white pages of a paper book.", 3),
            ("A paper book is nicer than an e-reader.", 2),
            ("Paper book or e-reader: my friends cannot agree.", 2),
            ("The e-reader runs for three weeks on one charge.", 1),
            ("A paper book smells of ink and glue.", 1),
            ("The library lends paper books and e-readers.", 0),
            ("The author signed copies until noon.", 0),
        ],
    ),
]

# Invented answers about invented preferences, by two systems that do not exist.
#
# They cite the demo's sentences by their place. Some break the rules of a good
# answer on purpose (a number that stands for nothing, a claim without support,
# a repetition), so that there is something to find.


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
