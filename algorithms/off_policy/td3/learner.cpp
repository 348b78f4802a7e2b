#include "algorithms/off_policy/td3/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"

namespace troupe {

td3_learner::td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
                         bootstrap_rule bootstrap)
    : options_(checked_options(options, "td3")),
      bootstrap_(std::move(bootstrap)),
      actor_(shape, options.network, network_kind::squashed),
      target_actor_(actor_.parameters().size()),
      critics_(shape, options.network, options.n_critics),
      trained_actor_("actor", target_actor_.size(),
                     {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      trained_critics_("critic", critics_.parameter_count(),
                       {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      random_(seed),
      actor_graph_(make_graph(options.backend, actor_.stack())),
      critic_graph_(make_graph(options.backend, actor_.stack())),
      guard_("td3", options.max_skipped_steps) {
  actor_.initialise(random_);
  std::ranges::copy(actor_.parameters(), target_actor_.begin());
  critics_.initialise(random_, options.network.ortho_init);
}

void td3_learner::draw_noise(int rows) {
  const auto count = static_cast<std::size_t>(rows) * actor_.shape().continuous_size;
  noise_.resize(count);
  const auto std = static_cast<float>(options_.target_policy_noise);
  const auto clip = static_cast<float>(options_.target_noise_clip);
  if (std == 0.0f || clip == 0.0f) {
    std::ranges::fill(noise_, 0.0f);
    return;
  }
  random_.fill_normal(noise_);
  for (auto& x : noise_) x = std::clamp(std * x, -clip, clip);
}

// Steps critics and actor. Returns false as soon as a loss or gradient is not finite; networks that
// were stepped before that keep their finite new weights.
bool td3_learner::step_networks(const transition_batch& batch, td3_metrics& metrics) {
  const double lr = metrics.learning_rate;
  critic_graph_->clear();
  const auto critic =
      td3_critic_loss(*critic_graph_, actor_.stack(), {target_actor_}, critics_,
                      trained_critics_.of(critics_.parameters()), batch, noise_, bootstrap_);
  metrics.critic_loss = critic_graph_->number(critic.loss);
  metrics.q_mean = critic_graph_->number(critic.q_mean);
  const auto errors = critic_graph_->values(critic.error);
  td_errors_.assign(errors.begin(), errors.end());
  if (std::isnan(trained_critics_.minimise(critic.loss, critics_.parameters(), lr, guard_))) {
    return false;
  }

  metrics.trained_actor = n_updates_ % options_.policy_delay == 0;
  if (!metrics.trained_actor) return true;
  actor_graph_->clear();
  const auto loss = td3_actor_loss(*actor_graph_, actor_.stack(),
                                   trained_actor_.of(actor_.parameters()), critics_, batch);
  metrics.actor_loss = actor_graph_->number(loss);
  if (std::isnan(trained_actor_.minimise(loss, actor_.parameters(), lr, guard_))) return false;
  polyak_average(std::as_const(critics_).parameters(), options_.tau, critics_.target());
  polyak_average(std::as_const(actor_).parameters(), options_.tau, target_actor_);
  return true;
}

td3_metrics td3_learner::update(const transition_batch& batch, double progress_remaining,
                                std::optional<double> chosen_lr) {
  check(batch, actor_.shape());
  const detail::flush_denormals flush;
  draw_noise(batch.rows);
  td3_metrics metrics{.n_updates = ++n_updates_,
                      .learning_rate = chosen_lr.value_or(
                          annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  metrics.skipped = !step_networks(batch, metrics);
  if (!metrics.skipped) guard_.taken();
  return metrics;
}

named_tensors td3_learner::beside() const { return detail::tensors_of(critics_); }

void td3_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  detail::load(critics_, beside);
  actor_.load_parameters(acting);
  std::ranges::copy(acting, target_actor_.begin());
}

template <class Self, class State, class Visit>
void td3_learner::parts(Self& self, State& state, const Visit& visit) {
  visit("actor", state.actor, self.actor_.parameters());
  visit("critics", state.critics, self.critics_.parameters());
  visit("target_actor", state.target_actor, self.target_actor_);
  visit("target_critics", state.target_critics, self.critics_.target());
  visit("actor_optimizer", state.actor_optimizer, self.trained_actor_.optimizer());
  visit("critic_optimizer", state.critic_optimizer, self.trained_critics_.optimizer());
  visit("random", state.random, self.random_);
  visit("n_updates", state.n_updates, self.n_updates_);
  visit("skipped_in_a_row", state.skipped_in_a_row, self.guard_);
}

td3_learner_state td3_learner::state() const {
  return detail::saved_state<td3_learner_state>(*this);
}

void td3_learner::set_state(const td3_learner_state& state) {
  detail::restore_state_parts("td3", state, *this);
}

}  // namespace troupe
