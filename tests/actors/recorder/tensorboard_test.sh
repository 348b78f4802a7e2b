#!/bin/sh
# The real tensorboard package reads back what actors/recorder/tensorboard_writer.cpp wrote.
# Usage: tensorboard_test.sh BUILD_DIR. Needs python3-venv and a Python package index.
set -eu

build=${1:?usage: tensorboard_test.sh BUILD_DIR}
venv=$build/venvs/tensorboard
events=$(mktemp -d)
trap 'rm -rf "$events"' EXIT

skip() {
  echo "tensorboard: skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

if ! "$venv/bin/python" -c 'import tensorboard' 2>/dev/null; then
  python3 -m venv --clear "$venv" >/dev/null || skip "python3 -m venv failed (python3-venv missing?)"
  # tensorboard imports pkg_resources, which setuptools has dropped since version 81.
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'setuptools<81' tensorboard >&2 ||
    skip "the tensorboard package could not be installed"
fi

TROUPE_EVENTS_FOLDER=$events "$(find "$build" -type f -name test_recorder -perm -u+x | head -n 1)" \
  '[.events]' >/dev/null || { echo "the events file could not be written"; echo "0 passed, 1 failed"; exit 1; }

"$venv/bin/python" - "$events" <<'PYTHON'
import os
import struct
import sys
import traceback

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = sys.argv[1]
everything = EventAccumulator(folder, size_guidance={"scalars": 0})
everything.Reload()


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def scalars(tag):
    return [(e.step, e.wall_time, e.value) for e in everything.Scalars(tag)]


def all_tags_are_there():
    assert sorted(everything.Tags()["scalars"]) == [
        "eval/mean_reward", "rollout/ep_rew_mean", "train/loss"], everything.Tags()


def returns_are_exact():
    assert scalars("rollout/ep_rew_mean") == [
        (2048 * i, 1700000000 + 0.25 * i, float32(i / 7.0)) for i in range(1000)]


def losses_are_exact():
    assert scalars("train/loss") == [
        (2048 * i, 1700000000 + 0.25 * i, float32(-1e-6 * i)) for i in range(1000)]


def large_steps_and_values_are_exact():
    assert scalars("eval/mean_reward") == [(1 << 40, 1700000000, float32(3.0e38))]


def every_record_passes_the_checksums():
    # The loader stops at the first record whose checksum is wrong.
    [path] = [folder + "/" + name for name in os.listdir(folder)]
    events = list(event_file_loader.EventFileLoader(path).Load())
    assert len(events) == 1002, len(events)
    assert events[0].file_version == "brain.Event:2", events[0]


failed = 0
tests = [all_tags_are_there, returns_are_exact, losses_are_exact,
         large_steps_and_values_are_exact, every_record_passes_the_checksums]
for test in tests:
    try:
        test()
    except Exception:
        failed += 1
        print("FAILED " + test.__name__)
        traceback.print_exc(file=sys.stdout)
print(f"{len(tests) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
PYTHON
