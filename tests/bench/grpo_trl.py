"""A step of TRL's GRPOTrainer whenever a line comes, which `./dev bench grpo` runs beside its own:

    grpo_trl.py MODEL_FOLDER GROUPS ANSWERS ANSWER_TOKENS PROMPT_TOKENS

Says what it is, {"peer": "trl 1.16.0"}, or why there is none, {"missing": reason}; then, for each line that it reads,
takes a step and says what it took of the processor's time and what it did, {"cpu_s": 50.1, "prompt_tokens": 560,
"answer_tokens": 512, "computed_tokens": 4992}: tokens of the prompts, one for each group, and of all answers, and those
that went through the model with a gradient. A step: GROUPS prompts, ANSWERS answers to each, rewards, advantages, one
optimiser step, on one thread. Whatever else is printed goes to stderr."""
import contextlib
import json
import os
import pathlib
import random
import sys
import tempfile
import time

VOCABULARY = 49152
ROWS_AT_ONCE = 8  # TRL's default: sequences in a micro-batch


def say(out, **fields):
    print(json.dumps(fields), file=out, flush=True)


def go_on_in_environment():
    """This script again, by the interpreter that has the packages."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm_peers"))
    import environment
    try:
        with contextlib.redirect_stdout(sys.stderr):
            environment.make_environment()
    except environment.virtual_environment.Unavailable as reason:
        say(sys.stdout, missing=str(reason))
        return
    variables = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error",
                              "TRL_EXPERIMENTAL_SILENCE": "1", "OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    os.execve(environment.PYTHON, [str(environment.PYTHON), *sys.argv, "--inside"], variables)


def make_tokenizer():
    import tokenizers
    import transformers
    # A special token is found within words, too, so none may be the beginning of another.
    ids = {"<pad>": 0, "<unk>": 1, "<eos>": 2} | {f"w{i}": i for i in range(3, VOCABULARY)}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def train(model_folder, shape, out_folder, out):
    import datasets
    import torch
    import transformers
    import trl

    groups, answers, answer_tokens, prompt_tokens = shape
    seen = {}

    class OnDemand(transformers.TrainerCallback):
        begin = None

        def on_step_begin(self, *_, **__):
            if self.begin is None:
                say(out, peer=f"trl {trl.__version__}, torch {torch.__version__}")
            if not sys.stdin.readline():
                sys.exit(0)
            seen.update(prompt_tokens=0, answer_tokens=0, computed_tokens=0)
            self.begin = time.process_time()

        def on_step_end(self, *_, **__):
            say(out, cpu_s=time.process_time() - self.begin, **seen)

    def judge(completion_ids, prompts, **_):
        seen["answer_tokens"] += sum(map(len, completion_ids))
        seen["prompt_tokens"] += sum(map(len, tokenizer(list(set(prompts)))["input_ids"]))
        return [drawn.random() for _ in completion_ids]

    def count(_, arguments, named):
        if torch.is_grad_enabled():
            ids = named["input_ids"] if "input_ids" in named else arguments[0]
            seen["computed_tokens"] += ids.numel()

    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    drawn = random.Random(1)
    prompts = [" ".join(f"w{drawn.randrange(3, VOCABULARY)}" for _ in range(prompt_tokens)) for _ in range(64)]
    # No KL and no reference, as is its default; nothing ends an answer but its length.
    config = trl.GRPOConfig(output_dir=out_folder, per_device_train_batch_size=ROWS_AT_ONCE,
                            gradient_accumulation_steps=groups * answers // ROWS_AT_ONCE, num_generations=answers,
                            num_iterations=1, max_completion_length=answer_tokens,
                            generation_kwargs={"eos_token_id": None}, temperature=1.0, loss_type="grpo", beta=0.0,
                            learning_rate=1e-6, max_steps=1000, use_cpu=True, bf16=False, gradient_checkpointing=False,
                            report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    model.register_forward_pre_hook(count, with_kwargs=True)
    trl.GRPOTrainer(model=model, reward_funcs=judge, args=config,
                    train_dataset=datasets.Dataset.from_list([{"prompt": text} for text in prompts]),
                    processing_class=tokenizer, callbacks=[OnDemand()]).train()


def main():
    if "--inside" not in sys.argv:
        go_on_in_environment()
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        train(sys.argv[1], [int(each) for each in sys.argv[2:6]], folder, out)


if __name__ == "__main__":
    main()
