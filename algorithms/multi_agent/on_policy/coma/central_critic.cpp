#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/coma/central_critic.hpp"

#include "actors/gradients/engine.hpp"
#include "actors/gradients/perceptron.hpp"
#include "actors/networks/backend_choice.hpp"
#include "algorithms/losses/coma_loss.hpp"

namespace troupe {

namespace {

bool chooses_fused(gradient_backend asked, const detail::mlp& network) {
  const auto choice = detail::choose_backend(asked, {.net = &network});
  detail::log_once(choice);
  return choice.fused;
}

}  // namespace

central_critic::central_critic(int inputs, int actions, const network_options& options,
                               action_random& random)
    : network_(detail::make_mlp(options, inputs, options.critic_hidden.value_or(options.hidden),
                                actions)),
      fused_(chooses_fused(options.backend, network_)),
      graph_(make_graph(fused_, detail::device_link("cpu"))),
      parameters_(network_.parameter_count()),
      gradient_(network_.parameter_count()) {
  if (options.ortho_init) {
    network_.initialise_orthogonal(random, 1.0, parameters_.data());
  } else {
    network_.initialise_uniform(random, parameters_.data());
  }
  renew_target();
}

void central_critic::values(const float* x, int rows, float* q) {
  network_.infer(parameters_.data(), x, rows, buffers_, q);
}

void central_critic::target_values(const float* x, int rows, float* q) {
  network_.infer(target_.data(), x, rows, buffers_, q);
}

double central_critic::differentiate(const float* x, int rows, const std::int64_t* choice,
                                     const float* target) {
  const auto count = static_cast<std::size_t>(rows);
  graph_->clear();
  const auto seen = graph_->constant({x, count * inputs()}, inputs());
  const auto q = perceptron(network_, seen, {parameters_, gradient_}).outputs;
  const auto loss = coma_critic_loss(q, {choice, count}, graph_->constant({target, count}));
  graph_->backward(loss);
  return graph_->number(loss);
}

}  // namespace troupe
