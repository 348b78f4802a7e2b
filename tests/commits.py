"""Builds another commit beside this one, so that the programs of both can be run in turn."""
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]


def build_commit(commit, targets):
    """The build directory of that commit, in build/commits, with those targets built."""
    found = subprocess.run(["git", "rev-parse", "--verify", "--short=12", commit + "^{commit}"], cwd=REPOSITORY,
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        sys.exit(f"--against: expected a commit, got {commit!r}: {found.stderr.strip()}")
    name = found.stdout.strip()
    tree = REPOSITORY / "build/commits" / name
    if not tree.exists():
        subprocess.run(["git", "worktree", "prune"], cwd=REPOSITORY, check=True)
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), name], cwd=REPOSITORY, check=True)
    if not (tree / "build/release/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=tree, check=True)
    return tree / "build/release"
