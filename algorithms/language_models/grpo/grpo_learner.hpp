#pragma once
// GRPO's update rule, without actors: it takes groups of answers and improves the weights.
// grpo_trainer.hpp makes a role of it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/training/token_log_probs.hpp"
#include "actors/llm/training/tuned_model.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_start.hpp"
#include "algorithms/learner/skip_guard.hpp"

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

/// The report of an update. The means of the loss's metrics are over trained tokens and optimiser
/// steps.
struct grpo_report {
  grpo_loss_metrics loss;
  double grad_norm = 0.0;  ///< mean over steps of the gradient's norm before clipping
  double learning_rate = 0.0;
  double reward_mean = 0.0;
  double reward_std = 0.0;       ///< mean over groups of the standard deviation within each
  double right_mean = 0.0;       ///< mean of `right` over answers
  double length_mean = 0.0;      ///< mean length of an answer, in sampled tokens
  double entropy = 0.0;          ///< minus the mean log-probability of sampled tokens, when sampled
  double kl_reward = 0.0;        ///< mean k1 of an answer if kl_in is reward
  double overlong_reward = 0.0;  ///< mean change of the reward by an answer's length, at most 0
  std::int64_t groups = 0;
  std::int64_t zero_variance_groups = 0;
  std::int64_t answers = 0;
  std::int64_t truncated = 0;
  std::int64_t trained_answers = 0;
  std::int64_t trained_tokens = 0;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;               ///< steps whose loss or gradient wasn't finite
  std::vector<std::vector<double>> advantages;  ///< one for each answer of each group
};

/// The learner's state without the parameters and without what stays as it was at the start.
struct grpo_learner_state {
  adam_state optimizer;
  action_random::state_type random{};
  std::int64_t updates = 0;
  int skipped_in_a_row = 0;
  at::Tensor reference;  ///< [P], where the reference changes in the course of training
  at::Tensor adapters;   ///< [A], where adapters are trained
  /// [P], where adapters are trained: the weights beside them if they aren't the first ones any
  /// more, since load_parameters has replaced them
  at::Tensor base;
};

/// Improves the weights of a model by GRPO, one batch of groups at a time.
class grpo_learner {
 public:
  struct batch {
    std::vector<answer_group> groups;
  };
  using report_type = grpo_report;

  /// Keeps the first weights as the reference if options.kl_coef isn't 0. With LoRA the first
  /// adapters are drawn from the seed.
  grpo_learner(grpo_model model, const grpo_options& options, grpo_start start, std::uint64_t seed);

  /// Takes the optimiser steps of one update. A batch without trainable answers does not change the
  /// weights. Throws non_finite_training after max_skipped_steps in a row, and
  /// std::invalid_argument for a group without a prompt and for answers whose numbers of sampled
  /// tokens and log-probabilities differ.
  grpo_report update(const batch& given, double progress_remaining = 1.0,
                     std::optional<double> chosen_lr = {});

  /// The model's weights [P], with the adapters merged.
  const at::Tensor& parameters() const { return lora_ ? merged_ : tuned_.trained(); }
  /// With LoRA, weights that aren't `parameters` replace those beside the adapters, which begin
  /// anew. `restore` undoes that. Throws std::invalid_argument for another shape.
  void load_parameters(const at::Tensor& parameters);

  std::span<const float> acting() const {
    return {parameters().data_ptr<float>(), static_cast<std::size_t>(parameters().numel())};
  }
  void start_from(std::span<const float> acting, const named_tensors&) {
    load_parameters(at::tensor(at::ArrayRef<float>(acting.data(), acting.size())));
  }

  grpo_learner_state state() const;
  /// Throws std::invalid_argument if the state belongs to another number of parameters. With LoRA
  /// it also sets the parameters.
  void set_state(grpo_learner_state state);
  /// The state as the bytes of a checkpoint.
  std::string save() const;
  /// Restores the bytes of `save`. Throws state_error if they are malformed.
  void restore(const std::string& bytes);

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

  static row row_of(const answer_group& group, const std::vector<double>& advantages,
                    bool mask_truncated);
  std::vector<row> rows_of(const batch& given, grpo_report& report) const;
  std::vector<group_rewards> rewards_of(const batch& given, grpo_report& report) const;
  std::vector<rows> micro_batches(rows all) const;
  scored_by policy() const { return {tuned_.weights(), tuned_.adapters()}; }
  scored_by reference_policy() const { return {reference_}; }
  llm::token_scores scores_of(rows some, const scored_by& by, bool entropy = false) const;
  void fill(std::vector<row>& all, const scored_by& by, at::Tensor row::* which) const;
  void train_on(std::vector<row>& all, grpo_report& report);
  void step_on(rows minibatch, grpo_report& report);
  void refresh_reference();
  llm::tuned_model adapted(at::Tensor base, at::Tensor adapters) const;
  void set_model(llm::tuned_model model);
  double learning_rate() const;

  grpo_model model_;
  grpo_options options_;
  grpo_loss_options loss_;
  std::optional<llm::lora_options> lora_;
  std::uint64_t adapter_seed_;
  at::Tensor first_;  // the first weights [P], if adapters are trained
  llm::tuned_model tuned_;
  at::Tensor merged_;                // the parameters [P], if adapters are trained
  at::Tensor reference_parameters_;  // undefined if there is no penalty
  llm::model_weights reference_;     // views of reference_parameters_
  adam optimizer_;
  action_random random_;
  std::int64_t updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe
