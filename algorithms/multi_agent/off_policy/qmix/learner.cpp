#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"

#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"

namespace troupe {

qmix_learner::qmix_learner(const network_shape& shape, const joint_q_options& options,
                           std::uint64_t seed, const agents_section&, const mixer_section& mixer)
    : joint_q_learner("qmix", shape, options, seed,
                      std::vector<std::uint8_t>(shape.policies.size(), 1),
                      std::make_unique<mixing_network>(shape, mixer)) {}

}  // namespace troupe
