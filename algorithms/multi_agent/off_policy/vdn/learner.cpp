#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"

namespace troupe {

vdn_learner::vdn_learner(const network_shape& shape, const joint_q_options& options,
                         std::uint64_t seed, const agents_section&)
    : joint_q_learner("vdn", shape, options, seed,
                      std::vector<std::uint8_t>(shape.policies.size(), 1),
                      std::make_unique<sum_mixer>()) {}

}  // namespace troupe
