#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/q_learning/tabular_learner.hpp"

#include <cmath>
#include <span>

namespace troupe {

tabular_learner::tabular_learner(const space& observations, std::int64_t actions,
                                 const q_rule_options& options)
    : states_(observations),
      options_(options),
      learner_(states_.size(), actions,
               {.lr = options.lr, .gamma = options.gamma, .initial_value = options.initial_value}),
      parameters_(at::empty({states_.size() * actions}, at::kFloat)) {
  publish();
}

void tabular_learner::publish() {
  auto* to = parameters_.data_ptr<float>();
  for (const double value : learner_.all_values()) *to++ = static_cast<float>(value);
}

tabular_report tabular_learner::update(const batch& with) {
  const double lr =
      with.chosen_lr.value_or(annealed(options_.lr, options_.lr_schedule, with.progress_remaining));
  learner_.set_lr(lr);
  report made{.learning_rate = lr};
  for (const auto& collection : with.collections) {
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
      made.q_mean += learner_.values(state)[static_cast<std::size_t>(action)];
      const bool terminated = rows.terminated[row] != 0;
      made.td_error +=
          std::abs(learner_.update({.state = state,
                                    .action = action,
                                    .reward = rows.reward[row],
                                    .terminated = terminated,
                                    .next_state = terminated ? 0 : state_of(rows.next_obs, row)}));
      ++made.rows;
    }
  }
  if (made.rows > 0) {
    made.q_mean /= static_cast<double>(made.rows);
    made.td_error /= static_cast<double>(made.rows);
  }
  made.n_updates = learner_.transitions();
  publish();
  return made;
}

void tabular_learner::load_parameters(const at::Tensor& parameters) {
  const auto flat = parameters.contiguous();
  const std::span values(flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel()));
  learner_.set_values({values.begin(), values.end()});
  publish();
}

void tabular_learner::restore(const std::string& bytes) {
  learner_.restore(bytes);
  publish();
}

}  // namespace troupe
