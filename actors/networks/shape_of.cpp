#include "actors/networks/shape_of.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/environments/action_numbers.hpp"

namespace troupe {

namespace {

struct image_layout {
  std::vector<int> image = {};  // [channels, height, width]
  int interleaved = 0;
};

// Returns the layout of an observation of bytes 0 .. 255; empty if the observation is no image. All
// dimensions that are not height and width, such as frames, count as channels.
image_layout image_of(const space& observations) {
  const auto* box = observations.get_if<spaces::box>();
  if (!box || box->type != spaces::element::uint8 || box->shape.size() < 2) return {};
  const auto& shape = box->shape;
  auto height = shape[shape.size() - 2], width = shape.back();
  std::int64_t interleaved = 0;
  if (shape.size() >= 3) {
    const auto first = shape[shape.size() - 3];
    if (width < first && width < height) {
      interleaved = width;
      width = height;
      height = first;
    }
  }
  if (height < 1 || width < 1 || box->low.empty()) return {};
  const auto channels = static_cast<std::int64_t>(box->low.size()) / (height * width);
  return {{static_cast<int>(channels), static_cast<int>(height), static_cast<int>(width)},
          static_cast<int>(interleaved)};
}

// Appends the parts of a Dict or Tuple, whose floats lie one after another.
struct part_collector {
  std::vector<obs_part>& to;
  int& offset;

  void add(const std::string& name, const space& of) const {
    if (of.get_if<spaces::dict>() || of.get_if<spaces::tuple>()) {
      collect(of, name + '.');
      return;
    }
    const auto size = static_cast<int>(of.flat_size());
    auto [image, interleaved] = image_of(of);
    to.push_back({name, offset, size, std::move(image), interleaved});
    offset += size;
  }

  void collect(const space& of, const std::string& before) const {
    if (const auto* named = of.get_if<spaces::dict>()) {
      for (const auto& [name, part] : named->parts) add(before + name, part);
    } else if (const auto* ordered = of.get_if<spaces::tuple>()) {
      for (std::size_t i = 0; i < ordered->parts.size(); ++i) {
        add(before + std::to_string(i), ordered->parts[i]);
      }
    }
  }
};

void set_actions(const space& actions, network_shape& shape) {
  const auto numbers = numbers_of(actions);
  if (numbers.integers.empty() && numbers.low.empty()) {
    throw std::invalid_argument("an action without numbers");
  }
  shape.continuous_size = static_cast<int>(numbers.low.size());
  for (const auto& each : numbers.integers) {
    if (each.binary) {
      ++shape.multi_binary;
    } else {
      shape.multi_discrete.push_back(static_cast<int>(each.count));
    }
  }
  if (actions.get_if<spaces::discrete>()) {
    shape.discrete_actions = shape.multi_discrete.front();
    shape.multi_discrete.clear();
  }
}

}  // namespace

network_shape shape_of(const env_spec& spec) {
  network_shape shape;
  shape.obs_size = static_cast<int>(spec.observation_space.flat_size());
  auto [image, interleaved] = image_of(spec.observation_space);
  shape.image = std::move(image);
  shape.interleaved = interleaved;
  int offset = 0;
  part_collector{shape.parts, offset}.collect(spec.observation_space, "");
  try {
    set_actions(spec.action_space, shape);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument("environment " + spec.id + ": no network here gives actions of " +
                                to_string(spec.action_space) +
                                "; expected Discrete, MultiDiscrete, MultiBinary or Box, or a "
                                "Tuple or Dict of these");
  }
  return shape;
}

}  // namespace troupe
