#include "actors/networks/shape_of.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe {

namespace {

// Returns [channels, height, width] of an observation of bytes 0 .. 255. All dimensions before
// height and width, such as frames, count as channels. Empty if the observation is no image.
std::vector<int> image_of(const space& observations) {
  const auto* box = observations.get_if<spaces::box>();
  if (!box || box->type != spaces::element::uint8 || box->shape.size() < 2) return {};
  const auto height = box->shape[box->shape.size() - 2];
  const auto width = box->shape.back();
  if (height < 1 || width < 1) return {};
  const auto channels = static_cast<std::int64_t>(box->low.size()) / (height * width);
  return {static_cast<int>(channels), static_cast<int>(height), static_cast<int>(width)};
}

}  // namespace

network_shape shape_of(const env_spec& spec) {
  network_shape shape;
  shape.obs_size = static_cast<int>(spec.observation_space.flat_size());
  shape.image = image_of(spec.observation_space);
  const auto& actions = spec.action_space;
  if (const auto* one = actions.get_if<spaces::discrete>(); one && one->start == 0) {
    shape.discrete_actions = static_cast<int>(one->n);
  } else if (const auto* many = actions.get_if<spaces::multi_discrete>();
             many && std::ranges::all_of(many->start, [](auto start) { return start == 0; })) {
    for (const auto n : many->n) shape.multi_discrete.push_back(static_cast<int>(n));
  } else if (actions.get_if<spaces::box>()) {
    shape.continuous_size = static_cast<int>(actions.flat_size());
  } else {
    throw std::invalid_argument("environment " + spec.id + ": no network here gives actions of " +
                                to_string(actions) +
                                "; expected Discrete or MultiDiscrete, from 0, or Box");
  }
  return shape;
}

}  // namespace troupe
