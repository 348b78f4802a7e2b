#include "algorithms/off_policy/dqn/learner.hpp"

#include <algorithm>
#include <cmath>

#include "actors/gradients/engine.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/dqn/rule.hpp"

namespace troupe {
namespace {

tensor_layout layout_for(const network_shape& shape, const dqn_options& options,
                         network_kind kind) {
  auto network = options.network;
  network.kind = kind;
  return layout_of(shape, network);
}

}  // namespace

dqn_learner::dqn_learner(const network_shape& shape, const dqn_options& options, std::uint64_t seed)
    : learner("dqn", learning_of(options), seed),
      options_(checked_options(options, "dqn")),
      online_(shape, options.network,
              options.dueling ? network_kind::dueling_q_values : network_kind::q_values),
      target_(online_.parameters().size()),
      trained_("", target_.size(),
               {.eps = options.adam_eps,
                .max_grad_norm = options.max_grad_norm,
                .weight_decay = options.weight_decay},
               undecayed_in(layout_for(shape, options, online_.kind()), target_.size(),
                            options.weight_decay_of)),
      graph_(make_graph(options.backend, online_.stack())) {
  online_.initialise(random());
  std::ranges::copy(online_.parameters(), target_.begin());
}

void dqn_learner::check_batch(const transition_batch& batch) const {
  check(batch, online_.shape());
}

bool dqn_learner::step(const transition_batch& batch) {
  graph_->clear();
  const auto [loss, q_mean, error] =
      dqn_loss(*graph_, online_.stack(), trained_.of(online_.parameters()), {target_}, batch,
               options_.dueling, options_.double_q);
  const auto errors = graph_->values(abs(error));
  report().td_errors.assign(errors.begin(), errors.end());
  report().metrics = {{"train/loss", graph_->number(loss)},
                      {"train/q_mean", graph_->number(q_mean)}};
  const double norm =
      trained_.minimise(loss, online_.parameters(), report().learning_rate, guard());
  if (std::isnan(norm)) return false;
  report().metrics.push_back({"train/grad_norm", norm});
  return true;
}

void dqn_learner::update_target(std::int64_t times) {
  polyak_average(acting(), options_.tau, target_, times);
}

void dqn_learner::start_from(std::span<const float> acting, const named_tensors&) {
  online_.load_parameters(acting);
  std::ranges::copy(acting, target_.begin());
}

void dqn_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("parameters", online_.parameters());
  visit("target", target_);
  trained_.visit_state(visit);
}

}  // namespace troupe
