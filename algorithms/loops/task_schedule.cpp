#include "algorithms/loops/task_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe::loops {

namespace {

void check(const scheduled_task& task) {
  if (!(task.weight > 0) || !std::isfinite(task.weight)) {
    throw std::invalid_argument(
        fmt::format("task {}: weight: expected a number > 0, got {}", task.name, task.weight));
  }
  if (!(task.target > task.floor) || !std::isfinite(task.target - task.floor)) {
    throw std::invalid_argument(
        fmt::format("task {}: target: expected a return above its floor {}, got {}", task.name,
                    task.floor, task.target));
  }
}

}  // namespace

task_schedule::task_schedule(schedule_options options) : options_(std::move(options)) {
  const auto& tasks = options_.tasks;
  if (tasks.empty()) throw std::invalid_argument("task_schedule: expected a task, got none");
  if (options_.window < 1) {
    throw std::invalid_argument("task_schedule: window: expected a number > 0, got 0");
  }
  if (options_.longest_wait < 0) {
    throw std::invalid_argument(fmt::format(
        "task_schedule: longest_wait: expected a number >= 0, got {}", options_.longest_wait));
  }
  for (const auto& task : tasks) {
    check(task);
    if (std::ranges::count(tasks, task.name, &scheduled_task::name) > 1) {
      throw std::invalid_argument(
          fmt::format("task {}: name: expected one that no other task has", task.name));
    }
  }
  if (options_.longest_wait == 0) options_.longest_wait = std::ssize(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) records_.push_back({recent_mean(options_.window)});
}

std::size_t task_schedule::next() {
  std::size_t chosen = static_cast<std::size_t>(turns_) % records_.size();
  if (options_.rule == schedule_rule::proportional) chosen = next_by_weight();
  if (options_.rule == schedule_rule::by_need) chosen = next_by_need();
  ++turns_;
  for (auto& record : records_) ++record.waited;
  records_[chosen].waited = 0;
  ++records_[chosen].turns;
  return chosen;
}

/// Each task's credit grows by its weight. The task with the most credit is next, and the sum of
/// all weights is subtracted from its credit.
std::size_t task_schedule::next_by_weight() {
  double sum = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    records_[i].credit += options_.tasks[i].weight;
    sum += options_.tasks[i].weight;
  }
  const auto richest = std::ranges::max_element(records_, {}, &record::credit);
  richest->credit -= sum;
  return static_cast<std::size_t>(richest - records_.begin());
}

std::size_t task_schedule::next_by_need() const {
  const auto longest = std::ranges::max_element(records_, {}, &record::waited);
  if (longest->waited >= options_.longest_wait) {
    return static_cast<std::size_t>(longest - records_.begin());
  }
  // Tasks without an ended episode come first, those with the fewest turns before the others.
  const auto need = [this](std::size_t task) {
    const auto& r = records_[task];
    return r.returns.empty() ? std::pair(-std::numeric_limits<double>::infinity(), r.turns)
                             : std::pair(relative_return(task), r.turns);
  };
  std::size_t neediest = 0;
  for (std::size_t task = 1; task < records_.size(); ++task) {
    if (need(task) < need(neediest)) neediest = task;
  }
  return neediest;
}

double task_schedule::relative_return(std::size_t task) const {
  const auto& [name, weight, floor, target] = options_.tasks[task];
  return (records_[task].returns.mean() - floor) / (target - floor);
}

void task_schedule::ended(std::size_t task, double episode_return) {
  if (task >= records_.size()) {
    throw std::invalid_argument(
        fmt::format("task_schedule: expected a task below {}, got {}", records_.size(), task));
  }
  ++records_[task].episodes;
  records_[task].returns.add(episode_return);
}

std::vector<task_measure> task_schedule::measured() const {
  std::vector<task_measure> all;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const auto& r = records_[i];
    const double relative = r.returns.empty() ? 0 : relative_return(i);
    all.push_back({options_.tasks[i].name, r.turns, r.episodes, r.returns.mean(), relative});
  }
  return all;
}

bool task_schedule::learned() const {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const auto& returns = records_[i].returns;
    if (returns.values().size() < options_.window || returns.mean() < options_.tasks[i].target) {
      return false;
    }
  }
  return true;
}

namespace {

struct task_state {
  std::string name;
  std::vector<double> returns;
  std::int64_t turns, episodes, waited;
  double credit;
};

struct schedule_state {
  std::int64_t turns;
  std::vector<task_state> tasks;
};

}  // namespace

std::string task_schedule::save() const {
  schedule_state state{turns_, {}};
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const auto& r = records_[i];
    state.tasks.push_back(
        {options_.tasks[i].name, r.returns.values(), r.turns, r.episodes, r.waited, r.credit});
  }
  return state_bytes(state);
}

void task_schedule::restore(std::string bytes) {
  const auto [turns, tasks] = state_of<schedule_state>(bytes);
  if (tasks.size() != records_.size()) {
    throw state_error(
        fmt::format("task_schedule: tasks: expected {}, got {}", records_.size(), tasks.size()));
  }
  auto restored = records_;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& one = tasks[i];
    if (one.name != options_.tasks[i].name) {
      throw state_error(fmt::format("task_schedule: task {}: expected {}, got {}", i,
                                    options_.tasks[i].name, one.name));
    }
    restored[i].returns.restore(one.returns);
    restored[i].turns = one.turns;
    restored[i].episodes = one.episodes;
    restored[i].waited = one.waited;
    restored[i].credit = one.credit;
  }
  turns_ = turns;
  records_ = std::move(restored);
}

}  // namespace troupe::loops
