#include "actors/torch/torch.hpp"

#include "actors/gradients/policy.hpp"

#include "actors/environments/obs_scale.hpp"
#include "actors/gradients/engine.hpp"
#include "actors/gradients/noise.hpp"
#include "actors/gradients/perceptron.hpp"

namespace troupe {
namespace {

/// What the critic sees of obs [rows, D]: it, or its normalised copy, or an extractor's features
/// with the rest of it. The actor sees the first part of that.
variable seen(graph& g, const actor_critic& net, const parameter_block& block,
              std::span<const float> obs) {
  const int width = net.shape().obs_size;
  auto x = g.constant(obs, width);
  if (net.normalizes_obs()) {
    const auto statistics = g.constant(net.obs_statistics(), 2 * width);
    const auto mean = slice(statistics, 0, width), inverse_scale = slice(statistics, width, width);
    x = clamp((x - mean) * inverse_scale, -detail::obs_clip, detail::obs_clip);
  }
  const auto& extractor = net.extractor();
  if (!extractor) return x;
  const int own = extractor->inputs(), rest = width - own;
  const auto extracted =
      features(*extractor, rest > 0 ? slice(x, 0, own) : x, block, net.extractor_offset());
  return rest > 0 ? concat({extracted, slice(x, own, rest)}) : extracted;
}

/// Replaces the logits that the masks in x forbid, what the critic sees.
variable masked_outputs(const actor_critic& net, variable outputs, variable x) {
  const auto& shape = net.shape();
  if (shape.mask_size == 0) return outputs;
  const int first = shape.continuous_size, count = shape.mask_size;
  const int behind = outputs.columns() - first - count;
  const auto allowed = slice(x, net.actor().inputs(), count);
  if (first == 0 && behind == 0) return masked(outputs, allowed);
  const auto logits = masked(slice(outputs, first, count), allowed);
  if (behind == 0) return concat({slice(outputs, 0, first), logits});
  const auto rest = slice(outputs, first + count, behind);
  return first == 0 ? concat({logits, rest}) : concat({slice(outputs, 0, first), logits, rest});
}

/// The actor's features and its masked outputs for what it and the critic see.
perceptron_outputs act(const actor_critic& net, const parameter_block& block, variable x) {
  const int own = net.actor().inputs();
  auto result = perceptron(net.actor(), own < x.columns() ? slice(x, 0, own) : x, block);
  result.outputs = masked_outputs(net, result.outputs, x);
  return result;
}

/// The log standard deviations of continuous actions. State-dependent noise does not train the
/// features.
variable log_std_of(graph& g, const actor_critic& net, const parameter_block& block,
                    variable features) {
  const int size = net.shape().continuous_size;
  if (size == 0) return {};
  if (!net.options().use_sde) return g.parameter(block, net.log_std_offset(), 1, size);
  const auto parameters = g.parameter(block, net.log_std_offset(), features.columns(), size);
  const auto std = noise_std(parameters, net.options().use_expln);
  return noise_log_std(stop_gradient(features), std);
}

}  // namespace

parameter_block trained_parameters(const actor_critic& net) {
  const auto count = static_cast<std::size_t>(net.trained_count());
  return {{net.parameters().data_ptr<float>(), count}, {net.gradient().data_ptr<float>(), count}};
}

action_evaluation evaluate(graph& g, const actor_critic& net, const parameter_block& block,
                           std::span<const float> obs, const action_rows& actions) {
  const auto x = seen(g, net, block, obs);
  const auto [features, outputs] = act(net, block, x);
  const auto log_std = log_std_of(g, net, block, features);
  const auto [log_prob, entropy] = g.action_terms(net.head(), outputs, log_std, actions);
  const auto value = perceptron(net.critic(), x, block, net.critic_offset()).outputs;
  return {log_prob, entropy, value};
}

variable action_outputs(graph& g, const actor_critic& net, const parameter_block& block,
                        std::span<const float> obs) {
  return act(net, block, seen(g, net, block, obs)).outputs;
}

std::unique_ptr<graph> make_graph(const actor_critic& net) {
  return make_graph(net.is_fused(), net.link());
}

}  // namespace troupe
