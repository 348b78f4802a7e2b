#include "algorithms/multi_agent/off_policy/iql/learner.hpp"

namespace troupe {

iql_learner::iql_learner(const network_shape& shape, const joint_q_options& options,
                         std::uint64_t seed, const agents_section& agents)
    : joint_q_learner("iql", shape, options, seed, trained_policies(agents, shape), nullptr) {}

}  // namespace troupe
