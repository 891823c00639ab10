"""Makes `cross-encoder/`: a graph in ONNX that counts the token "yes" of the second text, and its tokenizer.

Written byte for byte, because the packages that make such graphs are large: `python make.py`.
"""

import json
import struct
from pathlib import Path

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "yes"]


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    return message(field, value.encode())


def constant(name: str, shape: list[int], kind: int, raw: bytes) -> bytes:
    dims = b"".join(number(1, dim) for dim in shape)
    return message(5, dims, number(2, kind), message(9, raw), text(8, name))


def node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    return message(1, *(text(1, name) for name in inputs), text(2, output), text(4, kind), *attributes)


def value(field: int, name: str, kind: int) -> bytes:
    return message(field, text(1, name), message(2, message(1, number(1, kind))))


def graph() -> bytes:
    floats, ints = 1, 7
    yes = struct.pack("<5f", 0, 0, 0, 0, 1)
    kinds = struct.pack("<2f", 0, 1)
    keepdims = message(5, text(1, "keepdims"), number(3, 0), number(20, 2))
    content = [
        text(2, "counts yes"),
        *(value(11, name, ints) for name in ("input_ids", "attention_mask", "token_type_ids")),
        constant("yes", [5, 1], floats, yes),
        constant("kinds", [2, 1], floats, kinds),
        constant("axis", [1], ints, struct.pack("<q", 1)),
        node("Gather", ["yes", "input_ids"], "of_tokens"),
        node("Gather", ["kinds", "token_type_ids"], "of_kinds"),
        node("Mul", ["of_tokens", "of_kinds"], "both"),
        node("ReduceSum", ["both", "axis"], "logits", keepdims),
        value(12, "logits", floats),
    ]
    return number(1, 8) + message(8, number(2, 17)) + message(7, *content)


def tokenizer() -> dict[str, object]:
    around = [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "[SEP]"}}]
    return {
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": around},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "vocab": {token: place for place, token in enumerate(VOCABULARY)},
        },
    }


if __name__ == "__main__":
    folder = Path(__file__).parent / "cross-encoder"
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(graph())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(), indent=2) + "\n")
