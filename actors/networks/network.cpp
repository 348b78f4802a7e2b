#include "actors/networks/network.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace troupe {

std::vector<int> network_shape::choices() const {
  if (discrete_actions > 0) return {discrete_actions};
  return multi_discrete;
}

int network_shape::action_size() const {
  if (is_continuous()) return continuous_size;
  return discrete_actions > 0 ? 1 : static_cast<int>(multi_discrete.size());
}

int network_shape::actor_outputs() const {
  if (is_continuous()) return continuous_size;
  return discrete_actions > 0 ? discrete_actions
                              : std::accumulate(multi_discrete.begin(), multi_discrete.end(), 0);
}

bool has_action_values(network_kind kind) {
  return kind == network_kind::q_values || kind == network_kind::dueling_q_values;
}

int outputs_of(const network_shape& shape, const network_options& options) {
  switch (options.kind) {
    case network_kind::actor_critic:
      return shape.actor_outputs();
    case network_kind::q_values:
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
};

constexpr std::pair<network_body, const char*> bodies[] = {
    {network_body::automatic, "auto"},
    {network_body::mlp, "mlp"},
    {network_body::cnn, "cnn"},
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
        "policy.kind cnn: expected an environment that shows an image, got " + to_string(shape));
  }
  return is_image && options.body != network_body::mlp;
}

std::string to_string(const network_shape& shape) {
  std::string kind = fmt::format("multi-discrete {}", fmt::join(shape.multi_discrete, "x"));
  if (shape.is_continuous()) kind = fmt::format("continuous {}", shape.continuous_size);
  if (shape.discrete_actions > 0) kind = fmt::format("discrete {}", shape.discrete_actions);
  if (shape.image.empty()) return fmt::format("obs {}, {}", shape.obs_size, kind);
  return fmt::format("image {}, {}", fmt::join(shape.image, "x"), kind);
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
  const auto critic = options.critic_hidden
                          ? fmt::format(", critic {}", fmt::join(*options.critic_hidden, "-"))
                          : std::string();
  const auto layers = !shape.image.empty() && options.body != network_body::mlp
                          ? to_string(options.cnn)
                          : fmt::format("hidden {} {}{}", fmt::join(options.hidden, "-"),
                                        to_string(options.hidden_activation), critic);
  return fmt::format("{}, {}{}", to_string(shape), layers,
                     options.normalize_obs ? ", normalised observations" : "") +
         (options.use_sde ? ", state-dependent exploration" : "") +
         (options.kind == network_kind::actor_critic ? ""
                                                     : fmt::format(" {}", to_string(options.kind)));
}

}  // namespace troupe
