// SAC on Pendulum: 10,000 steps, hidden layers 64-64, batches of 100, an update of critics and
// actor each step.
#include "begin.hpp"

// clang-format off
#include <rl_tools/nn/layers/sample_and_squash/operations_generic.h>
#include <rl_tools/rl/environments/pendulum/operations_cpu.h>
#include <rl_tools/nn_models/mlp/operations_generic.h>
#include <rl_tools/nn_models/random_uniform/operations_generic.h>
#include <rl_tools/nn_models/sequential/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/operations_generic.h>

#include <rl_tools/rl/algorithms/sac/loop/core/config.h>
#include <rl_tools/rl/algorithms/sac/loop/core/operations_generic.h>
#include <rl_tools/rl/utils/evaluation/operations_generic.h>
// clang-format on

#include "report.hpp"

namespace peer {

using pendulum = rlt::rl::environments::Pendulum<rlt::rl::environments::pendulum::Specification<
    float, index, rlt::rl::environments::pendulum::DefaultParameters<float>>>;

struct settings
    : rlt::rl::algorithms::sac::loop::core::DefaultParameters<numbers, index, pendulum> {
  static constexpr index STEP_LIMIT = 10'000;
  struct SAC_PARAMETERS
      : rlt::rl::algorithms::sac::DefaultParameters<numbers, index, pendulum::ACTION_DIM> {
    static constexpr index ACTOR_BATCH_SIZE = 100;
    static constexpr index CRITIC_BATCH_SIZE = 100;
  };
};

using loop =
    rlt::rl::algorithms::sac::loop::core::Config<numbers, index, random, pendulum, settings>;

}  // namespace peer

int main(int argc, char** argv) {
  return peer::train_and_report<peer::loop>(peer::seed_of(argc, argv), 1, 9'900);
}
