# Writes the tokens and vectors of all-MiniLM-L6-v2 as ONNX Runtime and `tokenizers` give them, one text a line.
import json, sys
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

TEXTS = [
    "where is the checksum of a page compared with that of its parent",
    "A reader takes no lock and retries when the commit slot changed.",
    "fn read(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> { todo!() }",
    "The cat sat on the mat.",
    "Zürich façade naïve coöperate İstanbul ΣΟΦΟΣ",
    "北京 and 東京 are capitals; 서울, too.",
    "emoji \U0001f600 and \u200bzero-width, tabs\tand\nlines",
    "[SEP] is a token, [sep] is none",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "word " * 400,
    "a",
]

folder, out = sys.argv[1:]
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(256)
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
with open(out, "w", encoding="utf-8") as file:
    for text in TEXTS:
        ids = np.array([tokenizer.encode(text).ids])
        ones = np.ones_like(ids)
        feed = {"input_ids": ids, "attention_mask": ones, "token_type_ids": ones * 0}
        vector = session.run(["last_hidden_state"], feed)[0][0].mean(0)
        vector = np.rint(vector / np.linalg.norm(vector) * 1e4).astype(int).tolist()
        line = {"text": text, "tokens": ids[0].tolist(), "vector": vector}
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
