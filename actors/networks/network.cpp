#include "actors/networks/network.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace troupe {

std::vector<int> network_shape::categories() const {
  if (discrete_actions > 0) return {discrete_actions};
  return multi_discrete;
}

std::vector<int> network_shape::choices() const {
  auto all = categories();
  all.insert(all.end(), static_cast<std::size_t>(multi_binary), 2);
  return all;
}

int network_shape::choice_count() const {
  return (discrete_actions > 0 ? 1 : static_cast<int>(multi_discrete.size())) + multi_binary;
}

std::int64_t network_shape::state_count() const {
  std::int64_t count = 1;
  for (const int size : states) {
    if (size < 1 || count > std::numeric_limits<std::int64_t>::max() / size) {
      throw std::invalid_argument(
          fmt::format("a table: expected sizes >= 1 of the parts of its observations, and fewer "
                      "than 2^63 states, got {}",
                      fmt::join(states, "x")));
    }
    count *= size;
  }
  return count;
}

int network_shape::actor_outputs() const {
  // This is called in every step, so it makes no list of the categories.
  const int logits = discrete_actions > 0
                         ? discrete_actions
                         : std::accumulate(multi_discrete.begin(), multi_discrete.end(), 0);
  return continuous_size + logits + multi_binary;
}

namespace {

bool shows_images(const std::vector<obs_part>& parts) {
  return std::ranges::any_of(parts, [](const obs_part& part) { return !part.image.empty(); });
}

}  // namespace

network_shape shape_of(const policy_shape& policy) {
  network_shape shape{.obs_size = policy.obs_size,
                      .discrete_actions = policy.discrete_actions,
                      .continuous_size = policy.continuous_size,
                      .multi_discrete = policy.multi_discrete};
  shape.multi_binary = policy.multi_binary;
  shape.critic_only = policy.critic_only;
  shape.mask_size = policy.mask_size;
  return shape;
}

bool fits(const network_shape& model, const network_shape& needed) {
  if (model == needed) return true;
  if (!model.states.empty() && needed.states.empty()) {
    auto table = model;
    table.states.clear();
    return fits(table, needed);
  }
  auto without_parts = needed;
  without_parts.parts.clear();
  if (!model.policies.empty()) {
    auto joint = model;
    joint.policies.clear();
    joint.agents.clear();
    return joint == without_parts;
  }
  return model == without_parts && !shows_images(needed.parts);
}

bool has_action_values(network_kind kind) {
  return kind == network_kind::q_values || kind == network_kind::dueling_q_values ||
         kind == network_kind::q_table;
}

int outputs_of(const network_shape& shape, const network_options& options) {
  switch (options.kind) {
    case network_kind::actor_critic:
      return shape.actor_outputs();
    case network_kind::q_values:
    case network_kind::q_table:
      return shape.discrete_actions;
    case network_kind::dueling_q_values:
      return 1 + shape.discrete_actions;
    case network_kind::squashed_gaussian:
      return options.use_sde ? shape.continuous_size : 2 * shape.continuous_size;
    case network_kind::squashed:
      break;
  }
  return shape.continuous_size;
}

namespace {

constexpr std::pair<network_kind, const char*> kinds[] = {
    {network_kind::actor_critic, "actor_critic"},
    {network_kind::q_values, "q_values"},
    {network_kind::dueling_q_values, "dueling_q_values"},
    {network_kind::squashed_gaussian, "squashed_gaussian"},
    {network_kind::squashed, "squashed"},
    {network_kind::q_table, "q_table"},
};

constexpr std::pair<network_body, const char*> bodies[] = {
    {network_body::automatic, "auto"},
    {network_body::mlp, "mlp"},
    {network_body::cnn, "cnn"},
    {network_body::multi_input, "multi_input"},
};

template <class Enum>
const char* name_of(const auto& all, Enum wanted) {
  for (const auto& [value, name] : all) {
    if (value == wanted) return name;
  }
  return "unknown";
}

auto value_of(const char* what, const auto& all, const std::string& name) {
  std::string known;
  for (const auto& [value, text] : all) {
    if (text == name) return value;
    known += known.empty() ? text : std::string(", ") + text;
  }
  throw std::invalid_argument(
      fmt::format("network {}: expected one of {}, got \"{}\"", what, known, name));
}

}  // namespace

const char* to_string(network_kind kind) { return name_of(kinds, kind); }
network_kind network_kind_of(const std::string& name) { return value_of("kind", kinds, name); }
const char* to_string(network_body body) { return name_of(bodies, body); }
network_body network_body_of(const std::string& name) { return value_of("body", bodies, name); }

bool is_device_name(const std::string& text) {
  static const std::string gpu = "cuda";
  if (text == "cpu" || text == gpu) return true;
  if (!text.starts_with(gpu + ":")) return false;
  const auto index = text.substr(gpu.size() + 1);
  return !index.empty() && index.size() <= 2 &&
         index.find_first_not_of("0123456789") == std::string::npos;
}

bool has_convolutions(const network_shape& shape, const network_options& options) {
  const bool is_image = !shape.image.empty();
  if (options.body == network_body::cnn && !is_image) {
    throw std::invalid_argument(
        "policy.kind cnn: expected an environment that shows an image, got " + to_string(shape) +
        "; an image is a Box with two dimensions or more, and policy.kind=auto takes any "
        "observation");
  }
  if (options.body == network_body::multi_input && shape.parts.empty()) {
    throw std::invalid_argument(
        "policy.kind multi_input: expected an environment with observations of Dict or Tuple, "
        "got " +
        to_string(shape));
  }
  if (!options.encoder.empty()) {
    if (options.body == network_body::automatic || options.body == network_body::mlp) return false;
    throw std::invalid_argument(std::string("policy.kind ") + to_string(options.body) +
                                ": expected auto or mlp with policy.encoder, which takes the place "
                                "of convolutions");
  }
  return options.body != network_body::mlp && (is_image || shows_images(shape.parts));
}

std::vector<int> hidden_after_body(const network_shape& shape, const network_options& options,
                                   const std::vector<int>& hidden) {
  const bool is_cnn = shape.parts.empty() && has_convolutions(shape, options);
  const bool has_separate_critics =
      options.kind == network_kind::squashed_gaussian || options.kind == network_kind::squashed;
  return is_cnn && !has_separate_critics ? std::vector<int>{} : hidden;
}

namespace {

/// Returns the kinds of action, such as "discrete 2" or "continuous 1 and multi-binary 3".
std::string action_text(const network_shape& shape) {
  std::vector<std::string> kinds;
  if (shape.discrete_actions > 0)
    kinds.push_back(fmt::format("discrete {}", shape.discrete_actions));
  if (shape.is_continuous()) kinds.push_back(fmt::format("continuous {}", shape.continuous_size));
  if (!shape.multi_discrete.empty()) {
    kinds.push_back(fmt::format("multi-discrete {}", fmt::join(shape.multi_discrete, "x")));
  }
  if (shape.multi_binary != 0) kinds.push_back(fmt::format("multi-binary {}", shape.multi_binary));
  return kinds.empty() ? "no actions" : fmt::format("{}", fmt::join(kinds, " and "));
}

std::string image_text(const std::vector<int>& image, int interleaved, float high) {
  return fmt::format("{}{}{}", fmt::join(image, "x"),
                     interleaved > 0 ? fmt::format(" ({} interleaved)", interleaved) : "",
                     high == 255 ? "" : fmt::format(" up to {}", high));
}

/// Returns the parts, such as "image 1x8x8, speed 2".
std::string parts_text(const std::vector<obs_part>& parts) {
  std::vector<std::string> each;
  for (const auto& part : parts) {
    const auto size = part.image.empty()
                          ? std::to_string(part.size)
                          : image_text(part.image, part.interleaved, part.image_high);
    each.push_back(part.name + ' ' + size);
  }
  return fmt::format("{}", fmt::join(each, ", "));
}

}  // namespace

std::string to_string(const network_shape& shape) {
  const auto actions = action_text(shape);
  if (!shape.image.empty()) {
    return fmt::format("image {}, {}", image_text(shape.image, shape.interleaved, shape.image_high),
                       actions);
  }
  if (!shape.policies.empty()) {
    std::vector<std::string> each;
    for (const auto& policy : shape.policies) {
      each.push_back(fmt::format("{} ({})", policy.name, to_string(shape_of(policy))));
    }
    return fmt::format("{} agents of the policies {}", shape.agents.size(), fmt::join(each, ", "));
  }
  if (!shape.states.empty()) {
    return fmt::format("states {}, {}", fmt::join(shape.states, "x"), actions);
  }
  if (shape.parts.empty()) {
    const auto critic =
        shape.critic_only > 0 ? fmt::format(" ({} for the critic alone)", shape.critic_only) : "";
    return fmt::format("obs {}{}, {}", shape.obs_size, critic, actions);
  }
  return fmt::format("obs {} ({}), {}", shape.obs_size, parts_text(shape.parts), actions);
}

namespace {

/// Returns channels x kernel / stride of each convolution and the features, such as "cnn
/// 32x8/4-64x4/2-64x3/1-512".
std::string to_string(const cnn_options& cnn) {
  std::string text = "cnn ";
  for (std::size_t i = 0; i < cnn.channels.size(); ++i) {
    text += fmt::format("{}x{}/{}-", cnn.channels[i], cnn.kernels[i], cnn.strides[i]);
  }
  return text + std::to_string(cnn.features);
}

}  // namespace

std::string to_string(const network_shape& shape, const network_options& options) {
  if (options.kind == network_kind::q_table) return to_string(shape) + ", q_table";
  const auto critic = options.critic_hidden
                          ? fmt::format(", critic {}", fmt::join(*options.critic_hidden, "-"))
                          : std::string();
  const bool can_convolve = options.body != network_body::mlp && options.encoder.empty();
  const bool is_cnn = can_convolve && !shape.image.empty();
  const bool has_encoders = can_convolve && shows_images(shape.parts);
  const auto shared = options.shared_hidden.empty()
                          ? std::string()
                          : fmt::format("shared {}, ", fmt::join(options.shared_hidden, "-"));
  const auto encoder =
      options.encoder.empty() ? std::string() : fmt::format("encoder {}, ", options.encoder);
  const auto hidden = fmt::format(
      "{}{}hidden {} {}{}{}", encoder, shared, fmt::join(options.hidden, "-"),
      to_string(options.hidden_activation), options.layer_norm ? " with layer norm" : "", critic);
  auto layers = is_cnn ? to_string(options.cnn) : hidden;
  if (has_encoders) layers = to_string(options.cnn) + " for each image, " + hidden;
  if (is_cnn && !hidden_after_body(shape, options, options.hidden).empty()) {
    layers += ", " + hidden;
  }
  return fmt::format("{}, {}{}", to_string(shape), layers,
                     options.normalize_obs ? ", normalised observations" : "") +
         (options.use_sde ? ", state-dependent exploration" : "") +
         (options.kind == network_kind::actor_critic ? ""
                                                     : fmt::format(" {}", to_string(options.kind)));
}

}  // namespace troupe
