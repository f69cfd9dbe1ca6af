"""What the sample company's Word, PowerPoint, Excel and mail documents say."""

Piece = str | list[list[str]]

SAFETY: list[Piece] = [
    "# Workshop safety",
    "Read this before the first day at a machine, and again each January. Who signs the board beside the kiln has read it.",
    "## Before you switch on",
    "- Sleeves rolled up, rings off, hair tied back.",
    "- The dust extraction runs before the machine does, and one minute after it.",
    "- Nobody works alone at a saw. After 18:00 the saws are locked.",
    "## What to wear",
    [
        ["Machine", "Eyes", "Ears", "Hands", "Lungs"],
        ["Table saw", "goggles", "muffs", "no gloves", "extraction"],
        ["Band saw", "goggles", "plugs", "no gloves", "extraction"],
        ["Router", "face shield", "muffs", "no gloves", "extraction"],
        ["Spray booth", "goggles", "none", "nitrile gloves", "mask A2-P3"],
        ["Steam box", "face shield", "none", "leather gloves", "none"],
    ],
    "## When something happens",
    "### Small injuries",
    "The green boxes hang at both doors. Write every use into the book inside, also a splinter: the insurance asks for it.",
    "### Serious injuries",
    "Press the red button; it stops every machine and opens the gate. Call 112, then the lead of the day. Two of us, with a "
    "white armband on their coat hook, are trained first aiders.",
    "## Fire",
    "Oily rags go into the steel bin with the lid, never into the paper. The meeting point is the flagpole by the quay. "
    "Varnish fires are smothered with the blanket, never with water.",
]

ONBOARDING: list[tuple[str, list[str]]] = [
    ("Your first week", ["Harbor & Pine", "For everybody who starts"]),
    (
        "Monday",
        ["8:30 long bench: you are introduced", "Keys and badge from human resources, room 1.04", "Lunch with your mentor"],
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
        ["Build your own tool tote at a bench, from a cut list", "Nobody has ever got the dovetails right the first time"],
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

STATEMENT_OF_WORK: list[Piece] = [
    "# Pier House: statement of work",
    "Between Harbor & Pine and the electricians and varnishers who work with us on the Pier House.",
    "## What you do",
    "1. Electric and water lines in the kitchen and both cabins, in week 18.",
    "2. Varnish on site in week 21: three coats of marine varnish, matt, sanded in between.",
    "## What we do",
    "We open the walls in week 17 and keep them open until the harbour master has seen the lines. The keys hang in the shop "
    "by the gate; sign for them.",
    "## Hours and pay",
    [
        ["Trade", "Hours", "Rate EUR an hour", "Total EUR"],
        ["Electrician", "32", "58", "1,856"],
        ["Plumber", "16", "61", "976"],
        ["Varnisher", "24", "49", "1,176"],
    ],
    "Invoices are paid within 14 days after the hand-over in week 22. Waiting hours are paid when we caused them.",
    "## Rules of the house",
    "The Pier House stands over water: no solvents down the drain, no loose foil, and the dust extraction runs.",
]

DELIVERIES = """order,item,pieces,promised,new_date
4471,brass hinge 60 mm,48,2026-04-20,2026-05-04
4480,brass knob 25 mm,36,2026-04-27,2026-05-04
4492,cabin hook,60,2026-05-11,2026-05-11
"""
