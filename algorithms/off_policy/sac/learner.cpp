#include "algorithms/off_policy/sac/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/gradients/engine.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"
#include "algorithms/off_policy/sac/rule.hpp"

namespace troupe {

sac_learner::sac_learner(const network_shape& shape, const sac_options& options, std::uint64_t seed)
    : learner("sac", learning_of(options), seed),
      options_(checked_options(options, "sac")),
      actor_(shape, options.network, network_kind::squashed_gaussian),
      critics_(shape, options.network, options.n_critics),
      log_ent_coef_(1, static_cast<float>(std::log(options.initial_ent_coef))),
      trained_actor_("actor", actor_.parameters().size(),
                     {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      trained_critics_("critic", critics_.parameter_count(),
                       {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      ent_coef_optimizer_(1, {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      actor_graph_(make_graph(options.backend, actor_.stack())),
      critic_graph_(make_graph(options.backend, actor_.stack())) {
  actor_.initialise(random());
  critics_.initialise(random(), options.network.ortho_init);
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
    random().fill_normal(*noise);
  }
  if (actor_.use_sde()) next_noise_ = noise_;
}

void sac_learner::check_batch(const transition_batch& batch) const { check(batch, actor_.shape()); }

bool sac_learner::step(const transition_batch& batch) {
  draw_noise(batch.rows);
  const bool taken = step_networks(batch);
  if (n_updates() % options_.target_update_interval == 0) {
    polyak_average(std::as_const(critics_).parameters(), options_.tau, critics_.target());
  }
  return taken;
}

bool sac_learner::step_networks(const transition_batch& batch) {
  const double lr = report().learning_rate;
  const double ent_coef = this->ent_coef();
  const auto alpha = static_cast<float>(ent_coef);
  critic_graph_->clear();
  const auto critic =
      sac_critic_loss(*critic_graph_, actor_, critics_, trained_critics_.of(critics_.parameters()),
                      batch, next_noise_, alpha);
  const double critic_loss = critic_graph_->number(critic.loss);
  const auto errors = critic_graph_->values(critic.error);
  report().td_errors.assign(errors.begin(), errors.end());
  if (std::isnan(trained_critics_.minimise(critic.loss, critics_.parameters(), lr, guard()))) {
    return false;
  }

  actor_graph_->clear();
  const auto actor = sac_actor_loss(*actor_graph_, actor_, trained_actor_.of(actor_.parameters()),
                                    critics_, batch, noise_, alpha);
  const double mean_log_prob = actor_graph_->number(actor.log_prob);
  report().metrics = {{"train/actor_loss", actor_graph_->number(actor.loss)},
                      {"train/critic_loss", critic_loss},
                      {"train/ent_coef", ent_coef},
                      {"train/entropy", -mean_log_prob}};
  if (std::isnan(trained_actor_.minimise(actor.loss, actor_.parameters(), lr, guard()))) {
    return false;
  }

  if (!options_.ent_coef) {
    // d/d log alpha of -log alpha (mean log pi + target entropy)
    const double target = options_.target_entropy.value_or(-actor_.shape().continuous_size);
    const auto gradient = static_cast<float>(-(mean_log_prob + target));
    const double loss = static_cast<double>(log_ent_coef_[0]) * gradient;
    report().metrics.push_back({"train/ent_coef_loss", loss});
    ent_coef_optimizer_.step(log_ent_coef_, {&gradient, 1}, lr);
  }
  return true;
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

void sac_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("actor", actor_.parameters());
  visit("critics", critics_.parameters());
  visit("target", critics_.target());
  visit("log_ent_coef", log_ent_coef_);
  trained_actor_.visit_state(visit);
  trained_critics_.visit_state(visit);
  visit("ent_coef_optimizer", ent_coef_optimizer_);
}

}  // namespace troupe
