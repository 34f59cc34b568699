"""Invented arguments for the demo: whether libraries should open on Sundays. Nobody said them."""

TOPIC = "Public libraries should open on Sundays"
# Key point → arguments that match it. Below: those that match several (by position from 0), none,
# or one but take two sentences.
FOR = {
    "Sundays are when working people have time": (
        "Most people who work all week can only visit a library on a Sunday.",
        "A library that closes on Sundays shuts out everybody with a long working week.",
        "Sunday is the one day on which a nurse or a baker has a quiet hour to read.",
        "People in full-time jobs pay for libraries that are closed whenever they are free.",
        "On Saturdays people do their shopping, so Sunday is left for books.",
        "Shift workers would finally find the doors open on a day off.",
        "Commuters come home after closing time and have nothing but the weekend.",
    ),
    "Families can go together": (
        "Parents and children are free on the same day only at the weekend.",
        "A Sunday at the library is an outing that a family can afford.",
        "Children read more when their parents come along to the library.",
        "Grandparents could take the little ones to a story hour on Sundays.",
        "A rainy Sunday with small children calls for a warm room full of books.",
        "Fathers who work late would see the reading corner at least once a week.",
        "Families with many children need a free place to spend a Sunday.",
    ),
    "Students need a quiet place before exams": (
        "Pupils learn for Monday's test on Sunday, and many have no desk at home.",
        "Students who share a flat need the silence of a reading room at the weekend.",
        "Exams do not wait until Tuesday, and neither should the library.",
        "Whoever writes a thesis would use the tables on all seven days.",
        "A calm reading room on Sunday helps young people from crowded homes.",
        "Homework is done on Sundays, so that is when reference books are needed.",
        "Learning groups meet at weekends and find no place that costs nothing.",
    ),
    "Lonely people find company": (
        "Sunday is the loneliest day for old people who live alone.",
        "A library is one of the few places where nobody has to buy anything to sit down.",
        "Newcomers get to know their town between the shelves.",
        "Reading a newspaper among others is better than a silent flat.",
        "Widowers would have somewhere to go after Sunday lunch.",
        "Open doors on a Sunday keep people from sitting alone in front of a screen.",
        "A conversation at the returns desk can save a whole weekend.",
    ),
}
FOR_SEVERAL = (
    (
        "Families and students alike are free on Sundays and would fill the reading rooms.",
        (1, 2),
    ),
    (
        "Working mothers could bring their children, because Sunday is their only free day.",
        (0, 1),
    ),
)
FOR_NONE = (
    "Other towns have tried it.",
    "Libraries have always been a sign of a civilised town.",
    "The building stands there anyway, heated and lit.",
)
FOR_LONG = (
    ("I work until eight every evening. On Sundays I would finally get to the shelves.", 0),
    ("Nobody talks to my neighbour at weekends. In the library somebody would.", 3),
)
AGAINST = {
    "Librarians deserve a free Sunday": (
        "Librarians have families too and want a day with them.",
        "Whoever shelves books all week has earned a rest on Sunday.",
        "A free Sunday should not become a privilege of office workers.",
        "Staff would lose the only day on which all their friends are free.",
        "Good librarians will look for other jobs if they must work every weekend.",
        "One common day of rest is worth more than a few borrowed novels.",
        "Weekend duty makes an already poorly paid job even less attractive.",
    ),
    "It costs money that the town does not have": (
        "Extra pay for Sunday work would eat up the budget for new books.",
        "Heating a large building for a handful of readers is a waste of money.",
        "The town cannot even repair its schools, so it should not pay for Sunday hours.",
        "Every opened Sunday means one new guard and one new cleaner on the payroll.",
        "Small branches would have to close to pay for Sundays in the main library.",
        "Longer hours sound cheap until the bill for electricity arrives.",
        "The same money would buy thousands of audiobooks.",
    ),
    "Books can be had without open doors": (
        "E-books can be borrowed on Sundays without anybody opening a door.",
        "A return box and a reservation shelf in the entrance are enough for the weekend.",
        "Whoever plans a little borrows on Friday what is read on Sunday.",
        "Catalogues, newspapers and films have long been available at home.",
        "A vending machine for books serves readers around the clock.",
        "Most loans are renewed on a phone today.",
        "Digital shelves never close, so the real ones may.",
    ),
    "Hardly anybody would come": (
        "On Sundays people go to the park and not to the library.",
        "The trial in summer showed more staff than readers.",
        "City centres are empty on Sundays, and so would be the reading room.",
        "Buses run once an hour on Sundays, so few readers would get there.",
        "Those who love books have bought them by Saturday.",
        "Football and family visits leave no time for a library.",
        "Six open days already leave many chairs free.",
    ),
}
AGAINST_SEVERAL = (
    (
        "Paying staff for a Sunday on which nobody comes is unfair to them and to the taxpayer.",
        (1, 3),
    ),
    (
        "Librarians would lose their free day for books that everybody can download.",
        (0, 2),
    ),
)
AGAINST_NONE = (
    "It has been like this for a hundred years.",
    "Museums should go first.",
    "People read too little anyway.",
)
AGAINST_LONG = (
    ("My sister works in a library. She has every second weekend as it is.", 0),
    ("Who would go there? The whole town is at the lake.", 3),
)

SIDES = {
    1: (FOR, FOR_SEVERAL, FOR_NONE, FOR_LONG),
    -1: (AGAINST, AGAINST_SEVERAL, AGAINST_NONE, AGAINST_LONG),
}
