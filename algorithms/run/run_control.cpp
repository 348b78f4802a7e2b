#include "algorithms/run/run_control.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "actors/recorder/progress_csv.hpp"

namespace troupe {

void run_control::set_learning_rate(double lr) {
  if (!std::isfinite(lr) || lr <= 0) {
    throw std::invalid_argument(
        fmt::format("run_control: learning rate: expected a number > 0, got {}", lr));
  }
  state_.learning_rate = lr;
}

void run_control::record(std::string name, double value) {
  require_column_name(name);
  state_.values.insert_or_assign(std::move(name), value);
}

task<> run_control::set_options(std::string json) {
  state_.env_options = std::move(json);
  return tell();
}

task<> run_control::set_attr(std::string name, std::string json) {
  state_.env_attrs.insert_or_assign(std::move(name), std::move(json));
  return tell();
}

task<> run_control::use(tell_environments tell) {
  tell_ = std::move(tell);
  return this->tell();
}

task<> run_control::tell() {
  if (!state_.env_options && state_.env_attrs.empty()) co_return;
  if (!tell_) {
    throw std::logic_error(
        "run_control: expected an algorithm with environments to set options and attributes of, "
        "got one that doesn't call training_run::practise_on");
  }
  co_await tell_(state_.env_options, state_.env_attrs);
}

void run_control::write(std::map<std::string, double>& row) {
  for (const auto& [name, value] : state_.values) row.insert_or_assign(name, value);
  state_.values.clear();
}

}  // namespace troupe
