#pragma once
// Supervised fine-tuning as an algorithm of a run (algorithms/run/algorithm.hpp): its roles and its
// update.
//
//   data        the examples, in a new order each epoch
//   replay      hands each batch to the trainer once
//   trainer     updates the weights or the adapters, which go to the store
//   evaluator   computes the loss of held-out examples
//
// There is nothing to generate: `generate` draws the next batch. `update` gives it to the trainer.

#include <memory>
#include <optional>
#include <vector>

#include "actors/data/dataset.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/language_models/sft/sft_evaluator.hpp"
#include "algorithms/language_models/sft/sft_learner.hpp"
#include "algorithms/language_models/sft/sft_setup.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/run/algorithm.hpp"

namespace troupe {

/// A batch of examples.
struct sft_batch {
  std::vector<sft_example> examples;
  std::int64_t version = 0;  ///< The version of the weights in use when it was drawn.
};

using sft_trainer = trainer<sft_learner>;
using sft_dataset = dataset<sft_example>;
using sft_queue = replay_queue<sft_batch>;

/// The roles that draw a batch.
struct sft_roles {
  service<sft_dataset> data;
  service<sft_queue> replay;
  std::size_t batch_size = 1;
  const run_progress* progress = nullptr;
};

/// Supervised fine-tuning with the members that train asks of an algorithm.
class sft {
 public:
  using experience = sft_batch;

  /// `config` must be a completed one (sft_setup.hpp).
  sft(training_run& in, sft_config config, std::shared_ptr<shared_sft_setup> setup);

  sft_roles roles;
  static task<sft_batch> generate(sft_roles from);
  task<std::int64_t> update(std::vector<sft_batch> batches);
  loop_sizes sizes() const { return {}; }
  /// Evaluates the model before the first update. Returns false if the run ends there.
  task<bool> begin();

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);

  /// Minus the mean cross-entropy of so many held-out examples; 0 means all.
  task<evaluation> evaluate(weights of, std::size_t examples, std::uint64_t seed);
  task<evaluation> evaluate_at_the_end(weights of);
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const;
  std::optional<double> kept_score(const std::filesystem::path& path) const;
  std::optional<double> threshold() const { return std::nullopt; }

 private:
  task<> serve_trainer(const checkpoint* from);
  task<> serve_data(const checkpoint* from);
  task<> record(const learner_report& learned);

  training_run& in;
  const sft_config config_;
  const std::shared_ptr<shared_sft_setup> setup_;
  sft_network network_;
  service<sft_trainer> trainer_;
  service<sft_evaluator> evaluator_;
};

}  // namespace troupe
