#pragma once
// A cast for the tests of what goes with the loops: episodes that are a number, weights that are a
// version, all on one thread in virtual time.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/loops/loops.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::testing {

struct toy_episode {
  int number = 0;
  std::int64_t version = 0;
  std::vector<double> scores = {};  ///< Of what ended in it.
};
using toy_queue = replay_queue<toy_episode>;

/// What the coroutines of one test share.
struct toy_state {
  std::int64_t version = 0;
  int begun = 0;
  int failing = 0;  ///< Episodes that throw from now on.
  int under_way = 0;
  int most_under_way = 0;
  std::vector<loops::progress> seen;
};

struct toy_roles {
  service<toy_queue> replay;
  toy_state* state = nullptr;
};

/// Counts an episode for as long as its frame lives, cancelled or not.
struct toy_presence {
  explicit toy_presence(toy_state& s) : s(s) {
    s.most_under_way = std::max(s.most_under_way, ++s.under_way);
  }
  toy_presence(const toy_presence&) = delete;
  ~toy_presence() { --s.under_way; }
  toy_state& s;
};

/// Takes 100 ms. The score is the number.
inline task<toy_episode> play_toy(toy_roles with) {
  auto& s = *with.state;
  const toy_presence here(s);
  const int number = ++s.begun;
  co_await sleep_for(100ms);
  if (s.failing > 0 && s.failing-- > 0) throw std::runtime_error("an episode broke down");
  co_return toy_episode{number, s.version, {static_cast<double>(number)}};
}

inline task<std::int64_t> train_toy(toy_state& s) {
  co_await sleep_for(70ms);
  co_return ++s.version;
}

inline loops::hooks<toy_episode> toy_hooks(toy_state& s, loops::callback on_update_end) {
  return {.train = [&s](std::vector<toy_episode>) { return train_toy(s); },
          .on_update_end = std::move(on_update_end)};
}

inline task<toy_roles> serve_toys(system& sys, toy_state& s, replay_options options) {
  auto replay = co_await sys.serve<toy_queue>({.name = "replay"}, options);
  co_return toy_roles{replay, &s};
}

/// A callback that notes when it was asked, and says stop at an update.
struct noting {
  std::vector<std::int64_t> at;  ///< Updates.
  std::int64_t stop_at = -1;
};

inline task<loops::verdict> note(noting& to, loops::progress now) {
  to.at.push_back(now.updates);
  co_return now.updates == to.stop_at ? loops::verdict::stop : loops::verdict::go_on;
}

inline loops::callback note_in(noting& to) {
  return [&to](loops::progress now) { return note(to, now); };
}

/// Asks `on_update_end` for updates 1 to `updates` of `steps` each; returns the one at which it
/// said stop, or 0.
inline task<std::int64_t> drive(loops::callback on_update_end, std::int64_t updates,
                                std::int64_t steps = 1) {
  for (std::int64_t i = 1; i <= updates; ++i) {
    const loops::progress now{
        .updates = i, .steps = i * steps, .steps_of_update = steps, .version = i};
    const auto said = co_await on_update_end(now);
    if (said == loops::verdict::stop) co_return i;
  }
  co_return 0;
}

}  // namespace troupe::testing
