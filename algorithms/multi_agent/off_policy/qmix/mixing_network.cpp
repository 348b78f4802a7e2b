#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/kernels/dense_kernels.hpp"
#include "actors/networks/mlp_autograd.hpp"

namespace troupe {
namespace {

enum { w1, b1, w2, v };

float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

}  // namespace

agent_layout::range input_of_mixer(const network_shape& shape, mixer_input input) {
  if (shape.agents.empty()) {
    throw std::invalid_argument("mixer (" + to_string(shape) + "): expected several agents");
  }
  if (input == mixer_input::none) return {};
  // The row is [observations of all agents, state, who acts, action masks] (agent_layout).
  std::size_t observations = 0;
  for (const auto& agent : shape.agents) observations += static_cast<std::size_t>(agent.obs_size);
  if (input == mixer_input::observations) return {0, observations};
  const auto& first = shape.agents.front();
  const bool masked = shape.policies[static_cast<std::size_t>(first.policy)].mask_size > 0;
  const int end = first.active >= 0 ? first.active : masked ? first.mask_begin : shape.obs_size;
  return {observations, static_cast<std::size_t>(end) - observations};
}

mixing_network::mixing_network(const network_shape& shape, const mixer_section& options)
    : obs_size_(shape.obs_size),
      agents_(static_cast<int>(shape.agents.size())),
      embed_(options.embed_dim),
      sees_nothing_(options.input == mixer_input::none),
      input_(input_of_mixer(shape, options.input)) {
  if (sees_nothing_) input_.size = 1;
  if (input_.size == 0) {
    throw std::invalid_argument("mixer (" + to_string(shape) +
                                "): expected an environment that shows its input, got none");
  }
  const auto add = [&](const char* name, const std::vector<int>& hidden, int outputs) {
    const auto first =
        hypers_.empty() ? 0 : hypers_.back().first + hypers_.back().net.parameter_count();
    hypers_.push_back(
        {name, {static_cast<int>(input_.size), hidden, outputs, activation::relu}, first});
  };
  add("mixer.w1", options.hyper_hidden, agents_ * embed_);
  add("mixer.b1", {}, embed_);
  add("mixer.w2", options.hyper_hidden, embed_);
  add("mixer.v", {embed_}, 1);
}

tensor_layout mixing_network::layout() const {
  tensor_layout made;
  for (const auto& each : hypers_) made.add(each.name, each.net);
  return made;
}

void mixing_network::initialise(action_random& random, float* parameters) const {
  for (const auto& each : hypers_) each.net.initialise_uniform(random, parameters + each.first);
}

void mixing_network::mix(const float* parameters, const float* obs, const float* q, int rows,
                         float* total) {
  const auto count = static_cast<std::size_t>(rows);
  const auto embed = static_cast<std::size_t>(embed_), agents = static_cast<std::size_t>(agents_);
  float* state = detail::grown(state_, count * input_.size);
  if (sees_nothing_) std::fill_n(state, count, 1.0f);
  for (std::size_t row = 0; row < count && !sees_nothing_; ++row) {
    const float* from = obs + row * static_cast<std::size_t>(obs_size_) + input_.begin;
    std::copy_n(from, input_.size, state + row * input_.size);
  }
  for (auto& each : hypers_) {
    each.output = each.net.forward(parameters + each.first, state, rows, each.buffers);
  }
  float* hidden = detail::grown(hidden_, count * embed);
  std::copy_n(hypers_[b1].output, count * embed, hidden);
  const float* weight = hypers_[w1].output;  // [B, N, E]
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      const float value = q[row * agents + agent];
      float* to = hidden + row * embed;
      for (std::size_t e = 0; e < embed; ++e) to[e] += value * std::abs(*weight++);
    }
  }
  detail::activate(activation::elu, static_cast<std::ptrdiff_t>(count * embed), hidden);
  for (std::size_t row = 0; row < count; ++row) {
    float sum = hypers_[v].output[row];
    for (std::size_t e = 0; e < embed; ++e) {
      sum += hidden[row * embed + e] * std::abs(hypers_[w2].output[row * embed + e]);
    }
    total[row] = sum;
  }
}

void mixing_network::backward(const float* parameters, const float*, const float* q, int rows,
                              const float* d_total, float* d_q, float* gradient) {
  const auto count = static_cast<std::size_t>(rows);
  const auto embed = static_cast<std::size_t>(embed_), agents = static_cast<std::size_t>(agents_);
  for (auto& each : hypers_) {
    detail::grown(each.d_output, count * static_cast<std::size_t>(each.net.outputs()));
  }
  float* d_hidden = detail::grown(d_hidden_, count * embed);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t e = 0; e < embed; ++e) {
      const auto at = row * embed + e;
      const float raw = hypers_[w2].output[at];
      hypers_[w2].d_output[at] = d_total[row] * hidden_[at] * sign(raw);
      d_hidden[at] = d_total[row] * std::abs(raw);
    }
  }
  const auto size = static_cast<std::ptrdiff_t>(count * embed);
  detail::activate_backward(activation::elu, size, hidden_.data(), d_hidden);
  const float* weight = hypers_[w1].output;
  float* d_weight = hypers_[w1].d_output.data();
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      const float value = q[row * agents + agent];
      float d_value = 0.0f;
      for (std::size_t e = 0; e < embed; ++e) {
        const float d = d_hidden[row * embed + e];
        const float raw = *weight++;
        *d_weight++ = d * value * sign(raw);
        d_value += d * std::abs(raw);
      }
      d_q[row * agents + agent] = d_value;
    }
  }
  std::copy_n(d_hidden, count * embed, hypers_[b1].d_output.data());
  std::copy_n(d_total, count, hypers_[v].d_output.data());
  for (auto& each : hypers_) {
    each.net.backward(parameters + each.first, state_.data(), rows, each.d_output.data(),
                      each.buffers, gradient + each.first);
  }
}

at::Tensor mixing_network::mix(const at::Tensor& parameters, const at::Tensor& obs,
                               const at::Tensor& q) const {
  const auto rows = q.size(0);
  const auto state = sees_nothing_ ? at::ones({rows, 1}, q.options())
                                   : obs.narrow(1, static_cast<std::int64_t>(input_.begin),
                                                static_cast<std::int64_t>(input_.size));
  const auto made_by = [&](int which) {
    const auto& each = hypers_[static_cast<std::size_t>(which)];
    const auto own = parameters.narrow(0, static_cast<std::int64_t>(each.first),
                                       static_cast<std::int64_t>(each.net.parameter_count()));
    return detail::forward(each.net, own, state);
  };
  const auto first = made_by(w1).abs().view({rows, agents_, embed_});
  const auto hidden = at::elu(at::bmm(q.unsqueeze(1), first).squeeze(1) + made_by(b1));
  return (hidden * made_by(w2).abs()).sum(1) + made_by(v).squeeze(1);
}

}  // namespace troupe
