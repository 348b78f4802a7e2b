#!/usr/bin/env bash
# Installs the build into a folder of its own, and builds and runs a small outside program there with
# find_package(troupe): with the compiler that built Troupe, with g++ 12, which is refused, and with g++ 14.
set -u
build=$(cd "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() {
  echo "FAILED: $*"
  [[ -f $place/log ]] && tail -30 "$place/log"
  echo "0 passed, 1 failed"
  exit 1
}

mkdir "$place/program"
cat >"$place/program/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(troupe REQUIRED)
add_executable(outside main.cpp)
target_link_libraries(outside PRIVATE troupe::algorithms troupe::grpo troupe::sft)
add_executable(door door.cpp)
target_link_libraries(door PRIVATE troupe::program)
troupe_leave_out_unused_libraries(door)
troupe_add_plugin(lamps lamps.cpp)
troupe_add_plugin(awr awr.cpp)
CMAKE
cp "$(dirname "$0")"/../../{docs/code/plugin/lamps,examples/awr}.cpp "$place/program"
cat >"$place/program/door.cpp" <<'CPP'
#include "algorithms/program/main.hpp"

int main(int argc, char** argv) { return troupe::main(argc, argv, {.name = "door"}); }
CPP
cat >"$place/program/main.cpp" <<'CPP'
#include <cstdio>

#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "runtime/system/run.hpp"

struct counter {
  int add(int n) { return total += n; }
  int total = 0;
};

troupe::task<> demo(troupe::system& sys) {
  auto counters = co_await sys.serve<counter>({.name = "counter", .replicas = 2});
  const auto all = co_await counters.fanout<&counter::add>(3);
  std::printf("%d\n", all.at(0) + all.at(1));
  troupe::ppo_config config;
  config.total_steps = 256;
  config.rollout.n_steps = 128;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("%lld\n", static_cast<long long>(result.steps));

  troupe::grpo_config answers;
  answers.total_steps = 1;
  answers.warm_start.batches = 0;
  answers.rollout.prompts = answers.rollout.group = 2;
  answers.evaluation.problems = answers.evaluation.final_problems = 2;
  const auto learned = co_await troupe::train_in(sys, troupe::algorithm_with(answers), {.root = "runs"});
  std::printf("%lld\n", static_cast<long long>(learned.steps));
  std::printf("%g\n", *troupe::parse_config<troupe::sft_config>({{"trainer", {{"lr", 0.5}}}}).trainer.lr);
}

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
CPP

# Objects of headers that have not changed since the last time come from the cache.
launcher=$(command -v ccache || true)
export CCACHE_BASEDIR=$place CCACHE_NOHASHDIR=1
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
cmake --install "$build" --prefix "$place/installed" >"$place/log" 2>&1 || fail "cmake --install"
for file in share/man/man1/troupe.1 share/bash-completion/completions/troupe share/zsh/site-functions/_troupe \
  share/fish/vendor_completions.d/troupe.fish; do
  [[ -s $place/installed/$file ]] || fail "expected $file to be installed"
done
configure() {  # configure FOLDER COMPILER: the outside program
  cmake -S "$place/program" -B "$place/program/$1" -G Ninja "-DCMAKE_CXX_COMPILER=$2" \
    "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "-DCMAKE_PREFIX_PATH=$place/installed" >"$place/log" 2>&1
}
configure build "$compiler" || fail "find_package(troupe)"
grep -q 'CMAKE_BUILD_TYPE was not given: expected one, took Release' "$place/log" &&
  grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release$' "$place/program/build/CMakeCache.txt" &&
  grep -q -- '-O[23]' "$place/program/build/compile_commands.json" ||
  fail "an outside program without a build type is a Release build, and says so"
grep -q -- '-std=[a-z+]*20' "$place/program/build/compile_commands.json" ||
  fail "the outside program is not compiled as C++20"
! grep -qE -- '-Wall|-Xclang|-Wno-' "$place/program/build/compile_commands.json" ||
  fail "the outside program gets Troupe's own flags"
cmake --build "$place/program/build" >"$place/log" 2>&1 || fail "building the outside program"
cd "$place" || fail "no place to run in"
printed=$(timeout 60 "$place/program/build/outside" 2>"$place/log") || fail "running the outside program"
[[ $printed == $'6\n256\n1\n0.5' ]] || fail "expected 6, 256, 1 and 0.5, got $printed"
timeout 60 "$place/program/build/door" list >"$place/log" 2>&1 || fail "running a program with the commands of troupe"
grep -q '^  CartPole-v1 ' "$place/log" || fail "its list of environments"
timeout 60 "$place/program/build/door" train -n 256 rollout.n_steps=128 evaluation.final_episodes=1 --metrics-port 0 \
  env.placement=process >"$place/log" 2>&1 || fail "running environments in a process"
grep -qF "program=$place/installed/libexec/troupe/env-host" "$place/log" ||
  fail "a program of find_package(troupe) runs Troupe's environments in the installed env-host"
"$place/installed/bin/troupe" list >"$place/log" 2>&1 || fail "the installed troupe command"
timeout 60 "$place/installed/bin/troupe" train --env program/build/lamps.so -n 256 rollout.n_steps=128 \
  evaluation.final_episodes=1 --metrics-port 0 >"$place/log" 2>&1 || fail "training on a plug-in of troupe_add_plugin"
timeout 60 "$place/installed/bin/troupe" train --algo program/build/awr.so -n 256 rollout.n_steps=128 \
  evaluation.final_episodes=1 --metrics-port 0 >"$place/log" 2>&1 || fail "training by a rule in a plug-in"
work=$place/installed/libexec/troupe
[[ ! -d $work/unused ]] || ldd "$work/troupe" | grep -qF "$work/unused/" ||
  fail "the installed command looks for libtorch's unused libraries beside itself"
if [[ -d $work/unused ]]; then
  # An empty library asks for nothing, so the program loads fewer than one that has not left them out.
  all=$(ldd "$place/program/build/outside" | wc -l)
  left=$(ldd "$place/program/build/door" | wc -l)
  [[ $((all - left)) -ge 100 ]] || fail "of $all libraries a program that leaves out the unused ones loads $left"
fi

if command -v g++-12 >/dev/null; then
  ! configure gcc g++-12 || fail "expected g++ 12 to be refused"
  grep -q 'g++-12 (GNU 12[0-9.]*) compiles coroutines wrongly' "$place/log" &&
    grep -q 'CMAKE_CXX_COMPILER=clang++-19' "$place/log" || fail "the message that refuses g++ 12"
fi
if command -v g++-14 >/dev/null; then
  configure gcc g++-14 || fail "expected g++ 14 to be accepted"
  cmake --build "$place/program/gcc" >"$place/log" 2>&1 || fail "building the outside program with g++ 14"
  printed=$(timeout 60 "$place/program/gcc/outside" 2>"$place/log") || fail "running what g++ 14 built"
  [[ $printed == $'6\n256\n1\n0.5' ]] || fail "expected 6, 256, 1 and 0.5 of what g++ 14 built, got $printed"
fi
echo "1 passed, 0 failed"
