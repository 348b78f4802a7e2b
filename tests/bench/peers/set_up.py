"""Gets the peers ready below build/peers: a virtual environment with Stable-Baselines3 and RL-tools' headers from
PyPI, and RL-tools' programs compiled against OpenBLAS. RL_TOOLS_DIR names a checkout of RL-tools to be used instead
of the PyPI package's headers (both were measured equal)."""
import ctypes
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import virtual_environment  # noqa: E402
from virtual_environment import Unavailable, run_quietly  # noqa: E402

PLACE = ROOT / "build/peers"
PYTHON = PLACE / "venv/bin/python"
# One after the other: without torch first, Stable-Baselines3 would bring its own choice of it.
PACKAGES = (("torch==2.13.0",), ("stable-baselines3==2.9.2", "gymnasium", "rltools==2.2.1"))
OPENBLAS = "libopenblas.so.0"


def make_environment():
    """The virtual environment; made once, again when PACKAGES change."""
    virtual_environment.make(PLACE / "venv", PACKAGES, "torch, Stable-Baselines3, RL-tools")


def find_headers():
    if "RL_TOOLS_DIR" in os.environ:
        headers = pathlib.Path(os.environ["RL_TOOLS_DIR"]) / "include"
    else:
        packages = run_quietly([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], "python")
        headers = pathlib.Path(packages.strip()) / "rltools/external/rl_tools/include"
    if not (headers / "rl_tools/nn/operations_cpu_mux.h").exists():
        raise Unavailable(f"no headers of RL-tools in {headers}: rl_tools/nn/operations_cpu_mux.h is missing")
    return headers


def find_openblas():
    """The path of the library, as the loader finds it."""
    try:
        ctypes.CDLL(OPENBLAS)
    except OSError as error:
        raise Unavailable(f"no OpenBLAS (apt-get install libopenblas0-pthread): {error}") from error
    maps = pathlib.Path("/proc/self/maps").read_text()
    return re.search(r"\S*/libopenblas\S*", maps).group(0)


def openblas_variables():
    """What makes OpenBLAS use this processor: one that is younger than the library is taken for a Prescott,
    whose kernels are ten times slower. Troupe mends that by itself; a fair peer is told."""
    library = ctypes.CDLL(find_openblas())
    library.openblas_get_corename.restype = ctypes.c_char_p
    if library.openblas_get_corename() != b"Prescott" or "OPENBLAS_CORETYPE" in os.environ:
        return {}
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    for kernels, needed in (("Cooperlake", {"avx512_bf16"}), ("SkylakeX", {"avx512bw", "avx512vl"}),
                            ("Haswell", {"avx2", "fma"})):
        if needed <= flags:
            return {"OPENBLAS_CORETYPE": kernels}
    return {}


def compile_rl_tools(algorithm):
    """The program; g++ made it a third faster than clang++, so it is g++ here."""
    if not shutil.which("g++"):
        raise Unavailable("RL-tools' programs are compiled with g++: apt-get install g++")
    make_environment()
    headers, source = find_headers(), HERE / "rl_tools" / f"{algorithm}.cpp"
    program = PLACE / f"rl_tools_{algorithm}"
    inputs = [source, HERE / "rl_tools/begin.hpp", HERE / "rl_tools/report.hpp"]
    command = ["g++", "-std=c++17", "-O3", "-march=native", "-ffast-math", "-DNDEBUG",
               "-DRL_TOOLS_BACKEND_ENABLE_OPENBLAS", "-DRL_TOOLS_DISABLE_TENSORBOARD", f"-I{headers}", source,
               "-Wl,--wrap=cblas_sgemm", find_openblas(), "-o", program]
    stamp = PLACE / f"rl_tools_{algorithm}.made"
    made = " ".join(map(str, command)) + "".join(path.read_text() for path in inputs)
    if not (program.exists() and stamp.exists() and stamp.read_text() == made):
        print(f"Compiling RL-tools' {algorithm}...", flush=True)
        run_quietly(command, "g++")
        stamp.write_text(made)
    return program
