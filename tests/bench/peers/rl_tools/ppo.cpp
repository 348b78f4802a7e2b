// PPO on Pendulum: 4 environments, rollouts of 1,024 steps, 75 of them (307,200 steps), batches of
// 256, 2 epochs.
#include "begin.hpp"

// clang-format off
#include <rl_tools/rl/environments/pendulum/operations_generic.h>
#include <rl_tools/rl/environment_wrappers/scale_observations/operations_generic.h>
#include <rl_tools/nn/layers/standardize/operations_generic.h>
#include <rl_tools/nn_models/mlp_unconditional_stddev/operations_generic.h>
#include <rl_tools/nn_models/sequential/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/operations_generic.h>

#include <rl_tools/rl/algorithms/ppo/loop/core/config.h>
#include <rl_tools/rl/algorithms/ppo/loop/core/operations_generic.h>
#include <rl_tools/rl/utils/evaluation/operations_generic.h>
// clang-format on

#include "report.hpp"

namespace peer {

using pendulum = rlt::rl::environments::Pendulum<rlt::rl::environments::pendulum::Specification<
    float, index, rlt::rl::environments::pendulum::DefaultParameters<float>>>;
using scaled = rlt::rl::environment_wrappers::ScaleObservations<
    rlt::rl::environment_wrappers::scale_observations::Specification<numbers, index>, pendulum>;

struct settings : rlt::rl::algorithms::ppo::loop::core::DefaultParameters<numbers, index, scaled> {
  static constexpr index N_ENVIRONMENTS = 4;
  static constexpr index ON_POLICY_RUNNER_STEPS_PER_ENV = 1024;
  static constexpr index BATCH_SIZE = 256;
  static constexpr index STEP_LIMIT = 74;  // the loop ends after it is passed
  static constexpr index EPISODE_STEP_LIMIT = 200;
  using ACTOR_OPTIMIZER_PARAMETERS = rlt::nn::optimizers::adam::DEFAULT_PARAMETERS_PYTORCH<numbers>;
  using CRITIC_OPTIMIZER_PARAMETERS = ACTOR_OPTIMIZER_PARAMETERS;
  using OPTIMIZER_PARAMETERS = ACTOR_OPTIMIZER_PARAMETERS;  // its name in version 2.2
  struct PPO_PARAMETERS : rlt::rl::algorithms::ppo::DefaultParameters<numbers, index, 256> {
    static constexpr index N_EPOCHS = 2;
    static constexpr float GAMMA = 0.9f;
    static constexpr float ACTION_ENTROPY_COEFFICIENT = 0;
    static constexpr float INITIAL_ACTION_STD = 2;
  };
};

using loop = rlt::rl::algorithms::ppo::loop::core::Config<numbers, index, random, scaled, settings>;

}  // namespace peer

int main(int argc, char** argv) {
  return peer::train_and_report<peer::loop>(peer::seed_of(argc, argv), 4 * 1024, 75 * 16 * 2);
}
