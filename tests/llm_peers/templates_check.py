"""Conversations in published chat templates as Troupe and as transformers' apply_chat_template write them, text by text and
token by token: templates_check.py PROBE FOLDER [NAME=FOLDER...]. The templates are those in TRL's package, SmolLM2's, and
those of the tokenisers that are named. FOLDER is for what is made on the way."""
import datetime
import inspect
import json
import pathlib
import re
import subprocess
import sys

import gguf
import tokenizers
import transformers
import trl
from tokenizers import decoders, models, pre_tokenizers
from transformers.utils import chat_template_utils

import smollm2
from conversations import CONTROL, Conversations

COUNT = 300
# Those that the check is about; it compares all others that are there, too.
EXPECTED = ["deepseek_r1_distill", "gemma", "gptoss", "llama3", "llama3_1", "llama3_2", "phi3", "qwen2_5", "qwen2_5_training",
            "qwen3", "qwen3_instruct_2507", "qwen3_training", "smollm2"]
DATE = datetime.datetime(2025, 2, 1)


class fixed_date(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return DATE


def published(arguments):
    found = {"smollm2": gguf.GGUFReader(smollm2.path()).fields["tokenizer.chat_template"].contents()}
    for path in sorted((pathlib.Path(trl.__file__).parent / "chat_templates").glob("*.jinja")):
        found[path.stem] = path.read_text(encoding="utf-8")
    for argument in arguments:
        name, place = argument.split("=", 1)
        template = json.loads((pathlib.Path(place) / "tokenizer_config.json").read_text()).get("chat_template")
        if isinstance(template, str):
            found["npm_" + name] = template
    return found


def tiny_tokenizer(template):
    """A token for each byte, and the special tokens that the template and the conversations name."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = set(re.findall(r"<[|｜][^<>|｜\s]+[|｜]>", template + "".join(CONTROL)))
    special |= {"<s>", "</s>", "[INST]", "[/INST]", "<start_of_turn>", "<end_of_turn>", "<bos>"}
    made.add_special_tokens([tokenizers.AddedToken(one, special=True, normalized=False) for one in sorted(special)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>",
                                                chat_template=template)


def asked_of(drawn):
    """The conversation in the form of llm_probe."""
    messages = []
    for message in drawn["messages"]:
        fields = {key: held for key, held in message.items() if key not in ("role", "content")}
        messages.append({"role": message["role"], "content": message["content"],
                         "fields": json.dumps(fields) if fields else ""})
    return {"messages": messages, "tools": json.dumps(drawn["tools"]) if drawn["tools"] else "", "open": drawn["open"],
            "thinking": drawn["thinking"], "date": DATE.strftime("%d %b %Y")}


def theirs(tokens, drawn, has_control):
    """Text and ids, or None where the template refuses the conversation."""
    options = {"tools": drawn["tools"], "add_generation_prompt": drawn["open"], "enable_thinking": drawn["thinking"]}
    try:
        text = tokens.apply_chat_template(drawn["messages"], tokenize=False, **options)
    except Exception:
        return None
    if has_control:
        if "sanitize_control_tokens" not in inspect.signature(tokens.apply_chat_template).parameters:
            return text, None
        options["sanitize_control_tokens"] = True
    return text, tokens.apply_chat_template(drawn["messages"], return_dict=False, **options)


def compare(name, probe, folder, template):
    """How many conversations differ."""
    tokens = tiny_tokenizer(template)
    tokens.save_pretrained(folder)
    # Half of the conversations have texts that look like special tokens.
    drawn = [(Conversations(seed, seed % 2 == 0).draw(), seed % 2 == 0) for seed in range(COUNT)]
    lines = "".join(json.dumps(asked_of(one)) + "\n" for one, _ in drawn)
    done = subprocess.run([probe, "chats", folder], input=lines, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        print(f"template {name}: {done.stderr.strip()}", flush=True)
        return COUNT
    different = refused = 0
    for (one, has_control), line in zip(drawn, done.stdout.split("\n")[:-1], strict=True):
        ours, expected = json.loads(line), theirs(tokens, one, has_control)
        if expected is None:
            refused += "refused" in ours
            same = "refused" in ours
        else:
            same = ours.get("text") == expected[0] and (expected[1] is None or ours["ids"] == list(expected[1]))
        different += not same
        if not same and different <= 2:
            print(f"  {name}: {json.dumps(one)}\n    {ours}\n    {expected}")
    print(f"template {name}: {COUNT - different} of {COUNT} conversations are the same, of which both refuse {refused}",
          flush=True)
    return different


def main():
    probe, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "templates"
    chat_template_utils.datetime = fixed_date
    found = published(sys.argv[3:])
    missing = sorted(set(EXPECTED) - set(found))
    if missing:
        print(f"templates: the packages lack {missing}")
    different = sum(compare(name, probe, folder / name, template) for name, template in found.items())
    return 1 if different or missing else 0


if __name__ == "__main__":
    sys.exit(main())
