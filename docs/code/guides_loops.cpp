// The code of docs/guides/algorithm.md about the options of loops.

#include "actors/replay/replay_queue.hpp"
#include "algorithms/loops/callbacks.hpp"
#include "algorithms/loops/loops.hpp"
#include "runtime/service/service.hpp"
#include "runtime/system/system.hpp"

namespace loops = troupe::loops;

struct episode {
  std::vector<double> rewards;
  std::int64_t version = 0;  // of the oldest weights that made any part of it
  troupe::item_id id;        // the loop sets it

  double length() const { return static_cast<double>(rewards.size()); }
};

struct roles {
  troupe::service<troupe::replay_queue<episode>> replay;
};

troupe::task<episode> generate_episode(roles);
troupe::task<std::int64_t> train(std::vector<episode> batch);

// readme: loop_options
troupe::task<loops::report> run(troupe::system& sys, roles r) {
  const troupe::replay_options kept{.batch = 8,
                                    .max_staleness = 2,
                                    .capacity = 256,
                                    .max_bytes = std::size_t{1} << 28,
                                    .patience = std::chrono::minutes(5)};
  r.replay = co_await sys.serve<troupe::replay_queue<episode>>({.name = "replay"}, kept);

  const troupe::training_metrics metrics(sys.metrics(), "Corridor-v0");
  loops::hooks<episode> hooks{
      .train = [](std::vector<episode> batch) { return train(std::move(batch)); },
      .on_update_end = loops::stop_when([metrics](const loops::progress& now) {
        metrics.policy_version(now.version);
        return now.seconds > 3600;
      }),
      .steps = [](const episode& one) { return static_cast<std::int64_t>(one.rewards.size()); },
      .metrics = metrics};
  co_return co_await loops::asynchronous(r, generate_episode, hooks,
                                         {.rollouts = 4, .updates = 1000, .drain = true});
}
// readme: end
