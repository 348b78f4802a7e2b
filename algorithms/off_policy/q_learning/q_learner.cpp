#include "algorithms/off_policy/q_learning/q_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {
namespace {

constexpr std::int64_t entries_max = std::int64_t{1} << 28;  // 2 GiB

std::size_t entries(std::int64_t states, std::int64_t actions) {
  if (states < 1 || actions < 1 || states > entries_max / actions)
    throw std::invalid_argument(
        fmt::format("q_learning: expected a table of 1 to {} entries, got {} states and {} actions",
                    entries_max, states, actions));
  return static_cast<std::size_t>(states * actions);
}

void expect_below(const char* what, std::int64_t value, std::int64_t end) {
  if (value < 0 || value >= end)
    throw std::invalid_argument(
        fmt::format("q_learning: {}: expected 0 to {}, got {}", what, end - 1, value));
}

}  // namespace

void describe(options_schema<q_learning_options>& s) {
  s.field("lr", &q_learning_options::lr)
      .above(0)
      .at_most(1)
      .help("The share of a TD error by which a value changes.");
  s.field("gamma", &q_learning_options::gamma)
      .at_least(0)
      .at_most(1)
      .help("The discount of rewards per step.");
  s.field("epsilon_begin", &q_learning_options::epsilon_begin)
      .at_least(0)
      .at_most(1)
      .help("The share of random actions at the start; it changes linearly to epsilon_end.");
  s.field("epsilon_end", &q_learning_options::epsilon_end)
      .at_least(0)
      .at_most(1)
      .help("The share of random actions after epsilon_steps transitions.");
  s.field("epsilon_steps", &q_learning_options::epsilon_steps)
      .at_least(0)
      .unit("transitions")
      .help("epsilon_end is reached after so many transitions were learned from.");
  s.field("initial_value", &q_learning_options::initial_value)
      .help("The initial value of every entry; a high value makes the greedy policy explore.");
}

q_learner::q_learner(std::int64_t states, std::int64_t actions, const q_learning_options& options)
    : states_(states),
      actions_(actions),
      options_(checked_options(options, "q_learning")),
      values_(entries(states, actions), options.initial_value) {}

double q_learner::update(const q_transition& one) {
  expect_below("state", one.state, states_);
  expect_below("action", one.action, actions_);
  if (!one.terminated) expect_below("next state", one.next_state, states_);
  if (!std::isfinite(one.reward))
    throw std::invalid_argument(
        fmt::format("q_learning: reward: expected a finite number, got {}", one.reward));
  double target = one.reward;
  if (!one.terminated) target += options_.gamma * std::ranges::max(values(one.next_state));
  auto& value = values_[place_of(one.state) + static_cast<std::size_t>(one.action)];
  const double error = target - value;
  value += options_.lr * error;
  ++transitions_;
  return error;
}

q_table q_learner::learn(const std::vector<q_transition>& batch) {
  for (const auto& one : batch) update(one);
  ++version_;
  return table();
}

std::span<const double> q_learner::values(std::int64_t state) const {
  expect_below("state", state, states_);
  return std::span(values_).subspan(place_of(state), static_cast<std::size_t>(actions_));
}

std::int64_t q_learner::greedy(std::int64_t state) const {
  const auto row = values(state);
  return std::ranges::max_element(row) - row.begin();
}

double q_learner::epsilon() const {
  if (transitions_ >= options_.epsilon_steps) return options_.epsilon_end;
  const double done =
      static_cast<double>(transitions_) / static_cast<double>(options_.epsilon_steps);
  return options_.epsilon_begin + done * (options_.epsilon_end - options_.epsilon_begin);
}

void q_learner::set_values(std::vector<double> values) {
  if (values.size() != values_.size())
    throw std::invalid_argument(fmt::format("q_learning: expected a table of {} entries, got {}",
                                            values_.size(), values.size()));
  values_ = std::move(values);
}

void q_learner::set_lr(double lr) {
  if (!std::isfinite(lr) || lr < 0)
    throw std::invalid_argument(
        fmt::format("q_learning: lr: expected a finite number >= 0, got {}", lr));
  options_.lr = lr;
}

q_table q_learner::table() const {
  return {version_, epsilon(), actions_, std::make_shared<const std::vector<double>>(values_)};
}

void q_learner::visit_state(state_visitor& visit) {
  visit("values", values_);
  visit("transitions", transitions_);
  visit("version", version_);
}

std::string q_learner::save() const {
  auto& self = const_cast<q_learner&>(*this);  // The visitor that saves only reads.
  return detail::save_state([&self](state_visitor& visit) { self.visit_state(visit); });
}

void q_learner::restore(const std::string& bytes) {
  detail::restore_state("q_learning", bytes, [this](state_visitor& visit) { visit_state(visit); });
}

}  // namespace troupe
