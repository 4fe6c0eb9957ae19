"""Stop words by language: articles, pronouns, prepositions, conjunctions, forms of to be and to have.

Written as `tokenizer.split_words` returns them: case-folded (German ß is ss), with the ASCII apostrophe.
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
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _WORDS.items()
}
