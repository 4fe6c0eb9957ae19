"""Generate further subjects: names of towns, shops, products and programs, composed of parts.

Every generator counts in mixed radix over its lists of parts, so it can produce many subjects without
remembering those it has produced.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from coclick.simulate.words.notation import Term, TermGenerator


def _parts(text: str) -> list[str]:
    return text.split()


_STRIDE = 7919  # a prime larger than any list: consecutive numbers differ in every part


def _pick(number: int, *lists: list[str]) -> list[str]:
    """One part from each list. All combinations occur once before any repeats."""
    number = number * _STRIDE % prod(map(len, lists))
    parts = []
    for options in lists:
        number, place = divmod(number, len(options))
        parts.append(options[place])
    return parts


def _generator(make: Callable[[int], Term], *lists: list[str]) -> TermGenerator:
    return TermGenerator(make, prod(map(len, lists)))


_TOWN_HEADS = _parts(
    """Ash Bel Brook Cedar Clear Crest Dun East Elm Fair Glen Green Hart Haven High Kings Lake
    Lex Maple Mar May Mill North Oak Pine Red River Rock Salis Shel Spring Stone Summer Thorn Wal West
    White Wil Win Wood"""
)
_TOWN_TAILS = _parts(
    """ford ville ton burg field wood port mont bury dale land ham worth creek view side ridge
    mouth stead gate bridge"""
)
_STATES = _parts(
    """Ohio:oh Texas:tx Oregon:or Maine:me Iowa:ia Kansas:ks Georgia:ga Virginia:va Florida:fl
    California:ca Colorado:co Indiana:in Michigan:mi Missouri:mo Montana:mt Nevada:nv Tennessee:tn
    Wisconsin:wi Arizona:az Pennsylvania:pa Kentucky:ky Alabama:al"""
)
_TOWN_BEFORE = ["", "New ", "Port ", "Upper ", "Lower ", "Mount ", "Fort ", "Saint "]


def _town(number: int) -> Term:
    tail, head, state, before = _pick(number, _TOWN_TAILS, _TOWN_HEADS, _STATES, _TOWN_BEFORE)
    name, (long, short) = f"{before}{head}{tail}", state.split(":")
    town = name.lower()
    return Term((f"{name}, {long}", f"{name}"), (f"{town} {short}", town, f"{town} {long.lower()}"))


_SYLLABLES = _parts(
    """ba bri cal cor da dex el fen gra hal in jo kel lor lu mar nex no or pel qua ri sol
    tan tor ul va ver wil xan yor zan"""
)
_ENDINGS = _parts("co dan dell la lex lo mar mo na ness ra ric ro ta tek ven via vo x zen zo")
_SHOPS = _parts(
    """Outlet Mart Foods Pharmacy Market Furniture Hardware Books Supply Electronics Jewelers
    Bank Insurance Optical Garden"""
)


def _store(number: int) -> Term:
    ending, first, shop, second = _pick(number, _ENDINGS, _SYLLABLES, _SHOPS, _SYLLABLES)
    name = (first + second + ending).capitalize()
    typed = name.lower()
    return Term((f"{name} {shop}", name), (typed, f"{typed} {shop.lower()}"))


_MATERIALS = _parts(
    """Leather:leather Suede:suede Woollen:wool Cotton:cotton Linen:linen Silk:silk
    Corduroy:cord Fleece:fleece Velvet:velvet Canvas:canvas Cashmere:cashmere Mesh:mesh Jersey:jersey
    Flannel:flannel Satin:satin Quilted:quilted Tweed:tweed Bamboo:bamboo"""
)
_CUTS = _parts(
    """Cropped:crop Slim-Fit:slim Oversized:baggy Long:long Pleated:pleated Striped:striped
    Vintage:vintage Reversible:reversible Padded:padded Embroidered:embroidered High-Waisted:high_waist
    Belted:belted Two-Tone:two_tone Classic:classic Printed:printed"""
)
_CLOTHES = _parts(
    """Waistcoat:vest Trousers:pants Skirt:skirt Blouse:blouse Overcoat:coat Blazer:blazer
    Slippers:slippers Loafers:loafers Clogs:clogs Shoulder_Bag:purse Tote:tote Neckwear:tie Cardigan:cardigan
    Dungarees:overalls Tunic:tunic Shorts:shorts Jumpsuit:romper Cape:poncho Pumps:heels Parka:parka
    Gilet:body_warmer Kimono:robe Camisole:tank_top Bodysuit:onesie"""
)


def _garment(number: int) -> Term:
    parts = _pick(number, _CLOTHES, _MATERIALS, _CUTS)
    (garment, kind), (material, stuff), (cut, style) = (part.replace("_", " ").split(":") for part in parts)
    return Term(
        (f"{cut} {material} {garment}", f"{material} {garment}, {cut}"),
        (f"{style} {stuff} {kind}", f"{stuff} {kind} {style}"),
    )


_MAINS = _parts(
    """Chicken Turkey Salmon Tuna Shrimp Beef Pork Lamb Tofu Lentil Chickpea Mushroom Spinach
    Broccoli Cauliflower Zucchini:Courgette Eggplant:Aubergine Potato Sweet_Potato Pumpkin Carrot Cabbage
    Kale Corn:Maize Quinoa Barley Cod Crab Duck Sausage Bacon Ham"""
)
_SECONDS = _parts(
    """Garlic Lemon Ginger Coconut Cheese Tomato Basil Honey Mustard Curry Chili Lime Walnut
    Almond Apple Mango Sesame Peanut Cilantro:Coriander Rosemary Parmesan Avocado Bean Pepper"""
)
_DISHES = _parts(
    """Soup Salad Stir_Fry Casserole:Gratin Pie Tacos Burger Stew Pasta Risotto Skewers Wrap Dumplings
    Meatballs Fritters Chowder Bake Sandwich Pizza Omelette"""
)


def _dish(number: int) -> Term:
    parts = _pick(number, _MAINS, _DISHES, _SECONDS)
    typed = [part.split(":")[0].replace("_", " ") for part in parts]
    written = [part.split(":")[-1].replace("_", " ") for part in parts]
    main, dish, second = (part.lower() for part in typed)
    return Term(
        (f"{written[0]} {written[1]} with {written[2]}", f"{written[2]} {written[0]} {written[1]}"),
        (f"{second} {main} {dish}", f"{main} {dish} {second}", f"{main} {second} {dish}"),
    )


_PROGRAMS = _parts(
    """Studio Sync Office Player Mail Cloud Notes Backup Editor Browser Scanner Messenger Planner
    Vault Draw Ledger"""
)


def _program(number: int) -> Term:
    first, kind, second, ending = _pick(number, _SYLLABLES, _PROGRAMS, _SYLLABLES, _ENDINGS)
    name = (first + second + ending).capitalize()
    typed = name.lower()
    return Term(
        (f"{name} {kind}", f"{name} {kind} Application"),
        (f"{typed} {kind.lower()}", typed, f"{typed}{kind.lower()}"),
    )


_STEMS = _parts(
    """Lora Metro Cipro Zola Fluva Pana Rami Este Clona Sero Tama Valo Nore Quina Dexa Broma
    Celi Oxa Tria Mela"""
)
_MIDDLES = _parts("bu ce di fa lo ma ni pra ro si ta ve xi zo")
_DRUGS = _parts(
    """pril:for_blood_pressure olol:beta_blocker statin:cholesterol_pill azole:antifungal
    cillin:antibiotic mycin:antibiotic profen:pain_pill setron:nausea_pill tadine:allergy_pill
    zepam:anxiety_pill oxetine:antidepressant formin:diabetes_pill"""
)


def _medicine(number: int) -> Term:
    drug, stem, middle = _pick(number, _DRUGS, _STEMS, _MIDDLES)
    ending, use = drug.replace("_", " ").split(":")
    name = stem + middle + ending
    typed = name.lower()
    return Term((name, f"{name} Tablets"), (typed, f"{typed} {use}", f"{typed} pills"))


_DEVICES = _parts(
    """Laser_Printer:printer Vacuum_Cleaner:vacuum Espresso_Machine:coffee_maker Dishwasher:dishwasher
    Television:tv Headphones:headphones Cordless_Drill:drill Digital_Camera:camera Notebook_Computer:laptop
    Wireless_Router:router Air_Conditioner:ac_unit Lawn_Mower:mower Microwave_Oven:microwave
    Baby_Monitor:baby_cam Electric_Shaver:razor Refrigerator:fridge"""
)
_SERIES = _parts("zx kd hl mf tr gs px vn rq ew bt lc sm dw qt")
_MAKERS = [first + last for first, last in zip(_SYLLABLES, _ENDINGS + _ENDINGS, strict=False)]


_SIZES = [str(size) for size in range(100, 1000, 50)]


def _model(number: int) -> Term:
    """A model name. After all combinations are used, the model numbers grow by a thousand."""
    maker, device, series, size = _pick(number, _MAKERS, _DEVICES, _SERIES, _SIZES)
    written, typed = device.replace("_", " ").split(":")
    generation = number // (len(_MAKERS) * len(_DEVICES) * len(_SERIES) * len(_SIZES))
    code = f"{series}-{int(size) + 1000 * generation}"
    return Term(
        (f"{maker.capitalize()} {code.upper()} {written}", f"{written} {code.upper()}"),
        (f"{maker} {code}", f"{maker} {typed} {code}", code, f"{code.replace('-', '')} {typed}"),
    )


def _site(number: int) -> Term:
    """The name of a web site, one word."""
    ending, first, second, third = _pick(number, _ENDINGS, _SYLLABLES, _SYLLABLES, _SYLLABLES)
    name = (first + second + third + ending).capitalize()
    return Term((name,), (name.lower(),))


TOWNS = _generator(_town, _TOWN_TAILS, _TOWN_HEADS, _STATES, _TOWN_BEFORE)
RETAILERS = _generator(_store, _ENDINGS, _SYLLABLES, _SHOPS, _SYLLABLES)
GARMENTS = _generator(_garment, _CLOTHES, _MATERIALS, _CUTS)
DISHES = _generator(_dish, _MAINS, _DISHES, _SECONDS)
PROGRAMS = _generator(_program, _SYLLABLES, _PROGRAMS, _SYLLABLES, _ENDINGS)
MEDICINES = _generator(_medicine, _DRUGS, _STEMS, _MIDDLES)
SITES = _generator(_site, _ENDINGS, _SYLLABLES, _SYLLABLES, _SYLLABLES)
MODELS = TermGenerator(_model, 1 << 60)
