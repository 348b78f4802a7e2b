#include "actors/torch.hpp"

#include "algorithms/on_policy/ppo/ppo.hpp"

#include "algorithms/on_policy/ppo/ppo_run.hpp"

namespace troupe {

task<ppo_summary> train_ppo(system& sys, ppo_config config, ppo_output output,
                            training_callbacks callbacks) {
  return train_in(sys, trainable_of(config), std::move(output), std::move(callbacks));
}

}  // namespace troupe
