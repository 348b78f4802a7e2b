#include "algorithms/off_policy/sac/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"
#include "algorithms/off_policy/sac/rule.hpp"

namespace troupe {

sac_learner::sac_learner(const network_shape& shape, const sac_options& options, std::uint64_t seed)
    : options_(checked_options(options, "sac")),
      actor_(shape, options.network, network_kind::squashed_gaussian),
      critics_(shape, options.network, options.n_critics),
      log_ent_coef_(1, static_cast<float>(std::log(options.initial_ent_coef))),
      trained_actor_("actor", actor_.parameters().size(),
                     {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      trained_critics_("critic", critics_.parameter_count(),
                       {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      ent_coef_optimizer_(1, {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      random_(seed),
      actor_graph_(make_graph(options.backend, actor_.stack())),
      critic_graph_(make_graph(options.backend, actor_.stack())),
      guard_("sac", options.max_skipped_steps) {
  actor_.initialise(random_);
  critics_.initialise(random_, options.network.ortho_init);
}

double sac_learner::ent_coef() const {
  return options_.ent_coef.value_or(std::exp(static_cast<double>(log_ent_coef_[0])));
}

void sac_learner::draw_noise(int rows) {
  const auto size = actor_.use_sde()
                        ? actor_.log_std().size()
                        : static_cast<std::size_t>(rows) * actor_.shape().continuous_size;
  for (auto* noise : {&noise_, &next_noise_}) {
    noise->resize(size);
    random_.fill_normal(*noise);
  }
  if (actor_.use_sde()) next_noise_ = noise_;
}

// Steps critics, actor and alpha. Returns false as soon as a loss or gradient is not finite;
// networks that were stepped before that keep their finite new weights.
bool sac_learner::step_networks(const transition_batch& batch, sac_metrics& metrics) {
  const double lr = metrics.learning_rate;
  const auto alpha = static_cast<float>(metrics.ent_coef);
  critic_graph_->clear();
  const auto critic =
      sac_critic_loss(*critic_graph_, actor_, critics_, trained_critics_.of(critics_.parameters()),
                      batch, next_noise_, alpha);
  metrics.critic_loss = critic_graph_->number(critic.loss);
  const auto errors = critic_graph_->values(critic.error);
  td_errors_.assign(errors.begin(), errors.end());
  if (std::isnan(trained_critics_.minimise(critic.loss, critics_.parameters(), lr, guard_))) {
    return false;
  }

  actor_graph_->clear();
  const auto actor = sac_actor_loss(*actor_graph_, actor_, trained_actor_.of(actor_.parameters()),
                                    critics_, batch, noise_, alpha);
  const double mean_log_prob = actor_graph_->number(actor.log_prob);
  metrics.actor_loss = actor_graph_->number(actor.loss);
  metrics.entropy = -mean_log_prob;
  if (std::isnan(trained_actor_.minimise(actor.loss, actor_.parameters(), lr, guard_))) {
    return false;
  }

  if (!options_.ent_coef) {
    // d/d log alpha of -log alpha (mean log pi + target entropy)
    const double target = options_.target_entropy.value_or(-actor_.shape().continuous_size);
    const auto gradient = static_cast<float>(-(mean_log_prob + target));
    metrics.ent_coef_loss = static_cast<double>(log_ent_coef_[0]) * gradient;
    ent_coef_optimizer_.step(log_ent_coef_, {&gradient, 1}, lr);
    metrics.trained_ent_coef = true;
  }
  return true;
}

sac_metrics sac_learner::update(const transition_batch& batch, double progress_remaining,
                                std::optional<double> chosen_lr) {
  check(batch, actor_.shape());
  const detail::flush_denormals flush;
  draw_noise(batch.rows);
  sac_metrics metrics{.ent_coef = ent_coef(),
                      .learning_rate = chosen_lr.value_or(
                          annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  metrics.skipped = !step_networks(batch, metrics);
  if (!metrics.skipped) guard_.taken();
  metrics.n_updates = ++n_updates_;
  if (n_updates_ % options_.target_update_interval == 0) {
    polyak_average(std::as_const(critics_).parameters(), options_.tau, critics_.target());
  }
  return metrics;
}

named_tensors sac_learner::beside() const {
  auto tensors = detail::tensors_of(critics_);
  detail::add_number(tensors, "log_ent_coef", log_ent_coef_[0]);
  return tensors;
}

void sac_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  detail::load(critics_, beside);
  actor_.load_parameters(acting);
  log_ent_coef_[0] = detail::number_in(beside, "log_ent_coef").value_or(log_ent_coef_[0]);
}

template <class Self, class State, class Visit>
void sac_learner::parts(Self& self, State& state, const Visit& visit) {
  visit("actor", state.actor, self.actor_.parameters());
  visit("critics", state.critics, self.critics_.parameters());
  visit("target", state.target, self.critics_.target());
  visit("log_ent_coef", state.log_ent_coef, self.log_ent_coef_[0]);
  visit("actor_optimizer", state.actor_optimizer, self.trained_actor_.optimizer());
  visit("critic_optimizer", state.critic_optimizer, self.trained_critics_.optimizer());
  visit("ent_coef_optimizer", state.ent_coef_optimizer, self.ent_coef_optimizer_);
  visit("random", state.random, self.random_);
  visit("n_updates", state.n_updates, self.n_updates_);
  visit("skipped_in_a_row", state.skipped_in_a_row, self.guard_);
}

sac_learner_state sac_learner::state() const {
  return detail::saved_state<sac_learner_state>(*this);
}

void sac_learner::set_state(const sac_learner_state& state) {
  detail::restore_state_parts("sac", state, *this);
}

}  // namespace troupe
