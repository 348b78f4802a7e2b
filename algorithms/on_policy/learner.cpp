#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/learner.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "algorithms/on_policy/targets.hpp"

namespace troupe {
optimizer optimizer_of(const on_policy_options& options, std::int64_t parameter_count,
                       std::vector<parameter_range> undecayed) {
  const auto count = static_cast<std::size_t>(parameter_count);
  if (options.optimizer == optimizer_kind::adam) {
    return adam(count,
                {.eps = options.optimizer_eps,
                 .max_grad_norm = options.max_grad_norm,
                 .weight_decay = options.weight_decay},
                std::move(undecayed));
  }
  return rmsprop(count,
                 {.alpha = options.rmsprop_alpha,
                  .eps = options.optimizer_eps,
                  .max_grad_norm = options.max_grad_norm,
                  .tensorflow_like = options.optimizer == optimizer_kind::rmsprop_tensorflow_like});
}

on_policy_learner::on_policy_learner(const network_shape& shape, const on_policy_options& options,
                                     on_policy_loss loss, std::uint64_t seed)
    : options_(checked_options(options, loss.name)),
      model_(shape, options.network, seed),
      optimizer_(optimizer_of(
          options, model_.trained_count(),
          undecayed_in(layout_of(shape, options.network),
                       static_cast<std::size_t>(model_.trained_count()), options.weight_decay_of))),
      random_(~seed),
      minibatch_(shape),
      advantages_(options.normalize_advantage, model_.is_fused()),
      gradient_(std::move(loss), model_),
      value_scale_(options.value_norm_decay),
      reward_scale_(options.normalize_reward, 1),
      skips_(name(), options.max_skipped_steps) {
  detail::log_once(model_.backend());
  model_.take_normalized_obs(true);
}

on_policy_report on_policy_learner::update(const rollout_batch& given, double progress_remaining,
                                           std::optional<double> chosen_lr) {
  // Ranks share minibatches, so either all ranks correct for staleness or none does.
  const bool stale = ranks_.sum(given.proximal_correction || options_.proximal_correction) > 0;
  check(given, model_.shape(), stale);
  const at::NoGradGuard no_grad;

  auto batch = detail::prepared(given, options_);
  if (reward_scale_.is_wanted()) batch.reward = detail::scaled_rewards(batch, reward_scale_);
  auto targets = options_.vtrace ? detail::vtrace_targets_of(gradient_.engine(), batch, model_,
                                                             options_, stale, minibatch_)
                                 : detail::targets_of(batch, model_, options_, stale, value_scale_);
  detail::row_order order(detail::usable_rows(batch, targets, model_.shape()), ranks_);
  const auto normalize = [this](const at::Tensor& returns) {
    return (returns - value_scale_.mean()) / value_scale_.deviation();
  };
  if (options_.normalize_value && !normalizes_minibatches()) {
    value_scale_.update(targets.returns.data_ptr<float>(), order.own());
    targets.returns = normalize(targets.returns);
  }
  if (stale && !options_.vtrace) {
    targets.proximal_log_prob =
        detail::proximal_log_prob_of(gradient_.engine(), batch, model_, order.own(), minibatch_);
  }

  const auto rows = static_cast<std::int64_t>(order.size());
  const auto& clip_range = gradient_.loss().clip_range;
  on_policy_report report{
      .learning_rate =
          chosen_lr.value_or(annealed(options_.lr, options_.lr_schedule, progress_remaining)),
      .clip_range =
          clip_range ? clip_range(progress_remaining) : std::numeric_limits<double>::infinity(),
      .trained_rows = rows,
      .dropped_rows = std::llround(ranks_.sum(static_cast<double>(batch.reward.numel()))) - rows};
  if (rows > 0) {
    auto explained = targets;
    if (normalizes_minibatches()) explained.returns = normalize(targets.returns);
    report.explained_variance = detail::explained_variance(explained, order.own(), ranks_);
  }

  detail::update_sums sums;
  for (int epoch = 0; epoch < options_.n_epochs && rows > 0; ++epoch) {
    order.shuffle(random_);
    report.stopped_by_kl =
        !train_epoch(batch, targets, order, report.learning_rate, progress_remaining, sums);
    ++n_updates_;
    if (report.stopped_by_kl) break;
  }

  sums.write(report);
  report.n_updates = n_updates_;
  const auto std = model_.action_std();
  if (!std.empty()) {
    report.std = std::accumulate(std.begin(), std.end(), 0.0) / static_cast<double>(std.size());
  }
  return report;
}

bool on_policy_learner::normalizes_minibatches() const {
  return options_.normalize_value && options_.value_norm_every == value_norm_update::minibatch;
}

bool on_policy_learner::train_epoch(const rollout_batch& batch,
                                    const detail::training_targets& targets,
                                    detail::row_order& order, double lr, double progress_remaining,
                                    detail::update_sums& sums) {
  const auto batch_size = static_cast<std::size_t>(options_.batch_size);
  const auto count = static_cast<std::size_t>(model_.trained_count());
  const std::span<float> parameters(model_.parameters().data_ptr<float>(), count);
  const std::span<const float> gradient(model_.gradient().data_ptr<float>(), count);
  sums.begin_epoch();
  advantages_.begin_epoch(order, batch_size, targets.advantage, ranks_);
  for (std::size_t from = 0; from < order.size(); from += batch_size) {
    const auto rows = std::min(batch_size, order.size() - from);
    const auto own = order.own(from, rows);
    minibatch_.gather(batch, targets, own);
    if (normalizes_minibatches()) {
      value_scale_.update(targets.returns.data_ptr<float>(), own);
      const double mean = value_scale_.mean(), deviation = value_scale_.deviation();
      for (auto& r : minibatch_.returns()) r = static_cast<float>((r - mean) / deviation);
    }
    advantages_.apply(minibatch_, from / batch_size);

    const auto metrics = gradient_.evaluate(model_, minibatch_, rows, progress_remaining);
    // The loss is a double; a loss that overflows a float is skipped, too.
    if (!std::isfinite(static_cast<float>(metrics.loss))) {
      sums.skipped();
      skips_.skipped("loss", metrics.loss);
      continue;
    }
    if (options_.target_kl && metrics.approx_kl > 1.5 * *options_.target_kl) {
      sums.add(metrics);
      return false;
    }

    gradient_.differentiate(model_);
    const double grad_norm = optimizer_.step(parameters, gradient, lr);
    if (!std::isfinite(grad_norm)) {
      sums.skipped();
      skips_.skipped("gradient norm", grad_norm);
      continue;
    }
    skips_.taken();
    sums.add(metrics);
    sums.stepped(grad_norm);
  }
  return true;
}

void on_policy_learner::join(rank_group ranks) {
  gradient_.join(ranks);
  ranks_ = std::move(ranks);
}

on_policy_learner_state on_policy_learner::state() const {
  return {.parameters = model_.parameters().clone(),
          .optimizer = optimizer_.state(),
          .random = random_.state(),
          .n_updates = n_updates_,
          .skipped_in_a_row = skips_.in_a_row(),
          .value_scale = value_scale_.saved(),
          .reward_scale = reward_scale_.saved()};
}

void on_policy_learner::set_state(const on_policy_learner_state& state) {
  reward_scale_.restore(name(), state.reward_scale);
  optimizer_.set_state(state.optimizer);
  model_.load_parameters(state.parameters);
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  skips_.set_in_a_row(state.skipped_in_a_row);
  value_scale_.restore(state.value_scale);
}

std::string on_policy_learner::save() const {
  auto state = this->state();
  state.parameters = at::Tensor();
  return state_bytes(state);
}

void on_policy_learner::restore(const std::string& bytes) {
  auto state = state_of<on_policy_learner_state>(bytes);
  state.parameters = model_.parameters();
  try {
    set_state(state);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("saved learner: ") + e.what());
  }
}

}  // namespace troupe
