"""Trains tokenizers of bytes with the library `tokenizers`, and writes what they make of real and of hostile lines.

    python make_tokenizers.py OUTPUT FILE...       the lines of FILEs are trained on and tokenized
    KB_TOKENIZER=OUTPUT/nfc cargo test -p kb-embedders --lib tokens_are_those_of_the_library
"""

import json
import random
import sys
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

PIECES = " \t\n\r\u00a0\u3000'sdtlmreve09.,-_\u00e9\u00df\u03a3\u4e2d\ud55c\u0301\u200b\U0001f600\u00bd\u2167\u0663\u2028"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def hostile() -> list[str]:
    numbers = random.Random(1)
    pieces = [*PIECES, "<mask>", "</s>"]
    lines = ["".join(numbers.choices(pieces, k=numbers.randint(0, 40))) for _ in range(4000)]
    codes = (code for code in range(0, 0x20000, 37) if not 0xD800 <= code < 0xE000)
    lines += [f"a{chr(code)}b {chr(code)}" for code in codes]
    return [*lines, "a" * 20000, "", "  ", " <mask> x", "x <mask>", "<s>a</s>"]


def make(folder: Path, lines: list[str], normalizer: object, adds_space: bool) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=adds_space)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=3000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    with open(folder / "expected.jsonl", "w") as expected:
        for line in [*lines, *hostile()]:
            expected.write(json.dumps({"text": line, "ids": tokenizer.encode(line).ids}) + "\n")


def main() -> None:
    output = Path(sys.argv[1])
    lines = [line for file in sys.argv[2:] for line in Path(file).read_text().split("\n")]
    make(output / "plain", lines, None, adds_space=False)
    make(output / "space", lines, None, adds_space=True)
    make(output / "nfc", lines, normalizers.NFC(), adds_space=False)


main()
