"""Refuses includes that break the layers: layering.py [ROOT]

    runtime <- actors <- algorithms <- examples        deploy, tests: see all
"""
import source

LAYERS = ["runtime", "actors", "algorithms", "examples"]
# The only header that may include more of libtorch than a tensor; it is precompiled.
TORCH_HEADER = "actors/torch/torch.hpp"
# A worker that hosts plain environments, or one that only records, does not load libtorch.
WITHOUT_TENSORS = ["runtime/", "actors/random/", "actors/environments/", "actors/worlds/", "actors/openenv/",
                   "actors/recorder/"]
# The benchmarks compare with bare CAF.
WITH_CAF = ["runtime/", "tests/runtime/", "tests/bench/"]


def is_below(path, folders):
    return any(path.startswith(folder) for folder in folders)


def judge(path, included):
    """Why `path` may not include `included`, or None."""
    layer, other = path.split("/")[0], included.split("/")[0]
    is_tensor = other in ("torch", "ATen", "c10") or included == TORCH_HEADER
    if layer in LAYERS and other in LAYERS and LAYERS.index(other) > LAYERS.index(layer):
        return f"{layer}/ may not see {other}/"
    if layer in LAYERS and other in ("deploy", "tests"):
        return f"{layer}/ may not see {other}/"
    if is_tensor and is_below(path, WITHOUT_TENSORS):
        return "this folder knows no tensor"
    if included == "torch/torch.h":
        return f"it costs each source three CPU seconds; include {TORCH_HEADER}, and the part of libtorch that it lacks"
    if path.endswith(".hpp") and path != TORCH_HEADER and (other == "torch" or included == TORCH_HEADER):
        return "headers include <ATen/core/Tensor.h>"
    if other == "caf" and not is_below(path, WITH_CAF):
        return "CAF stays inside runtime/"
    return None


def find_problems(root):
    for path in source.list_sources(root):
        for line, included in source.list_includes(root, path):
            reason = judge(path.as_posix(), included)
            if reason:
                yield f"{path}:{line}: includes {included}: {reason}"


if __name__ == "__main__":
    source.finish("layering", list(find_problems(source.root_argument())))
