"""Domains of shopping: stores and their services, fashion, and electronics by model number."""

from __future__ import annotations

from coclick.simulate.words.names import GARMENTS, MODELS, RETAILERS
from coclick.simulate.words.notation import domain

STORES = domain(
    "stores",
    subjects="""
        Walmart / Walmart Stores = walmart / wal mart / wally world
        Target Corporation / Target = target / target store
        The Home Depot / Home Depot = home depot / hd / homedepot
        Lowe's Home Improvement = lowes / lowe s
        Best Buy / Best Buy Electronics = best buy / bestbuy / bb
        Costco Wholesale = costco / cosco
        Macy's Department Store = macys / macy s ; Kohl's Department Store = kohls / kohl s
        CVS Pharmacy / CVS Health = cvs / cvs drugstore
        Walgreens / Walgreen Company = walgreens / walgreen
        The Kroger Company / Kroger = kroger / krogers
        Whole Foods Market = whole foods / wf market
        Trader Joe's Company = trader joes / tjs
        IKEA Home Furnishings / IKEA = ikea / ikea furniture
        Nordstrom / Nordstrom Incorporated = nordstrom / nordstroms
        Sears Holdings / Sears = sears / sears store
        Bed Bath and Beyond = bed bath beyond / bbb ; Victoria's Secret = victorias secret / vs
        Barnes and Noble Booksellers = barnes noble / bn / barnes and nobles
        GameStop = gamestop / game stop
        Dick's Sporting Goods = dicks / dicks sporting ; AutoZone Parts = autozone / auto zone
        PetSmart / PetSmart Animal Supplies = petsmart / pet smart ; Big Lots = big lots / biglots
        Dollar General Corporation = dollar general / dg ; Ace Hardware = ace hardware / ace
        Starbucks Coffee Company = starbucks / sbux / starbuck
        Bank of America = bank of america / bofa / boa
        Wells Fargo Bank = wells fargo / wf bank ; United Parcel Service = ups / united parcel
        Federal Express / FedEx Corporation = fedex / fed ex
    """,
    aspects="""
        Prepaid Debit Card / Reloadable Account = money card / prepaid card / moneycard / debit card
        Credit Account / Store Credit Programme = credit card / card payment / pay my bill / card login
        Gift Certificate Balance = gift card balance / check gift card / giftcard

        Returns and Refunds / Exchange Policy = return policy / returns / refund / take back without receipt
        Customer Relations / Contact Centre = customer service / phone number / 1 800 number / complaints
        Order Status / Shipment Tracking = track order / where is my package / tracking

        Branch Locator / Store Locations = near me / locations / closest store / directions
        Trading Hours / Opening Times = hours / open today / what time close / holiday hours

        Weekly Circular / Promotional Savings = coupons / weekly ad / promo code / sale / deals
        Loyalty Programme / Member Benefits = rewards / points / membership

        Employment Opportunities / Careers = jobs / hiring / application / pay
        Associate Portal / Employee Self-Service = employee login / work schedule / paystub
    """,
    qualifiers="""
        Online / Digital = online / website / app ; Local Branch / In-Store = in store / local
        New Customers / First-Time Visitors = new customer / first time
        Seniors / Citizens over 60 = senior / seniors
        Business Accounts / Commercial Clients = business / for business
    """,
    generator=RETAILERS,
    queries={
        "s": "{s}\n {s}.com\n www {s} com\n {s} website\n {s} store",
        "sa": "{s} {a}\n {a} {s}\n {a} at {s}\n {s} {a} info\n how to {a} {s}",
        "saq": "{s} {a} {q}\n {q} {s} {a}\n {s} {q} {a}",
    },
    titles={
        "a": "{a} of All Major Retailers\n {a}: Directory by Company",
        "s": "{s} – Official Website\n {s}: Company Home\n About {s}",
        "sa": "{s} {a}\n {a} – {s}\n {s} Help Centre: {a}\n {a} at {s} Explained",
        "saq": "{s} {a} – {q}\n {a} for {q} – {s}\n {s}: {q} {a}",
    },
    sentences="""
        {s} provides {a} to shoppers throughout the country.
        Read the terms that apply to {a} before your next purchase.
        Our service desk answers questions about {a} every weekday.
        These conditions hold for {q} shoppers at {s}.
        Purchases made at {s} are covered by our guarantee.
        Keep your receipt and identification at hand.
        Some exclusions apply; see the small print.
    """,
    query_sentences="""
        Questions about {s} {a}? Start here.
        {s} {a} {q} step by step.
        All about the {s} {a}.
    """,
    sites="www.{s}.example help.{s}.example shopperdesk.example retailfacts.example consumeradvice.example",
)

FASHION = domain(
    "fashion",
    subjects="""
        Athletic Footwear / Running Shoes = running shoes / sneakers / trainers / joggers
        Hiking Footwear / Trail Boots = hiking boots / walking boots
        Sandals / Open Footwear = sandals / flip flops
        Dress Shoes / Formal Footwear = dress shoes / oxfords / work shoes
        Winter Boots = snow boots / winter boots
        Denim Trousers / Jeans = jeans / denim pants
        Chino Trousers = chinos / khakis / khaki pants
        Sports Leggings / Performance Tights = leggings / yoga pants / tights
        Swimwear = swimsuit / bathing suit
        Hooded Sweatshirts / Pullover Hoods = hoodie / sweatshirt / hoody
        Knitwear / Sweaters = sweater / jumper
        Rain Jackets / Weatherproof Outerwear = rain coat / raincoat / rain jacket
        Down Jackets / Insulated Outerwear = puffer jacket / winter coat / down coat
        Short-Sleeve Shirts / T-Shirts = t shirt / tee / tshirt / tees
        Button-Down Shirts = dress shirt / button up
        Sports Bras / Support Tops = sports bra / gym bra
        Underwear / Intimates = underwear / boxers / briefs
        Socks / Hosiery = socks / ankle socks
        Caps and Hats / Headwear = hat / baseball cap / beanie
        Backpacks / Rucksacks = backpack / book bag / school bag
        Travel Bags / Duffels = gym bag / duffle bag
        Suitcases / Luggage Sets = luggage / suitcase / carry on
        Wallets / Card Holders = wallet / billfold
        Wristwatches / Timepieces = watch / watches
        Sunglasses / Protective Eyewear = sunglasses / shades
        Evening Gowns / Formal Dresses = prom dress / evening dress / gown
        Belts = belt / leather belt
        Work Overalls / Protective Clothing = work pants / overalls / coveralls
        Gloves = gloves / mittens
        Pyjamas / Nightwear = pajamas / pjs / sleepwear ; Scarves and Shawls = scarf / shawl
    """,
    aspects="""
        Nike / NIKE Sportswear = nike / nikes
        Adidas Originals / Adidas = adidas / addidas / 3 stripes
        New Balance Athletics = new balance / nb ; Under Armour = under armour / under armor / ua
        Puma = puma ; Asics = asics

        The North Face / North Face = north face / tnf / northface ; Columbia Sportswear = columbia
        Patagonia Outdoor = patagonia / patagucci ; Timberland = timberland / timbs

        Levi Strauss / Levi's = levis / levi s ; Calvin Klein = calvin klein / ck
        Tommy Hilfiger = tommy / hilfiger
        Ralph Lauren / Polo Ralph Lauren = polo / rl ; Carhartt Workwear = carhartt / carhart
    """,
    qualifiers="""
        Women's / Ladies = womens / for women / ladies ; Men's / Gentlemen = mens / for men / guys
        Children's / Junior = kids / boys / girls / for kids
        Waterproof / Water-Resistant = waterproof / rain proof
        Wide Fitting / Extended Sizes = plus size / wide / big and tall
        Clearance / Reduced = cheap / sale / outlet
    """,
    generator=GARMENTS,
    queries={
        "s": "{s}\n buy {s}\n best {s}\n {s} online\n {s} store",
        "sa": "{a} {s}\n {s} {a}\n {a} {s} price\n {s} by {a}\n new {a} {s}",
        "saq": "{a} {s} {q}\n {q} {a} {s}\n {q} {s} {a}\n {a} {q} {s}",
    },
    titles={
        "a": "{a} – The Complete Collection\n {a} Brand Shop\n All Articles by {a}",
        "s": "{s} – All Brands\n {s} Department\n {s}: Buying Advice",
        "sa": "{a} {s}\n {s} by {a}\n {a} – {s} Collection\n {a} {s}, New Season",
        "saq": "{a} {q} {s}\n {q} {s} by {a}\n {a} {s} – {q}",
    },
    sentences="""
        {s} by {a}, designed for comfort and everyday wear.
        This {a} model combines light materials with a durable finish.
        Cut for {q} wearers, with a regular fit.
        Machine washable, available in several colours and sizes.
        Free delivery and thirty days to send the article back.
        See the size chart for measurements in inches and centimetres.
        Upper and lining are made of recycled fabric.
    """,
    query_sentences="""
        Shop {a} {s} {q}.
        Our most popular {q} {s} this season.
        {a} {s}: see what is new.
    """,
    sites="www.{a}.example stylehaus.example everydaywear.example outletstreet.example thewardrobe.example",
    sells=True,
    aspects_are_names=True,
)

ELECTRONICS = domain(
    "electronics",
    subjects="",  # all are invented: model numbers
    aspects="""
        Operating Instructions / User Manual = manual / instructions / how to use / pdf
        Device Software / Driver Package = driver / drivers / software download / firmware
        Fault Codes / Error Indicators = error code / blinking light / not working / wont turn on

        Spare Parts / Replacement Components = parts / replacement parts / belt / hose
        Power Accessories / Rechargeable Battery = battery / charger / power cord / adapter
        Consumables / Filters and Cartridges = ink / filter / cartridge / bags

        Technical Specifications / Data Sheet = specs / dimensions / size / watts
        Customer Ratings / Product Test = review / reviews / is it good / rating
        Retail Price / Purchase Offer = price / buy / cheapest / where to buy / deal

        Guarantee / Warranty Registration = warranty / register / repair service
    """,
    qualifiers="""
        Refurbished / Certified Pre-Owned = refurbished / used / second hand ; Black Finish = black
        White Finish = white ; Cordless / Battery Operated = cordless / wireless
        Compact = mini / small / compact
    """,
    generator=MODELS,
    queries={
        "s": "{s}\n buy {s}\n {s} amazon\n {s} online",
        "sa": "{s} {a}\n {a} {s}\n {a} for {s}\n best {a} {s}",
        "saq": "{s} {a} {q}\n {q} {s} {a}\n {s} {q} {a}",
    },
    titles={
        "a": "{a} for All Devices\n {a}: Product Archive",
        "s": "{s}\n {s} – Product Page\n The {s} at a Glance",
        "sa": "{s} – {a}\n {a} for {s}\n {a}: {s}\n {s} {a}, Original Article",
        "saq": "{s} ({q}) – {a}\n {a} for {s}, {q}\n {q} {s}: {a}",
    },
    sentences="""
        {a} for the {s}, supplied by the manufacturer.
        The {s} is an appliance of the current series.
        This entry covers {a} and related service documents.
        Also available as {q} variant.
        Dispatched within two working days from our warehouse.
        Energy class and safety certificates are enclosed.
        Compatible with earlier units of the same line.
    """,
    query_sentences="""
        {s} {a}, in stock.
        Get the {q} {s} {a} here.
        Customers who own the {s} ask for {a}.
    """,
    sites="partsdepot.example appliancehub.example gadgetmarket.example manualarchive.example",
    sells=True,
)
