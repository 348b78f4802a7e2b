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
      actor_optimizer_(target_actor_.size(), {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      critic_optimizer_(critics_.parameter_count(),
                        {.eps = options.adam_eps, .max_grad_norm = 0.0}),
      random_(seed),
      fused_(detail::uses_fused(options.backend, actor_.stack())),
      guard_("td3", options.max_skipped_steps),
      actor_gradient_(target_actor_.size()) {
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

void td3_learner::bootstrap_values(const transition_batch& batch, const float* action,
                                   float* value) {
  if (!bootstrap_) {
    critics_.smallest_target(batch, action, value);
    return;
  }
  const auto critics = static_cast<std::size_t>(critics_.count());
  const float* q = detail::grown(target_q_, batch.rows * critics);
  critics_.target_values(batch, action, target_q_.data());
  for (int row = 0; row < batch.rows; ++row) value[row] = bootstrap_({q + row * critics, critics});
}

td3_learner::critic_result td3_learner::critic_gradient(const transition_batch& batch) {
  const int rows = batch.rows;
  const auto count = static_cast<std::size_t>(rows) * actor_.shape().continuous_size;
  const float* mean =
      actor_.network().forward(target_actor_.data(), batch.next_obs.data(), rows, actor_buffers_);
  float* action = detail::grown(action_, count);
  for (std::size_t i = 0; i < count; ++i) action[i] = std::clamp(mean[i] + noise_[i], -1.0f, 1.0f);
  float* y = detail::grown(targets_, rows);
  bootstrap_values(batch, action, y);
  for (int row = 0; row < rows; ++row) {
    y[row] = batch.reward[row] + batch.discount[row] * (1.0f - batch.terminated[row]) * y[row];
  }
  const auto fit = critics_.fit(batch, y, critic_scale, td_errors_.data());
  return {fit.loss, fit.q_mean};
}

double td3_learner::actor_gradient(const transition_batch& batch) {
  const int rows = batch.rows;
  const auto& net = actor_.network();
  const float* parameters = actor_.parameters().data();
  const float* action = net.forward(parameters, batch.obs.data(), rows, actor_buffers_);
  const auto count = static_cast<std::size_t>(rows) * actor_.shape().continuous_size;
  float* value = detail::grown(value_, rows);
  float* d_action = detail::grown(d_action_, count);
  critics_.value_and_slope(batch, action, 1, value, d_action);
  double sum = 0.0;
  for (int row = 0; row < rows; ++row) sum -= value[row];
  const float share = 1.0f / static_cast<float>(rows);
  for (std::size_t i = 0; i < count; ++i) d_action[i] *= -share;
  net.backward(parameters, batch.obs.data(), rows, d_action, actor_buffers_,
               actor_gradient_.data());
  return sum / rows;
}

// Steps critics and actor. Returns false as soon as a loss or gradient is not finite; networks that
// were stepped before that keep their finite new weights.
bool td3_learner::step_networks(const transition_batch& batch, td3_metrics& metrics) {
  const double lr = metrics.learning_rate;
  const auto finite = [this](const char* what, double value) {
    if (std::isfinite(static_cast<float>(value))) return true;
    guard_.skipped(what, value);
    return false;
  };
  const auto critic = fused_ ? critic_gradient(batch) : critic_gradient_by_autograd(batch);
  metrics.critic_loss = critic.loss;
  metrics.q_mean = critic.q_mean;
  if (!finite("critic loss", metrics.critic_loss)) return false;
  const double norm = critic_optimizer_.step(critics_.parameters(), critics_.gradient(), lr);
  if (!finite("critic gradient norm", norm)) return false;

  metrics.trained_actor = n_updates_ % options_.policy_delay == 0;
  if (!metrics.trained_actor) return true;
  metrics.actor_loss = fused_ ? actor_gradient(batch) : actor_gradient_by_autograd(batch);
  if (!finite("actor loss", metrics.actor_loss)) return false;
  if (!finite("actor gradient norm",
              actor_optimizer_.step(actor_.parameters(), actor_gradient_, lr))) {
    return false;
  }
  polyak_average(std::as_const(critics_).parameters(), options_.tau, critics_.target());
  polyak_average(std::as_const(actor_).parameters(), options_.tau, target_actor_);
  return true;
}

td3_metrics td3_learner::update(const transition_batch& batch, double progress_remaining,
                                std::optional<double> chosen_lr) {
  check(batch, actor_.shape());
  const detail::flush_denormals flush;
  td_errors_.resize(batch.rows);
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

td3_learner_state td3_learner::state() const {
  const auto copy = [](std::span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
  return {.actor = copy(actor_.parameters()),
          .critics = copy(critics_.parameters()),
          .target_actor = copy(target_actor_),
          .target_critics = copy(critics_.target()),
          .actor_optimizer = actor_optimizer_.state(),
          .critic_optimizer = critic_optimizer_.state(),
          .random = random_.state(),
          .n_updates = n_updates_,
          .skipped_in_a_row = guard_.in_a_row()};
}

void td3_learner::set_state(const td3_learner_state& state) {
  const auto critics = critics_.parameter_count();
  detail::expect_size("td3", "critics", state.critics.size(), critics);
  detail::expect_size("td3", "target_critics", state.target_critics.size(), critics);
  detail::expect_size("td3", "target_actor", state.target_actor.size(), target_actor_.size());
  actor_optimizer_.set_state(state.actor_optimizer);
  critic_optimizer_.set_state(state.critic_optimizer);
  actor_.load_parameters(state.actor);
  std::ranges::copy(state.target_actor, target_actor_.begin());
  std::ranges::copy(state.critics, critics_.parameters().begin());
  std::ranges::copy(state.target_critics, critics_.target().begin());
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  guard_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
