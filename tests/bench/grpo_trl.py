"""A step of TRL's GRPOTrainer whenever a line comes: grpo_trl.py MODEL_FOLDER, which `./dev bench grpo` runs beside its own.

Says what it is, {"peer": "trl 1.16.0"}, or why there is none, {"missing": reason}; then, for each line that it reads,
takes a step and says what of the processor's time that took, {"cpu_s": 50.1}. A step: 8 prompts of 70 tokens, 8 answers of
8 tokens to each, rewards, advantages, one optimiser step, on one thread. Whatever else is printed goes to stderr."""
import contextlib
import json
import os
import pathlib
import random
import sys
import tempfile
import time

GROUPS, ANSWERS, ANSWER_TOKENS, PROMPT_TOKENS, VOCABULARY = 8, 8, 8, 70, 49152


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
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(VOCABULARY)}, unk_token="w1"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w2", unk_token="w1")


def train(model_folder, out_folder, out):
    import datasets
    import torch
    import transformers
    import trl

    class OnDemand(transformers.TrainerCallback):
        begin = None

        def on_step_begin(self, *_, **__):
            if self.begin is None:
                say(out, peer=f"trl {trl.__version__}, torch {torch.__version__}")
            if not sys.stdin.readline():
                sys.exit(0)
            self.begin = time.process_time()

        def on_step_end(self, *_, **__):
            say(out, cpu_s=time.process_time() - self.begin)

    torch.set_num_threads(1)
    drawn = random.Random(1)
    prompts = [" ".join(f"w{drawn.randrange(3, VOCABULARY)}" for _ in range(PROMPT_TOKENS)) for _ in range(64)]
    # No KL and no reference, as is its default; nothing ends an answer but its length.
    config = trl.GRPOConfig(output_dir=out_folder, per_device_train_batch_size=GROUPS * ANSWERS // MICRO_BATCHES,
                            gradient_accumulation_steps=MICRO_BATCHES, num_generations=ANSWERS, num_iterations=1,
                            max_completion_length=ANSWER_TOKENS, generation_kwargs={"eos_token_id": None}, temperature=1.0,
                            loss_type="grpo", beta=0.0, learning_rate=1e-6, max_steps=1000, use_cpu=True, bf16=False,
                            gradient_checkpointing=False, report_to=[], save_strategy="no", logging_strategy="no",
                            disable_tqdm=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    trl.GRPOTrainer(model=model, reward_funcs=lambda completions, **_: [drawn.random() for _ in completions], args=config,
                    train_dataset=datasets.Dataset.from_list([{"prompt": text} for text in prompts]),
                    processing_class=make_tokenizer(), callbacks=[OnDemand()]).train()


MICRO_BATCHES = 8  # of 8 sequences, TRL's default


def main():
    if "--inside" not in sys.argv:
        go_on_in_environment()
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        train(sys.argv[1], folder, out)


if __name__ == "__main__":
    main()
