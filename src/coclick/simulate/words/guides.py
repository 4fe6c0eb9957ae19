"""Domains of informational pages: travel, health, recipes and software."""

from __future__ import annotations

from coclick.simulate.words.names import DISHES, MEDICINES, PROGRAMS, TOWNS
from coclick.simulate.words.notation import domain

TRAVEL = domain(
    "travel",
    subjects="""
        New York City / New York = new york / nyc / ny / new york city
        Los Angeles / Greater Los Angeles = los angeles / la / los angeles ca
        San Francisco / San Francisco Bay Area = san francisco / sf / san fran / bay area
        Las Vegas / Las Vegas, Nevada = las vegas / vegas / lv
        Chicago / Chicago, Illinois = chicago
        Washington, District of Columbia = washington dc / dc
        Boston / Boston, Massachusetts = boston / boston ma
        Miami / Greater Miami = miami / miami beach / miami fl
        New Orleans = new orleans / nola / big easy
        Philadelphia = philadelphia / philly ; San Diego = san diego / sd / san diego ca
        Orlando / Orlando, Florida = orlando / disney orlando
        Seattle / Seattle, Washington = seattle
        Honolulu / Oahu Island = honolulu / hawaii / oahu
        Denver / Denver, Colorado = denver / denver co
        Nashville / Nashville, Tennessee = nashville / nashville tn ; Atlanta = atlanta / atl
        London / Greater London = london / london uk ; Paris / Paris, France = paris / paris france
        Rome / Roma, Italy = rome / rome italy ; Barcelona / Catalonia = barcelona / bcn
        Amsterdam / Amsterdam, Netherlands = amsterdam
        Tokyo / Tokyo Metropolis = tokyo / tokyo japan
        Mexico City / Ciudad de Mexico = mexico city / cdmx
        Toronto / Toronto, Ontario = toronto / toronto canada
        Vancouver / Vancouver, British Columbia = vancouver / vancouver bc
        Cancun = cancun / riviera maya
        Yellowstone National Park = yellowstone / ynp
        Grand Canyon National Park = grand canyon / gcnp
        Niagara Falls / Niagara Region = niagara falls / niagara
    """,
    aspects="""
        Accommodation / Lodging / Hotels = hotels / places to stay / hotel / rooms / motel
        Holiday Apartments / Self-Catering Residences = airbnb / vacation rentals / condo / short term rental
        Hostels / Shared Dormitories = hostel / backpackers / youth hostel

        Air Travel / Flights / Airline Connections = flights / plane tickets / airfare / fly to
        Airport Transfers / Ground Transportation = airport shuttle / taxi from airport / airport pick up

        Attractions / Sightseeing / Places of Interest = things to do / what to see / tourist spots
        Guided Excursions / Organised Tours = tours / day trips / bus tour
        Museums and Galleries = museums / art museum / exhibits

        Dining / Restaurants / Gastronomy = restaurants / where to eat / food / places to eat
        Nightlife / Evening Entertainment = bars / night clubs / party

        Vehicle Hire / Car Rental Services = rent a car / car rental / rental cars
        Public Transit / Metropolitan Transport = subway map / bus / metro / trains

        Climate / Seasonal Weather = weather / forecast / best time to visit / temperature
    """,
    qualifiers="""
        Affordable / Low-Cost / Economy = cheap / budget / low price
        Luxury / Five-Star = luxury / 5 star / fancy
        Family / Families with Children = kid friendly / with kids / for families
        Pet-Welcoming / Animal Friendly = pet friendly / dog friendly / with dog
        City Centre / Central District = downtown / city center
    """,
    generator=TOWNS,
    queries={
        "s": "{s}\n visit {s}\n {s} travel\n trip to {s}\n {s} vacation",
        "sa": "{a} {s}\n {s} {a}\n {a} in {s}\n best {a} {s}\n {a} near {s}\n {s} {a} reviews",
        "saq": "{q} {a} {s}\n {q} {a} in {s}\n {s} {q} {a}\n {a} {s} {q}",
    },
    titles={
        "a": "{a}: All Destinations\n {a} – Compare Every City\n Directory of {a}",
        "s": "{s} – Official Visitor Guide\n Welcome to {s}\n {s} Travel Planner",
        "sa": "{s} {a} – Official Guide\n {a} in {s}\n {s}: {a}\n {a}, {s} | Traveller Handbook",
        "saq": "{q} {a} in {s}\n {s} – {q} {a}\n {a} in {s}: {q} Selection",
    },
    sentences="""
        Plan your visit with independent information on {a} in {s}.
        Compare {a} by district, price and guest rating before you depart.
        The tourism board of {s} inspects all listed premises every year.
        Availability in {s} changes with the season, so reserve early.
        Our editors selected {q} {a} after many visits.
        Maps, opening hours and contact details are included.
        Guests describe the neighbourhood as lively and well connected.
    """,
    query_sentences="""
        Looking for {q} {a} in {s}?
        Everything about {s} {a} on one page.
        {s} {a}: what locals say.
    """,
    sites="visit{s}.example {s}-guide.example travelatlas.example tripnotes.example worldjourneys.example",
)

HEALTH = domain(
    "health",
    subjects="""
        Myocardial Infarction = heart attack / coronary
        Hypertension = high blood pressure / high bp / hbp
        Cerebrovascular Accident / Ischaemic Stroke = stroke / mini stroke
        Type 2 Diabetes Mellitus = diabetes / sugar
        Gastro-Oesophageal Reflux Disease = heartburn / acid reflux / gerd
        Influenza = flu / the flu
        Upper Respiratory Infection = cold / common cold / runny nose
        Varicella = chicken pox / chickenpox
        Allergic Rhinitis = hay fever / pollen allergy / allergies ; Urticaria = hives / itchy rash
        Cephalalgia / Migraine Disorder = migraine / bad headache / headaches
        Tinnitus = ringing in ears
        Insomnia / Sleep Disturbance = cant sleep / insomnia ; Vertigo = dizziness / dizzy / vertigo
        Lumbar Pain / Dorsalgia = back pain / lower back pain / sore back
        Gout / Uric Arthritis = gout / toe pain
        Osteoarthritis = arthritis / joint pain / sore joints
        Plantar Fasciitis = heel pain / plantar
        Epistaxis = nose bleed / nosebleeds ; Halitosis = bad breath
        Alopecia = hair loss / going bald
        Acne Vulgaris = acne / pimples / zits ; Atopic Dermatitis = eczema / dry itchy skin
        Human Papillomavirus Warts / Verruca = warts / wart ; Herpes Zoster = shingles
        Urinary Tract Infection / Cystitis = uti / bladder infection
        Nephrolithiasis = kidney stones / kidney stone
        Major Depressive Disorder = depression / feeling sad
        Anxiety Disorder = anxiety / panic attack
        Attention-Deficit Hyperactivity Disorder = adhd / add ; Bronchial Asthma = asthma / wheezing
        Hypothyroidism = underactive thyroid / low thyroid
        Iron-Deficiency Anaemia = anemia / low iron
        Conjunctivitis = pink eye / red eye ; Otitis Media = ear infection / earache
        Pertussis = whooping cough ; Gastroenteritis = stomach flu / stomach bug / food poisoning
    """,
    aspects="""
        Clinical Signs / Symptomatology = symptoms / signs / signs of
        Diagnosis / Examination = test / how to know / diagnose
        Aetiology / Risk Factors = causes / what causes / why

        Therapy / Treatment Options = treatment / cure / how to treat / get rid of
        Pharmacological Management / Medication = medicine / pills / drugs for
        Surgical Intervention = surgery / operation
        Home Remedies / Self-Care = home remedies / natural remedies / at home

        Nutrition / Dietary Advice = diet / foods to eat / what to eat / foods to avoid
        Physical Activity / Rehabilitation = exercises / stretches

        Prevention / Immunisation = prevent / vaccine / shot
        Contagion / Transmission = contagious / can you catch

        Prognosis / Recovery Period = how long does it last / recovery time / how long
        Adverse Reactions / Undesirable Effects = side effects / reactions
    """,
    qualifiers="""
        Paediatric / Infants and Children = in kids / baby / toddler / in children
        Pregnancy / Expectant Mothers = pregnant / while pregnant / pregnancy
        Geriatric / Older Adults = elderly / over 60 ; Female Patients = women / in women / female
        Male Patients = men / in men ; Severe / Chronic = severe / chronic / bad
    """,
    generator=MEDICINES,
    queries={
        "s": "{s}\n what is {s}\n {s} help\n i have {s}\n {s} pictures",
        "sa": "{s} {a}\n {a} {s}\n {a} of {s}\n {a} for {s}\n {s} {a} webmd",
        "saq": "{s} {a} {q}\n {a} {s} {q}\n {s} {q} {a}\n {s} {q}",
    },
    titles={
        "a": "{a}: Index of Conditions\n {a} from A to Z",
        "s": "{s}\n {s} – Overview for Patients\n {s}: Medical Encyclopedia",
        "sa": "{s}: {a}\n {a} of {s}\n {a} in {s} – Patient Leaflet\n {s} – {a}, Clinical Summary",
        "saq": "{s}: {a} ({q})\n {a} of {s} – {q}\n {q}: {a} in {s}",
    },
    sentences="""
        This leaflet summarises {a} in patients with {s}.
        Consult a physician about {a} that persist longer than expected.
        {s} is reviewed here by specialists on the basis of current guidelines.
        Particular caution is required: {q}.
        Evidence for {a} was rated as moderate in recent trials.
        Reviewed by the medical board; sources are listed below.
        Contact emergency services if the condition deteriorates.
    """,
    query_sentences="""
        In plain words: {s} {a} {q}.
        Many readers ask about {a} for {s}.
        {s} {a}: answers from a nurse.
    """,
    sites="medlexicon.example clinic-{s}.example healthleaflets.example patientlibrary.example",
)

RECIPES = domain(
    "recipes",
    subjects="""
        Lasagne al Forno / Lasagne = lasagna / lasagne
        Spaghetti Carbonara = carbonara / spaghetti carbonara
        Macaroni and Cheese = mac and cheese / mac n cheese / mac cheese
        Meat Loaf = meatloaf / meat loaf
        Roast Chicken / Oven Poultry = roast chicken / baked chicken / whole chicken
        Chili con Carne = chili / chilli
        Chicken Noodle Soup = chicken soup / noodle soup
        Pot Roast / Braised Beef = pot roast / roast beef
        Pulled Pork Shoulder = pulled pork / bbq pork
        Barbecue Spare Ribs = ribs / bbq ribs / baby back ribs
        Banana Bread / Banana Loaf = banana bread / bananabread
        Sourdough Loaf = sourdough / sour dough bread
        Pancakes / Griddle Cakes = pancakes / flapjacks / hotcakes
        Waffles = waffles / belgian waffles
        Chocolate Chip Biscuits / Cookies = chocolate chip cookies / choc chip cookies / cookies
        Brownies / Chocolate Traybake = brownies / fudge brownies
        New York Cheesecake = cheesecake / cheese cake
        Apple Tart / Apple Pie = apple pie ; Pumpkin Tart / Pumpkin Pie = pumpkin pie
        Carrot Cake = carrot cake
        Potato Gratin / Scalloped Potatoes = scalloped potatoes / cheesy potatoes
        Mashed Potatoes = mash / mashed potatoes
        Coleslaw / Cabbage Salad = coleslaw / cole slaw ; Caesar Salad = caesar salad / ceasar salad
        Guacamole / Avocado Dip = guacamole / guac ; Hummus / Chickpea Spread = hummus / humus
        Fried Rice = fried rice / egg fried rice ; Pad Thai Noodles = pad thai
        Chicken Tikka Masala = tikka masala
        Beef Stroganoff = stroganoff / beef stroganof ; Shepherd's Pie = shepherds pie / cottage pie
        Eggs Benedict / Poached Eggs = eggs benedict / poached eggs
        French Toast = french toast / eggy bread
        Pizza Dough / Pizza Base = pizza dough / homemade pizza
        Salmon Fillet / Baked Salmon = salmon / baked salmon
    """,
    aspects="""
        Preparation Method / Instructions = recipe / how to make / how do you make / recipes
        Slow Cooker Method = crock pot / slow cooker / crockpot
        Pressure Cooker Method = instant pot / pressure cooker
        Air Fryer Method / Hot Air = air fryer / airfryer
        Ingredients / Shopping List = ingredients / what do i need

        Nutritional Values / Energy Content = calories / carbs / nutrition facts / how many calories

        Storage / Preservation / Freezing = freeze / how long does it keep / leftovers / reheat

        Accompaniments / Serving Suggestions = side dishes / what goes with / sides
        Sauce / Dressing = sauce / gravy / topping

        Substitutions / Replacement Ingredients = substitute / without eggs / instead of
        Cooking Duration = how long to cook / temp
    """,
    qualifiers="""
        Vegan / Plant-Based = vegan / no dairy / dairy free
        Without Gluten / Coeliac-Safe = gluten free / gf
        Low-Carbohydrate / Ketogenic = keto / low carb
        Simple / Effortless = easy / quick / simple / 5 minute
        Wholesome / Reduced Fat = healthy / low fat / skinny
        Large Gatherings = for a crowd / party
        Traditional / Grandmother's = homemade / old fashioned / moms
    """,
    generator=DISHES,
    queries={
        "s": "{s}\n best {s}\n good {s}\n {s} ideas\n {s} dinner",
        "sa": "{s} {a}\n {a} {s}\n {a} for {s}\n best {s} {a}",
        "saq": "{q} {s} {a}\n {s} {a} {q}\n {a} {q} {s}\n {q} {s}",
    },
    titles={
        "a": "{a}: The Kitchen Reference\n {a} – Every Dish Explained",
        "s": "{s}\n {s} – The Kitchen Encyclopedia\n All about {s}",
        "sa": "{s}: {a}\n {s} – {a}\n {a} of {s}\n {a}: {s} from our Test Kitchen",
        "saq": "{q} {s}: {a}\n {s}, {q} – {a}\n {a} for {q} {s}",
    },
    sentences="""
        Our test kitchen presents {a} of {s} in detail.
        {s} is served warm and feeds four to six people.
        This version is {q} and was tested three times.
        Notes on {a} are found beneath the photographs.
        Preheat the oven and season generously with salt and pepper.
        Combine the wet components first, then fold in the rest.
        Rated by our community of home cooks.
    """,
    query_sentences="""
        My favourite {q} {s} {a}!
        {s} {a}, just like mom used to make.
        {q} {s} on a weeknight.
    """,
    sites="thetestkitchen.example {s}.example homecooks.example culinaria.example pantrynotes.example",
)

SOFTWARE = domain(
    "software",
    subjects="""
        Microsoft Outlook = outlook / ms outlook / hotmail
        Microsoft Excel = excel / ms excel / xls
        Microsoft Word = word / ms word ; Microsoft Teams = teams / ms teams
        Google Chrome Browser = chrome / google chrome
        Mozilla Firefox = firefox / ff / fire fox
        Gmail / Google Mail = gmail / g mail / google email
        YouTube Player = youtube / yt / you tube ; Spotify Music Client = spotify / spotfy
        Netflix = netflix / net flix
        Facebook / Facebook Social Network = facebook / fb / face book
        Instagram = instagram / insta / ig
        WhatsApp Messenger = whatsapp / whats app / wa
        Zoom Video Conferencing = zoom / zoom meeting
        Adobe Photoshop = photoshop / ps / photo shop
        Adobe Acrobat Reader = acrobat / adobe reader / pdf reader
        Dropbox File Synchronisation = dropbox / drop box ; Apple iTunes = itunes / i tunes
        Skype = skype
        Visual Studio Code = vscode / vs code ; Git Version Control = git / github
        Docker Engine = docker
        PostgreSQL Database = postgres / psql / postgresql ; MySQL Server = mysql / my sql
        Python Runtime = python / py
        Node Package Manager = npm / node ; Minecraft Java Edition = minecraft / mine craft / mc
        Steam Game Launcher = steam / steam games
        QuickBooks Accounting = quickbooks / quick books / qb
        WordPress Publishing Platform = wordpress / word press / wp ; VLC Media Player = vlc
        Virtual Private Network Client = vpn / vpn app
        Bluetooth Driver = bluetooth / blue tooth / bt
    """,
    aspects="""
        Credential Recovery / Password Reset = forgot password / reset password / cant log in
        Account Suspension / Access Denied = account locked / locked out / banned
        Sign-In Procedure = login / sign in / log in

        Application Crash / Unexpected Termination = crash / keeps crashing / keeps closing / stopped working
        Launch Failure / Startup Error = wont open / not opening / wont start / stuck on loading
        Performance Degradation / Latency = slow / lagging / freezing / takes forever

        Installation Procedure / Setup = download / install / setup / free download
        Installation Failure / Error 1603 = wont install / install failed / error 1603
        Removal / Uninstallation = uninstall / delete / remove

        Connectivity Failure / Error 0x80070057 = not connecting / no connection / offline / error 0x80070057
        Audio Malfunction / Silent Output = no sound / sound not working / mic not working

        Keyboard Shortcuts / Key Bindings = shortcuts / hotkeys
        Data Export / Backup Copy = backup / export / save copy
        Release Notes / Version Upgrade = update / new version / upgrade
    """,
    qualifiers="""
        Windows Operating System / Microsoft Windows = windows 11 / windows 10 / pc / win 10
        Apple macOS = mac / macbook / osx ; Apple iOS Devices = iphone / ipad / ios
        Android Devices = android / samsung / phone
        Linux Distributions = ubuntu / linux ; Enterprise Edition = work account / for business
    """,
    generator=PROGRAMS,
    queries={
        "s": "{s}\n {s} app\n {s} help\n {s} support\n what is {s}",
        "sa": "{s} {a}\n {a} {s}\n how to {a} {s}\n {s} {a} fix\n why {s} {a}",
        "saq": "{s} {a} {q}\n {q} {s} {a}\n {s} {a} on {q}\n {s} {q} {a}",
    },
    titles={
        "a": "{a} – Troubleshooting Index\n {a}: All Programs",
        "s": "{s} – Support Home\n {s} Documentation\n Introduction to {s}",
        "sa": "{s}: {a}\n {a} in {s}\n Resolve {a} – {s} Knowledge Base\n {s} Documentation: {a}",
        "saq": "{s} on {q}: {a}\n {a} in {s} ({q})\n {q} – {s} {a}",
    },
    sentences="""
        This article describes {a} in {s} and the recommended resolution.
        Administrators encounter {a} after a change of configuration.
        Applies to current and previous releases of {s}.
        The procedure was verified on {q}.
        Create a restore point before you modify system settings.
        If the problem persists, collect the log files and open a ticket.
        The cause was acknowledged by the vendor and documented here.
    """,
    query_sentences="""
        {s} {a} {q}? Try this first.
        Solved: {s} {a} [thread].
        Same problem here, {s} {a} since yesterday.
    """,
    sites="support.{s}.example docs.{s}.example sysadminwiki.example knowledgebase.example techforum.example",
)
