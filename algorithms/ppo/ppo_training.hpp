#pragma once
// What is done with PPO's cast once it is there. Internal to ppo/.

#include "algorithms/ppo/ppo_cast.hpp"

namespace troupe::detail {

/// A run would else fail only later, in the recorder's replica, without saying why here. Throws
/// run_directory_error.
void require_folder(const std::filesystem::path& root, const std::string& algo);

/// Trains until the weights have that version, or until it is asked to stop. `drain`: rollouts
/// under way end before this returns, so that the cast can be saved.
task<> train_until(production& p, std::int64_t version, bool drain);

/// Serves, trains and concludes. Throws call_error of kind cancelled if it is asked to stop.
task<ppo_summary> run_from_the_start(production& p);

/// Writes the newest weights as the run's last model.
task<> keep_last_model(production& p);

/// The evaluation at the end, and all that a run leaves behind. Throws evaluation_error, and
/// call_error of kind cancelled if it is asked to stop meanwhile.
task<ppo_summary> conclude(production& p);

}  // namespace troupe::detail
