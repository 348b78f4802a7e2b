// TD3 on Pendulum: 20,000 steps, hidden layers 64-64, batches of 100, critics each step, the actor
// every second.
#include "begin.hpp"

// clang-format off
#include <rl_tools/nn/layers/td3_sampling/operations_generic.h>
#include <rl_tools/rl/environments/pendulum/operations_cpu.h>
#include <rl_tools/nn_models/mlp/operations_generic.h>
#include <rl_tools/nn_models/random_uniform/operations_generic.h>
#include <rl_tools/nn_models/sequential/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/operations_generic.h>

#include <rl_tools/rl/algorithms/td3/loop/core/config.h>
#include <rl_tools/rl/algorithms/td3/loop/core/operations_generic.h>
#include <rl_tools/rl/utils/evaluation/operations_generic.h>
// clang-format on

#include "report.hpp"

namespace peer {

using pendulum = rlt::rl::environments::Pendulum<rlt::rl::environments::pendulum::Specification<
    float, index, rlt::rl::environments::pendulum::DefaultParameters<float>>>;

// TD3's own defaults are those of RL-tools' example, but for the steps.
struct settings
    : rlt::rl::algorithms::td3::loop::core::DefaultParameters<numbers, index, pendulum> {
  static constexpr index STEP_LIMIT = 20'000;
};

using loop =
    rlt::rl::algorithms::td3::loop::core::Config<numbers, index, random, pendulum, settings>;

}  // namespace peer

int main(int argc, char** argv) {
  return peer::train_and_report<peer::loop>(peer::seed_of(argc, argv), 1, 19'900);
}
