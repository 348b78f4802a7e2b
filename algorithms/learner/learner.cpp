#include "algorithms/learner/learner.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe {

bool learner_report::has(std::string_view name) const {
  return std::ranges::find(metrics, name, &named_number::name) != metrics.end();
}

double learner_report::operator[](std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &named_number::name);
  if (found != metrics.end()) return found->value;
  std::string known;
  for (const auto& each : metrics) known += (known.empty() ? "" : ", ") + std::string(each.name);
  throw std::out_of_range("metric '" + std::string(name) + "': expected one of " + known);
}

any_learner::any_learner(const char* name, const learning_options& options, std::uint64_t seed)
    : name_(name), options_(options), random_(seed), guard_(name, options.max_skipped_steps) {}

void any_learner::start_from(std::span<const float>, const named_tensors&) {
  throw std::invalid_argument(std::string(name_) +
                              ": expected no model, because this learner can't begin with one");
}

void any_learner::expect_size_of(std::span<const float> acting) const {
  if (acting.size() == this->acting().size()) return;
  throw std::invalid_argument(std::string(name_) + ": expected a model of " +
                              std::to_string(this->acting().size()) + " numbers, got " +
                              std::to_string(acting.size()));
}

void any_learner::update_target(std::int64_t) {}

double any_learner::scheduled_lr(double progress_remaining) const {
  return annealed(options_.lr, options_.lr_schedule, progress_remaining);
}

void any_learner::begin_update(learner_report& report, double progress_remaining,
                               std::optional<double> chosen_lr) {
  report.n_updates = ++n_updates_;
  report.learning_rate = chosen_lr.value_or(scheduled_lr(progress_remaining));
}

void any_learner::visit_state(state_visitor& visit) {
  visit("random", random_);
  visit("n_updates", n_updates_);
  std::int64_t skipped = guard_.in_a_row();
  visit("skipped_in_a_row", skipped);
  guard_.set_in_a_row(static_cast<int>(skipped));
}

std::string any_learner::save() const {
  // The visitor that saves only reads.
  auto& self = const_cast<any_learner&>(*this);
  return detail::save_state([&self](state_visitor& visit) { self.visit_state(visit); });
}

void any_learner::restore(const std::string& bytes) {
  detail::restore_state(name_, bytes, [this](state_visitor& visit) { visit_state(visit); });
}

}  // namespace troupe
