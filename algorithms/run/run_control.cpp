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

void run_control::write(std::map<std::string, double>& row) {
  for (const auto& [name, value] : state_.values) row.insert_or_assign(name, value);
  state_.values.clear();
}

}  // namespace troupe
