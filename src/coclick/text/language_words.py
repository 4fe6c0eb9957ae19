"""Words by which `guess_language` recognises the language of short texts: titles of products, queries.

Titles have few function words, so these are words of shops and catalogues: colours, materials, clothes,
things of the house, people, adjectives. Left out are brands, and words that shops of all countries use, such
as bluetooth, sneaker, gaming, set, box or pack. Written as `normalise` returns them: German ß is ss.
"""

from __future__ import annotations

_WORDS = {
    "en": """
        shoes boots shirt dress trousers pants jacket coat skirt socks hat gloves belt bag bags wallet watch
        women women's men's boys girls kids children baby's toddler adult ladies mens womens black white
        red blue green yellow brown grey gray pink purple silver gold dark light clear cotton leather wood
        wooden steel stainless glass paper plastic rubber wool silk kitchen bathroom bedroom garden outdoor
        office table chair desk bed lamp lights shelf curtain curtains pillow blanket towel rug cabinet
        drawer mirror cleaner cleaning washing machine dishwasher vacuum fridge freezer oven kettle knife
        knives spoon fork plate bowl cup bottle pan pot cover holder charger headphones wireless phone
        screen keyboard mouse printer ink camera speaker cable battery batteries replacement waterproof
        adjustable portable large small extra heavy duty cheap best free used size long short sleeve high
        low pair piece pieces inch inches feet ounce pound count book books toys toy game games card cards
        gift party wedding birthday christmas halloween school food water coffee tea cream oil soap shampoo
        hair face skin body hand hands foot eye eyes health disease cancer risk effect effects study
        treatment blood weight diet use system world war history news near things life love years time how
        what where find buy
        home air store order drill pie official guide method recipe recipes easy simple soup chicken city car
        rental travel account symptoms drug patient review reviews price new
    """,
    "de": """
        schuhe schuh stiefel hemd kleid hose hosen jacke mantel rock socken mütze handschuhe gürtel tasche
        taschen rucksack geldbörse uhr armbanduhr damen herren kinder jungen mädchen frauen männer schwarz
        weiss rot blau grün gelb braun grau rosa lila silber dunkelblau hellblau bunt baumwolle leder holz
        edelstahl glas papier kunststoff wolle seide eiche buche metall küche küchen bad badezimmer
        schlafzimmer garten büro tisch stuhl stühle schreibtisch bett lampe leuchte regal vorhang kissen
        decke handtuch teppich schrank schublade spiegel staubsauger waschmaschine spülmaschine kühlschrank
        backofen wasserkocher messer löffel gabel teller schüssel tasse flasche pfanne topf hülle halter
        halterung ladegerät kopfhörer lautsprecher kabellos handy bildschirm tastatur maus drucker kamera
        kabel akku ersatz wasserdicht verstellbar tragbar gross grosse klein kleine günstig kaufen gebraucht
        grösse lang kurz kurzarm langarm stück teilig buch bücher spielzeug spiel spiele geschenk geburtstag
        hochzeit weihnachten schule wasser kaffee tee milch öl seife haare haut gesicht hand füsse hund
        hunde katze katzen pferd fahrrad auto werkzeug bohrmaschine schraube schrauben farbe pflanze blumen
        kerze zubehör gerät geräte maschine ständer leicht warm weich puppe hängematte trinkflasche
        feuchtigkeitscreme zahnbürste dusche brille schmuck kette ohrringe
    """,
    "fr": """
        chaussures chaussure bottes chemise robe pantalon veste manteau jupe chaussettes bonnet gants
        ceinture sac sacs portefeuille montre femme femmes homme hommes enfant enfants bébé garçon fille
        filles noir noire blanc blanche rouge bleu bleue vert verte jaune marron gris grise violet argent
        doré coton cuir bois acier inoxydable verre papier plastique laine soie chêne cuisine salle bain
        chambre jardin bureau chaise lit lampe étagère rideau rideaux coussin couverture serviette tapis
        armoire tiroir miroir aspirateur lave linge vaisselle réfrigérateur four bouilloire couteau cuillère
        fourchette assiette bol tasse bouteille poêle casserole housse coque étui chargeur casque écouteurs
        enceinte fil téléphone écran clavier souris imprimante appareil câble batterie pile piles rechange
        étanche réglable grand grande petit petite cher pas acheter occasion taille long longue court courte
        manches pièces livre livres jouet jouets jeu jeux cadeau anniversaire mariage noël école eau café
        thé lait huile savon cheveux visage peau corps main pieds chien chat vélo voiture outil perceuse vis
        peinture plante fleurs bougie meuble meubles lumière trépied table chaud doux poupée randonnée dents
        lunettes bijoux collier boucles
    """,
    "es": """
        zapatos zapatillas botas camisa camiseta vestido pantalón pantalones chaqueta abrigo falda
        calcetines gorro guantes cinturón bolso bolsos mochila cartera reloj mujer mujeres hombre hombres
        niño niña niños niñas bebé negro negra blanco blanca rojo roja azul verde amarillo marrón gris rosa
        morado plateado dorado algodón cuero piel madera acero inoxidable vidrio cristal papel plástico lana
        seda cocina baño dormitorio jardín oficina mesa silla sillas escritorio cama lámpara estante
        estantería cortina cortinas cojín manta toalla alfombra armario cajón espejo aspiradora lavadora
        lavavajillas frigorífico nevera horno hervidor cuchillo cuchillos cuchara tenedor plato taza botella
        sartén olla funda soporte cargador auriculares altavoz inalámbrico inalámbricos teléfono móvil
        pantalla teclado ratón impresora cámara cable batería pilas recambio impermeable ajustable portátil
        grande pequeño pequeña barato barata baratos comprar talla largo larga corto corta manga piezas
        libro libros juguete juguetes juego juegos regalo cumpleaños boda navidad escuela colegio agua café
        leche aceite jabón pelo cabello cara cuerpo mano manos pies perro gato bicicleta coche herramienta
        taladro tornillo pintura planta flores vela mueble muebles luz luces muñeca dientes gafas collar
        pendientes
    """,
    "pt": """
        sapatos sapato tênis ténis botas camisa camiseta vestido calça calças jaqueta casaco saia meias
        gorro luvas cinto bolsa mochila carteira relógio mulher mulheres homem homens feminino feminina
        masculino masculina menino menina criança crianças infantil bebê bebé preto preta branco branca
        vermelho vermelha azul verde amarelo marrom castanho cinza cinzento rosa roxo prata dourado algodão
        couro pele madeira aço inox inoxidável vidro papel plástico lã seda cozinha banheiro quarto jardim
        escritório mesa cadeira cadeiras escrivaninha cama lâmpada luminária prateleira cortina cortinas
        almofada cobertor toalha tapete armário guarda roupa gaveta espelho aspirador máquina lavar louça
        geladeira frigorífico forno chaleira faca facas colher garfo prato xícara chávena copo garrafa
        frigideira panela capa suporte carregador fone fones ouvido alto falante sem fio telefone celular
        telemóvel tela teclado impressora câmera câmara cabo bateria pilhas reposição impermeável ajustável
        portátil grande pequeno pequena barato comprar tamanho longo longa curto curta manga peças livro
        livros brinquedo brinquedos jogo jogos presente aniversário casamento natal escola água café leite
        óleo sabonete cabelo rosto corpo mão mãos pés cachorro cão gato bicicleta carro ferramenta furadeira
        parafuso tinta planta flores vela móveis luz boneca dentes óculos colar brincos futebol futebolista
        clube jogador
    """,
    "it": """
        scarpe scarpa stivali camicia maglia maglietta vestito abito pantaloni giacca cappotto gonna calze
        calzini cappello guanti cintura borsa borse zaino portafoglio orologio donna uomo bambino bambina
        bambini ragazzo ragazza neonato nero nera bianco bianca rosso rossa blu verde giallo marrone grigio
        rosa viola argento oro cotone pelle legno acciaio inossidabile vetro carta plastica lana seta cucina
        bagno camera giardino ufficio tavolo sedia sedie scrivania letto lampada mensola scaffale tenda
        tende cuscino coperta asciugamano tappeto armadio cassetto specchio aspirapolvere lavatrice
        lavastoviglie frigorifero forno bollitore coltello coltelli cucchiaio forchetta piatto piatti tazza
        bicchiere bottiglia padella pentola custodia supporto caricatore cuffie auricolari altoparlante
        telefono cellulare schermo tastiera stampante fotocamera macchina cavo batteria pile ricambio
        impermeabile regolabile portatile grande piccolo piccola economico comprare taglia lungo lunga corto
        corta manica maniche pezzi libro libri giocattolo gioco giochi regalo compleanno matrimonio natale
        scuola acqua caffè latte olio sapone capelli viso corpo mano mani piedi cane gatto bicicletta auto
        attrezzo trapano vite vernice pianta fiori candela mobili luce bambola denti occhiali collana
        orecchini senza fili
    """,
    "nl": """
        schoenen schoen laarzen overhemd jurk broek jas rok sokken muts handschoenen riem tas tassen rugzak
        portemonnee horloge dames heren kinderen jongens meisjes vrouwen mannen baby's zwart wit witte
        zwarte rood rode blauw groen geel bruin grijs roze paars zilver goud katoen leer leren hout houten
        roestvrij staal glas papier kunststof wol zijde eiken keuken badkamer slaapkamer tuin kantoor tafel
        stoel stoelen bureau bed lamp kast plank gordijn gordijnen kussen deken handdoek tapijt vloerkleed
        lade spiegel stofzuiger wasmachine vaatwasser koelkast oven waterkoker mes lepel vork bord kom kop
        fles pan hoes houder oplader koptelefoon oordopjes luidspreker draadloos draadloze telefoon scherm
        toetsenbord muis printer kabel accu batterij batterijen vervanging waterdicht verstelbaar
        verstelbare draagbaar groot grote klein kleine goedkoop kopen maat lang korte mouw mouwen stuks boek
        boeken speelgoed spel spelletjes cadeau verjaardag bruiloft kerst school koffie thee melk olie zeep
        haar gezicht huid lichaam hand voeten hond honden kat katten fiets auto gereedschap boormachine
        schroeven verf plant bloemen kaars meubels verlichting pop tanden bril ketting oorbellen voor
    """,
    "sv": """
        skor sko stövlar skjorta klänning byxor jacka kappa kjol strumpor mössa handskar vantar bälte väska
        väskor ryggsäck plånbok klocka dam herr barn pojkar flickor kvinnor män svart vit vita svarta röd
        blå grön gul brun grå rosa lila silver guld bomull läder trä rostfritt stål glas papper plast ull
        silke ek kök badrum sovrum trädgård kontor bord stol stolar skrivbord säng lampa hylla gardin
        gardiner kudde filt handduk matta skåp låda spegel dammsugare tvättmaskin diskmaskin kylskåp ugn
        vattenkokare kniv knivar sked gaffel tallrik skål kopp flaska stekpanna gryta fodral skal hållare
        laddare hörlurar högtalare trådlös trådlösa telefon skärm tangentbord skrivare kamera kabel batteri
        batterier reservdel vattentät justerbar bärbar stor stora liten billig billiga köpa storlek lång
        kort ärm bok böcker leksak leksaker spel present födelsedag bröllop jul skola vatten kaffe te mjölk
        olja tvål hår ansikte hud kropp hand fötter hund katt cykel bil verktyg borrmaskin skruv färg växt
        blommor ljus möbler belysning docka tandborste glasögon halsband örhängen
    """,
    "da": """
        sko støvler skjorte kjole bukser jakke frakke nederdel strømper sokker hue handsker bælte taske
        tasker rygsæk pung ur dame damer herre herrer børn drenge piger kvinder mænd sort hvid hvide sorte
        rød blå grøn gul brun grå lyserød lilla sølv guld bomuld læder træ rustfrit stål glas papir plast
        uld silke eg køkken badeværelse soveværelse have kontor bord stol stole skrivebord seng lampe reol
        hylde gardin gardiner pude tæppe håndklæde skab skuffe spejl støvsuger vaskemaskine opvaskemaskine
        køleskab ovn elkedel kniv knive ske gaffel tallerken skål kop flaske pande gryde etui cover holder
        oplader høretelefoner højttaler trådløs trådløse telefon skærm tastatur mus printer kamera kabel
        batteri batterier reservedel vandtæt justerbar bærbar stor store lille billig billige køb købe
        størrelse lang kort ærme bog bøger legetøj spil gave fødselsdag bryllup jul skole vand kaffe te mælk
        olie sæbe hår ansigt hud krop hånd fødder hund kat cykel bil værktøj boremaskine skrue skruer maling
        plante blomster lys møbler belysning dukke tandbørste briller halskæde øreringe
    """,
    "no": """
        sko støvler skjorte kjole bukse bukser jakke frakk skjørt strømper sokker lue hansker votter belte
        veske vesker ryggsekk lommebok klokke dame damer herre herrer barn gutter jenter kvinner menn svart
        sort hvit hvite svarte rød blå grønn gul brun grå rosa lilla sølv gull bomull skinn lær tre
        rustfritt stål glass papir plast ull silke eik kjøkken bad baderom soverom hage kontor bord stol
        stoler skrivebord seng lampe hylle gardin gardiner pute teppe håndkle skap skuff speil støvsuger
        vaskemaskin oppvaskmaskin kjøleskap ovn vannkoker kniv kniver skje gaffel tallerken bolle kopp
        flaske stekepanne gryte etui deksel holder lader hodetelefoner høyttaler trådløs trådløse telefon
        skjerm tastatur skriver kamera kabel batteri batterier reservedel vanntett justerbar bærbar stor
        store liten billig billige kjøp kjøpe størrelse lang kort erme bok bøker leke leker leketøy spill
        gave bursdag bryllup jul skole vann kaffe te melk olje såpe hår ansikt hud kropp hånd føtter hund
        katt sykkel bil verktøy drill skrue skruer maling plante blomster lys møbler belysning dukke
        tannbørste briller halskjede øredobber
    """,
    "fi": """
        kengät kenkä saappaat paita mekko housut takki hame sukat pipo käsineet hanskat vyö laukku reppu
        lompakko kello naisten miesten lasten pojat tytöt naiset miehet musta valkoinen punainen sininen
        vihreä keltainen ruskea harmaa pinkki hopea kulta puuvilla nahka nahkainen puu puinen ruostumaton
        teräs lasi paperi muovi villa silkki tammi keittiö kylpyhuone makuuhuone puutarha toimisto pöytä
        tuoli työpöytä sänky lamppu valaisin hylly verho verhot tyyny peitto viltti pyyhe matto kaappi
        laatikko peili pölynimuri pesukone astianpesukone jääkaappi uuni vedenkeitin veitsi lusikka haarukka
        lautanen kulho kuppi pullo pannu kattila kotelo suojakuori teline laturi kuulokkeet kaiutin langaton
        langattomat puhelin näyttö näppäimistö hiiri tulostin kamera kaapeli johto akku paristo paristot
        vedenpitävä säädettävä kannettava iso suuri pieni halpa osta koko pitkä lyhyt kirja kirjat lelu
        lelut peli pelit lahja syntymäpäivä häät joulu koulu vesi kahvi tee maito öljy saippua hiukset
        kasvot iho koira kissa pyörä auto työkalu porakone ruuvi maali kasvi kukat kynttilä huonekalut valo
        valot nukke hammasharja lasit kaulakoru korvakorut
    """,
    "pl": """
        buty but kozaki koszula koszulka sukienka spodnie kurtka płaszcz spódnica skarpety skarpetki czapka
        rękawiczki pasek torba torebka plecak portfel zegarek damskie damska damski męskie męska męski
        dziecięce dla dzieci chłopca dziewczynki kobiet mężczyzn czarny czarna czarne biały biała białe
        czerwony czerwona niebieski niebieska zielony zielona żółty brązowy szary szara różowy fioletowy
        srebrny złoty bawełna bawełniana skóra skórzany skórzane drewno drewniany drewniana stal nierdzewna
        szkło papier plastik wełna jedwab dąb kuchnia kuchenny kuchenne łazienka sypialnia ogród ogrodowy
        biuro stół stolik krzesło krzesła biurko łóżko lampa półka zasłona zasłony poduszka koc ręcznik
        dywan szafa szafka lustro odkurzacz pralka zmywarka lodówka piekarnik czajnik nóż noże łyżka widelec
        talerz miska kubek butelka patelnia garnek etui pokrowiec uchwyt ładowarka słuchawki głośnik
        bezprzewodowe bezprzewodowy telefon ekran klawiatura mysz drukarka aparat kabel bateria baterie
        zamienny wodoodporny regulowany przenośny duży duża mały mała tani tanie kup kupić rozmiar długi
        długa krótki rękaw sztuk książka książki zabawka zabawki gra gry prezent urodziny ślub święta szkoła
        woda kawa herbata mleko olej mydło włosy twarz skóry pies kot rower samochód narzędzie wiertarka
        śruba farba roślina kwiaty świeca meble światło lalka zestaw
    """,
    "cs": """
        boty bota kozačky košile tričko šaty kalhoty bunda kabát sukně ponožky čepice rukavice pásek taška
        kabelka batoh peněženka hodinky dámské dámská dámský pánské pánská pánský dětské dětská chlapecké
        dívčí ženy muži černá černé černý bílá bílé bílý červená červené modrá modré zelená žlutá hnědá šedá
        růžová fialová stříbrná zlatá bavlna kůže kožená kožené dřevo dřevěný dřevěná nerezová ocel sklo
        papír plast vlna hedvábí dub kuchyně kuchyňský kuchyňská koupelna ložnice zahrada zahradní kancelář
        stůl stolek židle postel lampa police závěs závěsy polštář deka ručník koberec skříň zrcadlo vysavač
        pračka myčka lednice trouba konvice nůž nože lžíce vidlička talíř miska hrnek láhev pánev hrnec
        pouzdro kryt držák nabíječka sluchátka reproduktor bezdrátová bezdrátové telefon obrazovka
        klávesnice myš tiskárna fotoaparát kabel baterie náhradní voděodolný nastavitelný přenosný velký
        velká malý malá levné levný koupit velikost dlouhý krátký rukáv kusů kniha knihy hračka hračky hra
        hry dárek narozeniny svatba vánoce škola voda káva čaj mléko olej mýdlo vlasy obličej pleť pes kočka
        kolo auto nářadí vrtačka šroub barva rostlina květiny svíčka nábytek světlo panenka sada pro
    """,
    "sk": """
        topánky čižmy košeľa tričko šaty nohavice bunda kabát sukňa ponožky čiapka rukavice opasok taška
        kabelka ruksak batoh peňaženka hodinky dámske dámska dámsky pánske pánska pánsky detské detská
        čierna čierne čierny biela biele biely červená modrá zelená žltá hnedá sivá ružová fialová
        strieborná zlatá bavlna koža kožená drevo drevený drevená nerezová oceľ sklo papier plast vlna
        hodváb dub kuchyňa kuchynský kúpeľňa spálňa záhrada záhradný kancelária stôl stolík stolička posteľ
        lampa polica záves závesy vankúš deka uterák koberec skriňa zrkadlo vysávač práčka umývačka
        chladnička rúra kanvica nôž lyžica vidlička tanier miska hrnček fľaša panvica hrniec puzdro kryt
        držiak nabíjačka slúchadlá reproduktor bezdrôtové bezdrôtová telefón obrazovka klávesnica myš
        tlačiareň fotoaparát batéria batérie náhradný vodotesný nastaviteľný veľký veľká malý malá lacné
        kúpiť veľkosť dlhý krátky rukáv kusov kniha hračka hračky hra darček narodeniny svadba vianoce škola
        voda káva čaj mlieko olej mydlo vlasy tvár pleť pes mačka bicykel náradie vŕtačka skrutka farba
        rastlina kvety sviečka nábytok svetlo bábika
    """,
    "hu": """
        cipő csizma ing póló ruha nadrág kabát dzseki szoknya zokni sapka kesztyű öv táska hátizsák
        pénztárca óra karóra női férfi gyerek gyermek fiú lány fekete fehér piros kék zöld sárga barna
        szürke rózsaszín lila ezüst arany pamut bőr fa rozsdamentes acél üveg papír műanyag gyapjú selyem
        tölgy konyha konyhai fürdőszoba hálószoba kert kerti iroda asztal szék íróasztal ágy lámpa polc
        függöny párna takaró törölköző szőnyeg szekrény fiók tükör porszívó mosógép mosogatógép hűtő
        hűtőszekrény sütő vízforraló kés kanál villa tányér tál bögre palack serpenyő fazék tok tartó töltő
        fülhallgató fejhallgató hangszóró vezeték nélküli telefon képernyő billentyűzet egér nyomtató
        fényképezőgép kábel akkumulátor elem pót vízálló állítható hordozható nagy kis kicsi olcsó vásárlás
        méret hosszú rövid ujjú darab könyv könyvek játék ajándék születésnap esküvő karácsony iskola víz
        kávé tea tej olaj szappan haj arc test kéz kutya macska kerékpár autó szerszám fúró csavar festék
        növény virág gyertya bútor fény baba készlet
    """,
    "ro": """
        pantofi ghete cizme cămașă tricou rochie pantaloni jachetă geacă palton fustă șosete căciulă mănuși
        curea geantă rucsac portofel ceas femei damă dama bărbați barbati copii băieți fete bebeluș negru
        neagră alb albă roșu roșie albastru verde galben maro gri roz mov argintiu auriu bumbac piele lemn
        oțel inoxidabil sticlă hârtie plastic lână mătase stejar bucătărie baie dormitor grădină birou masă
        scaun scaune pat lampă raft perdea perdele pernă pătură prosop covor dulap sertar oglindă aspirator
        mașină spălat vase frigider cuptor fierbător cuțit cuțite lingură furculiță farfurie bol cană sticla
        tigaie oală husă suport încărcător căști boxă fără fir telefon ecran tastatură imprimantă cameră
        cablu baterie baterii impermeabil reglabil portabil mare mic mică ieftin ieftine cumpăra mărime lung
        scurt mânecă bucăți carte cărți jucărie jucării joc jocuri cadou aniversare nuntă crăciun școală apă
        cafea ceai lapte ulei săpun păr față câine pisică bicicletă unelte șurub vopsea plantă flori
        lumânare mobilă lumină păpușă pentru
    """,
    "tr": """
        ayakkabı ayakkabısı bot çizme gömlek tişört elbise pantolon ceket mont kaban etek çorap bere eldiven
        kemer çanta çantası cüzdan saat saati kadın erkek çocuk bebek kız siyah beyaz kırmızı mavi yeşil
        sarı kahverengi gri pembe mor gümüş altın pamuk pamuklu deri ahşap çelik paslanmaz cam kağıt plastik
        yün ipek meşe mutfak banyo yatak odası bahçe ofis masa masası sandalye lamba raf perde yastık
        battaniye havlu halı dolap dolabı çekmece ayna süpürge süpürgesi elektrikli makinesi bulaşık çamaşır
        buzdolabı fırın kettle bıçak bıçağı kaşık çatal tabak kase bardak şişe tava tencere kılıf kılıfı
        tutucu şarj aleti kulaklık hoparlör kablosuz telefon telefonu ekran klavye fare yazıcı kamera kablo
        pil yedek su geçirmez ayarlanabilir taşınabilir büyük küçük ucuz satın al beden uzun kısa kollu adet
        parça kitap kitabı oyuncak oyun hediye doğum günü düğün yılbaşı okul kahve çay süt yağ yağı sabun
        saç yüz cilt vücut el köpek kedi bisiklet araba alet matkap vida boya bitki çiçek mum mobilya ışık
        takımı seti gözlük kolye küpe
    """,
    "ca": """
        sabates sabata botes camisa samarreta vestit pantalons jaqueta abric faldilla mitjons barret guants
        cinturó bossa motxilla cartera rellotge dona dones home homes nen nena nens nenes nadó negre negra
        blanc blanca vermell vermella blau blava verd verda groc marró gris lila platejat daurat cotó cuir
        pell fusta acer inoxidable vidre paper plàstic llana seda cuina bany dormitori jardí oficina taula
        cadira cadires escriptori llit llum làmpada prestatge cortina coixí manta tovallola catifa armari
        calaix mirall aspirador rentadora rentaplats nevera forn bullidor ganivet ganivets cullera forquilla
        plat tassa ampolla paella olla funda suport carregador auriculars altaveu sense fils telèfon mòbil
        pantalla teclat ratolí impressora càmera bateria piles impermeable ajustable portàtil gran petit
        petita barat comprar talla llarg curt màniga peces llibre llibres joguina joguines joc jocs regal
        aniversari casament nadal escola aigua cafè llet oli sabó cabell cara cos mà mans peus gos gat
        bicicleta cotxe eina trepant cargol pintura planta flors espelma mobles nina
    """,
    "id": """
        sepatu sandal kemeja kaos baju gaun celana jaket mantel rok kaki topi sarung tangan sabuk tas ransel
        dompet jam wanita pria anak laki perempuan bayi hitam putih merah biru hijau kuning coklat cokelat
        abu ungu perak emas katun kulit kayu baja tahan karat kaca kertas plastik wol sutra dapur kamar
        mandi tidur kebun taman kantor meja kursi ranjang lampu rak gorden bantal selimut handuk karpet
        lemari laci cermin penyedot debu mesin cuci piring kulkas oven ketel pisau sendok garpu mangkuk
        gelas cangkir botol panci wajan penggorengan casing penyangga pengisi daya tanpa kabel nirkabel
        layar papan ketik pencetak baterai pengganti anti air besar kecil murah beli ukuran panjang pendek
        lengan buah buku mainan permainan hadiah ulang tahun pernikahan sekolah kopi teh susu minyak sabun
        rambut wajah tubuh anjing kucing sepeda mobil alat bor sekrup cat tanaman bunga lilin cahaya boneka
        kacamata kalung anting
    """,
    "vi": """
        giày dép áo váy quần đầm khoác mũ găng tay thắt lưng túi xách ba lô ví đồng hồ nữ nam trẻ bé trai
        gái đen trắng đỏ xanh vàng nâu xám hồng tím bạc da gỗ thép nhựa giấy thủy tinh bếp phòng tắm ngủ
        vườn văn bàn ghế giường đèn kệ rèm gối chăn khăn thảm tủ gương máy hút bụi giặt rửa lạnh lò nướng ấm
        dao thìa nĩa đĩa bát cốc chai chảo nồi ốp sạc tai nghe loa điện thoại màn hình phím chuột dây pin
        chống nước lớn nhỏ giá rẻ mua cỡ dài ngắn sách đồ chơi quà sinh nhật cưới trường cà phê trà sữa dầu
        xà tóc mặt
    """,
    "hr": """
        cipele čizme košulja majica haljina hlače jakna kaput suknja čarape kapa rukavice remen torba ruksak
        novčanik sat ženske ženska muške muška dječje dječja crna crne crni bijela bijele bijeli crvena
        plava zelena žuta smeđa siva ružičasta ljubičasta srebrna zlatna pamuk koža kožna drvo drveni čelik
        staklo papir plastika vuna svila hrast kuhinja kuhinjski kupaonica spavaća soba vrt vrtni ured stol
        stolica stolice krevet lampa svjetiljka polica zavjesa jastuk deka ručnik tepih ormar ladica
        ogledalo usisavač perilica hladnjak pećnica kuhalo nož žlica vilica tanjur zdjela šalica boca tava
        lonac maska držač punjač slušalice zvučnik bežične bežični telefon zaslon tipkovnica miš pisač kabel
        baterija zamjenski vodootporan podesivi veliki velika mali mala jeftino kupiti veličina dugi kratki
        rukav komada knjiga knjige igračka igračke igra poklon rođendan vjenčanje božić škola voda kava čaj
        mlijeko ulje sapun kosa lice pas mačka bicikl alat bušilica vijak boja biljka cvijeće svijeća
        namještaj
    """,
    "sl": """
        čevlji škornji srajca majica obleka hlače jakna plašč krilo nogavice kapa rokavice pas torba
        nahrbtnik denarnica ura ženske ženska moške moška otroške otroška črna črne črn bela bele bel rdeča
        modra zelena rumena rjava siva roza vijolična srebrna zlata bombaž usnje usnjena les lesen lesena
        nerjaveče jeklo steklo papir plastika volna svila hrast kuhinja kuhinjski kopalnica spalnica vrt
        vrtni pisarna miza stol stoli postelja svetilka polica zavesa blazina odeja brisača preproga omara
        predal ogledalo sesalnik pralni stroj pomivalni hladilnik pečica grelnik nož žlica vilica krožnik
        skleda skodelica steklenica ponev lonec ovitek nosilec polnilec slušalke zvočnik brezžične brezžični
        telefon zaslon tipkovnica miška tiskalnik kabel baterija nadomestni vodoodporen nastavljiv velik
        velika majhen majhna poceni kupiti velikost dolg kratek rokav kosov knjiga igrača igrače igra darilo
        rojstni dan poroka božič šola voda kava čaj mleko olje milo lasje obraz pes mačka kolo orodje
        vrtalnik vijak barva rastlina rože sveča pohištvo za
    """,
    "et": """
        kingad saapad särk kleit püksid jope mantel seelik sokid müts kindad vöö kott seljakott rahakott
        kell naiste meeste laste must valge punane sinine roheline kollane pruun hall roosa lilla hõbe kuld
        puuvill nahk puit puidust roostevaba teras klaas paber plast vill siid tamm köök vannituba
        magamistuba aed kontor laud tool kirjutuslaud voodi lamp valgusti riiul kardin padi tekk rätik vaip
        kapp sahtel peegel tolmuimeja pesumasin nõudepesumasin külmik ahi veekeetja nuga lusikas kahvel
        taldrik kauss tass pudel pann pott ümbris hoidik laadija kõrvaklapid kõlar juhtmevaba telefon ekraan
        klaviatuur hiir printer kaabel aku patarei veekindel reguleeritav kaasaskantav suur väike odav osta
        suurus pikk lühike raamat mänguasi mäng kingitus sünnipäev pulm jõulud kool vesi kohv tee piim õli
        seep juuksed nägu koer kass jalgratas tööriist kruvi värv taim lilled küünal mööbel valgus
    """,
    "lt": """
        batai bateliai marškiniai marškinėliai suknelė kelnės striukė paltas sijonas kojinės kepurė
        pirštinės diržas krepšys rankinė kuprinė piniginė laikrodis moteriškas moteriška moteriški vyriškas
        vyriška vyriški vaikams vaikiškas juoda juodas juodi balta baltas balti raudona raudonas mėlyna
        mėlynas žalia geltona ruda pilka rožinė violetinė sidabrinė auksinė medvilnė oda odinė odinis medis
        medinis medinė nerūdijantis plienas stiklas popierius plastikas vilna šilkas ąžuolas virtuvė
        virtuvės vonios kambarys miegamasis sodas sodo biuras stalas kėdė lova lempa šviestuvas lentyna
        užuolaidos pagalvė antklodė rankšluostis kilimas spinta veidrodis siurblys skalbimo mašina indaplovė
        šaldytuvas orkaitė virdulys peilis šaukštas šakutė lėkštė dubuo puodelis butelis keptuvė puodas
        dėklas laikiklis įkroviklis ausinės kolonėlė belaidis belaidės telefonas ekranas klaviatūra pelė
        spausdintuvas kabelis baterija atsparus vandeniui reguliuojamas didelis mažas pigus pirkti dydis
        ilgas trumpas knyga žaislas žaislai žaidimas dovana gimtadienis vestuvės kalėdos mokykla vanduo kava
        arbata pienas aliejus muilas plaukai veidas šuo katė dviratis įrankis dažai augalas gėlės žvakė
        baldai šviesa
    """,
    "lv": """
        kurpes apavi zābaki krekls kleita bikses jaka mētelis svārki zeķes cepure cimdi josta soma mugursoma
        maks pulkstenis sieviešu vīriešu bērnu melns melna melnas balts balta baltas sarkans sarkana zils
        zila zaļš zaļa dzeltens brūns pelēks rozā violets sudraba zelta kokvilna āda ādas koks koka
        nerūsējošais tērauds stikls papīrs plastmasa vilna zīds ozols virtuve virtuves vannas istaba
        guļamistaba dārzs dārza birojs galds krēsls gulta lampa gaismeklis plaukts aizkari spilvens sega
        dvielis paklājs skapis atvilktne spogulis putekļu sūcējs veļas mašīna trauku ledusskapis cepeškrāsns
        tējkanna nazis karote dakša šķīvis bļoda krūze pudele panna katls vāciņš turētājs lādētājs austiņas
        skaļrunis bezvadu tālrunis ekrāns tastatūra pele printeris kabelis baterija ūdensizturīgs regulējams
        liels liela mazs maza lēts pirkt izmērs garš īss grāmata rotaļlieta spēle dāvana dzimšanas kāzas
        ziemassvētki skola ūdens kafija tēja piens eļļa ziepes mati seja suns kaķis velosipēds instruments
        krāsa augs ziedi svece mēbeles gaisma
    """,
    "ru": """
        туфли ботинки кроссовки сапоги рубашка футболка платье брюки джинсы куртка пальто юбка носки шапка
        перчатки ремень сумка рюкзак кошелек часы женские женская женский женское мужские мужская мужской
        детские детская детский детей девочек мальчиков черный черная черные белый белая белые красный
        красная синий синяя зеленый желтый коричневый серый серая розовый серебристый золотой хлопок кожа
        кожаный кожаная дерево деревянный сталь нержавеющая стекло бумага шерсть дуб кухня кухонный кухни
        ванная спальня сад садовый офис стол стул кровать лампа светильник полка шторы подушка одеяло
        полотенце ковер шкаф зеркало пылесос стиральная посудомоечная машина холодильник духовка чайник нож
        ложка вилка тарелка миска кружка бутылка сковорода кастрюля чехол держатель зарядное устройство
        наушники колонка беспроводные беспроводной телефон экран клавиатура мышь принтер камера кабель
        аккумулятор батарейки водонепроницаемый большой большая маленький купить цена размер длинный
        короткий рукав штук набор книга книги игрушка игрушки игра игры подарок день рождения школа вода
        кофе чай молоко масло мыло волос лица тела собак кошек велосипед автомобиль инструмент дрель краска
        цветы свеча мебель свет кукла
    """,
    "uk": """
        взуття черевики кросівки чоботи сорочка футболка сукня плаття штани джинси куртка пальто спідниця
        шкарпетки шапка рукавички ремінь сумка рюкзак гаманець годинник жіночі жіноча жіночий чоловічі
        чоловіча чоловічий дитячі дитяча дитячий дітей дівчаток хлопчиків чорний чорна чорні білий біла білі
        червоний червона синій синя зелений жовтий коричневий сірий рожевий срібний золотий бавовна шкіра
        шкіряний дерево дерев'яний сталь нержавіюча скло папір вовна дуб кухня кухонний ванна спальня сад
        садовий офіс стіл стілець ліжко лампа світильник полиця штори подушка ковдра рушник килим шафа
        дзеркало пилосос пральна посудомийна машина холодильник духовка чайник ніж ложка виделка тарілка
        миска чашка пляшка сковорода каструля чохол тримач зарядний пристрій навушники колонка бездротові
        бездротовий телефон екран клавіатура миша принтер кабель акумулятор батарейки водонепроникний
        великий велика маленький купити ціна розмір довгий короткий рукав штук набір книга книги іграшка
        іграшки гра подарунок день народження школа вода кава чай молоко олія мило волосся обличчя собак
        котів велосипед інструмент дриль фарба квіти свічка меблі світло лялька
    """,
    "bg": """
        обувки ботуши маратонки риза тениска рокля панталон панталони яке палто пола чорапи шапка ръкавици
        колан чанта раница портмоне часовник дамски дамска дамско мъжки мъжка мъжко детски детска детско
        черен черна черни бял бяла бели червен червена син синя зелен зелена жълт кафяв сив розов лилав
        сребърен златен памук кожа кожен кожена дърво дървен дървена стомана неръждаема стъкло хартия вълна
        дъб кухня кухненски баня спалня градина градински офис маса стол столове бюро легло лампа рафт
        завеса пердета възглавница одеяло кърпа килим шкаф чекмедже огледало прахосмукачка пералня
        съдомиялна хладилник фурна кана нож лъжица вилица чиния купа чаша бутилка тиган тенджера калъф
        стойка зарядно слушалки тонколона безжични безжичен телефон екран клавиатура мишка принтер кабел
        батерия батерии водоустойчив регулируем голям голяма малък малка евтин купи размер дълъг къс ръкав
        броя комплект книга книги играчка играчки игра игри подарък рожден ден сватба коледа училище вода
        кафе чай мляко масло сапун коса лице куче котка велосипед инструмент бормашина боя цветя свещ мебели
        светлина кукла
    """,
    "ar": """
        حذاء احذية جزمة قميص فستان بنطلون سترة معطف تنورة جوارب قبعة قفازات حزام حقيبة شنطة محفظة ساعة نسائي
        نسائية رجالي رجالية للنساء للرجال للاطفال اطفال اسود سوداء ابيض بيضاء احمر ازرق اخضر اصفر بني رمادي
        وردي فضي ذهبي قطن جلد خشب خشبي ستانلس زجاج ورق بلاستيك صوف حرير مطبخ حمام غرفة نوم حديقة مكتب طاولة
        كرسي سرير مصباح رف ستارة وسادة بطانية منشفة سجادة خزانة مراة مكنسة غسالة ثلاجة فرن غلاية سكين ملعقة
        شوكة طبق كوب زجاجة مقلاة قدر غطاء حامل شاحن سماعات سماعة لاسلكية لاسلكي هاتف جوال شاشة لوحة مفاتيح
        طابعة كاميرا كابل بطارية مقاوم للماء كبير كبيرة صغير صغيرة رخيص شراء مقاس طويل قصير قطعة كتاب كتب
        لعبة العاب هدية عيد ميلاد زفاف مدرسة ماء قهوة شاي حليب زيت صابون شعر وجه كلب قطة دراجة سيارة طقم
        مجموعة عطر
    """,
    "fa": """
        کفش چکمه پیراهن لباس شلوار کت دامن جوراب کلاه دستکش کمربند کیف کوله پشتی ساعت زنانه مردانه بچگانه
        کودک دخترانه پسرانه مشکی سیاه سفید قرمز آبی سبز زرد قهوه خاکستری صورتی بنفش نقره طلایی پنبه چرم چوبی
        چوب استیل شیشه کاغذ پشم ابریشم آشپزخانه حمام اتاق خواب باغ اداری میز صندلی تخت چراغ قفسه پرده بالش
        پتو حوله فرش کمد آینه جارو برقی ماشین لباسشویی یخچال فر کتری چاقو قاشق چنگال بشقاب کاسه فنجان بطری
        تابه قابلمه قاب نگهدارنده شارژر هدفون بلندگو سیم گوشی موبایل صفحه نمایش کیبورد چاپگر دوربین کابل
        باتری ضد بزرگ کوچک ارزان خرید سایز بلند کوتاه عدد کتاب اسباب بازی هدیه تولد عروسی مدرسه آب چای شیر
        روغن صابون مو صورت سگ گربه دوچرخه ابزار
    """,
}

WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _WORDS.items()}

# Languages that write compounds as one word: the last part tells, as in Winterjacke.
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu", "et"})

# Endings of words that English words do not have as well.
ENDINGS: dict[str, str] = {
    "en": "ness less ful ght ing ity ous tion tions wear 's able ings ment",
    "de": "ung ungen lich liche licher liches keit heit isch ische schaft zeug stück bezug ständer",
    "fr": "eux euse eur eurs ette ettes ière ières aux ique iques tion tions able ment oire",
    "es": "ción ciones dor dora ero eros illa illo illos eza idad ados adas",
    "pt": "ção ções dor dora eiro eira eiros agem inho inha dade ável ões",
    "it": "zione zioni tore trice iera iere etto etta ezza ità abile",
    "nl": "heid lijk lijke tje tjes ing ingen ende kje atie",
    "sv": "ning ningar het lig liga arna orna ande",
    "da": "ning ninger hed lig lige else elser ende",
    "no": "ning ninger het lig lige else elser ende",
    "fi": "nen ssa ssä llä stä kset tön",
    "pl": "owy owa owe nik nica ność ością ski ska skie czny czna ych anie enie",
    "cs": "ový ová ové ník nice ost ský ská ské cký cká ých ání ení",
    "sk": "ový ová ové ník nica osť ský ská ské cký cká ých anie enie",
    "hu": "ság ség nak nek hoz hez ból ből ás és ös",
    "ro": "ului elor ilor ește ție ții ător",
    "tr": "lık lik lük luk lı lü sız siz cı ları leri ması mesi",
    "ca": "ció cions dor dora itat",
    "hr": "nje ost ski ska sko čki čka",
    "sl": "nje ost ski ska sko čni čna nik",
    "et": "mine mist dega tud",
    "lt": "imas ymas inis inė ų",
    "lv": "šana īgs īga iem ām ajs umi",
}

# Letters, with the codes of the languages that use them.
LETTERS: dict[str, str] = {
    "ä": "de sv fi et sk", "ö": "de sv fi et hu tr", "ü": "de et hu tr", "å": "sv da no", "ø": "da no",
    "æ": "da no", "ñ": "es", "á": "es pt cs sk hu", "í": "es pt cs sk hu ca", "ó": "es pt pl hu cs sk ca",
    "ú": "es pt cs sk hu", "ã": "pt", "õ": "pt et", "â": "fr pt ro", "ê": "fr pt", "ô": "fr pt sk",
    "à": "fr it ca pt", "è": "fr it ca", "ù": "fr it", "ò": "it ca", "ç": "fr pt ca tr", "œ": "fr",
    "ë": "nl fr", "ï": "nl fr ca", "î": "fr ro", "û": "fr", "ł": "pl", "ą": "pl lt", "ę": "pl lt",
    "ś": "pl", "ź": "pl", "ż": "pl", "ć": "pl hr sr", "ń": "pl", "ř": "cs", "ě": "cs", "ů": "cs",
    "ď": "cs sk", "ť": "cs sk", "ň": "cs sk", "ľ": "sk", "ĺ": "sk", "ŕ": "sk", "ý": "cs sk",
    "č": "cs sk hr sl lt lv sr", "š": "cs sk hr sl lt lv sr", "ž": "cs sk hr sl lt lv sr", "đ": "hr sr vi",
    "ő": "hu", "ű": "hu", "ğ": "tr", "ı": "tr", "ş": "tr", "ș": "ro", "ț": "ro", "ă": "ro", "ā": "lv",
    "ē": "lv", "ī": "lv", "ū": "lv lt", "ķ": "lv", "ļ": "lv", "ņ": "lv", "ģ": "lv", "ė": "lt", "ų": "lt",
    "į": "lt", "ơ": "vi", "ư": "vi", "ы": "ru", "э": "ru", "ё": "ru", "і": "uk", "ї": "uk", "є": "uk",
    "ґ": "uk", "ъ": "bg", "ђ": "sr", "ј": "sr", "љ": "sr", "њ": "sr", "ћ": "sr", "џ": "sr", "پ": "fa",
    "چ": "fa", "ژ": "fa", "گ": "fa", "ک": "fa", "ی": "fa", "ة": "ar", "ك": "ar", "ي": "ar", "ى": "ar",
}  # fmt: skip
