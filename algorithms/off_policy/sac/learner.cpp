#include "algorithms/off_policy/sac/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"

namespace troupe {

sac_learner::sac_learner(const network_shape& shape, const sac_options& options, std::uint64_t seed)
    : options_(checked_options(options, "sac")),
      actor_(shape, options.network, network_kind::squashed_gaussian),
      critics_(shape, options.network, options.n_critics),
      log_ent_coef_(1, static_cast<float>(std::log(options.initial_ent_coef))),
      actor_optimizer_(actor_.parameters().size(), {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      critic_optimizer_(critics_.parameter_count(),
                        {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      ent_coef_optimizer_(1, {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      random_(seed),
      fused_(detail::uses_fused(options.backend, actor_.stack())),
      guard_("sac", options.max_skipped_steps),
      actor_gradient_(actor_.parameters().size()),
      draw_(actor_) {
  actor_.initialise(random_);
  critics_.initialise(random_, options.network.ortho_init);
}

double sac_learner::ent_coef() const {
  return options_.ent_coef.value_or(std::exp(static_cast<double>(log_ent_coef_[0])));
}

void sac_learner::draw_noise(int rows) {
  for (auto* noise : {&noise_, &next_noise_}) {
    noise->resize(draw_.noise_size(rows));
    random_.fill_normal(*noise);
  }
  if (actor_.use_sde()) next_noise_ = noise_;
}

double sac_learner::critic_gradient(const transition_batch& batch, float alpha) {
  const int rows = batch.rows;
  draw_.draw(actor_, batch.next_obs.data(), rows, next_noise_.data());
  float* y = detail::grown(targets_, rows);
  critics_.smallest_target(batch, draw_.action(), y);
  for (int row = 0; row < rows; ++row) {
    const float next = y[row] - alpha * draw_.log_prob()[row];
    y[row] = batch.reward[row] + batch.discount[row] * (1.0f - batch.terminated[row]) * next;
  }
  return critics_.fit(batch, y, critic_scale, td_errors_.data()).loss;
}

sac_learner::actor_result sac_learner::actor_gradient(const transition_batch& batch, float alpha) {
  const int rows = batch.rows;
  draw_.draw(actor_, batch.obs.data(), rows, noise_.data());
  const auto count = static_cast<std::size_t>(rows) * actor_.shape().continuous_size;
  float* value = detail::grown(value_, rows);
  float* d_action = detail::grown(d_action_, count);
  critics_.value_and_slope(batch, draw_.action(), options_.n_critics, value, d_action);

  actor_result result;
  for (int row = 0; row < rows; ++row) {
    const float log_prob = draw_.log_prob()[row];
    result.mean_log_prob += log_prob;
    result.loss += static_cast<double>(alpha) * log_prob - value[row];
  }
  result.mean_log_prob /= rows;
  result.loss /= rows;

  const float share = 1.0f / static_cast<float>(rows);
  for (std::size_t i = 0; i < count; ++i) d_action[i] *= -share;
  draw_.backward(actor_, batch.obs.data(), rows, noise_.data(), share * alpha, d_action,
                 actor_gradient_.data());
  return result;
}

// Steps critics, actor and alpha. Returns false as soon as a loss or gradient is not finite;
// networks that were stepped before that keep their finite new weights.
bool sac_learner::step_networks(const transition_batch& batch, sac_metrics& metrics) {
  const double lr = metrics.learning_rate;
  const auto alpha = static_cast<float>(metrics.ent_coef);
  const auto finite = [this](const char* what, double value) {
    if (std::isfinite(static_cast<float>(value))) return true;
    guard_.skipped(what, value);
    return false;
  };
  metrics.critic_loss =
      fused_ ? critic_gradient(batch, alpha) : critic_gradient_by_autograd(batch, alpha);
  if (!finite("critic loss", metrics.critic_loss)) return false;
  double norm = critic_optimizer_.step(critics_.parameters(), critics_.gradient(), lr);
  if (!finite("critic gradient norm", norm)) return false;

  const auto actor =
      fused_ ? actor_gradient(batch, alpha) : actor_gradient_by_autograd(batch, alpha);
  metrics.actor_loss = actor.loss;
  metrics.entropy = -actor.mean_log_prob;
  if (!finite("actor loss", actor.loss)) return false;
  norm = actor_optimizer_.step(actor_.parameters(), actor_gradient_, lr);
  if (!finite("actor gradient norm", norm)) return false;

  if (!options_.ent_coef) {
    // d/d log alpha of -log alpha (mean log pi + target entropy)
    const double target = options_.target_entropy.value_or(-actor_.shape().continuous_size);
    const auto gradient = static_cast<float>(-(actor.mean_log_prob + target));
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
  td_errors_.resize(batch.rows);
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

sac_learner_state sac_learner::state() const {
  const auto copy = [](std::span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
  return {.actor = copy(actor_.parameters()),
          .critics = copy(critics_.parameters()),
          .target = copy(critics_.target()),
          .log_ent_coef = log_ent_coef_[0],
          .actor_optimizer = actor_optimizer_.state(),
          .critic_optimizer = critic_optimizer_.state(),
          .ent_coef_optimizer = ent_coef_optimizer_.state(),
          .random = random_.state(),
          .n_updates = n_updates_,
          .skipped_in_a_row = guard_.in_a_row()};
}

void sac_learner::set_state(const sac_learner_state& state) {
  detail::expect_size("sac", "critics", state.critics.size(), critics_.parameter_count());
  detail::expect_size("sac", "target", state.target.size(), critics_.parameter_count());
  actor_optimizer_.set_state(state.actor_optimizer);
  critic_optimizer_.set_state(state.critic_optimizer);
  ent_coef_optimizer_.set_state(state.ent_coef_optimizer);
  actor_.load_parameters(state.actor);
  std::ranges::copy(state.critics, critics_.parameters().begin());
  std::ranges::copy(state.target, critics_.target().begin());
  log_ent_coef_[0] = state.log_ent_coef;
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  guard_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
