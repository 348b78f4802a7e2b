#include "algorithms/off_policy/q_learning/tabular_learner.hpp"

#include <cmath>

namespace troupe {

tabular_learner::tabular_learner(const space& observations, std::int64_t actions,
                                 const q_rule_options& options)
    : learner("q_learning", {.lr = options.lr, .lr_schedule = options.lr_schedule}, 0),
      states_(observations),
      learner_(states_.size(), actions,
               {.lr = options.lr, .gamma = options.gamma, .initial_value = options.initial_value}) {
  copy_table();
}

void tabular_learner::copy_table() {
  const auto table = learner_.all_values();
  parameters_.assign(table.begin(), table.end());
}

void tabular_learner::train(const tabular_batch& batch) {
  learner_.set_lr(report().learning_rate);
  double td_error = 0, q_mean = 0;
  std::int64_t rows_seen = 0;
  for (const auto& collection : batch) {
    const auto& rows = collection.rows;
    const auto count = rows.size();
    if (count == 0) continue;
    const auto width = rows.obs.size() / count;
    const auto state_of = [&](const std::vector<float>& all, std::size_t row) {
      return states_.index(std::span(all).subspan(row * width, width));
    };
    for (std::size_t row = 0; row < count; ++row) {
      const auto state = state_of(rows.obs, row);
      const auto action = rows.choice[row];
      q_mean += learner_.values(state)[static_cast<std::size_t>(action)];
      const bool terminated = rows.terminated[row] != 0;
      td_error +=
          std::abs(learner_.update({.state = state,
                                    .action = action,
                                    .reward = rows.reward[row],
                                    .terminated = terminated,
                                    .next_state = terminated ? 0 : state_of(rows.next_obs, row)}));
      ++rows_seen;
    }
  }
  if (rows_seen > 0) {
    q_mean /= static_cast<double>(rows_seen);
    td_error /= static_cast<double>(rows_seen);
  }
  report().trained_rows = rows_seen;
  report().metrics = {{"train/td_error", td_error},
                      {"train/q_mean", q_mean},
                      {"train/learning_rate", report().learning_rate},
                      {"train/n_updates", static_cast<double>(learner_.transitions())}};
  copy_table();
}

void tabular_learner::start_from(std::span<const float> acting, const named_tensors&) {
  learner_.set_values({acting.begin(), acting.end()});
  copy_table();
}

void tabular_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  learner_.visit_state(visit);
  copy_table();
}

}  // namespace troupe
