#include "algorithms/on_policy/policy_learners.hpp"

#include "actors/random/derived_seed.hpp"

namespace troupe {

std::uint64_t seed_of_policy(std::uint64_t seed, std::size_t index) {
  return index == 0 ? seed : derived_seed(seed, "policy's learner", {index});
}

std::vector<network_shape> shapes_of_policies(const network_shape& shape) {
  if (shape.policies.empty()) return {shape};
  std::vector<network_shape> shapes;
  for (const auto& policy : shape.policies) shapes.push_back(shape_of(policy));
  return shapes;
}

}  // namespace troupe
