"""Models that Troupe has trained and written, as transformers generates with them: they stop where they were trained to
stop. written_check.py PROBE FOLDER."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from transformers import AutoModelForCausalLM, AutoTokenizer

TROUPE = pathlib.Path(sys.argv[1]).parents[2] / "deploy/troupe/troupe"
LEARN = ("-n", "150", "trainer.lr=0.003")


def train(folder, *arguments):
    """A model that has learned to say "seven"; the folder that the run has written."""
    done = subprocess.run([TROUPE, "train", "--algo", "sft", "--json", "--metrics-port", "0", "task.data=seven.jsonl",
                           "task.held_out=0", "evaluation.every_updates=0", "model.layers=2", "model.hidden_size=64",
                           *arguments], cwd=folder, text=True, capture_output=True, check=True)
    return folder / json.loads(done.stdout.splitlines()[-1])["run_directory"] / "last_model"


def change(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def other_end(model, to):
    """The same model, whose configuration ends a text at another token than its template ends a turn."""
    shutil.copytree(model, to)
    for name in ("config.json", "generation_config.json"):
        change(to / name, eos_token_id=260)
    change(to / "generation_config.json", temperature=0.5, do_sample=True)
    return to


def base(model, to):
    shutil.copytree(model, to)
    (to / "chat_template.jinja").unlink()
    return to


def answer(folder):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    if tokenizer.chat_template:
        asked = tokenizer.apply_chat_template([{"role": "user", "content": "say 3"}], add_generation_prompt=True,
                                              return_tensors="pt", return_dict=True)
    else:
        asked = tokenizer("say 3", return_tensors="pt", return_token_type_ids=False)
    said = model.generate(**asked, do_sample=False, max_new_tokens=20)
    return tokenizer.decode(said[0][asked["input_ids"].shape[1]:]), model.generation_config


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = [json.dumps({"prompt": f"say {i}", "answer": "seven"}) for i in range(10)]
        (folder / "seven.jsonl").write_text("\n".join(lines) + "\n")
        first = train(folder, *LEARN)
        ended = train(folder, f"model.path={other_end(first, folder / 'other_end')}", "-n", "20", "trainer.lr=0.0003")
        plain = train(folder, f"model.path={base(first, folder / 'base')}", *LEARN)
        for what, model in (("a chat model", first), ("another end", ended), ("a base model", plain)):
            said, _ = answer(os.fspath(model))
            print(f"written: {what} says {said!r}")
            failed += said != "seven<|end|>"
        _, settings = answer(os.fspath(ended))
        if settings.temperature != 0.5 or settings.eos_token_id != [256, 260]:
            print(f"written: the settings of generation are {settings}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
