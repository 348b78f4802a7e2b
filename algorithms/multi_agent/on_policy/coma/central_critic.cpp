#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/coma/central_critic.hpp"

#include "actors/gradients/engine.hpp"
#include "actors/gradients/perceptron.hpp"
#include "actors/networks/backend_choice.hpp"
#include "algorithms/losses/coma_loss.hpp"

namespace troupe {

namespace {

using extractor = std::optional<detail::feature_extractor>;

extractor extractor_of(const std::string& encoder, int inputs,
                       const std::vector<encoded_part>& parts) {
  if (encoder.empty()) return std::nullopt;
  return detail::feature_extractor(make_joint_encoder(encoder, inputs, parts));
}

bool chooses_fused(gradient_backend asked, const detail::mlp& network, const extractor& before) {
  const auto choice = detail::choose_backend(
      asked, {.net = &network, .extractor = before ? before->obstacle() : ""});
  detail::log_once(choice);
  return choice.fused;
}

std::size_t count_of(const detail::mlp& network, const extractor& before) {
  const auto encoded = before ? static_cast<std::size_t>(before->parameter_count()) : 0;
  return network.parameter_count() + encoded;
}

}  // namespace

central_critic::central_critic(int inputs, const std::vector<encoded_part>& parts, int actions,
                               const network_options& options, action_random& random)
    : extractor_(extractor_of(options.encoder, inputs, parts)),
      network_(detail::make_mlp(options, extractor_ ? extractor_->features() : inputs,
                                options.critic_hidden.value_or(options.hidden), actions)),
      fused_(chooses_fused(options.backend, network_, extractor_)),
      graph_(make_graph(fused_, detail::device_link("cpu"))),
      parameters_(count_of(network_, extractor_)),
      gradient_(parameters_.size()) {
  if (options.ortho_init) {
    network_.initialise_orthogonal(random, 1.0, parameters_.data());
  } else {
    network_.initialise_uniform(random, parameters_.data());
  }
  if (extractor_) {
    extractor_->initialise(random, options.ortho_init,
                           parameters_.data() + network_.parameter_count());
  }
  renew_target();
}

void central_critic::values_by(std::span<const float> parameters, const float* x, int rows,
                               float* q) {
  const float* encoded = parameters.data() + network_.parameter_count();
  if (extractor_) x = extractor_->infer(encoded, x, rows, extractor_buffers_);
  network_.infer(parameters.data(), x, rows, buffers_, q);
}

void central_critic::values(const float* x, int rows, float* q) {
  values_by(parameters_, x, rows, q);
}

void central_critic::target_values(const float* x, int rows, float* q) {
  values_by(target_, x, rows, q);
}

double central_critic::differentiate(const float* x, int rows, const std::int64_t* choice,
                                     const float* target) {
  const auto count = static_cast<std::size_t>(rows);
  graph_->clear();
  const auto seen = graph_->constant({x, count * inputs()}, inputs());
  const parameter_block block{parameters_, gradient_};
  const auto input =
      extractor_ ? features(*extractor_, seen, block, network_.parameter_count()) : seen;
  const auto q = perceptron(network_, input, block).outputs;
  const auto loss = coma_critic_loss(q, {choice, count}, graph_->constant({target, count}));
  graph_->backward(loss);
  return graph_->number(loss);
}

}  // namespace troupe
