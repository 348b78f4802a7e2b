#include "algorithms/off_policy/dqn/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"

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
    : options_(checked_options(options, "dqn")),
      online_(shape, options.network,
              options.dueling ? network_kind::dueling_q_values : network_kind::q_values),
      target_(online_.parameters().size()),
      gradient_(target_.size()),
      optimizer_(target_.size(),
                 {.eps = options.adam_eps,
                  .max_grad_norm = options.max_grad_norm,
                  .weight_decay = options.weight_decay},
                 undecayed_in(layout_for(shape, options, online_.kind()), target_.size(),
                              options.weight_decay_of)),
      random_(seed),
      fused_(detail::uses_fused(options.backend, online_.stack())),
      guard_("dqn", options.max_skipped_steps) {
  online_.initialise(random_);
  std::ranges::copy(online_.parameters(), target_.begin());
}

dqn_loss_metrics dqn_learner::fused_gradient(const transition_batch& batch) {
  const auto& net = online_.network();
  const float* online = online_.parameters().data();
  const float* obs = batch.obs.data();
  const float* next_obs = batch.next_obs.data();
  const int rows = batch.rows;
  const dqn_rows in{
      .rows = rows,
      .actions = online_.shape().discrete_actions,
      .dueling = options_.dueling,
      .q = net.forward(online, obs, rows, q_buffers_),
      .next_target = net.forward(target_.data(), next_obs, rows, next_target_buffers_),
      .next_online =
          options_.double_q ? net.forward(online, next_obs, rows, next_online_buffers_) : nullptr,
      .choice = batch.choice.data(),
      .reward = batch.reward.data(),
      .terminated = batch.terminated.data(),
      .discount = batch.discount.data(),
      .weight = batch.weight.empty() ? nullptr : batch.weight.data()};
  float* d_q = detail::grown(d_q_, static_cast<std::size_t>(rows) * net.outputs());
  const auto metrics = dqn_loss_with_gradient(in, d_q, td_errors_.data());
  net.backward(online, obs, rows, d_q, q_buffers_, gradient_.data());
  return metrics;
}

dqn_metrics dqn_learner::update(const transition_batch& batch, double progress_remaining,
                                std::optional<double> chosen_lr) {
  check(batch, online_.shape());
  const detail::flush_denormals flush;
  td_errors_.resize(batch.rows);
  const auto loss = fused_ ? fused_gradient(batch) : libtorch_gradient(batch);
  dqn_metrics metrics{.loss = loss.loss,
                      .q_mean = loss.q_mean,
                      .learning_rate = chosen_lr.value_or(
                          annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  if (!std::isfinite(static_cast<float>(loss.loss))) {
    metrics.skipped = true;
    guard_.skipped("loss", loss.loss);
  } else {
    metrics.grad_norm = optimizer_.step(online_.parameters(), gradient_, metrics.learning_rate);
    metrics.skipped = !std::isfinite(metrics.grad_norm);
    if (metrics.skipped) {
      guard_.skipped("gradient norm", metrics.grad_norm);
    } else {
      guard_.taken();
    }
  }
  metrics.n_updates = ++n_updates_;
  return metrics;
}

void dqn_learner::update_target(std::int64_t times) {
  if (times == 0) return;
  // The online weights don't change in between, so one pass replaces all updates.
  const double stays = std::pow(1.0 - options_.tau, static_cast<double>(times));
  polyak_average(std::as_const(online_).parameters(), 1.0 - stays, target_);
}

void dqn_learner::start_from(std::span<const float> acting, const named_tensors&) {
  online_.load_parameters(acting);
  std::ranges::copy(acting, target_.begin());
}

dqn_learner_state dqn_learner::state() const {
  const auto online = online_.parameters();
  return {.parameters = {online.begin(), online.end()},
          .target = {target_.begin(), target_.end()},
          .optimizer = optimizer_.state(),
          .random = random_.state(),
          .n_updates = n_updates_,
          .skipped_in_a_row = guard_.in_a_row()};
}

void dqn_learner::set_state(const dqn_learner_state& state) {
  detail::expect_size("dqn", "target", state.target.size(), target_.size());
  optimizer_.set_state(state.optimizer);
  online_.load_parameters(state.parameters);
  std::ranges::copy(state.target, target_.begin());
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  guard_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
