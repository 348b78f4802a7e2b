"""Ids and texts of Troupe's tokenisers beside those of the tokenizers library: tokenizers_check.py PROBE FOLDER
[NAME=FOLDER...]. FOLDER is for what is made on the way; each NAME is a real tokeniser to be compared, too."""
import json
import pathlib
import subprocess
import sys

import gguf
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

import smollm2
from texts import make_texts

COUNT = 10000


def tokenizer_of_gguf(path):
    """The tokenizers library's tokeniser with a GGUF file's vocabulary, cut as SmolLM2's is."""
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    made = tokenizers.Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([tokenizers.AddedToken(token, special=True, normalized=False)
                             for token, kind in zip(tokens, kinds) if kind == 3])
    return made


def compare(name, probe, path, theirs, texts):
    """How many texts differ."""
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    answers = subprocess.run([probe, "tokenize", path], input=lines, text=True, stdout=subprocess.PIPE, check=True).stdout
    different = 0
    for text, line in zip(texts, answers.split("\n")[:-1], strict=True):
        ours = json.loads(line)
        theirs.encode_special_tokens = False
        parsed = theirs.encode(text, add_special_tokens=True).ids
        theirs.encode_special_tokens = True
        plain = theirs.encode(text, add_special_tokens=False).ids
        decoded = theirs.decode(parsed, skip_special_tokens=False)
        if (ours["parsed"], ours["plain"], ours["text"]) != (parsed, plain, decoded):
            different += 1
            if different <= 3:
                print(f"  {name}: {text!r}\n    {ours['plain']}\n    {plain}")
    print(f"tokeniser {name}: {len(texts) - different} of {len(texts)} texts have the same ids and decode alike", flush=True)
    return different


def main():
    probe, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    texts = make_texts(COUNT)
    model = smollm2.path()
    theirs = tokenizer_of_gguf(model)
    written = folder / "smollm2"
    written.mkdir(parents=True, exist_ok=True)
    theirs.save(str(written / "tokenizer.json"))
    different = compare("SmolLM2, GGUF", probe, model, theirs, texts)
    different += compare("SmolLM2, JSON", probe, written, theirs, texts)
    for argument in sys.argv[3:]:
        name, place = argument.split("=", 1)
        different += compare(name, probe, place, tokenizers.Tokenizer.from_file(place + "/tokenizer.json"), texts)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
