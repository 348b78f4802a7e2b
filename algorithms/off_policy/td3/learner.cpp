#include "algorithms/off_policy/td3/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/gradients/engine.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"

namespace troupe {

td3_learner::td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
                         bootstrap_rule bootstrap)
    : learner("td3", learning_of(options), seed),
      options_(checked_options(options, "td3")),
      bootstrap_(std::move(bootstrap)),
      actor_(shape, options.network, network_kind::squashed),
      target_actor_(actor_.parameters().size()),
      critics_(shape, options.network, options.n_critics),
      trained_actor_("actor", target_actor_.size(),
                     {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      trained_critics_("critic", critics_.parameter_count(),
                       {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      actor_graph_(make_graph(options.backend, actor_.stack())),
      critic_graph_(make_graph(options.backend, actor_.stack())) {
  actor_.initialise(random());
  std::ranges::copy(actor_.parameters(), target_actor_.begin());
  critics_.initialise(random(), options.network.ortho_init);
}

void td3_learner::check_batch(const transition_batch& batch) const { check(batch, actor_.shape()); }

bool td3_learner::step(const transition_batch& batch) {
  noise_.resize(static_cast<std::size_t>(batch.rows) * actor_.shape().continuous_size);
  draw_target_noise(random(), options_.target_policy_noise, options_.target_noise_clip, noise_);
  const double lr = report().learning_rate;
  critic_graph_->clear();
  const auto critic =
      td3_critic_loss(*critic_graph_, actor_.stack(), {target_actor_}, critics_,
                      trained_critics_.of(critics_.parameters()), batch, noise_,
                      [this](variable q, const transition_batch& of) { return next_value(q, of); });
  report().metrics = {{"train/critic_loss", critic_graph_->number(critic.loss)},
                      {"train/q_mean", critic_graph_->number(critic.q_mean)}};
  const auto errors = critic_graph_->values(critic.error);
  report().td_errors.assign(errors.begin(), errors.end());
  if (std::isnan(trained_critics_.minimise(critic.loss, critics_.parameters(), lr, guard()))) {
    return false;
  }

  if (n_updates() % options_.policy_delay != 0) return true;
  actor_graph_->clear();
  const auto loss = td3_actor_loss(*actor_graph_, actor_.stack(),
                                   trained_actor_.of(actor_.parameters()), critics_, batch);
  report().metrics.push_back({"train/actor_loss", actor_graph_->number(loss)});
  if (std::isnan(trained_actor_.minimise(loss, actor_.parameters(), lr, guard()))) return false;
  polyak_average(std::as_const(critics_).parameters(), options_.tau, critics_.target());
  polyak_average(acting(), options_.tau, target_actor_);
  return true;
}

variable td3_learner::next_value(variable q, const transition_batch& batch) {
  return bootstrap_ ? bootstrap_(q, batch) : row_min(q);
}

named_tensors td3_learner::beside() const { return detail::tensors_of(critics_); }

void td3_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  detail::load(critics_, beside);
  actor_.load_parameters(acting);
  std::ranges::copy(acting, target_actor_.begin());
}

void td3_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("actor", actor_.parameters());
  visit("critics", critics_.parameters());
  visit("target_actor", target_actor_);
  visit("target_critics", critics_.target());
  trained_actor_.visit_state(visit);
  trained_critics_.visit_state(visit);
}

}  // namespace troupe
