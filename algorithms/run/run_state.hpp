#pragma once
// Converts the state of a run to the files of a checkpoint and back. The roles of every algorithm
// use it to save and restore themselves.

#include <chrono>
#include <string>
#include <vector>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe {

/// Returns the bytes of one file of a checkpoint. Throws state_error if the file is missing.
const std::string& file_of(const checkpoint& from, const std::string& name);

/// Returns the value that state_bytes wrote into a file. Throws state_error, naming the file, if it
/// is missing or can't be read.
template <class T>
T state_in(const checkpoint& from, const std::string& name) {
  try {
    return state_of<T>(file_of(from, name));
  } catch (const state_error& e) {
    throw state_error("checkpoint: " + name + ": " + e.what());
  }
}

/// The states of a service's replicas, which one file of a checkpoint holds.
using replica_states = std::vector<std::string>;

/// Returns the progress of the run, from run.bin. Its `at_goal` is judged by the goal in
/// `settings`: a run that is to go on past its goal gets another goal, or none.
run_progress progress_of(const checkpoint& from, const run_settings& settings);
/// Returns the weights, from weights.bin.
weights weights_of(const checkpoint& from);

/// The SHA-256 of the configuration without total_steps and evaluation.stop_at, which may change
/// when a run goes on.
std::string sha256_of_config(const run_settings& settings);

/// Restores the run's progress, control and callbacks from a checkpoint. The weight store restores
/// the weights.
void begin_from(training_run& run, const checkpoint& from);
/// Returns a checkpoint with the state that every run has: progress, control, callbacks, weights
/// and recorder. The algorithm adds its own.
task<checkpoint> begin_checkpoint(training_run& run);

/// How often restore_each and save_each try again while replicas die.
inline constexpr int attempts_at_states = 1000;

/// Gives each replica its own state, in one attempt. Returns false if a replica died meanwhile.
template <auto Restore, class Role>
task<bool> try_restore_each(service<Role> which, const std::vector<std::string>& states) {
  const auto held = co_await which.sessions(states.size());
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

/// Gives each replica its own state. Throws call_error of kind replica_lost after too many
/// attempts.
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

/// Returns the state of each replica, by its index. Waits for replicas that are being restarted.
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
