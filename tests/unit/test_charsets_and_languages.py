"""Which encoding some bytes are in, declared, mislabelled or not said; and which language a text is in."""

import pytest

from upwell.parse.letters.encoding import decode
from upwell.parse.letters.language import guess_language
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse

PROSE = {
    "zh": "落叶松是一种落叶针叶树，每年秋天它的叶子会变成金黄色，然后在下雪之前掉落。我们在山上看到了很多这样的树。",
    "zh-tw": "落葉松是一種落葉針葉樹，每年秋天它的葉子會變成金黃色，然後在下雪之前掉落。我們在山上看到了很多這樣的樹。",
    "ja": "カラマツは落葉する針葉樹です。秋になると葉が黄金色に変わり、雪が降る前に落ちます。",
    "ko": "낙엽송은 가을마다 잎을 떨어뜨리는 침엽수이다. 눈이 내리기 전에 산 전체가 금빛으로 물든다. 우리는 그 나무를 보았다.",
    "ru": "Лиственница — хвойное дерево, которое каждую осень сбрасывает хвою. Перед снегом склоны гор становятся золотыми.",
    "uk": "Модрина — хвойне дерево, яке щоосені скидає хвою. Її гілки стають золотими, і це дуже красиво.",
    "el": "Η λάρικα είναι ένα φυλλοβόλο κωνοφόρο δέντρο που κάθε φθινόπωρο χάνει τις βελόνες του πριν από το χιόνι.",
    "he": "הלגש הוא עץ מחט נשיר שמשיל את מחטיו בכל סתיו לפני בוא השלג וההרים נצבעים זהב.",
    "ar": "شجرة اللاركس صنوبرية متساقطة الأوراق تفقد إبرها في كل خريف قبل أن يأتي الثلج وتصبح الجبال ذهبية.",
    "fa": "این درخت سوزنی‌برگ هر پاییز برگ‌های خود را می‌ریزد و پیش از برف کوه‌ها طلایی می‌شوند.",
    "th": "ต้นสนชนิดนี้จะผลัดใบทุกฤดูใบไม้ร่วงก่อนที่หิมะจะตกและภูเขาจะกลายเป็นสีทอง",
    "hi": "यह एक शंकुधारी पेड़ है जो हर पतझड़ में अपनी पत्तियाँ गिरा देता है।",
    "en": "The larch is a conifer that sheds its needles every autumn, and the hills are golden before the snow.",
    "de": "Die Lärche ist ein Nadelbaum, der im Herbst seine Nadeln verliert und die Hänge vor dem Schnee golden färbt.",
    "fr": "Le mélèze est un conifère qui perd ses aiguilles en automne, et les pentes sont dorées avant la neige.",
    "es": "El alerce es una conífera que pierde las agujas en otoño, y las laderas se vuelven doradas antes de la nieve.",
    "it": "Il larice è una conifera che perde gli aghi in autunno, e i pendii sono dorati prima della neve.",
    "pt": "O lariço é uma conífera que perde as agulhas no outono, e as encostas não são verdes antes da neve.",
    "nl": "De lariks is een naaldboom die in de herfst zijn naalden verliest, en de hellingen zijn goud voor het sneeuwt.",
    "sv": "Lärken är ett barrträd som fäller sina barr på hösten, och sluttningarna är gyllene när det inte har snöat.",
    "pl": "Modrzew jest drzewem iglastym, które zrzuca igły na jesień, a zbocza są złote przez wiele dni, bo nie ma śniegu.",
    "cs": "Modřín je jehličnatý strom, který na podzim shazuje jehlice, a svahy jsou zlaté, než se objeví sníh nebo mráz.",
    "tr": "Bu ağaç her sonbaharda iğnelerini döken bir ağaç olarak bilinir ve kar için çok güzel bir renk gibi olur.",
    "hu": "Ez a fa olyan, hogy minden ősszel lehullatja a tűit, és a hegyek már arany színűek, ha még nem esik.",
    "vi": "Cây này là một loài cây lá kim rụng lá vào mùa thu, và những ngọn đồi có màu vàng trước khi tuyết rơi.",
}


@pytest.mark.parametrize("code", sorted(PROSE))
def test_the_language_of_prose_is_known(code):
    """By script, by letters that only one language has, by common words."""
    assert guess_language(PROSE[code]) == code.removesuffix("-tw")


@pytest.mark.parametrize("text", ["", "12 34", "A B C\nD E F", "x = y + z", "Larch Birch Elm"])
def test_what_is_no_prose_has_no_language(text):
    """Letters in a table, names, formulas."""
    assert guess_language(text) is None


@pytest.mark.parametrize(
    ("code", "encoding"),
    [
        ("zh", "gb18030"),
        ("zh-tw", "big5"),
        ("ja", "cp932"),
        ("ja", "euc_jp"),
        ("ja", "iso2022_jp"),
        ("ko", "euc_kr"),
        ("ru", "cp1251"),
        ("ru", "koi8-r"),
        ("el", "cp1253"),
        ("he", "cp1255"),
        ("ar", "cp1256"),
        ("th", "cp874"),
        ("pl", "cp1250"),
    ],
)
def test_an_encoding_that_nobody_names_is_found(code, encoding):
    """By what the bytes would spell."""
    text = PROSE[code].replace("—", "-").replace("\u200c", "")
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-1"])
@pytest.mark.parametrize("code", ["de", "fr", "es", "it", "pt", "sv"])
def test_western_letters_stay_western(code, encoding):
    """They are no other alphabet's, however few."""
    assert decode(PROSE[code].encode(encoding))[0] == PROSE[code]


@pytest.mark.parametrize(
    ("head", "encoding", "code"),
    [
        ('<meta charset="shift_jis">', "cp932", "ja"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=gb2312">', "gb18030", "zh"),
        ("<meta charset=euc-kr>", "euc_kr", "ko"),
        ("<meta charset=windows-1251>", "cp1251", "ru"),
        ("<meta charset=iso-8859-1>", "cp1251", "ru"),
        ("<meta charset=utf-8>", "cp1252", "de"),
        ("<meta charset=iso-8859-1>", "utf-8", "de"),
        ("<meta charset=no-such>", "utf-8", "ja"),
        ("<meta charset=windows-1252>", "utf-16", "de"),
        ("", "utf-8-sig", "de"),
        ("<!--" + "x" * 5000 + "--><meta charset=koi8-r>", "koi8-r", "ru"),
    ],
)
def test_what_a_page_says_of_its_encoding_is_a_hint(head, encoding, code):
    """It must fit; a Western name is what programs say that do not know."""
    text = PROSE[code].replace("—", "-")
    page = f"<html><head>{head}</head><body><p>{text}</p></body></html>"
    assert parse(page.encode(encoding), "a.html", None, DEFAULT_LIMITS).blocks[0].text == text


def test_a_few_letters_are_western():
    """An alphabet by itself is no word of another."""
    assert decode("können äöüß".encode("latin-1")) == ("können äöüß", "iso-8859-1")


def test_utf8_with_a_bad_byte_is_still_utf8():
    """One character is lost, not every umlaut."""
    data = PROSE["de"].encode() * 5
    assert decode(data + b"\xff")[0].startswith(PROSE["de"])
