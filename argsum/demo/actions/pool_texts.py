"""Invented comments for the demo: what people think of a town's new pool. Nobody wrote them."""

TOPIC = "What do you think of the new pool?"
SWIMMERS, FAMILIES, SCHOOLS = "swimmers", "families", "schools"
# Whatever speaks of it belongs behind one key point; and a key point that nobody needs.
MISPLACED = ("lane", "I was there twice.")
# First and last day, who says it, and what; sentences of a comment stand in one string.
SAID = (
    # The water was warm at first.
    (
        ("2026-02-20", "2026-05-30"),
        (FAMILIES, FAMILIES, SCHOOLS),
        (
            "The water is far too cold.",
            "The water has become too cold for small children.",
            "My son had blue lips after ten minutes because the water is so cold.",
            "Please heat the water, it is freezing.",
            "Our pupils shiver, the water is too cold for lessons.",
            "The water is much colder than it was in January.",
            "The children's pool is too cold. The staff could not say why.",
            "We left early since the water was ice cold.",
            "Too cold! Nobody wants to learn to swim in cold water.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, SWIMMERS, SWIMMERS, SCHOOLS),
        (
            "The lanes are too crowded after work.",
            "After five o'clock there are ten people in every lane.",
            "You cannot swim in the evening because the lanes are so full.",
            "We need more lanes for people who swim lengths.",
            "The lanes are overcrowded in the evening.",
            "Too many people in one lane, I keep bumping into others.",
            "Lanes are full as soon as the clubs arrive.",
            "One lane for slow and one for fast swimmers is not enough.",
            "The lanes are crowded. I gave up on Mondays.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, FAMILIES, SWIMMERS),
        (
            "A ticket is too expensive for a family of four.",
            "The entrance fee is far too high.",
            "We can afford the pool once a month, not more.",
            "Twelve euros for an hour is too expensive.",
            "The price of a ticket should be lower for children.",
            "Far too expensive for what it is.",
            "The tickets cost twice as much as in the old pool.",
            "Why is there no cheaper ticket for families?",
            "The entrance fee is too high. My daughter loves the slide, though.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, FAMILIES, FAMILIES, SCHOOLS),
        (
            "The slide is great fun.",
            "Our children love the big slide.",
            "The slide alone is worth the visit.",
            "My kids went down the slide thirty times.",
            "The new slide is fantastic for children.",
            "The slide is the best thing about this pool.",
            "The children talk about the slide all week.",
            "What a slide!",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, FAMILIES, SCHOOLS),
        (
            "The staff are friendly and helpful.",
            "The lifeguards are always kind to the children.",
            "Very friendly people at the desk.",
            "The staff helped us at once when my bag was gone.",
            "The lifeguards are friendly and keep an eye on everybody.",
            "Friendly staff, every single time.",
            "The team at the entrance is patient with thirty noisy pupils.",
            "The staff are kind. The showers work.",
            "I have never met such helpful staff in a pool.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, FAMILIES),
        (
            "The changing rooms are dirty.",
            "There is hair on the floor of the changing rooms every day.",
            "Nobody cleans the changing rooms in the afternoon.",
            "The floor of the changing rooms is filthy.",
            "Dirty changing rooms, I put my shoes on outside.",
            "The changing rooms need to be cleaned more often.",
            "The changing rooms smell and are never cleaned.",
            "It is a lovely building. The changing rooms are dirty.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS,),
        (
            "Opening at six in the morning is perfect for me.",
            "I can swim before work now that it opens at six.",
            "The early opening hours are a blessing.",
            "Thank you for opening early.",
            "Early opening lets me swim before the office.",
            "It opens early enough to swim before work.",
            "Opening early was the best decision. The water is clean, too.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SCHOOLS, SCHOOLS, FAMILIES),
        (
            "The bus does not stop anywhere near the pool.",
            "We need a bus stop in front of the pool.",
            "Without a car it is hard to get to the pool.",
            "Our class walks for twenty minutes because no bus goes there.",
            "A bus to the pool would help all schools.",
            "There is no bus to the pool on Sundays.",
            "The nearest bus stop is a mile away from the pool.",
            "No bus, so the lesson is half over when we arrive.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, SWIMMERS),
        (
            "The café only sells chips and sweets.",
            "I wish that the café had something healthy.",
            "The food in the café is greasy.",
            "The café has nothing but chips.",
            "Fruit instead of chips in the café, please.",
            "The café is closed whenever we are hungry.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, SWIMMERS, SCHOOLS),
        (
            "No complaints.",
            "I was there twice.",
            "See you next week!",
            "My locker key has the number 214.",
            "n/a",
            "We came from the next village.",
            "Greetings from class 4b.",
        ),
    ),
)
