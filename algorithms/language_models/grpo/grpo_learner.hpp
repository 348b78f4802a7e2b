#pragma once
// GRPO's update rule, without actors: it takes groups of answers and improves the weights.
// grpo_trainer.hpp makes a role of it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/llm/training/token_log_probs.hpp"
#include "actors/llm/training/tuned_model.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_start.hpp"
#include "algorithms/language_models/language_model_learner.hpp"

namespace troupe {

/// The model and the sampling of its answers.
struct grpo_model {
  llm::model_config config;
  double temperature = 1.0;                 ///< the temperature at which answers were sampled
  std::int64_t max_completion_tokens = 16;  ///< the most tokens that can be sampled in a reply
  std::vector<int> turns = {};  ///< the most replies of an answer of each task; empty: 1 each
  double lr = 1e-5;             ///< the step size if the options have none
  std::int64_t updates = 0;     ///< the length of the training; 0 if unknown, then lr stays

  /// The most tokens that can be sampled in an answer of a task.
  std::int64_t length_max(std::uint64_t task) const {
    return max_completion_tokens * (turns.empty() ? 1 : turns.at(task));
  }
};

/// What one update did. The metrics "rollout/..." are those of the answers: of groups, rewards and
/// lengths. The metrics "train/..." are means over trained tokens and optimiser steps.
struct grpo_report : learner_report {
  std::vector<std::vector<double>> advantages;  ///< One for each answer of each group.

  auto wire_members() {
    return std::tuple_cat(learner_report::wire_members(), std::tie(advantages));
  }
};

/// Improves the weights of a model by GRPO, one batch of groups at a time. An update may take
/// several optimiser steps, and takes none on a batch without trainable answers.
class grpo_learner final : public language_model_learner<std::vector<answer_group>, grpo_report> {
 public:
  /// Keeps the first weights as the reference if options.kl_coef isn't 0. With LoRA the first
  /// adapters are drawn from the seed.
  grpo_learner(grpo_model model, const grpo_options& options, grpo_start start, std::uint64_t seed);

  /// The model's weights [P], with the adapters merged.
  const at::Tensor& parameters() const { return lora_ ? merged_ : model().trained(); }
  std::span<const float> acting() const override { return floats_of(parameters()); }
  /// With LoRA, weights that aren't `acting` replace those beside the adapters, which begin anew.
  /// `restore` undoes that. The reference stays.
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  /// The state has no weights, and nothing that stays as it was at the start. With LoRA it has the
  /// adapters, so that `restore` also sets the weights.
  void visit_state(state_visitor& visit) override;

 private:
  /// A group with only the answers that are trained on, which may be none.
  struct row;

  /// The rows that go through the model together.
  using rows = std::span<const row* const>;

  /// The weights of a forward pass, and the adapters beside them, which may be null.
  struct scored_by {
    const llm::model_weights& weights;
    const llm::adapter_weights* adapters = nullptr;
  };

  /// The numbers of an update, from which its metrics follow.
  struct figures;

  void check_batch(const std::vector<answer_group>& groups) const override;
  void train(const std::vector<answer_group>& groups) override;

  static row row_of(const answer_group& group, const std::vector<double>& advantages,
                    bool mask_truncated);
  std::vector<row> rows_of(const std::vector<answer_group>& groups, figures& sums);
  std::vector<group_rewards> rewards_of(const std::vector<answer_group>& groups,
                                        figures& sums) const;
  std::vector<rows> micro_batches(rows all) const;
  scored_by policy() const { return {model().weights(), model().adapters()}; }
  scored_by reference_policy() const { return {reference_}; }
  llm::token_scores scores_of(rows some, const scored_by& by, bool entropy = false) const;
  void fill(std::vector<row>& all, const scored_by& by, at::Tensor row::* which) const;
  void train_on_rows(std::vector<row>& all, figures& sums);
  void step_on(rows minibatch, figures& sums);
  void refresh_reference();
  void set_adapted(at::Tensor base, at::Tensor adapters);

  grpo_model sampled_by_;
  grpo_options options_;
  grpo_loss_options loss_;
  std::optional<llm::lora_options> lora_;
  std::uint64_t adapter_seed_;
  at::Tensor first_;                 // the first weights [P], if adapters are trained
  at::Tensor merged_;                // the weights [P] with the adapters, if adapters are trained
  at::Tensor reference_parameters_;  // undefined if there is no penalty
  llm::model_weights reference_;     // views of reference_parameters_
};

}  // namespace troupe
