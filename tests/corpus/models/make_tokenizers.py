"""Trains tokenizers with the libraries `tokenizers` and `sentencepiece`, and writes what they make of real and of
hostile lines.

    python make_tokenizers.py OUTPUT FILE...       the lines of FILEs are trained on and tokenized
    KB_TOKENIZER=OUTPUT cargo test -p kb-embedders --lib tokens_are_those_of_the_library
"""

import json
import random
import sys
import unicodedata
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

PIECES = " \t\n\r\u00a0\u3000'sdtlmreveSL09.,-_\u2581\u00e9\u00df\u03a3\u4e2d\ud55c\u0301\u200b\U0001f600\u00bd\u2167"
PIECES += "\u0663\u2028\ufb01\uff21\u0e01\u0e33\u1100\u1161\u200d"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
LARGE = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
START = r"[^\r\n\p{L}\p{N}]?"
PATTERNS = {
    "gpt4": rf"{ENDINGS}|{START}\p{{L}}+|\p{{N}}{{1,3}}|{MARKS}",
    "qwen": rf"{ENDINGS}|{START}\p{{L}}+|\p{{N}}|{MARKS}",
    "gpt4o": rf"{START}{LARGE}*{SMALL}+{ENDINGS}?|{START}{LARGE}+{SMALL}*{ENDINGS}?|\p{{N}}{{1,3}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def hostile(folder: Path) -> list[str]:
    numbers = random.Random(1)
    pieces = [*PIECES, "<mask>", "</s>"]
    lines = ["".join(numbers.choices(pieces, k=numbers.randint(0, 40))) for _ in range(4000)]
    codes = [code for code in range(0, 0x20000, 37) if not 0xD800 <= code < 0xE000]
    if folder.name in {"steps", "bytes", "albert"}:
        # The normal forms of the library are those of an old Unicode.
        codes = [code for code in codes if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"]
    lines += [f"a{chr(code)}b {chr(code)}" for code in codes]
    return [*lines, "a" * 9000, "", "  ", " <mask> x", "x <mask>", "<s>a</s>"]


def write(folder: Path, tokenizer: Tokenizer, lines: list[str]) -> None:
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    with open(folder / "expected.jsonl", "w") as expected:
        for line in [*lines, *hostile(folder)]:
            expected.write(json.dumps({"text": line, "ids": tokenizer.encode(line).ids}) + "\n")


def pairs_of_bytes(
    folder: Path, lines: list[str], split: object, normalizer: object = None, whole: bool = False
) -> None:
    tokenizer = Tokenizer(models.BPE(ignore_merges=whole))
    tokenizer.pre_tokenizer = split
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    if whole:
        # Words that no merges make.
        file = json.loads(tokenizer.to_str())
        vocabulary = file["model"]["vocab"]
        for word in ["\u0120xyzzyx", "qqqqq", "\u00c3\u00a9\u00c3\u00a9"]:
            vocabulary.setdefault(word, len(vocabulary))
        tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    write(folder, tokenizer, lines)


def pairs_of_characters(folder: Path, lines: list[str], falls_back: bool, first: bool) -> None:
    unknown = {"unk_token": "<unk>", "fuse_unk": True}
    tokenizer = Tokenizer(models.BPE(byte_fallback=falls_back, **unknown))
    if first:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=falls_back)
    else:
        steps = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        tokenizer.normalizer = normalizers.Sequence(steps)
    special = [*SPECIAL, *(BYTES if falls_back else [])]
    trainer = trainers.BpeTrainer(vocab_size=3000, special_tokens=special, limit_alphabet=300, show_progress=False)
    tokenizer.train_from_iterator([word for line in lines for word in line.split(" ")], trainer)
    write(folder, tokenizer, lines)


def unigram(folder: Path, lines: list[str], rule: str, falls_back: bool, split: object, further: list[object]) -> None:
    """The vocabulary and the table of normalisation are those of a model of SentencePiece."""
    folder.mkdir(parents=True, exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in lines if line.strip()]),
        model_prefix=str(folder / "model"),
        vocab_size=4000,
        normalization_rule_name=rule,
        byte_fallback=falls_back,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    bytes_of_model = (folder / "model.model").read_bytes()
    model = sentencepiece.SentencePieceProcessor(model_proto=bytes_of_model)
    pieces = [(model.id_to_piece(token), model.get_score(token)) for token in range(model.get_piece_size())]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=model.unk_id(), byte_fallback=falls_back))
    steps = [*further]
    table = charsmap(bytes_of_model)
    if table:
        steps.insert(0, normalizers.Precompiled(table))
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = split
    token = model.piece_to_id("</s>")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", token)])
    write(folder, tokenizer, lines)


def fields(message: bytes) -> dict[int, bytes]:
    """The last value of each field of a protobuf message that has a length."""
    found, place = {}, 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = varint()
        match key & 7:
            case 0:
                varint()
            case 1:
                place += 8
            case 2:
                length = varint()
                found[key >> 3] = message[place : place + length]
                place += length
            case 5:
                place += 4
    return found


def charsmap(model: bytes) -> bytes:
    return fields(fields(model)[3]).get(2, b"")


def main() -> None:
    output = Path(sys.argv[1])
    lines = [line for file in sys.argv[2:] for line in Path(file).read_text().split("\n")]
    level = pre_tokenizers.ByteLevel
    pairs_of_bytes(output / "plain", lines, level(add_prefix_space=False))
    pairs_of_bytes(output / "space", lines, level(add_prefix_space=True))
    pairs_of_bytes(output / "nfc", lines, level(add_prefix_space=False), normalizers.NFC())
    for name, pattern in PATTERNS.items():
        steps = [pre_tokenizers.Split(Regex(pattern), "isolated"), level(add_prefix_space=False, use_regex=False)]
        pairs_of_bytes(output / name, lines, pre_tokenizers.Sequence(steps), whole=name == "gpt4")
    words = [
        pre_tokenizers.Punctuation(),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Split(" ", "merged_with_previous"),
        level(add_prefix_space=False, use_regex=True),
    ]
    pairs_of_bytes(output / "steps", lines, pre_tokenizers.Sequence(words), normalizers.NFKD())
    pairs_of_characters(output / "llama", lines, falls_back=True, first=False)
    pairs_of_characters(output / "mistral", lines, falls_back=True, first=True)
    pairs_of_characters(output / "fused", lines, falls_back=False, first=True)
    space = [normalizers.Replace(Regex(" {2,}"), " ")]
    always = pre_tokenizers.Metaspace(prepend_scheme="always")
    roberta = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), always])
    unigram(output / "xlmr", lines, "nmt_nfkc", False, roberta, [])
    unigram(output / "bge", lines, "nmt_nfkc", False, always, space)
    unigram(output / "bytes", lines, "identity", True, always, [normalizers.Nmt(), normalizers.NFKC(), *space])
    albert = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]
    unigram(output / "albert", lines, "nmt_nfkc_cf", False, always, albert)


main()
