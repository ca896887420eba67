"""The lexer of Unicode's letters against a reading of its rules by characters, and what each lexer passes over."""

import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark.text.lexer import DIGIT_RULES, STOPLISTS, Lexing, find_tokens
from tests.text.lexed import tokens

UNICODE = Lexing(stoplist="none", lexer="unicode")
#: The scripts that are written without spaces; of Hiragana and Katakana also what is half as wide, and what is short.
ALONE = re.compile("CJK |IDEOGRAPHIC|HENTAIGANA|HIRAGANA|(HALFWIDTH )?KATAKANA|THAI |LAO |KHMER |MYANMAR ")


def kind_of(character: str) -> str:
    """l, d, m or i as a letter, digit, mark or a letter that is a word by itself; a space for all else."""
    category = unicodedata.category(character)
    if category[0] == "L":
        return "i" if ALONE.match(unicodedata.name(character, "")) and not character.isascii() else "l"
    return {"Nd": "d", "Mn": "m", "Mc": "m", "Me": "m"}.get(category, " ")


def plain_tokens(document: bytes, digits: str) -> list[str]:
    runs: list[tuple[str, str]] = [(" ", "")]
    for character in unicodedata.normalize("NFC", document.decode("utf-8", "replace")).lower():
        kind, was = kind_of(character), runs[-1][0]
        written = str(unicodedata.decimal(character)) if kind == "d" else character
        if kind == "d" and digits == "joined":
            kind, written = "l", "#"
        if (kind == was != "i") or (kind == "m" and was in "li"):
            runs[-1] = was, runs[-1][1] + written
        else:
            runs.append((" " if kind == "m" else kind, written))
    names = []
    for kind, run in runs:
        if kind == "d" and digits != "drop":
            names.append({"run-length": f"<digits:{len(run)}>", "token": "<digits>"}.get(digits, run))
        elif kind == "i" or (kind == "l" and 2 <= len(run) <= 99):
            names.append(run)
    return names


WORDS = """
    Gebühr höher, проблема ПРОБЛЕМА été don't İstanbul ΟΔΟΣ ΣΑΣ'Α 漢字 かな カナー ｶﾞ ประเทศไทย ພາສາລາວ
    ភាសាខ្មែរ မြန်မာ 한국어 हिन्दी العَرَبِيَّة עִבְרִית ١٢٣ １２ a１b 42 x9 ½ Ⅷ ß ẞ ǅ ª 𝐀𝐁 𐐀𐐁 🙂 _ , a Z the
"""
FRAGMENTS = [
    *WORDS.split(),
    *("e\u0301te\u0301", "\u0301", "\u200d", "\ufeff", "\xad", "\xa0", "\0", " ", "\n"),
    *("ж" * 99, "ж" * 100, "q" * 98 + "é", "q" * 99 + "é"),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=20).map("".join)
DOCUMENTS = TEXTS.map(str.encode) | st.binary(max_size=30) | TEXTS.map(lambda text: text.encode("utf-16"))
RULES = st.sampled_from(list(DIGIT_RULES))


@given(DOCUMENTS, RULES)
@example("Gebühr höher, проблема".encode(), "drop")
def test_tokens_are_those_of_a_reading_by_characters(document: bytes, digits: str) -> None:
    assert tokens(document, replace(UNICODE, digits=digits)) == plain_tokens(document, digits)


@given(TEXTS, RULES)
def test_composed_and_decomposed_spellings_are_one(text: str, digits: str) -> None:
    lexing = replace(UNICODE, digits=digits)
    composed, decomposed = (unicodedata.normalize(form, text).encode() for form in ("NFC", "NFD"))
    assert tokens(composed, lexing) == tokens(decomposed, lexing)


MARKUP = st.sampled_from(
    ["<", ">", "<b>", "</a href='x'>", "\n\n", "\r\n\r\n", "cs101", "The", "x", "\0", "#", ";", "'"]
)
PLAIN = st.lists(MARKUP | st.text(st.characters(max_codepoint=127), max_size=4), max_size=20).map("".join)
LEXINGS = st.builds(
    Lexing,
    skip_header=st.booleans(),
    skip_html=st.booleans(),
    digits=RULES,
    stoplist=st.sampled_from(list(STOPLISTS)),
)


@given(PLAIN, LEXINGS, st.sampled_from(["", " é", " &amp;"]))
@example("a<b>c&d", Lexing(), "")
def test_both_lexers_read_ascii_alike(text: str, lexing: Lexing, behind: str) -> None:
    # With entities asked for, ampersands are what the two differ in; what stands behind must change nothing before it.
    document = text.replace("&", "") if lexing.skip_html else text
    mine = tokens((document + behind).encode(), replace(lexing, lexer="unicode"))
    theirs = tokens((document + behind.replace("é", " ")).encode(), lexing)
    assert mine == theirs


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("caf&eacute;s na&#239;ve &#x43f;&#1086;", "cafés naïve по"),
        ("e&#769;te&#769;", "été"),
        ("one &lt;two&gt; three", "one two three"),
        ("one&nbsp;two AT&amp;TT &amp;lt;", "one two at tt lt"),
        ("one <a title='&gt; in'> two <never closed", "one two"),
        ("&#60;one&#x3e; &foo; two&", "one foo two"),
        ("one &#" + "9" * 5000 + "; two &" + "x" * 100, "one two"),
    ],
)
def test_entities_are_their_characters(document: str, expected: str) -> None:
    lexing = replace(UNICODE, skip_html=True)
    assert tokens(document.encode(), lexing) == expected.split()
    assert tokens(("é " + document).encode(), lexing) == expected.split()


@given(st.lists(DOCUMENTS, max_size=4))
@example(["Gebühr höher".encode(), b"Geb\xfchr h\xf6her", b"kernel"])
def test_what_rainbow_passes_over_is_counted(documents: list[bytes]) -> None:
    expected = 0
    for document in documents:
        try:
            expected += sum(unicodedata.category(each)[0] == "L" and each > "\x7f" for each in document.decode())
        except UnicodeDecodeError:
            expected += sum(byte > 0x7F for byte in document)
    assert dropped(documents, Lexing()) == expected


@given(st.lists(TEXTS, max_size=4))
def test_of_utf_8_the_lexer_of_unicode_passes_nothing_over(texts: list[str]) -> None:
    assert dropped([text.replace("\ufffd", "").encode() for text in texts], UNICODE) == 0
    assert dropped([text.replace("\ufffd", "").encode() + b" \xe9 " for text in texts], UNICODE) == len(texts)


def dropped(documents: list[bytes], lexing: Lexing) -> int:
    bounds = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    return find_tokens(np.frombuffer(b"".join(documents), dtype=np.uint8), bounds, lexing).dropped


@pytest.mark.parametrize(("document", "lost"), [(b"a &#65533; &#xfffd;", 0), (b"a \xff &#65533; \xfe", 2), (b"abc", 0)])
def test_an_entity_is_no_invalid_place(document: bytes, lost: int) -> None:
    text = np.frombuffer(document, dtype=np.uint8)
    found = find_tokens(text, np.array([0, len(document)], dtype=np.int64), replace(UNICODE, skip_html=True))
    assert found.dropped == lost


@pytest.mark.parametrize(
    "letters",
    ["漢字", "〆々", "かな", "𛀁𛀂", "カナ", "ㇰㇱ", "ｱｲ", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ", "豈更"],
)
def test_each_letter_of_a_script_without_spaces_is_a_word(letters: str) -> None:
    """With the marks after it; a script for each beginning of names."""
    words = tokens(f"ab {letters}cd".encode(), UNICODE)
    composed = unicodedata.normalize("NFC", letters)
    assert words[0] == "ab"
    assert words[-1] == "cd"
    assert "".join(words[1:-1]) == composed
    assert len(words) - 2 == sum(unicodedata.category(each)[0] == "L" for each in composed)
