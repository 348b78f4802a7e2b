"""Logits and greedy answers of Troupe's models beside transformers': models_check.py PROBE FOLDER. The models are
SmolLM2-135M-Instruct, from GGUF, with the CPU time of decoding, and random ones of each family."""
import json
import pathlib
import subprocess
import sys
import time

import safetensors.torch
import torch
import transformers

import smollm2

GREEDY = 200
SIZES = {"vocab_size": 500, "hidden_size": 128, "intermediate_size": 320, "num_hidden_layers": 4, "num_attention_heads": 8,
         "num_key_value_heads": 2, "max_position_embeddings": 1024}


def random_models():
    rope = {"plain": {"rope_type": "default", "rope_theta": 1e6},
            "linear": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0},
            "dynamic": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
            "yarn": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 256},
            "llama3": {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0,
                       "high_freq_factor": 4.0, "original_max_position_embeddings": 128}}
    for kind, parameters in rope.items():
        yield f"llama {kind}", transformers.LlamaConfig(**SIZES, rope_parameters=parameters, tie_word_embeddings=kind == "yarn",
                                                        attention_bias=kind == "linear")
    for kind in ("plain", "yarn"):
        yield f"qwen2 {kind}", transformers.Qwen2Config(**SIZES, rope_parameters=rope[kind])
        yield f"qwen3 {kind}", transformers.Qwen3Config(**SIZES, head_dim=32, rope_parameters=rope[kind],
                                                        tie_word_embeddings=True)


def load(path, **more):
    return transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager", **more).eval()


@torch.no_grad()
def greedy(model, ids, count):
    """The ids that follow, and the least distance between the best logit and the next."""
    answer, cache, now, closest = [], None, torch.tensor([ids]), float("inf")
    for _ in range(count):
        out = model(now, past_key_values=cache, use_cache=True)
        best = out.logits[0, -1].topk(2)
        closest = min(closest, (best.values[0] - best.values[1]).item())
        cache, now = out.past_key_values, best.indices[:1].view(1, 1)
        answer.append(now.item())
    return answer, closest


def probe_ids(probe, arguments, ids):
    return subprocess.run([probe, *arguments], input=json.dumps(ids), text=True, stdout=subprocess.PIPE, check=True).stdout


@torch.no_grad()
def compare(name, probe, folder, path, model, ids, count=GREEDY):
    """Whether it fails."""
    theirs = model(torch.tensor([ids])).logits[0]
    out = folder / "logits.safetensors"
    probe_ids(probe, ["logits", path, str(out)], ids)
    ours = safetensors.torch.load_file(out)
    away = {kind: (ours[kind] - theirs).abs().max().item() for kind in ("decoder", "packed")}
    chances = {kind: ours[kind].log_softmax(-1).gather(1, torch.tensor(ids).view(-1, 1)) for kind in away}
    apart = (chances["decoder"] - chances["packed"]).abs().max().item()
    answer = json.loads(probe_ids(probe, ["greedy", path, str(count)], ids[:32]))
    known, closest = greedy(model, ids[:32], count)
    print(f"model {name}: logits up to {theirs.abs().max():.1f}, farthest {away['decoder']:.1e} decoded, "
          f"{away['packed']:.1e} packed; log-probabilities of the two {apart:.1e} apart; greedy "
          f"{'the same' if answer == known else 'DIFFERENT'} for {count} tokens (closest choice {closest:.1e})", flush=True)
    return max(away.values()) > 1e-4 or apart > 1e-5 or answer != known


@torch.no_grad()
def decode_seconds(model, steps, batch=32):
    cache = model(torch.full((batch, 64), 1000), use_cache=True, logits_to_keep=1).past_key_values
    begin = time.process_time()
    now = torch.full((batch, 1), 1000)
    for _ in range(steps):
        out = model(now, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        out.logits[:, -1].argmax(-1)
    return time.process_time() - begin


def compare_speed(probe, path, model, steps=16, rounds=3):
    """The best of some rounds of each, by turns."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(float(subprocess.run([probe, "speed", path, str(steps)], text=True, stdout=subprocess.PIPE, check=True).stdout))
        theirs.append(decode_seconds(model, steps))
    rates = [32 * steps / min(seconds) for seconds in (ours, theirs)]
    print(f"decode_tokens_per_s_core {rates[0]:.0f}, transformers {rates[1]:.0f}, decode_vs_transformers {rates[0] / rates[1]:.2f} "
          f"(32 sequences, CPU time, one thread)")


def main():
    probe, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(5)
    failed = 0
    path = pathlib.Path(smollm2.path())
    model = load(path.parent, gguf_file=path.name)
    text = "The quick brown fox jumps over the lazy dog. In 2024 there were 365 days, and we'll count them: " * 8
    ids = json.loads(subprocess.run([probe, "tokenize", str(path)], input=json.dumps(text), text=True,
                                    stdout=subprocess.PIPE, check=True).stdout)["plain"][:200]
    failed += compare("SmolLM2-135M-Instruct", probe, folder, str(path), model, ids)
    compare_speed(probe, str(path), model)
    for name, config in random_models():
        config.initializer_range = 0.06
        model = transformers.AutoModelForCausalLM.from_config(config)
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                if key.endswith("bias") or "norm" in key:
                    parameter.add_(torch.randn_like(parameter) * 0.2)
        model.save_pretrained(folder / "random")
        ids = torch.randint(0, config.vocab_size, (300,)).tolist()
        failed += compare(name, probe, folder, str(folder / "random"), load(folder / "random"), ids)
        subprocess.run([probe, "rewrite", folder / "random", folder / "rewritten"], check=True)
        failed += compare(f"{name}, written by Troupe", probe, folder, str(folder / "random"), load(folder / "rewritten"), ids, count=10)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
