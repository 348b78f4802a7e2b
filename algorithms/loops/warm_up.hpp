#pragma once
// Fills the replay with experience before training, by a random policy or by demonstrations.
//
//   auto random = roles;
//   random.policies = co_await sys.serve<random_policy>({.name = "random"});
//   co_await loops::warm_up(random, generate_episode, {.episodes = 1000, .rollouts = 8});
//   co_await loops::asynchronous(roles, generate_episode, hooks, ...);
//
// For experience from another source, pass an episode function that returns it, such as
// generate_demonstration.

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "algorithms/loops/loops.hpp"

namespace troupe::loops {

struct warm_up_options {
  std::int64_t episodes = 1;  ///< The number of items to insert into the replay.
  std::size_t rollouts = 1;   ///< Episodes generated at the same time.
  /// The timeout of one episode and its insertion. It fires if the replay is full, because no
  /// trainer takes items from it yet.
  duration patience = std::chrono::minutes(10);
  /// Called before each episode; ends the warm-up by returning true. Called after a failed attempt
  /// at an episode as well; then that isn't repeated and its error is thrown. May be null.
  std::function<bool()> stop_asked = nullptr;
};

namespace detail {

/// Generates and inserts episodes until none is left to begin.
template <class Roles, class Experience>
task<> generate_some(loop_state<Roles, Experience> on, std::int64_t& left,
                     const warm_up_options& options) {
  while (left > 0) {
    if (options.stop_asked && options.stop_asked()) {
      throw call_error(error_kind::cancelled, "warm_up: stopped");
    }
    --left;
    co_await with_timeout(generate_one(on), options.patience);
  }
}

}  // namespace detail

/// Inserts exactly `episodes` items into the replay, before training begins. The replay needs room
/// for all of them. An episode that throws is generated again. Throws std::invalid_argument if a
/// number is below 1, call_error of kind deadline_exceeded if an episode takes longer than
/// `patience`, and call_error of kind cancelled if stop_asked returns true.
template <class Roles, class Experience>
task<report> warm_up(Roles roles, task<Experience> (*generate)(Roles), warm_up_options options) {
  if (options.episodes < 1 || options.rollouts < 1) {
    throw std::invalid_argument("warm_up: expected episodes > 0 and rollouts > 0, got " +
                                std::to_string(options.episodes) + " and " +
                                std::to_string(options.rollouts));
  }
  report totals;
  activity active;
  producer numbers;
  const hooks<Experience> then{.train = nullptr, .stop_asked = options.stop_asked};
  detail::async_mutex entry;
  bool ends = false;
  const detail::loop_state<Roles, Experience> stage{roles,  generate, then,  active,
                                                    totals, numbers,  entry, ends};
  std::int64_t left = options.episodes;
  std::vector<task<>> workers;
  for (std::size_t i = 0; i < options.rollouts; ++i) {
    workers.push_back(detail::generate_some(stage, left, options));
  }
  co_await all(std::move(workers));
  totals.wall = active.elapsed();
  co_return totals;
}

}  // namespace troupe::loops
