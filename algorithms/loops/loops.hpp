#pragma once
// Three loops around one episode function: synchronous training, asynchronous training and
// evaluation. The episode function `generate` is a coroutine `task<Experience> generate(Roles)`. It
// is passed as a function pointer, so a lambda that captures doesn't fit. The functions with which
// a loop trains are in `hooks`, so a loop does not depend on an algorithm.
//
//   co_await loops::synchronous(roles, generate_rollout, hooks, {.batch = 1, .updates = 49});
//   co_await loops::asynchronous(roles, generate_rollout, hooks, {.rollouts = 2, .updates = 49});
//   co_await loops::evaluate(roles, generate_rollout, enough);   // enough is a std::function
//
// Roles has a member `replay`, the service of a replay that holds Experience. The replay bounds
// staleness (see actors/replay/replay.hpp). If Experience has a member `item_id id`, the loop
// numbers each item, so `insert` of the replay may be listed in serve_options::idempotent.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/metrics/training_metrics.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/loops/activity.hpp"
#include "algorithms/loops/async_mutex.hpp"
#include "algorithms/loops/callback.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/service.hpp"
#include "runtime/trace/trace_span.hpp"

namespace troupe::loops {

/// The functions that a loop calls, on its own actor. An exception of one of them ends the loop,
/// which throws it.
template <class Experience>
struct hooks {
  /// Trains on one batch, publishes the new weights and returns their version. Required by the
  /// training loops.
  std::function<task<std::int64_t>(std::vector<Experience>)> train;
  /// The loop calls it after each update with the version that `train` returned. Null means no
  /// call.
  std::function<task<>(std::int64_t version)> updated = nullptr;
  /// The loop calls it after `updated`, and ends if it returns verdict::stop. Null means no call.
  /// See callback.hpp; callbacks.hpp has callbacks to combine.
  callback on_update_end = nullptr;
  /// Returns the number of environment steps in one item, for progress::steps. Null means that each
  /// item counts 1.
  std::function<std::int64_t(const Experience&)> steps = nullptr;
  /// Returns whether the loop is asked to stop. Then a failed attempt at an episode isn't repeated,
  /// and the loop throws its error unless its last update is made. Null means that the loop is
  /// never asked.
  std::function<bool()> stop_asked = nullptr;
  /// Counts the attempts at an episode that fail; a default-constructed object counts nothing.
  training_metrics metrics = {};
};

/// The options of `synchronous`.
struct synchronous_options {
  std::size_t batch = 1;     ///< The number of episodes that are generated at the same time.
  std::int64_t updates = 1;  ///< The number of updates after which the loop returns.
};

/// The options of `asynchronous`.
struct asynchronous_options {
  std::size_t rollouts = 2;  ///< The number of episodes that are generated at the same time, > 0.
  std::int64_t updates = 1;  ///< The number of updates after which the loop returns.
  /// If true, the loop at its end closes the replay, which stays closed, and waits until the
  /// episodes under way have been inserted, so that all roles are at rest. If false, the loop
  /// cancels these episodes.
  bool drain = false;
};

/// The result of a loop.
struct report {
  std::int64_t updates = 0;   ///< The number of updates.
  std::int64_t episodes = 0;  ///< The episodes that were generated and inserted into the replay.
  std::int64_t failed = 0;    ///< The failed attempts to generate and insert an episode.
  std::int64_t steps = 0;     ///< The environment steps trained on, as hooks::steps counts them.
  bool stopped = false;       ///< True if a callback ended the loop.
  double wall = 0;            ///< The loop's duration in seconds.
  /// The share of `wall`, 0 to 1, in which rollouts and training both ran.
  double overlap_fraction = 0;
};

/// Thrown by an episode that no other attempt can make.
class lasting_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The number of failed attempts at one episode after which a loop throws, and the number of rounds
/// in which generate_batch makes up for missing items.
inline constexpr std::int64_t max_failures = 20;

/// The state that the coroutines of one loop share. Each coroutine has a copy; the objects that the
/// references name belong to the loop and outlive the coroutines.
template <class Roles, class Experience>
struct loop_state {
  using queue = typename decltype(Roles::replay)::role_type;
  static_assert(replay<queue>);

  Roles roles;
  task<Experience> (*generate)(Roles);
  const hooks<Experience>& then;
  activity& active;
  report& totals;
  producer& numbers;
  async_mutex& entry;
  bool& ends;  ///< Set after the last update: the loop waits for the episodes under way.
};

/// Returns the text with a 0 for each number in it, so that texts that differ in a count or a time
/// are alike.
inline std::string without_numbers(std::string_view text) {
  const auto has_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string out;
  bool in_number = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A point between two digits belongs to the number.
    const bool belongs = has_digit(i) || (in_number && text[i] == '.' && has_digit(i + 1));
    if (!belongs) out += text[i];
    if (belongs && !in_number) out += '0';
    in_number = belongs;
  }
  return out;
}

/// Tells of a failed attempt at an episode, and pauses before the next one. Throws the failure if
/// there is to be no other attempt. `told` is the error that was told last, without its numbers: an
/// error that repeats, be it with other counts or times, is told at every fifth attempt only.
inline task<> pause_before_next(std::exception_ptr failure, std::int64_t attempt,
                                std::string& told) {
  const auto error = describe(failure);
  if (auto alike = without_numbers(error); told != alike || attempt % 5 == 0) {
    log::warn("an episode failed",
              {{"error", error}, {"attempt", attempt}, {"attempts_at_most", max_failures}});
    told = std::move(alike);
  }
  // A service that is down does not come back.
  if (attempt == max_failures || is_kind(failure, error_kind::service_down))
    std::rethrow_exception(failure);
  co_await sleep_for(std::chrono::milliseconds(10) * attempt);
}

/// Generates one episode and inserts it into the replay. A failed episode is generated again.
template <class Roles, class Experience>
task<> generate_one(loop_state<Roles, Experience> on) {
  std::string told;
  for (std::int64_t attempt = 1;; ++attempt) {
    std::exception_ptr failure;
    try {
      std::optional<Experience> made;
      {
        const auto busy = on.active.rollout();
        const trace_span span("rollouts", "rollout");
        made.emplace(co_await on.generate(on.roles));
      }
      if constexpr (numbered<Experience>) made->id = on.numbers.next();
      co_await on.roles.replay.template route<&loop_state<Roles, Experience>::queue::insert>(
          std::move(*made));
      ++on.totals.episodes;
      co_return;
    } catch (const lasting_error&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    ++on.totals.failed;
    on.then.metrics.rollout_failed(describe(failure));
    if (on.then.stop_asked && on.then.stop_asked()) {
      if (on.ends) co_return;
      std::rethrow_exception(failure);
    }
    co_await pause_before_next(failure, attempt, told);
  }
}

/// Generates episodes until the replay is closed.
template <class Roles, class Experience>
task<> generate_for_ever(loop_state<Roles, Experience> on) {
  for (;;) {
    {
      // Only one coroutine waits for admission at a time. Each waiting call takes one of the
      // replay's places for running calls. If such calls took all places, `sample`, which they wait
      // for, could not run.
      const auto guard = co_await on.entry.lock();
      const bool admitted =
          co_await on.roles.replay.template route<&loop_state<Roles, Experience>::queue::admit>();
      if (!admitted) co_return;
    }
    co_await generate_one(on);
  }
}

/// Makes one update with `batch`, then calls the hooks.
template <class Roles, class Experience>
task<> train_with(loop_state<Roles, Experience> on, std::vector<Experience> batch) {
  using queue = typename loop_state<Roles, Experience>::queue;
  std::int64_t steps = 0;
  for (const auto& item : batch) steps += on.then.steps ? on.then.steps(item) : 1;
  std::int64_t version = 0;
  {
    const auto busy = on.active.training();
    const trace_span span("training", "update");
    version = co_await on.then.train(std::move(batch));
  }
  co_await on.roles.replay.template route<&queue::trained>(version);
  ++on.totals.updates;
  on.totals.steps += steps;
  if (on.then.updated) co_await on.then.updated(version);
  if (!on.then.on_update_end) co_return;
  const progress now{on.totals.updates,  on.totals.steps, steps,
                     on.totals.episodes, version,         on.active.elapsed()};
  const auto said = co_await on.then.on_update_end(now);
  on.totals.stopped = said == verdict::stop;
}

/// Throws std::invalid_argument if an update has fewer episodes than one sample of the replay
/// takes, because `sample` would then wait until its timeout. A replay without `sample_size`
/// returns the items that it has, so it doesn't need this check.
template <class Roles, class Experience>
task<> require_enough(loop_state<Roles, Experience> on, std::size_t batch) {
  using queue = typename loop_state<Roles, Experience>::queue;
  if constexpr (requires { &queue::sample_size; }) {
    const auto needed = co_await on.roles.replay.template route<&queue::sample_size>();
    if (std::cmp_less(batch, needed)) {
      throw std::invalid_argument(
          "loops::synchronous: batch: expected at least " + std::to_string(needed) +
          " episodes, which one sample of the replay takes, got " + std::to_string(batch));
    }
  }
  co_return;
}

/// Generates `wanted` episodes and returns one sample of the replay. If the replay holds fewer
/// items than a sample, because it was restarted or items became too stale, the missing number is
/// generated.
template <class Roles, class Experience>
task<std::vector<Experience>> generate_batch(loop_state<Roles, Experience> on, std::size_t wanted) {
  using queue = typename loop_state<Roles, Experience>::queue;
  for (std::int64_t attempt = 1; attempt < max_failures; ++attempt) {
    std::vector<task<>> episodes;
    for (std::size_t i = 0; i < wanted; ++i) episodes.push_back(generate_one(on));
    co_await all(std::move(episodes));
    if constexpr (requires { &queue::take; }) {
      auto batch = co_await on.roles.replay.template route<&queue::take>();
      if (!batch.empty()) co_return batch;
      wanted = co_await on.roles.replay.template route<&queue::missing>();
      log::info("episodes were lost or too stale; others are generated", {{"missing", wanted}});
    } else {
      break;
    }
  }
  auto batch = co_await on.roles.replay.template route<&queue::sample>();
  co_return batch;
}

/// Closes the replay and waits until the episodes under way have ended. It closes the replay every
/// second, because a replay that is restarted meanwhile is open again.
template <class Roles, class Experience>
task<> come_to_rest(group& beside, loop_state<Roles, Experience> on) {
  while (beside.running() > 0) {
    co_await on.roles.replay.template route<&loop_state<Roles, Experience>::queue::close>();
    std::vector<task<>> either;
    either.push_back(beside.join());
    either.push_back(troupe::detail::sleep_task(std::chrono::seconds(1)));
    co_await any(std::move(either));
  }
}

/// Runs episodes and updates at the same time. Episodes still under way when it returns are
/// cancelled.
template <class Roles, class Experience>
task<> overlap(group& beside, loop_state<Roles, Experience> on, asynchronous_options options) {
  for (std::size_t i = 0; i < options.rollouts; ++i) beside.start(generate_for_ever(on));
  while (!on.totals.stopped && on.totals.updates < options.updates) {
    auto batch =
        co_await on.roles.replay.template route<&loop_state<Roles, Experience>::queue::sample>();
    co_await train_with(on, std::move(batch));
  }
  on.ends = true;
  if (options.drain) co_await come_to_rest(beside, on);
}

}  // namespace detail

/// Alternates between generating `batch` episodes with the newest weights and training on one
/// sample of the replay. An attempt to generate or insert an episode that fails is repeated after a
/// pause of 10 ms times the number of failures; the loop throws the error of the 20th failure in a
/// row. Throws std::invalid_argument if `batch` is less than sample_size() of the replay, if it has
/// one. Items beyond one sample stay in the replay until they are too stale. Returns at once if
/// `updates` is 0 or less.
template <class Roles, class Experience>
task<report> synchronous(Roles roles, task<Experience> (*generate)(Roles), hooks<Experience> hooks,
                         synchronous_options options) {
  report totals;
  activity active;
  producer numbers;
  detail::async_mutex entry;
  bool ends = false;
  const detail::loop_state<Roles, Experience> stage{roles,  generate, hooks, active,
                                                    totals, numbers,  entry, ends};
  co_await detail::require_enough(stage, options.batch);
  while (!totals.stopped && totals.updates < options.updates) {
    auto batch = co_await detail::generate_batch(stage, options.batch);
    co_await detail::train_with(stage, std::move(batch));
  }
  totals.wall = active.elapsed();
  totals.overlap_fraction = active.overlap_fraction();
  co_return totals;
}

/// Generates episodes and trains at the same time: up to `rollouts` episodes are under way while
/// the trainer trains. The replay admits an episode only if its staleness is expected to be at most
/// max_staleness when it is trained on. Failed episodes are repeated as in `synchronous`. Throws
/// what `sample` of the replay throws, such as replay_starved.
template <class Roles, class Experience>
task<report> asynchronous(Roles roles, task<Experience> (*generate)(Roles), hooks<Experience> hooks,
                          asynchronous_options options) {
  report totals;
  activity active;
  producer numbers;
  detail::async_mutex entry;
  bool ends = false;
  const detail::loop_state<Roles, Experience> stage{roles,  generate, hooks, active,
                                                    totals, numbers,  entry, ends};
  co_await with_group(detail::overlap<Roles, Experience>, stage, options);
  totals.wall = active.elapsed();
  totals.overlap_fraction = active.overlap_fraction();
  co_return totals;
}

/// Generates episodes, one after another, until `enough(experience)` returns true. Nothing is
/// inserted into the replay. A failed episode is repeated as in `synchronous`.
template <class Roles, class Experience>
task<> evaluate(Roles roles, task<Experience> (*generate)(Roles),
                std::function<bool(const Experience&)> enough) {
  std::string told;
  for (std::int64_t failures = 0;;) {
    std::optional<Experience> made;
    std::exception_ptr failure;
    try {
      made.emplace(co_await generate(roles));
    } catch (const lasting_error&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      co_await detail::pause_before_next(failure, ++failures, told);
      continue;
    }
    failures = 0;
    if (enough(*made)) co_return;
  }
}

}  // namespace troupe::loops
