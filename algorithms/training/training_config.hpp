#pragma once
// The sections that the configurations of all algorithms have in common: environments, evaluation,
// checkpoints, mode. They stand with PPO's.

#include "algorithms/ppo/ppo_config.hpp"
