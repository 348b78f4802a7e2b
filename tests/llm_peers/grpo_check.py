"""The gradient of Troupe's GRPO beside that of TRL's trainer, on the same batch: grpo_check.py PROBE FOLDER. Each of TRL's
settings that means the same here, on a random model: prompts and answers of different lengths, an answer with the pad token
in it, ratios on either side of both clips."""
import json
import pathlib
import subprocess
import sys

import datasets
import safetensors.torch
import tokenizers
import torch
import transformers
import trl

GROUPS, ANSWERS, LENGTH_MAX, VOCABULARY, PAD = 4, 4, 9, 60, 0
TEMPERATURE = 0.8
CASES = {  # TRL's arguments, and Troupe's trainer options that mean the same
    "grpo": ({"loss_type": "grpo"}, {"variant": "grpo"}),
    "dr_grpo": ({"loss_type": "dr_grpo"}, {"variant": "dr_grpo"}),
    "dapo": ({"loss_type": "dapo", "epsilon_high": 0.28}, {"variant": "dapo"}),
    "dapo, dual clip": ({"loss_type": "dapo", "epsilon_high": 0.28, "delta": 1.5}, {"variant": "dapo", "dual_clip": 1.5}),
    "gspo": ({"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
             {"variant": "gspo"}),
    "cispo": ({"loss_type": "cispo", "epsilon_high": 1.1}, {"variant": "cispo", "cispo_max": 1.1}),
    "sequence sums": ({"loss_type": "luspo"}, {"variant": "grpo", "aggregation": "sequence_sum"}),
    "grpo with a reference": ({"loss_type": "grpo", "beta": 0.1, "use_bias_correction_kl": False}, {"variant": "grpo", "kl_coef": 0.1}),
    "dapo with a reference": ({"loss_type": "dapo", "epsilon_high": 0.28, "beta": 0.1, "use_bias_correction_kl": False},
                              {"variant": "dapo", "kl_coef": 0.1}),
    "dapo, truncated weights": ({"loss_type": "dapo", "epsilon_high": 0.28, "weights": "truncate"},
                                {"variant": "dapo", "correction": "truncate", "correction_max": 1.1}),
    "dapo, masked weights": ({"loss_type": "dapo", "epsilon_high": 0.28, "weights": "mask"},
                             {"variant": "dapo", "correction": "mask", "correction_max": 1.1}),
}


def make_model(folder):
    config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
                                      num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=PAD,
                                      bos_token_id=1, eos_token_id=2, tie_word_embeddings=False, attn_implementation="eager")
    model = transformers.LlamaForCausalLM(config).float()
    model.model.embed_tokens.padding_idx = None  # an answer with the pad token in it: its embedding has a gradient, too
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(5 if weights.dim() > 1 else 1)
    model.save_pretrained(folder)
    return model


def make_tokenizer():
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(VOCABULARY)}, unk_token="w1"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w2", unk_token="w1")


def make_batch(random):
    def ids(count):
        return torch.randint(3, VOCABULARY, (count,), generator=random).tolist()

    def length(least, most):
        return torch.randint(least, most + 1, (1,), generator=random).item()

    prompts = [ids(length(2, 6)) for _ in range(GROUPS)]
    answers = [[ids(length(1, LENGTH_MAX)) for _ in range(ANSWERS)] for _ in range(GROUPS)]
    answers[0][0] = ids(3) + [PAD] + ids(2)
    return prompts, answers


def padded(rows, left, value):
    longest = max(map(len, rows))
    fill = [[value] * (longest - len(row)) for row in rows]
    return torch.tensor([pad + list(row) if left else list(row) + pad for row, pad in zip(rows, fill)])


def trl_inputs(prompts, answers, random):
    """TRL's tensors; log-probabilities are still to come."""
    flat = [answer for group in answers for answer in group]
    repeated = [prompt for prompt, group in zip(prompts, answers) for _ in group]
    return {"prompt_ids": padded(repeated, True, PAD),
            "prompt_mask": padded([[1] * len(row) for row in repeated], True, 0),
            "completion_ids": padded(flat, False, PAD),
            "completion_mask": padded([[1] * len(row) for row in flat], False, 0),
            "advantages": torch.randn(len(flat), generator=random),
            "num_items_in_batch": torch.tensor(sum(map(len, flat)))}


def make_trainer(model, folder, arguments):
    settings = {name: value for name, value in arguments.items() if name not in ("weights", "beta")}
    config = trl.GRPOConfig(output_dir=str(folder / "trl"), per_device_train_batch_size=GROUPS * ANSWERS, num_generations=ANSWERS,
                            max_completion_length=LENGTH_MAX, temperature=TEMPERATURE, use_cpu=True, bf16=False, report_to=[],
                            gradient_checkpointing=False, **settings)
    data = datasets.Dataset.from_list([{"prompt": "w3 w4"}] * 16)
    trainer = trl.GRPOTrainer(model=model, reward_funcs=lambda completions, **_: [0.0] * len(completions), args=config,
                              train_dataset=data, processing_class=make_tokenizer())
    trainer.current_gradient_accumulation_steps = 1
    trainer.beta = arguments.get("beta", 0.0)  # set here, it loads no reference model: its log-probabilities are given
    return trainer


def trl_gradient(model, folder, arguments, inputs):
    model.train()
    trainer = make_trainer(model, folder, arguments)
    inputs = dict(inputs)
    weights = (inputs["old_per_token_logps"] - inputs["sampled"]).exp()
    if arguments.get("weights"):  # as its vLLM path has them, without vLLM
        capped = weights.clamp(max=1.1) if arguments["weights"] == "truncate" else weights.masked_fill(weights > 1.1, 0.0)
        inputs["importance_sampling_ratio"] = capped
        trainer.use_vllm = trainer.vllm_importance_sampling_correction = True
    model.zero_grad()
    loss = trainer._compute_loss(model, inputs)
    loss.backward()
    return loss.item(), {name: weights.grad.clone() for name, weights in model.named_parameters()}


def troupe_gradient(probe, model_folder, out, options, prompts, answers, inputs):
    groups, row = [], 0
    for prompt, group in zip(prompts, answers):
        rows = []
        for tokens in group:
            cut = slice(0, len(tokens))
            rows.append({"tokens": tokens, "old": inputs["old_per_token_logps"][row, cut].tolist(),
                         "sampled": inputs["sampled"][row, cut].tolist(),
                         "reference": inputs["ref_per_token_logps"][row, cut].tolist(),
                         "advantage": inputs["advantages"][row].item()})
            row += 1
        groups.append({"prompt": prompt, "answers": rows})
    loss = {"dual_clip": 0, "correction": "none", "proximal": "recomputed"} | options
    asked = {"loss": loss, "length_max": LENGTH_MAX, "temperature": TEMPERATURE, "groups": groups}
    done = subprocess.run([probe, model_folder, out], input=json.dumps(asked), text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout), safetensors.torch.load_file(out / "model.safetensors")


def log_probabilities(model, inputs):
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    width = inputs["completion_ids"].size(1)
    with torch.no_grad():
        logits = model(ids, attention_mask=mask, position_ids=positions).logits[:, -width - 1:-1] / TEMPERATURE
    return logits.log_softmax(-1).gather(2, inputs["completion_ids"].unsqueeze(2)).squeeze(2)


def main():
    probe, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(5)
    random = torch.Generator().manual_seed(6)
    model = make_model(folder / "grpo_model")
    prompts, answers = make_batch(random)
    inputs = trl_inputs(prompts, answers, random)
    now = log_probabilities(model, inputs)

    def near(spread):
        return now + spread * torch.randn(now.shape, generator=random)

    inputs |= {"old_per_token_logps": near(0.3), "ref_per_token_logps": near(0.3)}
    inputs["sampled"] = inputs["old_per_token_logps"] + 0.2 * torch.randn(now.shape, generator=random)
    failed = 0
    for name, (theirs, ours) in CASES.items():
        their_loss, expected = trl_gradient(model, folder, theirs, inputs)
        told, found = troupe_gradient(probe, folder / "grpo_model", folder / "grpo_gradient", ours, prompts, answers, inputs)
        size = sum(g.pow(2).sum() for g in expected.values()).sqrt().item()
        away = sum((expected[key] - found[key]).pow(2).sum() for key in expected).sqrt().item() / size
        good = away < 1e-4 and abs(told["loss"] - their_loss) < 1e-4 * max(1.0, abs(their_loss))
        failed += not good
        print(f"grpo {name}: gradient {away:.1e} of its norm {size:.2f} from TRL's, loss {told['loss']:.6f} and {their_loss:.6f}, "
              f"clipped {told['clip_low']:.2f} below and {told['clip_high']:.2f} above{'' if good else ', WRONG'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
