"""Stop words by language: articles, pronouns, prepositions, conjunctions, forms of to be and to have.

Written as they are compared: case-folded (German ß is ss, Greek ς is σ), with the ASCII apostrophe, and with
the letters that `languages` folds (Arabic أ is ا, Russian ё is е).
"""

from __future__ import annotations

_WORDS = {
    "english": """
        a about above after again against ain't all am an and any are aren't as at be because been before
        being below between both but by can't cannot could couldn't did didn't do does doesn't doing don't
        down during each few for from further had hadn't has hasn't have haven't having he he'd he'll he's
        her here here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it
        it's its itself let's me more most mustn't my myself no nor not of off on once only or other ought
        our ours ourselves out over own same shan't she she'd she'll she's should shouldn't so some such
        than that that's the their theirs them themselves then there there's these they they'd they'll
        they're they've this those through to too under until up very was wasn't we we'd we'll we're we've
        were weren't what what's when when's where where's which while who who's whom why why's with won't
        would wouldn't you you'd you'll you're you've your yours yourself yourselves
    """,
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm
        andern anders auch auf aus bei beim bin bis bist da damit dann das dass dasselbe dazu dein deine
        deinem deinen deiner deines dem demselben den denn denselben der derselbe derselben des desselben
        dessen dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch ein
        eine einem einen einer eines einig einige einigem einigen einiger einiges einmal er es etwas euch
        euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat hatte hatten hattest hattet
        hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist jede jedem
        jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines
        können könnte machen man manche manchem manchen mancher manches mein meine meinem meinen meiner
        meines mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem
        seinen seiner seines selbst sich sie sind so solche solchem solchen solcher solches soll sollte
        sondern sonst über um und uns unser unsere unserem unseren unserer unseres unter viel vom von vor
        während war waren warst was weg weil weiter welche welchem welchen welcher welches wenn werde werden
        wie wieder will wir wird wirst wo wollen wollte würde würden zu zum zur zwar zwischen
    """,
    "french": """
        à ai aie aient aies ait as au aucun aucune aura aurai auraient aurais aurait auras aurez auriez
        aurions aurons auront aussi autre autres aux avaient avais avait avant avec avez aviez avions avoir
        avons ayant c'est ça ce ceci cela celle celles celui ces cet cette ceux chaque ci comme d'un d'une
        dans de des donc dont du elle elles en encore entre es est et étaient étais était étant été êtes
        étiez étions être eu eue eues eurent eus eut eux fait furent fus fut ici il ils j'ai je l'on la le
        les leur leurs lui ma mais me même mêmes mes moi mon n'est ne ni nos notre nous on ont ou où par pas
        pendant peu peut plus pour pourquoi qu'elle qu'il qu'ils qu'on qu'un qu'une quand que quel quelle
        quelles quels qui s'est s'il sa sans se sera serai seraient serais serait seras serez seriez serions
        serons seront ses si soi soient sois soit sommes son sont sous soyez soyons suis sur ta te tes toi
        ton tous tout toute toutes très tu un une vers vos votre vous y
    """,
    "spanish": """
        a al algo algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así aunque
        cada como con contra cual cuales cuando cuándo de del desde donde dónde dos durante e el él ella
        ellas ellos en entre era éramos eran eras eres es esa esas ese eso esos esta está estaba estabais
        estaban estabas estado estáis estamos están estar estas estás este esto estos estoy fue fueron fui
        fuimos fuiste ha habéis había habíais habían habías han has hasta hay haya he hemos hubo la las le
        les lo los más me mi mí mía mías mientras mío míos mis mucho muchos muy nada ni no nos nosotras
        nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque que
        qué quien quién quienes se sea sean ser será serán si sí sido siendo sin sobre sois solo sólo somos
        son soy su sus suya suyas suyo suyos también tanto te tenéis tenemos tener tengo ti tiene tienen
        tienes todo todos tu tú tus tuya tuyas tuyo tuyos un una unas uno unos vosotras vosotros vuestra
        vuestras vuestro vuestros y ya yo
    """,
    "italian": """
        a abbia abbiamo abbiano ad agli ai al alla alle allo anche ancora avere avete aveva avevano
        avevo avrà avuto c'è che chi ci ciò coi col come con contro cosa cui da dagli dai dal dalla dalle
        dallo degli dei del della delle dello dentro di dopo dove e è ebbe ed era erano eravamo eri ero essa
        esse essere essi esso fa fino fosse fossero fra fu furono gli ha hai hanno ho i il in io la le lei li
        lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi non nostra
        nostre nostri nostro o ogni per perché però più poco poi prima qual quale quali quando quanta quante
        quanti quanto quella quelle quelli quello questa queste questi questo qui sarà saranno se sei senza
        si sia siamo siano siete sono sopra sotto sta stata state stati stato stesso su sua sue sugli sui sul
        sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno vi voi
        vostra vostre vostri vostro
    """,
    "dutch": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens
        elk elke en er ge geen geweest haar had hadden heb hebben heeft hem hen het hier hij hoe hun ik in is
        ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu
        of om omdat onder ons onze ook op over reeds te tegen toch toen tot tussen u uit uw van veel voor
        waar want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zei zelf zich zij zijn zo
        zonder zou
    """,
    "portuguese": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até cada com como contra da das de dela delas
        dele deles depois desde do dos e é ela elas ele eles em entre era eram éramos essa essas esse esses
        esta está estamos estão estar estas estava estavam este estes estive esteve estou eu foi fomos for
        foram fosse fossem fui há haja hão havia hei isso isto já lhe lhes mais mas me mesmo meu meus minha
        minhas muito na não nas nem no nos nós nossa nossas nosso nossos num numa o onde os ou para pela
        pelas pelo pelos pois por porque qual quais quando que quem se seja sejam sem ser será serão seu seus
        só sobre somos sou sua suas também te tem têm temos tenha tenho ter teu teus teve tinha tinham tive
        tu tua tuas tudo um uma umas uns você vocês vos
    """,
    "swedish": """
        alla allt än andra är att av bara bli blir blev blivit då där de dem den denna deras dess dessa det
        detta dig din dina ditt du efter ej eller en er era ert ett för från ha hade han hans har henne hennes
        här hon honom hur i icke in ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot
        mycket någon något några när ni nu och om oss på så sådan sådana sådant samma sedan sig sin sina
        själv sitt ska skall skulle som till under upp ut utan vad vår våra vart varför vari varit varje vars
        vårt vem vi vid vilka vilkas vilken vilket
    """,
    "russian": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до
        его ее если есть еще же за здесь и из или им их к как ко когда кто ли либо мне может мы на над надо
        наш не него нее нет ни них но ну о об однако он она они оно от очень по под при с со так также такой
        там те тем то того тоже той только том ты у уже хотя чего чей чем что чтобы чье чья эта эти это
        этого этой этот я
    """,
    "ukrainian": """
        а або але б без би був була були було бути в вам вас ви від він вона вони воно для до є же з за зі й
        його із інші і їх її коли ли ми на над нас не немає ні по під при про та так також такий там те ти
        тільки то того у усі хто це цей ця ці чи що щоб як яка який які якщо я
    """,
    "bulgarian": """
        а ако без би беше бъде в вас ви все във върху да до ето за защо и из или им има как като което които
        който която към ли може му на над не него нея ни никой но някой от по под при с са само се си след
        със също така такъв там те тези то това този той тук тя у че ще я
    """,
    "serbian": """
        a ali bez bi bila bili bilo biti da do će ga i ili iz ima ja je jer još kad kada kako kao koja koje
        koji li me mi mu na nad ne nego nije nisu njih o od on ona oni ono po pod pre pri s sa samo se su
        sve šta što ta taj te ti to u uz već vi za а али без би била били било бити да до ће га и или из има
        ја је јер још кад када како као која које који ли ме ми му на над не него није нису њих о од он она
        они оно по под пре при с са само се су све шта што та тај те ти то у уз већ ви за
    """,
    "polish": """
        a aby albo ale ani aż bardzo bez bo by był była było były być ci co czy dla do gdy gdzie go i ich im
        inne iż ja jak jako je jego jej jest już każdy kiedy kto która które którego której który których
        lub ma mają mi może mu my na nad nam nas nasz nie nich nim niż no o od on ona one oni oraz po pod
        ponad poza przed przez przy są się sobie tak także tam te tego tej ten też to tu ty tych tylko tym u
        w we wszystko wy z za ze że
    """,
    "czech": """
        a aby ale ani ano až bez bude být by byl byla bylo byly co či do i jak jako je jeho jej její jejich
        jen jenž jestli ještě již jsem jsi jsme jsou k kam každý kde kdo kdy když ke která které kterého
        který kteří ku má mají mezi mi mně můj na nad nám náš ne nebo než nic o od on ona oni pak po pod
        podle pokud pro proč proto protože před přes při s se si so ta tak také tam te tedy tento ten to
        toho tohoto tom tomto tu ty u v vám váš ve více však všechno vy z za ze že
    """,
    "slovak": """
        a aby aj ako ale alebo ani asi až bez bol bola boli bolo bude by byť cez čo či do ešte ho i ich iba
        ja je jeho jej k kam každý kde kto ktorá ktoré ktorý kým ku ma má mi medzi na nad nám nás nie o od
        on ona oni po pod podľa pre pred preto pri s sa si so sú ta tak takže tam ten tento to toho toto tu
        u už v vám vás viac vo však všetko vy z za že
    """,
    "croatian": """
        a ali bez bi bila bili bilo biti će da do ga i ili iz ima ja je jer još kad kada kako kao koja koje
        koji kroz li me mi mu na nad ne nego nije nisu njih o od on ona oni ono po pod prema pri prije s sa
        samo se su sve što ta taj te ti to u uz već vi za
    """,
    "slovenian": """
        a ali bi bil bila bili bilo biti brez da do ga ima in iz ja je jih jo k kaj kako kar kdo ker ki ko
        kot le med mi moj na nad naj ne ni nič o ob od on ona oni pa po pod pred pri s saj se sem si smo so
        sta tako tam te ter ti to tudi tukaj v vaš ve vi za zelo že
    """,
    "danish": """
        ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog
        du efter eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis
        hvor i ikke ind jeg jer jo kan kunne man mange med meget men mig min mine mit mod når ned noget
        nogle nu og også om op os over på sådan selv sig sin sine sit skal skulle som thi til ud under uden
        vær være været var ved vi vil ville vor
    """,
    "norwegian": """
        alle at av bare begge ble bli blir da de deg dem den denne der dere deres det dette din disse ditt
        du eller en enn er et ett etter for før fra ha hadde han hans har hennes her hos hun hva hvem hver
        hvilken hvis hvor i ikke ingen inn jeg kan kunne man mange med meg mellom men mer min mitt mot må
        når nå noe noen og også om opp oss over på så seg selv sin sitt skal skulle slik som til under ut
        uten vår være vært var ved vi vil ville
    """,
    "finnish": """
        ei eivät emme en että ettei eikä hän he hänen heidän ja jo joka joko jolla jos jossa joten jotka
        kaikki kanssa koska kuin kuinka kun kuka me mikä minä minun missä mitä mitkä mukaan mutta myös
        myöskin nämä ne niin nyt oli olla olivat on ovat ole olen olet ollut sekä se sen siellä sillä sinä
        siinä sitä tai tämä tämän te tuo tässä vaan vai vain vielä voi yli
    """,
    "turkish": """
        acaba ama ancak bana bazı belki ben beni benim bile bir biri biz bizi bizim bu buna bunda bundan
        bunlar bunu bunun çok çünkü da daha de değil diğer diye eğer en gibi hangi hem hep hepsi her hiç
        için ile ise kendi ki kim kimse mi mı mu mü nasıl ne neden nerede niye o olan olarak oldu olduğu on
        ona onlar onu onun sen seni senin siz sizi sizin şey şu tüm var ve veya ya yani yok
    """,
    "hungarian": """
        a abban ahhoz ahogy aki akik akkor alatt által általában amely amelyek ami amit an annak arra át az
        azért azok azon azonban azt aztán azzal be belül benne csak de e ebben egy egyéb egyes egyik egyre
        ehhez ekkor el elég ellen elő először előtt én ennek erre és ez ezek ezen ezért ezt ezzel fel felé
        ha hanem hogy hogyan hol ide így ilyen is itt kell ki kívül le legyen lehet lenne lett lesz maga már
        más meg még mely mert mi mint mit minden mindig ne nélkül nem nincs ő ők olyan össze ott pedig s
        saját sem se sok számára szemben szerint te tehát több tovább úgy után utána vagy van vannak való
        vele vissza volt voltak
    """,
    "romanian": """
        a acea aceasta această aceea acei aceia acel acela acele acest acesta aceste acestea acești ai al
        ale am ar are as asta astfel atât au avea ca că care cât câte către ce cel cele cei cine cu cum da
        dacă dar de deci deja despre din dintre doar după ea ei el ele era este eu face fără fi fie fiind
        fost iar în între la le li lor lui mai mea meu mi mult ne nici nimic noastre noi nostru nu o or
        orice ori pe pentru peste poate prin sa să sau se și sub sunt ta te toate tot toți tu un una unde
        unei unele unor unui va vă vor vostru
    """,
    "greek": """
        αλλά αν αντί από αυτά αυτέσ αυτή αυτήν αυτό αυτοί αυτόσ αυτού αυτούσ αυτών για γιατί δε δεν εγώ εδώ
        είμαι είναι εκεί εμείσ ενώ ένα έναν ένασ ενόσ επί επίσησ εσείσ εσύ έχει έχουν έχω ή ήταν η θα και
        κατά κάθε με μαζί μασ μέσα μετά μη μην μια μία μιασ μόνο να ο οι όπου όπωσ όταν ότι που πολύ πριν
        προσ πωσ σαν σασ σε στα στη στην στησ στισ στο στον στουσ τα τη την τησ τι τισ το τον του τουσ των
        ωσ
    """,
    "arabic": """
        اثناء اذا اكثر الا التي الذي الذين الى اليه ام اما ان انا انت انه او اي ايضا بعد بعض بل بلا بما به
        بها بين تحت تلك ثم جدا جميع حتى حول حيث خلال دون ذلك سوف سوى ضد ضمن عبر على عليه عليها عن عند عندما
        غير فوق في فيه فيها قبل قد كان كانت كل كما كي كيف لا لان لدى لقد لكل لكن لم لما لن له لها لو لي ليس
        ليست ما ماذا متى مثل مع من منذ منه منها نحن نحو نعم هذا هذه هل هم هنا هناك هو هي و وفي ولا ومن يا
        يكون
    """,
    "persian": """
        آن آنها اش اگر اما ام ان او ای این اینکه با باید بر برای بعد به بود بودن بی بین پس پیش تا تر ترین تو
        جز چه چون چند خود در دو را روی زیر شد شده شما شود همه هم همین هر هست هستند هیچ و ولی وی یا یک که کرد
        کرده کند کنند کنید گر ما من می مورد نه نیز نیست است از
    """,
    "hebrew": """
        אבל או אולי אחר אחרי אין איך אל אלה אם אני אנחנו אשר את אתה בין בלי גם הוא היא היה היו הם הן הנה זאת
        זה זו יש כאשר כי כך כל כמו כמה לא לו לי למה מאוד מה מי מן עד על עם עוד עליו פי רק של שלא שלו שלה שלי
        שם תחת
    """,
    "hindi": """
        अगर अपना अपनी अपने अब आदि आप इन इस इसका इसकी इसके इसमें इसी उन उनका उनकी उनके उस उसका उसकी उसके एक
        और कई कर करता करते करना करने कहा का काफी कि किया किसी की कुछ के को कोई कौन गया जब जहाँ जा जिन जिस
        जैसे जो तक तब तरह तो था थी थे दिया दो द्वारा न नहीं ने पर पहले फिर बहुत बाद भी मगर में मैं यदि यह
        यहाँ या ये रहा रहे लिए व वह वहाँ वाला वाली वाले वे सब साथ से हम हर ही हुआ हुई हुए है हैं हो होता
        होती होते होना
    """,
    "indonesian": """
        ada adalah agar akan aku anda antara apa atas atau bagi bahwa banyak beberapa belum bisa boleh bukan
        dalam dan dapat dari dengan di dia hanya harus hingga ini itu jika juga kami kamu kan karena kata ke
        kepada ketika kita lagi lain lebih maka masih mereka namun nya oleh pada para pernah pun saat sangat
        saya secara sebagai sebelum seperti serta setelah setiap sudah supaya tanpa telah tentang tetapi
        tidak untuk yaitu yang
    """,
    "vietnamese": """
        anh bị bởi các cái cần cho chỉ chúng có của cùng cũng đã đang để đến đều do được em gì hay hơn khi
        không là lại lên mà mình mỗi một nào này nếu như nhưng những nó nơi nữa ở phải qua ra rằng rất rồi
        sau sẽ sự tại theo thì trên trong trước từ tôi và vào vẫn vậy về vì việc với vừa
    """,
    "catalan": """
        a al als amb aquell aquella aquelles aquells aquest aquesta aquestes aquests això així cada com
        contra cal de del dels des després dins dos el ell ella elles ells els em en entre era eren és érem
        et fins ha han has havia he hem hi ho i jo la les li lo los me més meu meva mi molt mon na ni no
        nosaltres o on pel pels per però perquè poc què quan qual que quin qui sa se sense ser ses seu seus
        seva si sobre sóc som són sota sou també tan te tenir tinc tot tots tu un una unes uns va vaig van
        vosaltres
    """,
    "estonian": """
        aga ei enam ega et ehk iga ilma ja jah juba juurde kas kes keda kelle kui kuid kus kõik küll ma
        mille millal mina minu mis mitte mu need neid nii ning nüüd oli olid olema on pole poolt peale
        põhjal sa see seda selle sest siin siis sina sinu ta tema nende vaid veel või üle
    """,
    "lithuanian": """
        apie ar arba aš bei bet būti buvo dar dėl ir iš iki į jei ji jie jis jo jos jų jūs kad kai kaip kas
        kiek kur kuri kurie kuris labai man mes mūsų nėra ne nei nes nors nuo o pagal per po prie prieš savo
        su ta tai taip tarp tas tik to tu už virš visi viso yra
    """,
    "latvian": """
        ap ar arī bet bez bija būt caur cik daudz es gan ir jau ja jo jūs ka kad kas kā kur kurš kurā lai
        līdz mēs man ne nav no nu pa par pat pie pēc pirms priekš šis šī šo starp tā tad tas tikai tiek to
        tomēr tu un uz vai var viņa viņš virs visi zem
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _WORDS.items()
}
