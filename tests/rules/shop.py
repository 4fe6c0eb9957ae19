"""A log of a games shop, small enough to know its rules: an abbreviation, a synonym, errors, a pin.

People write "cod" for Call of Duty, "gta" for the first words of a title, "hotels" for accommodation and
"trainers" for running shoes, misspell "batman", and add "xbox" to anything, which no title has. "High" alone
means nothing. Nothing else is to be learned.
"""

from coclick import ClickGraph

TITLES = {
    "cod-1": "Call of Duty Black Ops",
    "cod-2": "Call of Duty Modern Warfare",
    "bat-1": "Batman Arkham City",
    "bat-2": "Batman Arkham Asylum",
    "ny-1": "Accommodation in Boston",
    "ny-2": "Accommodation in Denver",
    "hp-1": "Hypertension Explained",
    "hp-2": "Life with Hypertension",
    "fo-1": "Fallout Vegas",
    "gta-1": "Grand Theft Auto Liberty",
    "sh-1": "Running Shoes Alpha",
    "sh-2": "Running Shoes Beta",
    "sky": "Skyrim",
}
CLICKS = [
    ("cod black ops", "cod-1", 20),
    ("cod modern warfare", "cod-2", 15),
    ("cod", "cod-1", 5),
    ("cod", "sky", 2),
    ("call of duty", "cod-1", 40),
    ("call of duty black ops", "cod-1", 30),
    ("call of duty modern warfare", "cod-2", 30),
    ("batman", "bat-1", 30),
    ("batman arkham", "bat-2", 30),
    ("batmna", "bat-1", 4),
    ("batmna asylum", "bat-2", 3),
    ("boston hotels", "ny-1", 12),
    ("denver hotels", "ny-2", 12),
    ("hotels", "ny-1", 3),
    ("high blood pressure", "hp-1", 20),
    ("high blood pressure life", "hp-2", 12),
    ("high bpp", "hp-1", 3),
    ("high tension", "hp-2", 3),
    ("gta", "gta-1", 20),
    ("gta game", "gta-1", 15),
    ("trainers", "sh-1", 15),
    ("trainers", "sh-2", 15),
    ("trainers sale", "sh-1", 5),
    ("running shoes", "sh-1", 20),
    ("running shoes", "sh-2", 20),
    ("xbox call of duty", "cod-1", 10),
    ("xbox batman", "bat-1", 10),
    ("fall out", "fo-1", 6),
    ("fallout", "fo-1", 15),
    ("xbox 360", "cod-1", 6),
    ("xbox 360", "bat-1", 6),
    ("xbox 360", "sky", 6),
    ("2", "cod-2", 12),
    ("the", "sky", 12),
    ("skyrim", "sky", 99),
    ("skyrim", "fo-1", 1),
]


def graph(clicks=CLICKS, titles=TITLES):
    return ClickGraph.from_clicks(clicks, titles, language="en")
