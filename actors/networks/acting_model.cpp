#include "actors/torch/torch.hpp"

#include "actors/networks/acting_model.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

acting_model::acting_model(const network_shape& shape, const network_options& options,
                           const space& actions, const scripted_policy_maker& script)
    : shape_(shape) {
  constexpr std::uint64_t any_seed = 0;  // load_parameters replaces all weights
  if (shape.policies.empty()) choices_ = choice_map(actions);
  network_ = make_acting_network(shape, options, actions, any_seed, script);
}

void acting_model::load_parameters(const at::Tensor& parameters) {
  network_->load_parameters(parameters);
}

env_actions acting_model::act(std::span<const float> obs, action_random& random,
                              bool deterministic) {
  const auto width = static_cast<std::size_t>(shape_.obs_size);
  if (width == 0 || obs.size() % width != 0) {
    throw std::invalid_argument(fmt::format(
        "observations: expected whole rows of {} numbers, got {} numbers", width, obs.size()));
  }
  const auto rows = obs.size() / width;
  env_actions actions;
  actions.discrete.resize(rows * static_cast<std::size_t>(shape_.choice_count()));
  actions.continuous.resize(rows * static_cast<std::size_t>(shape_.continuous_size));
  const action_rows_out out{actions.discrete.data(), actions.continuous.data()};
  network_->act(obs.data(), static_cast<int>(rows), random, deterministic, out);
  choices_.to_environment(actions.discrete);
  return actions;
}

}  // namespace troupe
