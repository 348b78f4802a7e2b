#pragma once
// GRPO's update rule, without actors: groups of answers in, better weights out.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_start.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe {

/// What the learner has to know of how answers are written.
struct grpo_model {
  llm::model_config config;
  double temperature = 1.0;         ///< answers were sampled at it
  std::int64_t answer_tokens = 16;  ///< the most that can be sampled of an answer
  double lr = 1e-5;                 ///< where the options have none
  std::int64_t updates = 0;         ///< of the training; 0: nobody knows, and lr stays
};

/// What an update did. Means of the loss's metrics are over trained tokens and optimiser steps.
struct grpo_report {
  grpo_loss_metrics loss;
  double grad_norm = 0.0;  ///< mean over steps, before clipping
  double learning_rate = 0.0;
  double reward_mean = 0.0;
  double reward_std = 0.0;  ///< mean over groups of the deviation within each
  double right_mean = 0.0;
  double length_mean = 0.0;  ///< of answers, in sampled tokens
  double entropy = 0.0;  ///< minus the mean log-probability of trained tokens as they were sampled
  double kl_reward = 0.0;        ///< mean k1 of an answer, where the penalty is in the reward
  double overlong_reward = 0.0;  ///< mean of an answer: what its length has cost, at most 0
  std::int64_t groups = 0;
  std::int64_t flat_groups = 0;
  std::int64_t answers = 0;
  std::int64_t truncated = 0;
  std::int64_t trained_answers = 0;
  std::int64_t trained_tokens = 0;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;               ///< loss or gradient wasn't finite
  std::vector<std::vector<double>> advantages;  ///< of each group's answers
};

/// Everything but the parameters and the reference.
struct grpo_learner_state {
  adam_state optimizer;
  action_random::state_type random{};
  std::int64_t updates = 0;
  int skipped_in_a_row = 0;
};

class grpo_learner {
 public:
  struct batch {
    std::vector<answer_group> groups;
    std::optional<double> chosen_lr = {};  ///< In place of the schedule's, where it is set.
  };
  using report = grpo_report;

  /// The first weights are kept as the reference where options.kl_coef isn't 0.
  grpo_learner(grpo_model model, const grpo_options& options, grpo_start start, std::uint64_t seed);

  /// A batch of which nothing can be trained on changes nothing. Throws non_finite_training, and
  /// std::invalid_argument for a group without prompt and for answers whose numbers of sampled
  /// tokens and log-probabilities differ.
  grpo_report update(const batch& given);

  const at::Tensor& parameters() const { return trained_.parameters; }
  void load_parameters(const at::Tensor& parameters);

  grpo_learner_state state() const;
  /// Throws std::invalid_argument if the state is of another number of parameters.
  void set_state(grpo_learner_state state);
  /// The state as the bytes of a checkpoint.
  std::string save() const;
  /// Throws state_error.
  void restore(const std::string& bytes);

 private:
  /// A group without the answers that aren't trained on, which may be all.
  struct row;

  /// Rows that go through the model together.
  using rows = std::span<const row* const>;

  static row row_of(const answer_group& group, const std::vector<double>& advantages,
                    bool mask_truncated);
  std::vector<row> rows_of(const batch& given, grpo_report& report) const;
  std::vector<group_rewards> rewards_of(const batch& given, grpo_report& report) const;
  std::vector<rows> micro_batches(rows all) const;
  at::Tensor log_probs_of(rows some, const llm::model_weights& weights) const;
  void fill(std::vector<row>& all, const llm::model_weights& weights,
            at::Tensor row::* which) const;
  void step_on(rows minibatch, grpo_report& report);
  double learning_rate() const;

  grpo_model model_;
  grpo_options options_;
  grpo_loss_options loss_;
  llm::trained_weights trained_;
  at::Tensor reference_parameters_;  // undefined: there is no penalty
  llm::model_weights reference_;     // its views
  adam optimizer_;
  action_random random_;
  std::int64_t updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe
