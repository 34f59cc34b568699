"""Invented arguments for the demo: whether town centres should be free of cars. All made up."""

TOPIC = "Town centres should be free of private cars"
FOR = {
    "The air gets cleaner": (
        "Without exhaust fumes people in the centre can breathe again.",
        "Children with asthma suffer most where cars queue under their windows.",
        "Fine dust comes from tyres and brakes, so even electric cars pollute the air.",
        "A street without engines smells of bread instead of petrol.",
        "Clean air in the centre is worth a few minutes on foot.",
        "Doctors see fewer coughs where traffic was banned.",
        "Every car less means less soot on the old facades.",
    ),
    "Streets become safe to walk and cycle": (
        "Children can walk to school alone when no cars turn at the corner.",
        "Cyclists need not fear opening doors where nobody parks.",
        "Old people cross a street at their own pace if nothing rushes by.",
        "Most accidents in town happen where cars and walkers share the road.",
        "A wheelchair gets along better without cars on the pavement.",
        "Parents would let their children ride bicycles again.",
        "Slow streets turn walking into a pleasure instead of a risk.",
    ),
    "There is room for people instead of parking": (
        "Where ten cars stand today there could be a playground.",
        "Parking takes up space that belongs to everybody.",
        "Cafés could put their tables where tin boxes rust today.",
        "A square without cars is a living room for the whole town.",
        "Trees need exactly the ground that is given to parked cars.",
        "Street musicians and markets come back as soon as the cars are gone.",
        "A car stands still for most of its life on the dearest land in town.",
    ),
    "Shops gain from people on foot": (
        "People who walk look at windows, and people who drive look for a space.",
        "Pedestrian streets are full of customers even on Mondays.",
        "Those who come by tram visit the shops more often than drivers do.",
        "Rents rise where cars are banned because shops earn more there.",
        "Nobody ever bought a coat from behind a steering wheel.",
        "A quiet street invites people to stay and spend.",
        "Market traders sell more where there is no traffic.",
    ),
}
FOR_SEVERAL = (
    (
        "A square without cars is safer for children and leaves them room to play.",
        (1, 2),
    ),
    (
        "Clean air and tables in the sun bring more guests than any car park.",
        (0, 3),
    ),
)
FOR_NONE = (
    "Cars are ugly.",
    "In my childhood there were horses.",
    "The mayor promised it.",
)
FOR_LONG = (
    ("Our street was closed for a festival. My son rode his bicycle alone for the first time.", 1),
    ("The air was thick every morning. Since the ban I keep the window open.", 0),
)
AGAINST = {
    "Shops lose their customers": (
        "Customers with heavy bags will drive to the mall outside the town.",
        "Furniture cannot be carried home on a tram.",
        "Small shops live from drivers who stop for five minutes.",
        "When parking went, the butcher in our street closed within a year.",
        "People from the villages come by car or not at all.",
        "Empty windows follow wherever cars are kept out.",
        "Online shops will be the only winners of a ban.",
    ),
    "Old and disabled people depend on cars": (
        "Not everybody can walk a kilometre from the last stop.",
        "My neighbour's legs end where her car door closes.",
        "People with a walking frame need a lift to the doctor's entrance.",
        "A ban shuts the sick out of their own town.",
        "For many old people the car is the last bit of freedom.",
        "Cobblestones and crutches do not go together.",
        "Exceptions for the disabled drown in forms and permits.",
    ),
    "Buses and trams are not good enough": (
        "The last bus leaves at eight, so whoever works late needs a car.",
        "Trams are full in the morning as it is.",
        "A journey of ten minutes by car takes an hour by bus.",
        "In the villages a bus comes three times a day.",
        "First build the tram lines and then talk about a ban.",
        "Delayed trains cannot replace a car that waits at the door.",
        "Families with a pram wait in vain for a bus with room.",
    ),
    "Traffic only moves elsewhere": (
        "Cars that are kept out of the centre will jam the streets around it.",
        "The ring road is full already and cannot take any more.",
        "Drivers will circle in the quiet quarters in search of a space.",
        "Noise does not vanish; it moves in with other people.",
        "Longer ways around the centre burn more petrol.",
        "The suburbs pay with fumes for the calm of the old town.",
        "Parking will spill over into every side street.",
    ),
}
AGAINST_SEVERAL = (
    (
        "Without buses the old will stay at home and the shops will lose them as customers.",
        (0, 1),
    ),
    (
        "Villagers without a tram will park in the side streets around the centre.",
        (2, 3),
    ),
)
AGAINST_NONE = (
    "My car is my hobby.",
    "Politicians drive everywhere themselves.",
    "It will rain anyway.",
)
AGAINST_LONG = (
    ("I carry boxes for a living. How should I bring them in without a van?", 0),
    ("The bus was late again. Nobody who has a choice would take it.", 2),
)

SIDES = {
    1: (FOR, FOR_SEVERAL, FOR_NONE, FOR_LONG),
    -1: (AGAINST, AGAINST_SEVERAL, AGAINST_NONE, AGAINST_LONG),
}
