"""The built-in model kb-static-2: words, pieces, vectors and weights of words (model.md)."""

import math
import re
import struct
import unicodedata
from pathlib import Path

from .constants import CONSTANTS

DIM, LONGEST_WORD, LEAST_COSINE = 192, 64, 0.999
CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
       (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F))  # fmt: skip
WHOLE_WORD, LEAST_WEIGHT = 0.8 * 9.17746, CONSTANTS["least word weight"]


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Model:
    """Reads vocab.txt, table.bin and scales.bin of a folder."""

    def __init__(self, folder):
        files = [Path(folder, name).read_bytes() for name in ("vocab.txt", "table.bin", "scales.bin")]
        self.table = files[1]
        self.ids = {token: at for at, token in enumerate(files[0].decode().split("\n")) if token and at}
        self.scales = struct.unpack(f"<{len(files[2]) // 2}e", files[2])

    def reproduces(self, probes):
        """Whether it makes the vectors of all texts that a file keeps of its model."""
        length = lambda vector: math.sqrt(sum(one * one for one in vector))
        cosine = lambda a, b: sum(x * y for x, y in zip(a, b, strict=True)) / (length(a) * length(b) or 1.0)
        same = (len(kept) == DIM and cosine(kept, self.vector(text)) >= LEAST_COSINE for text, kept in probes)
        return bool(probes) and all(same)

    def row(self, token):
        pairs = self.table[token * DIM // 2 : (token + 1) * DIM // 2]
        return [(half ^ 8) - 8 for pair in pairs for half in (pair & 15, pair >> 4)]

    def tokens(self, word):
        """The pieces of a word from the left; none if they do not cover it."""
        found, at = [], 0
        while at < len(word) <= LONGEST_WORD:
            end = next((end for end in range(len(word), at, -1) if ("##" * (at > 0) + word[at:end]) in self.ids), None)
            if end is None:
                return []
            found.append(self.ids["##" * (at > 0) + word[at:end]])
            at = end
        return found

    def vector(self, text):
        counts = {}
        for word, _ in words(text):
            for token in self.tokens(word):
                counts[token] = counts.get(token, 0) + 1
        total = [0.0] * DIM
        for token, count in sorted(counts.items()):
            weight = f32(math.sqrt(count) * self.scales[token])
            total = [f32(one + f32(weight * value)) for one, value in zip(total, self.row(token), strict=True)]
        length = f32(math.sqrt(sum(one * one for one in total)))
        return [f32(one / length) for one in total] if length > 0 else total

    def coverage(self, text):
        """Share of the words of a text that are one token."""
        tokens = [len(self.tokens(word)) for word, is_mark in words(text) if not is_mark]
        return f32(sum(count == 1 for count in tokens) / len(tokens)) if tokens else 0.0

    def word_weight(self, text):
        """How much a word says, by the length of the rows of its tokens."""
        tokens = [token for word, is_mark in words(text) if not is_mark for token in self.tokens(word)]
        if not tokens:
            return 1.0
        squares = sum(self.scales[token] ** 2 * sum(one * one for one in self.row(token)) for token in tokens)
        return f32(min(max(math.sqrt(squares) / WHOLE_WORD, LEAST_WEIGHT), 1.0))


def words(text):
    """Words in lower case without marks, and punctuation marks, each with whether it is a mark."""
    out = ""
    for character in CAMEL.sub(" ", text):
        category = unicodedata.category(character)
        if character in "\t\n\r" or (character.isspace() and category != "Cc"):
            out += " "
        elif category in ("Cc", "Cf", "Co") or character in "\0\ufffd":
            continue
        elif any(first <= ord(character) <= last for first, last in HAN):
            out += f" {character} "
        else:
            out += character
    plain = unicodedata.normalize("NFD", out)
    word = ""
    for character in "".join(c.lower() for c in plain if unicodedata.category(c) != "Mn") + " ":
        is_mark = unicodedata.category(character)[0] == "P" or 32 < ord(character) < 127 and not character.isalnum()
        if is_mark or character.isspace():
            if word:
                yield word, False
            if is_mark:
                yield character, True
            word = ""
        else:
            word += character
