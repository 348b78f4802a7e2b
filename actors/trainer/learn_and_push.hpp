#pragma once
// One update of an algorithm as seen from its loop: learning, then the distribution of the new
// weights.

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/base/outcome.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// The result of one update.
template <class Report>
struct pushed_update {
  Report report;
  std::int64_t version = 0;  ///< The version of the weights that every replica has now.
  double train_s = 0;        ///< The time that the trainer took, in seconds.
  double push_s = 0;         ///< The time until every replica had the weights, in seconds.
};

/// The number of attempts at one update if the trainer dies.
inline constexpr int update_attempts_max = 100;

/// Makes one update of the weights of `version`. `train()` returns a task<outcome<Report>> in which
/// the trainer learns from a batch. `push()` returns a task<std::int64_t> that gives the new
/// weights to every replica and returns their version. If the trainer dies during the update, it
/// continues from the previous weights, so both are repeated. Throws their errors, and a call_error
/// of kind replica_lost after update_attempts_max attempts.
template <class Report, class Train, class Push>
task<pushed_update<Report>> learn_and_push(std::int64_t version, Train train, Push push) {
  const auto seconds_since = [](auto then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  for (int attempt = 1; attempt <= update_attempts_max; ++attempt) {
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
