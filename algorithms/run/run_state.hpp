#pragma once
// Converts the state of a run to the files of a checkpoint and back. The roles of every algorithm
// use it to save and restore themselves.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
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

/// Returns the states of environments, from environments.bin, at most `replicas`: a checkpoint has
/// none of replicas that were lost. Throws state_error.
replica_states environment_states(const checkpoint& from, std::size_t replicas);

/// Returns the progress of the run, from run.bin. Its `at_goal` is judged by the goal in
/// `settings`: a run that is to go on past its goal gets another goal, or none.
run_progress progress_of(const checkpoint& from, const run_settings& settings);
/// Returns the weights, from weights.bin.
weights weights_of(const checkpoint& from);

/// The SHA-256 of the configuration without total_steps, schedule_steps and evaluation.stop_at,
/// which may change when a run goes on.
std::string sha256_of_config(const run_settings& settings);

/// Restores the run's progress, control and callbacks from a checkpoint. The weight store restores
/// the weights.
void begin_from(training_run& run, const checkpoint& from);
/// Returns a checkpoint with the state that every run has: progress, control, callbacks, weights
/// and recorder. The algorithm adds its own.
task<checkpoint> begin_checkpoint(training_run& run);

/// The longest time that a checkpoint waits for replicas that are being restarted or have no node.
/// Later checkpoints don't wait for those that one did without.
inline constexpr std::chrono::seconds absence_max{10};

/// Waits until `wanted` replicas serve, but at most absence_max unless there is none, and not while
/// the run is asked to stop. Returns how many of them serve, at most `wanted`.
template <class Role>
task<std::size_t> until_ready(const training_run& run, service<Role> which, std::size_t wanted) {
  constexpr auto pause = std::chrono::milliseconds(20);
  for (duration waited{}; which.ready() < wanted; waited += pause) {
    const bool is_enough = waited >= absence_max && which.ready() > 0;
    if (is_enough || (run.is_stop_asked() && !run.settings.deterministic)) break;
    co_await sleep_for(pause);
  }
  const auto ready = std::min(which.ready(), wanted);
  if (ready < wanted) {
    log::warn("a checkpoint does without replicas that do not serve",
              {{"service", which.name()}, {"replicas", wanted}, {"serve", ready}});
  }
  co_return ready;
}

/// Opens that many sessions, or throws call_error of kind deadline_exceeded: a session with a
/// replica that has just been lost with its node would never be granted.
template <class Role>
task<std::vector<session<Role>>> open_each(const training_run& run, service<Role> which,
                                           std::size_t count) {
  if (run.settings.deterministic) co_return co_await which.sessions(count);  // There are no nodes.
  co_return co_await with_timeout(which.sessions(count), absence_max);
}

/// Gives each replica its own state, in one attempt. Returns false if a replica died meanwhile.
template <auto Restore, class Role>
task<bool> try_restore_each(const training_run& run, service<Role> which,
                            const std::vector<std::string>& states) {
  try {
    auto held = co_await open_each(run, which, states.size());
    std::ranges::sort(held, {}, [](const auto& one) { return one.replica(); });
    for (std::size_t i = 0; i < held.size(); ++i) {
      co_await held[i].template route<Restore>(states[i]);
    }
  } catch (const call_error& e) {
    if (e.kind() != error_kind::session_lost && e.kind() != error_kind::deadline_exceeded) throw;
    co_return false;
  }
  co_return true;
}

/// Gives each replica its own state. If fewer replicas serve than there are states, the last states
/// are dropped; if more do, the others begin anew.
template <auto Restore, class Role>
task<> restore_each(const training_run& run, service<Role> which, std::vector<std::string> states) {
  for (;;) {
    const auto count = co_await until_ready(run, which, states.size());
    states.resize(count);
    const bool restored = co_await try_restore_each<Restore>(run, which, states);
    if (restored) co_return;
  }
}

/// Returns the states of the replicas, in the order of their indices. Waits for replicas that are
/// being restarted; see until_ready. `replicas` is the number that serves unless some are lost; it
/// is 0 after a checkpoint of a run that was stopped while none served.
template <auto Save, class Role>
task<std::vector<std::string>> save_each(const training_run& run, service<Role> which,
                                         std::size_t replicas) {
  for (;;) {
    const auto count = co_await until_ready(run, which, std::max<std::size_t>(replicas, 1));
    std::vector<std::string> states;
    if (count == 0) co_return states;
    auto settled = co_await which.template fanout_settled<Save>();
    for (auto& one : settled) {
      const bool is_lost = !one.ok() && is_kind(one.error(), error_kind::replica_lost);
      if (!is_lost) states.push_back(std::move(one).value());
    }
    if (states.size() >= count) co_return states;
  }
}

}  // namespace troupe
