"""Small shops in many languages, made by hand: titles and queries, with brands and English words."""

from __future__ import annotations

from typing import NamedTuple


class Shop(NamedTuple):
    """Titles and queries; `finds`: queries, in another form or order of words, with the title to find."""

    titles: list[str]
    queries: list[str]
    finds: dict[str, str]


def _shop(titles: str, queries: str, finds: dict[str, str] | None = None) -> Shop:
    return Shop(_lines(titles), _lines(queries), finds or {})


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


SHOPS = {
    "en": _shop(
        """Nike Air Zoom Pegasus 39 Running Shoes, Black/White
        Anker PowerCore 10000 Portable Charger
        Instant Pot Duo 7-in-1 Pressure Cooker, 6 Quart
        Women's Waterproof Rain Jacket with Hood
        LEGO Star Wars Millennium Falcon Building Set
        The Lord of the Rings: Complete Trilogy
        Stainless Steel Water Bottle 32 oz
        Replacement Filter for Brita Pitchers
        Wooden Coffee Table with Storage
        Logitech MX Master 3 Wireless Mouse""",
        """running shoes for women
        usb c charger
        best coffee table
        kids rain jacket
        water bottle
        iphone 12 case""",
    ),
    "de": _shop(
        """Damen Winterjacke mit Kapuze schwarz Gr. M
        Herren Laufschuhe Nike Revolution 6 blau
        Bosch Akkuschrauber GSR 12V mit zwei Akkus
        Edelstahl Trinkflasche 1 Liter auslaufsicher
        Kinder Fahrradhelm verstellbar rosa
        Bluetooth Kopfhörer Over Ear Noise Cancelling
        Küchenmesser Set 5-teilig mit Holzblock
        Handyhülle für iPhone 13 Pro transparent
        Gartenstühle klappbar 4er Set anthrazit
        Kaffeemaschine De'Longhi Magnifica S
        Bettwäsche Baumwolle 135x200 gestreift
        LED Deckenlampe dimmbar Wohnzimmer""",
        """winterjacke damen
        laufschuhe herren
        akkuschrauber bosch
        trinkflasche edelstahl
        handyhülle iphone 13
        gartenstuhl klappbar
        kaffeemaschine
        günstige bettwäsche""",
        {
            "winterjacken": "Damen Winterjacke mit Kapuze schwarz Gr. M",
            "gartenstuhl": "Gartenstühle klappbar 4er Set anthrazit",
            "trinkflaschen": "Edelstahl Trinkflasche 1 Liter auslaufsicher",
            "verstellbarer fahrradhelm": "Kinder Fahrradhelm verstellbar rosa",
        },
    ),
    "fr": _shop(
        """Chaussures de course homme Nike Revolution noires
        Veste imperméable femme avec capuche taille M
        Machine à café De'Longhi Magnifica automatique
        Coque de protection pour iPhone 13 transparente
        Lot de 4 chaises de jardin pliantes grises
        Bouteille isotherme en acier inoxydable 1L
        Huile d'olive vierge extra bio 75 cl
        Casque Bluetooth sans fil réduction de bruit
        Jouet en bois pour enfant dès 3 ans
        Parure de lit en coton 240x220
        Perceuse visseuse Bosch 18V avec deux batteries
        Crème hydratante visage La Roche-Posay""",
        """chaussures running homme
        veste pluie femme
        coque iphone 13
        chaise pliante
        huile olive
        jouets en bois
        crème visage
        machine café""",
        {
            "chaise de jardin": "Lot de 4 chaises de jardin pliantes grises",
            "l'olive": "Huile d'olive vierge extra bio 75 cl",
            "jouets": "Jouet en bois pour enfant dès 3 ans",
            "vestes imperméables": "Veste imperméable femme avec capuche taille M",
        },
    ),
    "es": _shop(
        """Zapatillas deportivas hombre Adidas Galaxy negras
        Chaqueta impermeable mujer con capucha
        Cafetera superautomática De'Longhi Magnifica
        Funda transparente para iPhone 13 Pro
        Sillas plegables de jardín pack de 4
        Botella de acero inoxidable 1 litro
        Aceite de oliva virgen extra 5 L
        Auriculares Bluetooth inalámbricos con micrófono
        Juguetes de madera para niños de 3 años
        Juego de sábanas de algodón cama 150
        Taladro percutor Bosch Professional 18V
        Crema hidratante facial para piel seca""",
        """zapatillas hombre
        chaqueta mujer
        funda iphone 13
        sillas de jardin
        botella agua
        juguete madera
        auriculares bluetooth
        crema facial""",
        {
            "silla plegable": "Sillas plegables de jardín pack de 4",
            "juguete": "Juguetes de madera para niños de 3 años",
            "auricular inalámbrico": "Auriculares Bluetooth inalámbricos con micrófono",
            "botellas": "Botella de acero inoxidable 1 litro",
        },
    ),
    "pt": _shop(
        """Tênis de corrida masculino Nike Revolution preto
        Jaqueta impermeável feminina com capuz
        Cafeteira elétrica Philco 30 xícaras
        Capinha transparente para iPhone 13 Pro
        Conjunto de 4 cadeiras dobráveis para jardim
        Garrafa térmica de aço inox 1 litro
        Azeite de oliva extra virgem 500 ml
        Fone de ouvido Bluetooth sem fio JBL
        Brinquedos educativos de madeira para crianças
        Jogo de lençol de algodão casal
        Furadeira de impacto Bosch 650W
        Creme hidratante facial para pele seca""",
        """tenis corrida masculino
        jaqueta feminina
        capinha iphone 13
        cadeira dobrável
        garrafa termica
        brinquedo de madeira
        fone bluetooth
        lençol casal""",
        {
            "cadeira": "Conjunto de 4 cadeiras dobráveis para jardim",
            "brinquedo educativo": "Brinquedos educativos de madeira para crianças",
            "jaquetas": "Jaqueta impermeável feminina com capuz",
            "garrafas térmicas": "Garrafa térmica de aço inox 1 litro",
        },
    ),
    "ru": _shop(
        """Кроссовки мужские Nike Revolution чёрные
        Куртка женская зимняя с капюшоном
        Кофемашина De'Longhi Magnifica автоматическая
        Чехол для iPhone 13 Pro прозрачный
        Стулья складные садовые 4 шт
        Бутылка для воды из нержавеющей стали 1 л
        Наушники беспроводные Bluetooth JBL
        Деревянные игрушки для детей от 3 лет
        Постельное белье хлопок двуспальное
        Дрель ударная Bosch 650 Вт
        Крем для лица увлажняющий
        Платье вечернее длинное красное""",
        """кроссовки мужские
        зимняя куртка женская
        чехол iphone 13
        складной стул
        бутылка для воды
        игрушки для детей
        наушники
        платье""",
        {
            "складной стул": "Стулья складные садовые 4 шт",
            "черные кроссовки": "Кроссовки мужские Nike Revolution чёрные",
            "деревянная игрушка": "Деревянные игрушки для детей от 3 лет",
            "красные платья": "Платье вечернее длинное красное",
        },
    ),
    "ar": _shop(
        """حذاء رياضي للرجال من نايك أسود
        حقيبة يد نسائية جلد طبيعي
        ماكينة القهوة ديلونجي أوتوماتيك
        غطاء شفاف لهاتف آيفون 13 برو
        كرسي حديقة قابل للطي 4 قطع
        زجاجة مياه من الفولاذ المقاوم للصدأ
        زيت زيتون بكر ممتاز 1 لتر
        سماعات بلوتوث لاسلكية مع ميكروفون
        العاب خشبية للأطفال من 3 سنوات
        طقم ملاءات سرير قطن مزدوج
        مثقاب كهربائي بوش 650 واط
        كريم مرطب للوجه للبشرة الجافة""",
        """حذاء رجالي
        حقائب نسائية
        غطاء ايفون 13
        كرسي حديقة
        سماعات لاسلكية
        ألعاب أطفال
        زيت زيتون
        كريم الوجه""",
        {
            "الحقيبة": "حقيبة يد نسائية جلد طبيعي",
            "ســـماعات": "سماعات بلوتوث لاسلكية مع ميكروفون",
            "ألعاب": "العاب خشبية للأطفال من 3 سنوات",
            "الكرسي": "كرسي حديقة قابل للطي 4 قطع",
        },
    ),
    "ja": _shop(
        """ナイキ レディース ランニングシューズ Revolution 6 黒
        Anker PowerCore 10000 モバイルバッテリー 大容量
        折りたたみ傘 軽量 自動開閉 晴雨兼用
        ステンレス製水筒 1リットル 保温保冷
        iPhone13 Pro ケース クリア 耐衝撃
        ワイヤレスイヤホン Bluetooth ノイズキャンセリング
        木製おもちゃ 知育玩具 3歳
        敷布団カバー 綿100% シングル
        全自動コーヒーメーカー デロンギ
        電動ドリル ボッシュ 18V
        保湿クリーム 顔用 乾燥肌
        冷蔵庫 小型 一人暮らし""",
        """ランニングシューズ
        モバイルバッテリー
        折りたたみ傘
        水筒
        iphone13 ケース
        ワイヤレスイヤホン
        冷蔵庫
        コーヒーメーカー""",
        {
            "水筒": "ステンレス製水筒 1リットル 保温保冷",
            "イヤホン": "ワイヤレスイヤホン Bluetooth ノイズキャンセリング",
            "ﾓﾊﾞｲﾙﾊﾞｯﾃﾘｰ anker": "Anker PowerCore 10000 モバイルバッテリー 大容量",
            "おもちゃ": "木製おもちゃ 知育玩具 3歳",
        },
    ),
    "zh": _shop(
        """耐克男士跑步鞋 Revolution 6 黑色
        安克移动电源 10000mAh 快充
        自动折叠雨伞 晴雨两用
        不锈钢保温杯 1升 大容量
        iPhone 13 Pro 手机壳 透明 防摔
        无线蓝牙耳机 主动降噪
        儿童木制益智玩具 3岁以上
        纯棉四件套 双人床
        全自动咖啡机 德龙
        博世电钻 18V 家用
        保湿面霜 干性皮肤
        小型冰箱 宿舍""",
        """跑步鞋
        移动电源
        折叠伞
        保温杯
        手机壳 iphone 13
        蓝牙耳机
        冰箱
        咖啡机""",
        {
            "蓝牙耳机": "无线蓝牙耳机 主动降噪",
            "玩具": "儿童木制益智玩具 3岁以上",
            "雨伞": "自动折叠雨伞 晴雨两用",
            "男士跑步鞋": "耐克男士跑步鞋 Revolution 6 黑色",
        },
    ),
    "th": _shop(
        """รองเท้าวิ่งผู้ชาย Nike Revolution 6 สีดำ
        แบตเตอรี่สำรอง Anker 10000mAh ชาร์จเร็ว
        ร่มพับอัตโนมัติกันแดดกันฝน
        กระติกน้ำสแตนเลส 1 ลิตร
        เคสใส iPhone 13 Pro กันกระแทก
        หูฟังบลูทูธไร้สายตัดเสียงรบกวน
        ของเล่นไม้เสริมพัฒนาการเด็ก 3 ขวบ
        ชุดผ้าปูที่นอนผ้าฝ้าย 6 ฟุต
        เครื่องชงกาแฟอัตโนมัติ De'Longhi
        สว่านไฟฟ้า Bosch 650W
        ครีมบำรุงผิวหน้าสำหรับผิวแห้ง
        ตู้เย็นขนาดเล็กสำหรับหอพัก""",
        """รองเท้าวิ่ง
        แบตสำรอง
        ร่มพับ
        กระติกน้ำ
        เคส iphone 13
        หูฟังไร้สาย
        ตู้เย็น
        เครื่องชงกาแฟ""",
        {
            "หูฟังไร้สาย": "หูฟังบลูทูธไร้สายตัดเสียงรบกวน",
            "รองเท้า": "รองเท้าวิ่งผู้ชาย Nike Revolution 6 สีดำ",
            "ของเล่นเด็ก": "ของเล่นไม้เสริมพัฒนาการเด็ก 3 ขวบ",
            "ตู้เย็น": "ตู้เย็นขนาดเล็กสำหรับหอพัก",
        },
    ),
    # Below: for the guess of the language only.
    "it": _shop(
        """Scarpe da corsa uomo Nike Revolution nere
        Giacca impermeabile donna con cappuccio
        Macchina da caffè De'Longhi Magnifica S
        Cover trasparente per iPhone 13 Pro
        Sedie pieghevoli da giardino set da 4
        Borraccia in acciaio inox 1 litro
        Cuffie Bluetooth senza fili con microfono
        Giochi in legno per bambini 3 anni""",
        """scarpe running uomo
        giacca donna
        sedia pieghevole
        borraccia termica""",
    ),
    "nl": _shop(
        """Nike Revolution hardloopschoenen heren zwart
        Regenjas dames met capuchon waterdicht
        De'Longhi Magnifica S koffiemachine
        Hoesje iPhone 13 Pro doorzichtig
        Klapstoelen voor de tuin set van 4
        RVS drinkfles 1 liter lekvrij
        Draadloze oordopjes Bluetooth
        Houten speelgoed vanaf 3 jaar""",
        """hardloopschoenen heren
        regenjas dames
        klapstoel
        houten speelgoed""",
    ),
    "sv": _shop(
        """Löparskor herr Nike Revolution svart
        Regnjacka dam med huva vattentät
        Kaffemaskin De'Longhi Magnifica S
        Mobilskal iPhone 13 Pro genomskinligt
        Hopfällbara stolar till trädgården 4-pack
        Vattenflaska rostfritt stål 1 liter
        Trådlösa hörlurar Bluetooth
        Träleksaker för barn från 3 år""",
        """löparskor herr
        regnjacka dam
        hörlurar trådlösa
        vattenflaska""",
    ),
    "da": _shop(
        """Løbesko herre Nike Revolution sort
        Regnjakke dame med hætte vandtæt
        Kaffemaskine De'Longhi Magnifica S
        Cover til iPhone 13 Pro gennemsigtigt
        Klapstole til haven sæt med 4 stk
        Drikkedunk rustfrit stål 1 liter
        Trådløse høretelefoner Bluetooth
        Trælegetøj til børn fra 3 år""",
        """løbesko herre
        regnjakke dame
        klapstol
        legetøj til børn""",
    ),
    "no": _shop(
        """Løpesko herre Nike Revolution svart
        Regnjakke dame med hette vanntett
        Kaffemaskin De'Longhi Magnifica S
        Deksel til iPhone 13 Pro gjennomsiktig
        Klappstoler til hagen sett med 4
        Drikkeflaske rustfritt stål 1 liter
        Trådløse hodetelefoner Bluetooth
        Treleker for barn fra 3 år""",
        """løpesko herre
        regnjakke dame
        klappstol
        leker til barn""",
    ),
    "fi": _shop(
        """Miesten juoksukengät Nike Revolution musta
        Naisten sadetakki hupulla vedenpitävä
        Kahviautomaatti De'Longhi Magnifica S
        Läpinäkyvä suojakuori iPhone 13 Pro
        Taitettavat puutarhatuolit 4 kpl
        Teräksinen juomapullo 1 litra
        Langattomat kuulokkeet Bluetooth
        Puiset lelut lapsille""",
        """juoksukengät
        sadetakki naiset
        puutarhatuoli
        langattomat kuulokkeet""",
    ),
    "pl": _shop(
        """Buty do biegania męskie Nike Revolution czarne
        Kurtka przeciwdeszczowa damska z kapturem
        Ekspres do kawy De'Longhi Magnifica S
        Etui przezroczyste do iPhone 13 Pro
        Krzesła składane ogrodowe 4 szt
        Bidon ze stali nierdzewnej 1 litr
        Słuchawki bezprzewodowe Bluetooth
        Zabawki drewniane dla dzieci od 3 lat""",
        """buty do biegania
        kurtka damska
        krzesło składane
        zabawki dla dzieci""",
    ),
    "cs": _shop(
        """Běžecké boty pánské Nike Revolution černé
        Dámská nepromokavá bunda s kapucí
        Kávovar De'Longhi Magnifica S
        Průhledný kryt na iPhone 13 Pro
        Skládací zahradní židle 4 ks
        Nerezová láhev na pití 1 litr
        Bezdrátová sluchátka Bluetooth
        Dřevěné hračky pro děti od 3 let""",
        """běžecké boty
        dámská bunda
        skládací židle
        dřevěné hračky""",
    ),
    "hu": _shop(
        """Férfi futócipő Nike Revolution fekete
        Női esőkabát kapucnival vízálló
        Kávéfőző De'Longhi Magnifica S
        Átlátszó tok iPhone 13 Pro készülékhez
        Összecsukható kerti szék 4 db
        Rozsdamentes acél kulacs 1 liter
        Vezeték nélküli fülhallgató Bluetooth
        Fa játékok gyerekeknek 3 éves kortól""",
        """futócipő férfi
        női kabát
        kerti szék
        fa játék""",
    ),
    "ro": _shop(
        """Pantofi de alergare bărbați Nike Revolution negri
        Jachetă de ploaie pentru femei cu glugă
        Espressor De'Longhi Magnifica S
        Husă transparentă pentru iPhone 13 Pro
        Scaune pliante de grădină set 4 bucăți
        Sticlă de apă din oțel inoxidabil 1 litru
        Căști fără fir Bluetooth
        Jucării din lemn pentru copii""",
        """pantofi sport bărbați
        jachetă femei
        scaun pliant
        jucării copii""",
    ),
    "tr": _shop(
        """Nike Revolution Erkek Koşu Ayakkabısı Siyah
        Kadın Kapüşonlu Su Geçirmez Yağmurluk
        De'Longhi Magnifica S Kahve Makinesi
        iPhone 13 Pro Şeffaf Kılıf
        Katlanır Bahçe Sandalyesi 4 Adet
        Paslanmaz Çelik Su Matarası 1 Litre
        Bluetooth Kablosuz Kulaklık
        Ahşap Oyuncak 3 Yaş ve Üzeri""",
        """koşu ayakkabısı
        kadın yağmurluk
        katlanır sandalye
        ahşap oyuncak""",
    ),
    "uk": _shop(
        """Кросівки чоловічі Nike Revolution чорні
        Куртка жіноча зимова з капюшоном
        Кавомашина De'Longhi Magnifica
        Чохол для iPhone 13 Pro прозорий
        Стільці складні садові 4 шт
        Пляшка для води з нержавіючої сталі
        Навушники бездротові Bluetooth JBL
        Дерев'яні іграшки для дітей""",
        """кросівки чоловічі
        зимова куртка
        складний стілець
        іграшки для дітей""",
    ),
    "bg": _shop(
        """Мъжки маратонки за бягане Nike Revolution черни
        Дамско яке с качулка водоустойчиво
        Кафемашина De'Longhi Magnifica
        Прозрачен калъф за iPhone 13 Pro
        Сгъваеми градински столове 4 броя
        Бутилка за вода от неръждаема стомана
        Безжични слушалки Bluetooth
        Дървени играчки за деца над 3 години""",
        """мъжки маратонки
        дамско яке
        градински стол
        играчки за деца""",
    ),
    "el": _shop(
        """Ανδρικά παπούτσια για τρέξιμο Nike
        Γυναικείο αδιάβροχο μπουφάν
        Θήκη για iPhone 13 Pro διάφανη
        Πτυσσόμενες καρέκλες κήπου""",
        """παπούτσια ανδρικά
        θήκη iphone 13""",
    ),
    "he": _shop(
        """נעלי ריצה לגברים Nike שחור
        מעיל גשם לנשים עם כובע
        כיסוי שקוף iPhone 13 Pro
        כיסאות גן מתקפלים""",
        """נעלי ריצה
        כיסוי iphone 13""",
    ),
    "fa": _shop(
        """کفش پیاده‌روی مردانه نایک مشکی
        کاپشن زنانه ضد آب
        قاب شفاف گوشی iPhone 13 Pro
        صندلی تاشو باغی چهار عددی
        قهوه ساز دلونگی""",
        """کفش مردانه
        قاب گوشی
        صندلی تاشو""",
    ),
    "hi": _shop(
        """पुरुषों के लिए दौड़ने के जूते Nike
        महिलाओं का रेनकोट
        iPhone 13 Pro के लिए कवर
        बच्चों के लकड़ी के खिलौने""",
        """जूते
        बच्चों के खिलौने""",
    ),
    "ko": _shop(
        """나이키 남성 런닝화 레볼루션 6 블랙
        앵커 보조배터리 10000mAh
        iPhone 13 Pro 투명 케이스
        접이식 캠핑 의자 4개 세트""",
        """런닝화
        보조배터리""",
    ),
    "vi": _shop(
        """Giày chạy bộ nam Nike Revolution màu đen
        Áo khoác nữ chống nước có mũ
        Ốp lưng iPhone 13 Pro trong suốt
        Ghế gấp sân vườn bộ 4 cái
        Tai nghe bluetooth không dây""",
        """giày chạy bộ nam
        tai nghe không dây
        ghế gấp""",
    ),
    "id": _shop(
        """Sepatu lari pria Nike Revolution hitam
        Jaket hujan wanita anti air
        Casing bening untuk iPhone 13 Pro
        Kursi lipat taman isi 4
        Botol minum stainless 1 liter
        Mainan kayu anak 3 tahun""",
        """sepatu lari pria
        jaket wanita
        kursi lipat
        mainan anak""",
    ),
    "ca": _shop(
        """Sabates de córrer per a home Nike negres
        Jaqueta impermeable de dona amb caputxa
        Funda transparent per a iPhone 13 Pro
        Cadires plegables de jardí pack de 4
        Ampolla d'acer inoxidable 1 litre
        Joguines de fusta per a nens""",
        """sabates home
        jaqueta dona
        cadira plegable
        joguines de fusta""",
    ),
}
