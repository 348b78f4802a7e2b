#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "actors/networks/named_tensors.hpp"
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

std::span<const float> detail::numbers_of(const actor_critic& model) {
  return {model.parameters().data_ptr<float>(), static_cast<std::size_t>(model.parameter_count())};
}

void detail::load_numbers(actor_critic& model, std::span<const float> parameters) {
  model.load_parameters(at::from_blob(const_cast<float*>(parameters.data()),
                                      {static_cast<std::int64_t>(parameters.size())}));
}

on_policy_learner::on_policy_learner(const network_shape& shape, const on_policy_options& options,
                                     on_policy_loss loss, std::uint64_t seed)
    : actor_critic_learner(loss.name, learning_of(options), shape,
                           checked_options(options, loss.name).network, seed),
      options_(options),
      optimizer_(optimizer_of(
          options, model_.trained_count(),
          undecayed_in(layout_of(shape, options.network),
                       static_cast<std::size_t>(model_.trained_count()), options.weight_decay_of))),
      minibatch_(shape),
      advantages_(options.normalize_advantage, model_.is_fused()),
      gradient_(std::move(loss), model_),
      value_scale_(options.value_norm_decay),
      reward_scale_(options.normalize_reward, 1) {
  detail::log_once(model_.backend());
  model_.take_normalized_obs(true);
}

const learner_report& on_policy_learner::update(const training_rollouts& given,
                                                double progress_remaining,
                                                std::optional<double> chosen_lr) {
  return update(to_batch(given, model_.shape()), progress_remaining, chosen_lr);
}

bool on_policy_learner::is_stale(const rollout_batch& batch) const {
  return batch.proximal_correction || options_.proximal_correction;
}

void on_policy_learner::check_batch(const rollout_batch& batch) const {
  check(batch, model_.shape(), is_stale(batch));
}

void on_policy_learner::train(const rollout_batch& whole) {
  const at::NoGradGuard no_grad;
  const bool stale = is_stale(whole);
  auto batch = detail::prepared(whole, options_);
  if (reward_scale_.is_wanted()) batch.reward = detail::scaled_rewards(batch, reward_scale_);
  if (!ranks_.is_alone()) {
    batch = detail::prepared(shard_of(batch, ranks_.rank(), ranks_.world()), options_);
  }
  auto targets = options_.vtrace ? detail::vtrace_targets_of(gradient_.engine(), batch, model_,
                                                             options_, stale, minibatch_)
                                 : detail::targets_of(batch, model_, options_, stale, value_scale_);
  detail::row_order order(detail::usable_rows(batch, targets, model_.shape()), ranks_);
  const auto normalize = [this](const at::Tensor& returns) {
    return (returns - value_scale_.mean()) / value_scale_.deviation();
  };
  if (options_.normalize_value && !normalizes_minibatches()) {
    value_scale_.update(targets.returns.data_ptr<float>(), order.own(), ranks_);
    targets.returns = normalize(targets.returns);
  }
  if (stale && !options_.vtrace) {
    targets.proximal_log_prob =
        detail::proximal_log_prob_of(gradient_.engine(), batch, model_, order.own(), minibatch_);
  }

  const auto rows = static_cast<std::int64_t>(order.size());
  const auto dropped = std::llround(ranks_.sum(static_cast<double>(batch.reward.numel()))) - rows;
  double explained_variance = 0.0;
  if (rows > 0) {
    auto explained = targets;
    if (normalizes_minibatches()) explained.returns = normalize(targets.returns);
    explained_variance = detail::explained_variance(explained, order.own(), ranks_);
  }

  detail::update_sums sums;
  bool goes_on = rows > 0;
  for (int epoch = 0; epoch < options_.n_epochs && goes_on; ++epoch) {
    order.shuffle(random());
    goes_on = train_epoch(batch, targets, order, sums);
    ++epochs_;
  }

  const auto& clip_range = gradient_.loss().clip_range;
  auto& metrics = report().metrics;
  sums.write(gradient_.loss().policy_loss, metrics);
  metrics.push_back({"train/explained_variance", explained_variance});
  metrics.push_back({"train/learning_rate", report().learning_rate});
  metrics.push_back({"train/clip_range", clip_range ? clip_range(progress_remaining())
                                                    : std::numeric_limits<double>::infinity()});
  metrics.push_back({"train/n_updates", static_cast<double>(epochs_)});
  metrics.push_back({"train/dropped_rows", static_cast<double>(dropped)});
  const auto std = model_.action_std();
  if (!std.empty()) {
    metrics.push_back({"train/std", std::accumulate(std.begin(), std.end(), 0.0) /
                                        static_cast<double>(std.size())});
  }
  report().trained_rows = rows;
  const auto& obs = whole.obs_statistics;
  if (obs.width() > 0) model_.set_obs_statistics(obs.mean(), obs.variance());
}

bool on_policy_learner::normalizes_minibatches() const {
  return options_.normalize_value && options_.value_norm_every == value_norm_update::minibatch;
}

bool on_policy_learner::train_epoch(const rollout_batch& batch,
                                    const detail::training_targets& targets,
                                    detail::row_order& order, detail::update_sums& sums) {
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
      value_scale_.update(targets.returns.data_ptr<float>(), own, ranks_);
      const double mean = value_scale_.mean(), deviation = value_scale_.deviation();
      for (auto& r : minibatch_.returns()) r = static_cast<float>((r - mean) / deviation);
    }
    advantages_.apply(minibatch_, from / batch_size);

    const auto metrics = gradient_.evaluate(model_, minibatch_, rows, progress_remaining());
    // The loss is a double; a loss that overflows a float is skipped, too.
    if (!std::isfinite(static_cast<float>(metrics.loss))) {
      skip_step("loss", metrics.loss);
      continue;
    }
    if (options_.target_kl && metrics.approx_kl > 1.5 * *options_.target_kl) {
      sums.add(metrics);
      return false;
    }

    gradient_.differentiate(model_);
    const double grad_norm = optimizer_.step(parameters, gradient, report().learning_rate);
    if (!std::isfinite(grad_norm)) {
      skip_step("gradient norm", grad_norm);
      continue;
    }
    took_step();
    sums.add(metrics);
    sums.add_norm(grad_norm);
  }
  return true;
}

void on_policy_learner::join(std::shared_ptr<collective> ranks) {
  if (ranks->world() == 1) return;
  ranks->broadcast({model_.parameters().data_ptr<float>(), acting().size()});
  detail::require_same_state(*ranks, name(), save());
  ranks_ = rank_group(std::move(ranks));
  gradient_.join(ranks_);
}

void on_policy_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("epochs", epochs_);
  visit("optimizer", optimizer_);
  value_scale_.visit_state(visit);
  visit("reward_scale", reward_scale_);
}

}  // namespace troupe
