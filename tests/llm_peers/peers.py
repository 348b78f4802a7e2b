"""Troupe's language models beside the published packages: peers.py BUILD_DIR [tokenizers] [models] [grpo] [names]
[torch] [written] [worlds] [templates]. Logits within
1e-4, the same greedy text, the same ids for 10,000 texts, GRPO's gradients within 1e-4 of TRL's, the names of all options of
Stable-Baselines3 and TRL, models that torch.load reads, written models that stop in transformers where they
were trained to, one update of SmolLM2 in each kind of world within 1e-5 of TRL's, and the same conversations in published
chat templates as transformers writes them."""
import os
import subprocess
import sys

import environment

CHECKS = ("tokenizers", "models", "grpo", "names", "torch", "written", "worlds", "templates")


def main():
    probes = os.path.join(os.path.abspath(sys.argv[1]), "tests/llm_peers")
    asked = sys.argv[2:] or CHECKS
    for name in asked:
        if name not in CHECKS:
            sys.exit(f"peers.py: expected {' or '.join(CHECKS)}, got '{name}'")
    environment.make_environment()
    place = environment.PLACE / "made"
    place.mkdir(exist_ok=True)
    variables = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
                              "TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    failed = 0
    for name in asked:
        more = [f"{key}={value}" for key, value in environment.npm_tokenizers().items()] if name in ("tokenizers", "templates") else []
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}_check.py")
        probe = os.path.join(probes, "grpo_probe" if name in ("grpo", "worlds") else "llm_probe")
        failed += subprocess.run([environment.PYTHON, script, probe, place, *more], env=variables, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
