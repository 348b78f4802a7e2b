#include "actors/networks/shape_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "actors/environments/action_numbers.hpp"
#include "actors/environments/image_layout.hpp"

namespace troupe {

namespace {

bool has_parts(const space& of) {
  return of.get_if<spaces::dict>() != nullptr || of.get_if<spaces::tuple>() != nullptr;
}

// Returns whether a network of that body has convolutions for a box. `is_part`: it is a part of a
// Dict or Tuple.
bool gets_convolutions(const spaces::box& of, network_body body, bool is_part) {
  if (is_image(of)) return true;
  if (body == network_body::cnn) return !is_part;
  if (body != network_body::multi_input || !is_part) return false;
  return of.shape.size() >= 3 || of.type == spaces::element::uint8;
}

// Returns the part with its layout, if it is an image.
obs_part with_image(obs_part part, const space& of, network_body body, bool is_part) {
  const auto* box = of.get_if<spaces::box>();
  if (!box || !gets_convolutions(*box, body, is_part)) return part;
  const auto layout = image_layout_of(*box);
  if (!layout) return part;
  part.image = {static_cast<int>(layout->channels), static_cast<int>(layout->height),
                static_cast<int>(layout->width)};
  part.interleaved = static_cast<int>(layout->interleaved);
  part.image_high = layout->high;
  return part;
}

// Appends the parts of a Dict or Tuple, whose floats lie one after another.
struct part_collector {
  std::vector<obs_part>& to;
  int& offset;
  network_body body;

  void add(const std::string& name, const space& of) const {
    if (has_parts(of)) {
      collect(of, name + '.');
      return;
    }
    const auto size = static_cast<int>(of.flat_size());
    to.push_back(with_image({name, offset, size}, of, body, true));
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

network_shape shape_of(const env_spec& spec, network_body body) {
  network_shape shape;
  shape.obs_size = static_cast<int>(spec.observation_space.flat_size());
  const auto whole = with_image({}, spec.observation_space, body, false);
  shape.image = whole.image;
  shape.interleaved = whole.interleaved;
  shape.image_high = whole.image_high;
  int offset = 0;
  part_collector{shape.parts, offset, body}.collect(spec.observation_space, "");
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

namespace {

// Calls `visit(name, box)` for each box.
void for_each_box(const space& of, const std::string& name, const auto& visit) {
  if (const auto* box = of.get_if<spaces::box>()) visit(name, *box);
  const auto inner = [&](const std::string& key) { return name.empty() ? key : name + '.' + key; };
  if (const auto* named = of.get_if<spaces::dict>())
    for (const auto& [key, part] : named->parts) for_each_box(part, inner(key), visit);
  if (const auto* ordered = of.get_if<spaces::tuple>())
    for (std::size_t i = 0; i < ordered->parts.size(); ++i)
      for_each_box(ordered->parts[i], inner(std::to_string(i)), visit);
}

std::string place_of(const std::string& name) {
  return name.empty() ? "observation" : "observation \"" + name + '"';
}

}  // namespace

std::vector<std::string> image_notes(const env_spec& spec, network_body body) {
  std::vector<std::string> notes;
  if (body != network_body::automatic) return notes;
  const bool is_whole = !has_parts(spec.observation_space);
  for_each_box(spec.observation_space, "", [&](const std::string& name, const spaces::box& box) {
    const bool may_be_meant = box.shape.size() >= 3 || box.type == spaces::element::uint8;
    if (is_image(box) || box.shape.size() < 2 || !may_be_meant) return;
    notes.push_back(fmt::format(
        "{}: expected {}, and policy.kind={} gives them convolutions; got {}", place_of(name),
        no_image_text, is_whole ? "cnn" : "multi_input", to_short_string(box)));
  });
  return notes;
}

std::vector<std::string> agent_image_notes(const env_spec& spec) {
  std::vector<std::string> notes;
  for (const auto& agent : spec.agents) {
    for_each_box(agent.observation_space, "", [&](const std::string& name, const spaces::box& box) {
      if (!is_image(box) || !notes.empty()) return;
      notes.push_back(fmt::format(
          "agent \"{}\": {}: expected a vector, for algorithms for several agents take an image as "
          "plain numbers; got {}",
          agent.name, place_of(name), to_short_string(box)));
    });
  }
  return notes;
}

}  // namespace troupe
