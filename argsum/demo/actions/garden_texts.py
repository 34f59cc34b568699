"""Invented arguments for the demo: whether schools should keep gardens. Nobody said them."""

TOPIC = "Every school should keep a vegetable garden"
FOR = {
    "Children learn where food comes from": (
        "Many children believe that carrots grow in plastic bags.",
        "Whoever has pulled a radish out of the ground knows what a root is.",
        "A bed of beans explains the seasons better than any textbook.",
        "Pupils see with their own eyes how a flower becomes a pumpkin.",
        "In a garden biology can be touched and tasted.",
        "Town children hardly ever meet a potato with earth on it.",
        "Sowing and harvesting teach more about food than ten worksheets.",
    ),
    "Children eat more vegetables": (
        "Children taste what they have grown themselves, even spinach.",
        "A salad from one's own bed is eaten up to the last leaf.",
        "Schools with gardens report less waste in the canteen.",
        "Pupils who grow tomatoes ask for them at home.",
        "Vegetables lose their bad name once they are a success of one's own.",
        "Healthy eating begins with curiosity, and a garden wakes it.",
        "Peas straight from the pod are sweets to a child.",
    ),
    "It teaches responsibility": (
        "Plants that nobody waters die, and every child understands that.",
        "A class that shares a garden learns to keep promises.",
        "Weeding in turns shows that everybody has to do a part.",
        "Waiting for a harvest trains patience in an impatient age.",
        "The rota for watering makes even the shyest pupil important.",
        "Children learn that mistakes in April are paid for in July.",
        "Looking after a bed through the year makes young people reliable.",
    ),
    "Being outside does children good": (
        "Fresh air between two lessons clears the head.",
        "Digging tires the body and calms the mind.",
        "Children who sit all day need a reason to go out.",
        "Restless pupils are at their best with a spade in their hands.",
        "An hour among plants lowers the noise of a whole class.",
        "Teachers see fewer quarrels on days with garden work.",
        "Sun and movement belong to a school day like reading and sums.",
    ),
}
FOR_SEVERAL = (
    (
        "Digging in the sun and eating one's own beans makes children healthier in two ways.",
        (1, 3),
    ),
    (
        "Whoever looks after a plant learns biology and duty at the same time.",
        (0, 2),
    ),
)
FOR_NONE = (
    "Gardens look nice from the road.",
    "Our school had one long ago.",
    "Bees would be glad.",
)
FOR_LONG = (
    ("My daughter never ate beans. Now she grows them and wants them every day.", 1),
    ("It is so simple. A seed needs somebody who cares for it every morning.", 2),
)
AGAINST = {
    "Teachers have no time for it": (
        "Teachers already spend their evenings on reports and cannot weed as well.",
        "A garden means one more duty that nobody is paid for.",
        "Lessons for reading and sums are short enough without digging.",
        "Somebody has to plan, buy, water and clean, and it will be the teacher.",
        "Staff are missing in every subject, so nobody is left for beds of lettuce.",
        "The curriculum is full to the brim as it is.",
        "A class of thirty with sharp tools takes two teachers that no school has.",
    ),
    "Nobody looks after it in the holidays": (
        "The harvest ripens in the six weeks in which the school is empty.",
        "Tomatoes need water in August, when everybody is at the seaside.",
        "After each summer break the beds are a jungle of weeds.",
        "The caretaker has leave in summer as well.",
        "What was sown in spring dries up in the long holidays.",
        "School years and garden years simply do not fit together.",
        "A garden cannot be locked and left like a gymnasium.",
    ),
    "Many schools have no room": (
        "City schools hardly have a yard, let alone a field.",
        "Where the playground is made of asphalt nothing will grow.",
        "Every bed takes space from children who want to run.",
        "Containers for new classes already stand on the last lawn.",
        "A school between two main roads has no place for lettuce.",
        "Land in the town centre is too dear for cabbages.",
        "Roof gardens are forbidden on most of the old buildings.",
    ),
    "It is dirty and may be dangerous": (
        "Parents will complain about muddy shoes and stained clothes.",
        "Wasps love ripe fruit, and some pupils are allergic.",
        "Soil in old towns often holds lead from former times.",
        "Spades and rakes send a child to the doctor sooner or later.",
        "Cats use open beds at night, and children eat from them by day.",
        "Who pays when a pupil eats the wrong berry?",
        "Rats come wherever there is compost.",
    ),
}
AGAINST_SEVERAL = (
    (
        "Teachers would have to come in during the holidays to save what the weeds have left.",
        (0, 1),
    ),
    (
        "On a small yard thirty children with spades are an accident waiting to happen.",
        (2, 3),
    ),
)
AGAINST_NONE = (
    "I do not like vegetables.",
    "Computers are the future.",
    "There are gardens enough in the village.",
)
AGAINST_LONG = (
    ("We tried it once. By September everything was dry and dead.", 1),
    ("Look at our yard. There is not one square metre of earth.", 2),
)

SIDES = {
    1: (FOR, FOR_SEVERAL, FOR_NONE, FOR_LONG),
    -1: (AGAINST, AGAINST_SEVERAL, AGAINST_NONE, AGAINST_LONG),
}
