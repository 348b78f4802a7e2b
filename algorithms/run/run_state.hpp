#pragma once
// The state of a run as the files of a checkpoint.

#include <chrono>
#include <string>
#include <vector>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe {

/// The bytes of one file of a checkpoint. Throws state_error if it is missing.
const std::string& file_of(const checkpoint& from, const std::string& name);

/// The value that a file holds, by state_bytes. Throws state_error, naming the file.
template <class T>
T state_in(const checkpoint& from, const std::string& name) {
  try {
    return state_of<T>(file_of(from, name));
  } catch (const state_error& e) {
    throw state_error("checkpoint: " + name + ": " + e.what());
  }
}

/// The states of a service's replicas, one file.
using replica_states = std::vector<std::string>;

/// Where the run was: run.bin. Whether it is at its goal is judged by the goal that it has now, so
/// one that is to go on gets another, or none.
run_progress progress_of(const checkpoint& from, const run_settings& settings);
/// weights.bin
weights weights_of(const checkpoint& from);

/// What the configuration of a run that goes on has to have in common with the one that wrote the
/// checkpoint: all but its length, and the goal that may end it before.
std::string sha256_of_config(const run_settings& settings);

/// Takes progress and callbacks from a checkpoint; its weights are for the store.
void begin_from(training_run& run, const checkpoint& from);
/// A checkpoint with what every run has: progress, weights, recorder.
task<checkpoint> begin_checkpoint(training_run& run);

/// Attempts at giving replicas their states, or at getting them, while some of them die.
inline constexpr int attempts_at_states = 1000;

/// Once; false if a replica died meanwhile.
template <auto Restore, class Role>
task<bool> try_restore_each(service<Role> which, const std::vector<std::string>& states) {
  constexpr session_options alone{.exclusive = true};  // each with another replica
  std::vector<session<Role>> held;
  while (held.size() < states.size()) {
    auto another = co_await which.session(alone);
    held.push_back(std::move(another));
  }
  try {
    for (const auto& one : held) {
      co_await one.template route<Restore>(states.at(one.replica()));
    }
  } catch (const call_error& e) {
    if (e.kind() != error_kind::session_lost) throw;
    co_return false;
  }
  co_return true;
}

/// Gives each replica its own state.
template <auto Restore, class Role>
task<> restore_each(service<Role> which, std::vector<std::string> states) {
  for (int attempt = 1;; ++attempt) {
    const bool restored = co_await try_restore_each<Restore>(which, states);
    if (restored) co_return;
    if (attempt == attempts_at_states) {
      throw call_error(error_kind::replica_lost, which.name() + ": replicas die while restored");
    }
    co_await sleep_for(std::chrono::milliseconds(20));
  }
}

/// The state of each replica, by its index; waits for one that is being restarted.
template <auto Save, class Role>
task<std::vector<std::string>> save_each(service<Role> which, std::size_t replicas) {
  for (int attempt = 1;; ++attempt) {
    auto settled = co_await which.template fanout_settled<Save>();
    std::vector<std::string> states;
    for (auto& one : settled) {
      const bool lost = !one.ok() && is_kind(one.error(), error_kind::replica_lost);
      if (!lost || attempt == attempts_at_states) states.push_back(std::move(one).value());
    }
    if (states.size() == replicas) co_return states;
    co_await sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace troupe
