"""Text to terms (analysis.md). Terms of one word come together; `is_form` tells those of another form of it."""

import re
import unicodedata

import Stemmer

STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to"
    " was will with".split()
)
BIGRAMS = (
    "0E00-0E7F 0E80-0EFF 1000-109F 1100-11FF 1780-17FF 1980-19DF 1A20-1AAF 2E80-2FDF 3005-3007 3021-3029 3031-303B"
    " 3040-312F 3130-318F 31A0-31BF 31F0-31FF 3400-4DBF 4E00-A4CF A960-A97F A9E0-AA7F AC00-D7FF F900-FAFF FF66-FFDC"
    " 1AFF0-3FFFF"
)
SYMBOLS = "231A-231B 23E9-23FA 2600-27BF 2B1B-2B55 1F000-1F3FA 1F400-1FAFF"
SHY, SECTION = "\xad", "\xa7"
LANGUAGES = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
PLUS_NAMES = ("c", "clang", "g", "libc", "libstdc", "notepad")
FOLDED = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ς": "σ",
    "\u0451": "\u0435", "\u0622": "\u0627", "\u0623": "\u0627", "\u0625": "\u0627", "\u0671": "\u0627",
    "\u0649": "\u064a", "\u0629": "\u0647", "\u0640": "", "\u0670": "", "\u05bf": "", "\u05c1": "", "\u05c2": "",
    "\u05c4": "", "\u05c5": "", "\u05c7": "",
}  # fmt: skip
STEMMER = Stemmer.Stemmer("english")
WORD, BIGRAM, SYMBOL, OTHER = range(4)


def blocks(text):
    return [tuple(int(end, 16) for end in block.split("-")) for block in text.split()]


BIGRAM_BLOCKS, SYMBOL_BLOCKS = blocks(BIGRAMS), blocks(SYMBOLS)


def is_in(found, character):
    return any(first <= ord(character) <= last for first, last in found)


def is_word_byte(character):
    return character.isascii() and (character.isalnum() or character == "_")


def char_class(character):
    if character.isascii():
        return WORD if is_word_byte(character) else OTHER
    category = unicodedata.category(character)
    if category[0] in "LMN":
        return BIGRAM if is_in(BIGRAM_BLOCKS, character) else WORD
    return SYMBOL if category == "So" and is_in(SYMBOL_BLOCKS, character) else OTHER


def words(text):
    """First character, text and class of each word, bigram and symbol."""
    at = 0
    while at < len(text):
        start = at
        while start < len(text) and text[start].isascii() and not is_word_byte(text[start]):
            start += 1
        if start == len(text):
            return
        end = run_end(text, start)
        if end < len(text) and not text[end].isascii():
            while end < len(text) and (char_class(text[end]) == WORD or text[end] == SHY):
                end += 1
        if end == start:
            found, at = other_character(text, start)
            yield from found
            continue
        start, end = Signs(text, at, start, end).joined() or (start, end)
        at = end
        if len(text[start:end].encode()) <= 256:
            yield start, text[start:end], WORD


def run_end(text, at):
    """The end of the run of ASCII word characters at `at`."""
    while at < len(text) and is_word_byte(text[at]):
        at += 1
    return at


def other_character(text, start):
    """What a character outside ASCII that is in no word begins, and where to go on."""
    kind = char_class(text[start])
    if kind == SYMBOL:
        return [(start, text[start], SYMBOL)], start + 1
    if kind == BIGRAM:
        end = start
        while end < len(text) and char_class(text[end]) == BIGRAM:
            end += 1
        if end == start + 1:
            return [(start, text[start], BIGRAM)], end
        return [(at, text[at : at + 2], BIGRAM) for at in range(start, end - 1)], end
    number = re.compile("([ \xa0\u202f]*)([0-9][0-9A-Za-z.]*)").match(text, start + 1) if text[start] == SECTION else None
    if number and len(number[1].encode()) <= 3 and len(number[2].rstrip(".")) <= 10:
        end = number.start(2) + len(number[2].rstrip("."))
        return [(start, text[start:end], WORD)], end
    return [], start + 1


def is_letter(character):
    return bool(character) and char_class(character) in (WORD, BIGRAM)


def is_alpha(character):
    return character.isascii() and character.isalpha()


def is_digits(text):
    return text.isascii() and text.isdigit()


class Signs:
    """A run of word characters and what stands around it."""

    def __init__(self, text, begin, start, end):
        self.text, self.begin, self.start, self.end, self.word = text, begin, start, end, text[start:end]

    def at(self, place):
        return self.text[place : place + 1]

    def before(self, distance):
        place = self.start - distance
        return self.text[place] if place >= self.begin else ""

    def letter_before(self, distance):
        place = self.start - distance - 1
        return place >= 0 and is_letter(self.text[place])

    def joined(self):
        """The word with signs around the run, if there is one."""
        found = self.opened() or self.continued()
        if not found or len(self.text[found[0] : found[1]].encode()) > 48:
            return None
        return found if found[1] == self.end or not is_letter(self.at(found[1])) else None

    def opened(self):
        start, end, word, first = self.start, self.end, self.word, self.at(self.start)
        is_name = is_alpha(first) and len(word.encode()) > 1
        if self.before(1) == "-" and self.before(2) == "-":
            while self.at(end) == "-" and is_alpha(self.at(end + 1)):
                end = run_end(self.text, end + 1)
            return (start - 2, end) if is_name and self.before(3) != "-" and not self.letter_before(2) else None
        if self.before(1) == "@":
            return (start - 1, end) if is_name and self.before(2) != "@" and not self.letter_before(1) else None
        if self.before(1) == "#":
            is_free = self.before(2) not in ("&", "#") and not self.letter_before(1)
            return (start - 1, end) if is_digits(word) and len(word) <= 10 and is_free else None
        if self.before(1) == "." and word.lower() == "net" and word.isascii():
            return (start - 1, end) if word == "NET" or not (self.letter_before(1) or self.at(end) == "(") else None
        return None

    def continued(self):
        start, end, sign, after = self.start, self.end, self.at(self.end), self.at(self.end + 1)
        is_single = len(self.word.encode()) == 1
        if sign == ".":
            return self.dotted()
        if sign == "-" and after == ">":
            field = run_end(self.text, end + 2)
            return (start, field) if is_single and field == end + 3 else None
        if sign == "-":
            return self.date() or self.dashed()
        if sign == "+" and after == "+":
            third = self.at(end + 2)
            is_name = re.fullmatch("[A-Z]", self.word) or self.word.lower() in PLUS_NAMES and self.word.isascii()
            return (start, end + 2) if is_name and third not in ("+", "=") and not is_alpha(third) else None
        if sign == "#" and is_single:
            return (start, end + 1) if is_alpha(self.word) and not is_alpha(after) and after not in ('"', "#") else None
        if sign in ("/", "&") and is_single:
            other = run_end(self.text, end + 1)
            is_path = self.before(1) == "/" or self.at(other) == "/"
            return (start, other) if other == end + 2 and is_alpha(self.word) and is_alpha(after) and not is_path else None
        return None

    def dotted(self):
        end, dots = self.end, 0
        while is_digits(self.at(end - 1)) and self.at(end) == "." and is_digits(self.at(end + 1)):
            end, dots = run_end(self.text, end + 1), dots + 1
        parts = self.text[self.start : end].split(".")
        is_measure = dots == 1 and any(len(part) > 2 and is_digits(part) for part in parts)
        return (self.start, end) if dots and not is_measure else None

    def date_at(self, start):
        return is_date(self.text[start : run_end(self.text, start + 10)])

    def date(self):
        return (self.start, run_end(self.text, self.start + 10)) if self.date_at(self.start) else None

    def dashed(self):
        end = self.end
        is_single = len(self.word.encode()) == 1
        if is_single and is_alpha(self.at(end + 1)):
            after = run_end(self.text, end + 1)
            end = after if after - end > 2 and self.word != "_" else end
        while not re.fullmatch("[a-z_]", self.word) and self.at(end) == "-" and is_digits(self.at(end + 1)):
            after = run_end(self.text, end + 1)
            if self.date_at(end + 1) or self.at(after) == "." and is_digits(self.at(after + 1)):
                break
            end = after
        return (self.start, end) if end > self.end else None


def is_date(word):
    return re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt]|\Z)", word) is not None


def lower_case(text):
    text = unicodedata.normalize("NFC", text.replace(SHY, ""))
    return "".join(character.lower() for character in text)


def fold(lower, umlauts=False):
    """A word without marks; with `ae` for umlauts where that is asked for."""
    found = ""
    for c in lower:
        if umlauts and c in "äöü":
            found += {"ä": "ae", "ö": "oe", "ü": "ue"}[c]
        elif c in FOLDED:
            found += FOLDED[c]
        elif "\u0300" <= c <= "\u036f" or "\u064b" <= c <= "\u0652" or "\u0591" <= c <= "\u05bd":
            continue
        elif "\xc0" <= c <= "\u03ff" or "\u1e00" <= c <= "\u1fff":
            found += "".join(it for it in unicodedata.normalize("NFD", c) if not "\u0300" <= it <= "\u036f")
        else:
            found += c
    return found


def is_joined(word):
    return word.startswith(SECTION) or any(c.isascii() and not is_word_byte(c) for c in word)


def parts(word):
    """Start and text of each part of an identifier."""
    at = 0
    while True:
        while word[at : at + 1] == "_":
            at += 1
        if at >= len(word):
            return
        end = at + 1
        while end < len(word) and not is_cut(word, end):
            end += 1
        yield at, word[at:end]
        at = end


def part_class(c):
    if c == "_":
        return "_"
    return "U" if c.isupper() else "l" if c.islower() else "9" if unicodedata.category(c)[0] == "N" else "o"


def is_cut(word, at):
    before, here = part_class(word[at - 1]), part_class(word[at])
    if here == "_" or (before, here) == ("l", "U"):
        return True
    if (before, here) == ("U", "U"):
        return at + 1 < len(word) and part_class(word[at + 1]) == "l"
    return (before == "9") != (here == "9")


def is_hash(word):
    turns = sum(is_digits(a) != is_digits(b) for a, b in zip(word, word[1:]))
    return turns >= 3 and re.fullmatch("[0-9a-fA-F]{7,}", word) is not None


def forms(text):
    """The terms of a word or part: as it is written, and of other forms."""
    lower = lower_case(text)
    if len(lower) > 64 or lower in STOP_WORDS or not lower.strip("_"):
        return []
    found = [(STEMMER.stemWord(lower), False)]
    plain = fold(lower)
    if not lower.isascii() and plain and plain != lower and plain not in STOP_WORDS:
        if (stem := STEMMER.stemWord(plain)) != found[0][0]:
            found.append((stem, True))
    if any(c in lower for c in "äöü"):
        found.append((STEMMER.stemWord(fold(lower, umlauts=True)), True))
    return found


def run_terms(word):
    """Terms of a run of letters and digits."""
    if len(word) == 1:
        is_name = re.fullmatch("[0-9B-HJ-Z]", word)
        return [(word.lower(), False)] if is_name else []
    found = list(parts(word))
    if not found or len(found[0][1]) == len(word):
        return forms(word)
    terms = forms(word)
    if not is_hash(word):
        for _, part in found:
            terms += forms(part) if len(part.encode()) > 1 else []
    return terms


def terms_of(word, kind):
    """Term and whether it is of another form, of one word."""
    if kind != WORD:
        return [(word, False)]
    if not is_joined(word):
        return run_terms(word)
    whole = "".join(lower_case(word).split())
    whole = whole[:10] if is_date(whole) else whole
    whole = whole[1:] if re.match(r"v[0-9].*\.", whole) else whole
    found = [(whole, False)]
    number = re.match(r"[^.]*[^.0-9]([0-9]+\..*)", word, re.DOTALL)
    if number and not word.startswith(SECTION) and number[1].lower() != whole:
        found.append((number[1].lower(), False))
    bare = word[1:].lstrip() if word.startswith(SECTION) else word
    for run in re.findall(r"[0-9A-Za-z_\x80-\U0010ffff]+", bare):
        found += run_terms(run) if len(run.encode()) > 1 else []
    return found


def is_stemmed(lower):
    """Whether a word in lower case has a stem in its language."""
    letters = all(c.isalpha() or unicodedata.category(c) in ("Mc", "Nl") for c in lower)
    return letters and 2 <= len(lower) <= 64 and lower not in STOP_WORDS


def stem_term(language, lower):
    return "\x02" + language + Stemmer.Stemmer(LANGUAGES[language]).stemWord(lower)
