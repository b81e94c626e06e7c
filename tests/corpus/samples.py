"""Short texts in several languages, written for the tests: two about a vote on taxes, two about cooking."""

SAMPLES = {
    "de": [
        "Die Regierung hat am Montag beschlossen, dass die Steuern im nächsten Jahr nicht erhöht werden.",
        "Der Minister sagte, man wolle zunächst die Steuern prüfen und dann mit den Ländern sprechen.",
        "Für die Suppe werden die Kartoffeln mit einer Zwiebel und etwas Butter in einem Topf gekocht.",
        "Wenn die Kartoffeln weich sind, wird die Suppe mit Salz und Pfeffer auf den Tisch gestellt.",
    ],
    "fr": [
        "Le gouvernement a décidé lundi que les impôts ne seraient pas augmentés l’année prochaine.",
        "Le ministre a déclaré qu'il voulait d'abord examiner les impôts, puis parler avec les régions.",
        "Pour la soupe, on fait cuire les pommes de terre avec un oignon et du beurre dans une casserole.",
        "Quand les pommes de terre sont tendres, la soupe est servie avec du sel et du poivre aujourd’hui.",
    ],
    "ar": [
        "قررت الحكومة يوم الاثنين أن الضرائب لن ترتفع في العام المقبل في كل مكان من البلاد.",
        "وقال الوزير إنه يريد أولا مراجعة الضرائب ثم التحدث مع المناطق التي كانت قد طلبت ذلك.",
        "من أجل الحساء يتم طهي البطاطس مع البصل في قدر على النار حتى تصبح لينة.",
        "بعد ذلك يقدم الحساء مع الملح والفلفل على الطاولة عند الذين هم في البيت.",
    ],
    "ru": [
        "Правительство решило в понедельник, что налоги не будут повышены в следующем году.",
        "Министр сказал, что он сначала хочет проверить налоги, а потом поговорить с регионами.",
        "Для супа картофель варят с луком и маслом в кастрюле, пока он не станет мягким.",
        "Когда картофель готов, суп подают на стол с солью и перцем, и все его едят.",
    ],
    "hi": [
        "सरकार ने सोमवार को फैसला किया कि अगले साल कर नहीं बढ़ाए जाएंगे।",
        "मंत्री ने कहा कि वे पहले कर की समीक्षा करना चाहते हैं और फिर राज्यों से बात करेंगे।",
        "सूप के लिए आलू को प्याज और मक्खन के साथ एक बर्तन में पकाया जाता है।",
        "जब आलू नरम हो जाते हैं तब सूप को नमक और मिर्च के साथ परोसा जाता है।",
    ],
}
UNSPACED = {
    "zh": [
        "政府星期一决定明年不提高税收。",
        "部长说他想先审查税收,然后再和各地区谈话。",
        "做汤的时候,把土豆和洋葱放在锅里用黄油煮。",
        "土豆软了以后,加上盐和胡椒,汤就可以上桌了。",
    ],
    "ja": [
        "政府は月曜日に、来年は税金を上げないことを決めました。",
        "大臣は、まず税金を見直して、それから地方と話したいと言いました。",
        "スープを作るときは、じゃがいもと玉ねぎをバターで煮ます。",
        "じゃがいもが柔らかくなったら、塩とこしょうを入れてスープを出します。",
    ],
    "th": [
        "รัฐบาลตัดสินใจเมื่อวันจันทร์ว่าจะไม่ขึ้นภาษีในปีหน้า",
        "รัฐมนตรีกล่าวว่าต้องการตรวจสอบภาษีก่อนแล้วจึงพูดคุยกับภูมิภาค",
        "ซุปทำจากมันฝรั่งต้มกับหัวหอมและเนยในหม้อ",
        "เมื่อมันฝรั่งนุ่มแล้วใส่เกลือและพริกไทยในซุป",
    ],
}
ENGLISH = [
    "The government decided on Monday that taxes will not be raised next year in the whole country.",
    "The minister said that he first wants to look at the taxes and then to talk with the regions.",
    "For the soup, the potatoes are cooked with an onion and some butter in a pot until they are soft.",
    "When the potatoes are done, the soup is put on the table with salt and pepper, and it is eaten.",
]
