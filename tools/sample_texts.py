"""What the sample company's Word, PowerPoint, Excel, PDF and mail documents say.

Prose is in a small markup: blocks stand apart by a blank line; `#` headings; `- ` and `1. ` list items, one a line;
`| ` table rows, cells parted by ` | `; and for the PDFs `^ ` a caption, `>` the next column, `---` the next page.
"""

SAFETY = """\
# Workshop safety

Read this before the first day at a machine, and again each January. Who signs the board beside the kiln has read
it.

## Before you switch on

- Sleeves rolled up, rings off, hair tied back.
- The dust extraction runs before the machine does, and one minute after it.
- Nobody works alone at a saw. After 18:00 the saws are locked.

## What to wear

| Machine | Eyes | Ears | Hands | Lungs
| Table saw | goggles | muffs | no gloves | extraction
| Band saw | goggles | plugs | no gloves | extraction
| Router | face shield | muffs | no gloves | extraction
| Spray booth | goggles | none | nitrile gloves | mask A2-P3
| Steam box | face shield | none | leather gloves | none

## When something happens

### Small injuries

The green boxes hang at both doors. Write every use into the book inside, also a splinter: the insurance asks for
it.

### Serious injuries

Press the red button; it stops every machine and opens the gate. Call 112, then the lead of the day. Two of us, with
a white armband on their coat hook, are trained first aiders.

## Fire

Oily rags go into the steel bin with the lid, never into the paper. The meeting point is the flagpole by the quay.
Varnish fires are smothered with the blanket, never with water.
"""

ONBOARDING: list[tuple[str, list[str]]] = [
    ("Your first week", ["Harbor & Pine", "For everybody who starts"]),
    (
        "Monday",
        [
            "8:30 long bench: you are introduced",
            "Keys and badge from human resources, room 1.04",
            "Lunch with your mentor",
        ],
    ),
    (
        "Tuesday and Wednesday",
        [
            "Safety round with the lead of the day; sign the board",
            "Drawing office: laptop, password, where drawings are kept",
            "One morning in the shop by the gate: hear what customers ask",
        ],
    ),
    (
        "Thursday",
        [
            "Build your own tool tote at a bench, from a cut list",
            "Nobody has ever got the dovetails right the first time",
        ],
    ),
    (
        "Friday",
        ["Talk with your lead: what surprised you?", "From 15:00: sharpen, sweep, learn", "Probation lasts six months"],
    ),
]

SALARY_BANDS: dict[str, list[list[object]]] = {
    "Bands 2026": [
        ["Level", "Role", "Minimum EUR", "Middle EUR", "Maximum EUR"],
        [1, "Apprentice joiner", 14400, 15600, 16800],
        [2, "Joiner", 31000, 34500, 38000],
        [3, "Senior joiner", 37500, 42000, 46500],
        [4, "Kiln master", 44000, 49500, 55000],
        [5, "Workshop lead", 52000, 59000, 66000],
        [6, "Director", 68000, 77000, 86000],
    ],
    "Supplements": [
        ["Supplement", "EUR a month", "For whom"],
        ["Kiln on call", 180, "who holds the kiln telephone that week"],
        ["First aider", 45, "two trained first aiders"],
        ["Mentor", 90, "during a newcomer's probation"],
    ],
}

BUDGET: dict[str, list[list[object]]] = {
    "Budget 2026": [
        ["Cost centre", "Q1 EUR", "Q2 EUR", "Q3 EUR", "Q4 EUR", "Year EUR"],
        ["Wages", 412000, 418000, 425000, 431000, 1686000],
        ["Timber", 96000, 118000, 104000, 88000, 406000],
        ["Fittings and glass", 31000, 36000, 34000, 29000, 130000],
        ["Energy for the kiln", 22000, 14000, 12000, 24000, 72000],
        ["Machines", 0, 86000, 0, 15000, 101000],
        ["Training", 6000, 9000, 5000, 8000, 28000],
    ],
    "Investments": [
        ["What", "EUR", "When", "Why"],
        ["CNC router, five axes", 86000, "May 2026", "curved shelves of the Lighthouse Library"],
        ["Heat exchanger for the kiln", 15000, "October 2026", "saves a quarter of the energy"],
    ],
}

FORECAST: dict[str, list[list[object]]] = {
    "Forecast Q3": [
        ["Scenario", "Revenue EUR", "Profit EUR", "Assumption"],
        ["Careful", 690000, 21000, "Lighthouse Library paid in the fourth quarter"],
        ["Expected", 768000, 54000, "Lighthouse Library opens on 12 September as planned"],
        ["Hopeful", 845000, 88000, "the ferry company signs for two cabins"],
    ]
}

STATEMENT_OF_WORK = """\
# Pier House: statement of work

Between Harbor & Pine and the electricians and varnishers who work with us on the Pier House.

## What you do

1. Electric and water lines in the kitchen and both cabins, in week 18.
2. Varnish on site in week 21: three coats of marine varnish, matt, sanded in between.

## What we do

We open the walls in week 17 and keep them open until the harbour master has seen the lines. The keys hang in the
shop by the gate; sign for them.

## Hours and pay

| Trade | Hours | Rate EUR an hour | Total EUR
| Electrician | 32 | 58 | 1,856
| Plumber | 16 | 61 | 976
| Varnisher | 24 | 49 | 1,176

Invoices are paid within 14 days after the hand-over in week 22. Waiting hours are paid when we caused them.

## Rules of the house

The Pier House stands over water: no solvents down the drain, no loose foil, and the dust extraction runs.
"""

DELIVERIES = """order,item,pieces,promised,new_date
4471,brass hinge 60 mm,48,2026-04-20,2026-05-04
4480,brass knob 25 mm,36,2026-04-27,2026-05-04
4492,cabin hook,60,2026-05-11,2026-05-11
"""

PAY_REVIEW = """\
# What the review is for

Once a year every lead looks at each person in the team: what has grown, what is missing, and whether the level in
the contract is still right. The review is a judgement about work, never about character, and it is written so that
the person could read it aloud.

The review is not a bargain. Nobody has to ask for it and nobody gains by asking twice. Who was on parental leave or
sick for long is reviewed on the months that were worked, with no discount for the others.

# Who does what

Leads write one page a person by the second Friday in February. Human resources compares the pages of all teams in
one sitting, so that a strict lead and a mild one end at the same measure. The directors decide in the last week of
February, and leads tell their people before the salary of March arrives.

A lead who reviews a relative hands the page to the lead of another team.

>

# What counts

Four things count, and each alike: the quality of what leaves the bench, reliability in what was promised, help
given to others, and care for tools and wood. Hours at the bench do not count. Speed counts only where it made
somebody else wait.

Write down one example for each of the four. A sentence without an example is struck out when the pages are
compared.

# When a level is wrong

A new level is proposed when somebody has done the work of the next one for six months. It needs two examples of
work that the present level does not ask for. The level changes on the first of March, and the salary starts at the
minimum of the new band or rises by five percent, whichever is more.

Nobody falls a level by a review. If the work has become too heavy, talk about another role first.

# How to say no

Say it in the first minute, say why, and say what would change it. Offer the training that leads there. Do not point
at the budget when the reason is the work, nor at the work when the reason is the budget. Write down what was agreed
and send it the same day.

---

# How much a raise is

The raise depends on where the salary stands in its band and on the result of the review. Who is low in the band
rises faster than who is near its maximum. The percentages for 2026 are in the table; together they cost about
46,000 euros.

^ Table 1. Raise in 2026 by result and place in the band

| Result | Lower third | Middle third | Upper third
| Outstanding | 7.0 % | 5.5 % | 4.0 %
| Strong | 5.0 % | 4.0 % | 3.0 %
| Solid | 3.5 % | 2.5 % | 2.0 %
| Growing | 2.0 % | 1.5 % | 1.0 %

A raise that would pass the maximum of the band ends at the maximum. The rest is paid once, with the salary of
March.

>

# Keeping it to ourselves

The pages, the results and the bands of others stay with leads and human resources. They are never sent by mail and
never printed in the drawing office. What a person may always see is the own page, the own band and the own place in
it.
"""

KILN_GUIDE = """\
# Why we dry slowly

Wood that is dried too fast cracks from the ends and hardens at the surface, and the stress shows only when the
board is cut. A board for a cabin must reach the moisture of a heated room, eight to ten percent; a board that stays
outside on deck stops at fourteen.

The kiln holds nine cubic metres. It is run by two people: one loads and checks, the other signs. The telephone of
the kiln goes home with the one who is on call.

# Loading

Stack boards of one species and one thickness only. Stickers of dry pine, 22 millimetres thick, lie every 40
centimetres, one exactly above the other. Paint the ends with wax on the day the log is sawn, not on the day it is
loaded. Put weights on the top: two concrete slabs a metre.

Four sample boards go into the pockets of the stack, two near the fan and two far from it. Weigh them before you
close the door and write the weights on the card.

>

# Heating up

Warm the load with the vents closed for six hours, until the core has the temperature of the air. Only then open the
vents by a third. Never pass 45 degrees in the first two days: above it the resin of larch and pine begins to run
and the boards glue themselves to the stickers.

# Watching

Weigh the sample boards each morning and each evening. If the load loses more than the table allows, close the vents
by half and wait a shift. If a sample board cracks, steam the load for two hours at 60 degrees and slow down.

---

# Drying times

The times hold for boards that come in at fifty percent and leave at nine. Boards that have stood in the yard for a
summer take about half as long.

^ Table 1. Drying times and limits

| Species | Thickness | Days | Hottest | Daily loss
| Larch | 27 mm | 11 | 60 C | 3.5 %
| Larch | 40 mm | 19 | 58 C | 2.4 %
| Pine | 27 mm | 7 | 65 C | 5.0 %
| Oak | 27 mm | 32 | 48 C | 1.6 %
| Oak | 52 mm | 70 | 45 C | 0.8 %
| Ash | 27 mm | 18 | 55 C | 2.8 %

>

# Cooling down

Switch off the heat and leave the fans on until the load is within ten degrees of the hall. Oak takes a day, pine a
night. Open the door only then: cold air on warm oak undoes three weeks in an hour.

# When the alarm sounds

The alarm means that the fan stands still or that the air is hotter than 70 degrees. Switch off the heat at the
panel first, then call the one on call. Do not open the door: fresh air feeds a fire. If you smell smoke, press the
red button and leave the hall.
"""
