#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/base/outcome.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// What one update came to.
template <class Report>
struct pushed_update {
  Report report;
  std::int64_t version = 0;  ///< Of the weights that everyone has now.
  double train_s = 0;        ///< Seconds that the trainer took.
  double push_s = 0;         ///< Seconds until everyone had the weights.
};

/// Attempts at one update while the trainer dies.
inline constexpr int update_attempts_max = 100;

/// One update of the weights of `version`: `train()` gives a task<outcome<Report>> in which the
/// trainer learns from a batch, `push()` one that gives everyone the new weights and returns their
/// version. A trainer that dies on the way goes on from the weights before, so both are done once
/// more. Throws what they throw, and call_error of kind replica_lost where the trainer dies again
/// and again.
template <class Report, class Train, class Push>
task<pushed_update<Report>> learn_and_push(std::int64_t version, Train train, Push push) {
  const auto seconds_since = [](auto then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  for (int attempt = 1; attempt < update_attempts_max; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    auto learned = co_await train();
    if (is_kind(learned.error(), error_kind::replica_lost)) continue;
    pushed_update<Report> made{std::move(learned).value(), version, seconds_since(began), 0};
    const auto pushing = std::chrono::steady_clock::now();
    made.version = co_await push();
    if (made.version == version) continue;
    made.push_s = seconds_since(pushing);
    co_return made;
  }
  throw call_error(error_kind::replica_lost,
                   "trainer: lost in " + std::to_string(update_attempts_max) +
                       " attempts at the update of version " + std::to_string(version));
}

}  // namespace troupe
