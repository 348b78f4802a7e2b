"""One update of SmolLM2 in each kind of world beside TRL's: worlds_check.py PROBE FOLDER. `troupe train` plays two groups of two
episodes in each of the worlds of tests/learning/agents.py and keeps their tokens; on these the loss and the gradient must be
TRL's, within 1e-5, where only the tokens that the model sampled count. TRL computes in double precision, so that the distance
is Troupe's rounding alone. An episode has up to three turns. CELLS=NAME,.. names some of the worlds.
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import safetensors.torch
import torch
import transformers

import grpo_check
import smollm2

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/learning"))
import agents  # noqa: E402

TOKENS, TURNS, NEAR = 16, 3, 1e-5
# No update changes the weights, so the last model is the one that played.
OPTIONS = ["-n", "1", "rollout.prompts=2", "rollout.group=2", f"rollout.max_completion_tokens={TOKENS}", "samples.tokens=true",
           "evaluation.every_updates=0", "evaluation.final_problems=1", "warm_start.batches=0", "trainer.lr=1e-30",
           "trainer.variant=grpo", "trainer.kl_coef=0", "trainer.zero_variance_groups=keep", "model.path=" + smollm2.path()]
WORLD = [f"world.turns={TURNS}", "world.malformed=tell", "world.replicas=2"]


def options_of(cell, made):
    """What a cell names, without what it says of the small model, its training and its size."""
    kept = ("task.", "python.interpreter")
    return [word for word in map(str, agents.CELLS[cell](made)) if word.startswith(kept)]


def play(build, cell, made):
    """The run's folder and its groups."""
    program = build / ("examples/grpo_own_world" if cell == "guess" else "deploy/troupe/troupe")
    world = [] if cell == "arithmetic" else WORLD
    command = [program, "train", "--algo", "grpo", "--runs", made.folder / "runs" / cell, "--json", "--metrics-port", "0",
               "--log-level", "error", *options_of(cell, made), *world, *OPTIONS]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    run = pathlib.Path(json.loads(done.stdout.splitlines()[-1])["run_directory"])
    return run, [json.loads(line) for line in (run / "samples.jsonl").read_bytes().split(b"\n") if line]


def sampled_of(answer):
    """1 for each token that the model sampled, 0 for those that it read."""
    mask = [1] * len(answer["tokens"])
    for begin, end in answer["read"]:
        mask[begin:end] = [0] * (end - begin)
    return mask


def batch_of(groups):
    """TRL's tensors, and the groups as the probe takes them."""
    random = torch.Generator().manual_seed(3)
    answers = [answer for group in groups for answer in group["tokens"]]
    masks = [sampled_of(answer) for answer in answers]
    # Made-up advantages: the first replies of a model that knows no game may all be worth the same.
    advantages = torch.randn(len(answers), generator=random)
    old = []
    for answer, mask in zip(answers, masks):
        next_one = iter(answer["log_probs"])
        old.append([next(next_one) if sampled else 0.0 for sampled in mask])
    inputs = grpo_check.trl_inputs([group["prompt_tokens"] for group in groups],
                                   [[answer["tokens"] for answer in group["tokens"]] for group in groups], random)
    inputs |= {"advantages": advantages, "tool_mask": grpo_check.padded(masks, False, 0),
               "old_per_token_logps": grpo_check.padded(old, False, 0.0), "sampled": grpo_check.padded(old, False, 0.0),
               "num_items_in_batch": torch.tensor(sum(map(sum, masks)))}
    rows = iter(advantages.tolist())
    ours = [{"prompt": group["prompt_tokens"],
             "answers": [{"tokens": answer["tokens"], "read": answer["read"], "old": answer["log_probs"],
                          "sampled": answer["log_probs"], "reference": answer["log_probs"], "advantage": next(rows)}
                         for answer in group["tokens"]]} for group in groups]
    return inputs, ours, masks


def check(cell, build, probe, folder, made):
    run, groups = play(build, cell, made)
    inputs, ours, masks = batch_of(groups)
    # Eager attention gives NaN in double precision where prompts have different lengths, in rows that are padding alone.
    model = transformers.AutoModelForCausalLM.from_pretrained(run / "last_model", dtype=torch.float64, attn_implementation="sdpa")
    grpo_check.TEMPERATURE = 1.0
    grpo_check.GROUPS, grpo_check.ANSWERS = 2, 2
    their_loss, expected = grpo_check.trl_gradient(model, folder, {"loss_type": "grpo"}, inputs)
    asked = {"loss": {"variant": "grpo", "dual_clip": 0, "correction": "none", "proximal": "behaviour"},
             "length_max": TOKENS, "temperature": 1.0, "groups": ours}
    out = folder / "world_gradient"
    done = subprocess.run([probe, run / "last_model", out], input=json.dumps(asked), text=True, stdout=subprocess.PIPE,
                          check=True)
    told, found = json.loads(done.stdout), safetensors.torch.load_file(out / "model.safetensors")
    size = sum(g.double().pow(2).sum() for g in expected.values()).sqrt().item()
    away = sum((expected[key].double() - found[key].double()).pow(2).sum() for key in expected).sqrt().item() / size
    good = away < NEAR and abs(told["loss"] - their_loss) < NEAR * max(1.0, abs(their_loss))
    print(f"{cell}: {len(masks)} episodes, {sum(map(sum, masks))} tokens sampled and {sum(m.count(0) for m in masks)} read; "
          f"gradient {away:.1e} of its norm {size:.2f} from TRL's, loss {told['loss']:.7f} and {their_loss:.7f}"
          f"{'' if good else ', WRONG'}", flush=True)
    return good


def main():
    probe, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "worlds"
    folder.mkdir(exist_ok=True)
    build = probe.parents[2]
    torch.set_num_threads(2)
    failed = 0
    with contextlib.ExitStack() as stack:
        made = agents.made_in(folder / "made", stack)
        for cell in os.environ.get("CELLS", ",".join(agents.CELLS)).split(","):
            failed += not check(cell, build, probe, folder, made)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
