#pragma once
// Tabular Q-learning (Watkins 1989) as an algorithm for a run (algorithm.hpp): its roles, episode
// and update.
//
//   collectors   step environments with the table that acts, both in one role
//   replay       gives each collection to the trainer once
//   trainer      applies the rule to each transition in order; on a thread of its own in async mode
//   evaluator    plays deterministic episodes between updates and at the end
//
// generate_collection asks a collector for some steps. `update` sends the transitions to the
// trainer, and the new table goes to the store and to the collectors.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/replay/replay_queue.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/off_policy/q_learning/config.hpp"
#include "algorithms/off_policy/q_learning/tabular_learner.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The services and options of generate_collection.
struct collection_roles {
  service<collector> collectors;
  service<replay_queue<collected_transitions>> replay;
  std::int64_t steps = 1;         ///< The steps of each environment in one collection.
  std::int64_t environments = 1;  ///< The number of environments of one collector.
  /// The number of environment steps of the run that have begun. Only coroutines of the loop's
  /// actor use it, so it needs no lock.
  std::shared_ptr<std::int64_t> begun = std::make_shared<std::int64_t>(0);
};

/// The episode function of a run of tabular Q-learning.
task<collected_transitions> generate_collection(collection_roles roles);

class q_learning : public environment_algorithm {
 public:
  using experience = collected_transitions;
  using table_trainer = trainer<tabular_learner>;

  q_learning(training_run& in, q_learning_config config);

  collection_roles roles;
  static task<collected_transitions> generate(collection_roles with) {
    return generate_collection(std::move(with));
  }
  task<std::int64_t> update(std::vector<collected_transitions> made);
  loop_sizes sizes() const;

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);
  task<evaluation> evaluate_at_the_end(weights of) { return evaluate_finally(std::move(of)); }

 private:
  std::size_t workers() const;
  std::size_t collectors() const;
  std::int64_t schedule_steps() const;
  task<> serve_collectors(const checkpoint* from);
  task<> serve_replay(const checkpoint* from);
  task<> record_episodes(const std::vector<collected_transitions>& made);
  task<> record(const learner_report& learned);

  const q_learning_config config_;
  /// The number of collectors that the next checkpoint waits for.
  std::size_t collectors_expected_ = 0;
  service<table_trainer> trainer_;
  std::int64_t episodes_to_log_ = 0;  ///< Episodes ended since the last row of progress.csv.
};

/// The algorithm with that configuration, for train().
algorithm algorithm_with(const q_learning_config& config);

}  // namespace troupe
