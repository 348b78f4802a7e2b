#pragma once
// The schedules of a run that is resumed with a later end.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace troupe::command {

/// A coefficient that changes during training.
struct schedule {
  std::string option;  ///< The option that says how, such as "trainer.lr_schedule".
  /// The value after a number of steps, where the schedule is so many steps long.
  std::function<double(double steps, double length)> at;
  bool is_rate = false;  ///< True for a learning rate: without one, nothing is learned.
};

/// The schedules of a resolved configuration that change anything.
std::vector<schedule> schedules_of(const nlohmann::json& config);

/// Gives the resolved configuration of a longer run the length of its schedules: the one that they
/// had in `before`, or with `stretch` the whole run. Returns false if that is the length already.
bool set_schedule_steps(nlohmann::json& document, const nlohmann::json& before,
                        const nlohmann::json& after, bool stretch);

/// Logs, for each schedule, what it was and what it becomes in a run that goes on after `made`
/// steps. `before` and `after` are the resolved configurations.
void tell_schedules(const nlohmann::json& before, const nlohmann::json& after, std::int64_t made);

}  // namespace troupe::command
