#include "actors/torch.hpp"

#include "algorithms/on_policy/ppo/ppo_learner.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "algorithms/losses/gae.hpp"

namespace troupe {
namespace {

const ppo_options& checked(const ppo_options& options) {
  const auto expect = [](bool good, const char* name, double value, const char* expected) {
    if (good) return;
    throw std::invalid_argument(
        fmt::format("ppo option {}: {}, expected {}", name, value, expected));
  };
  const auto fraction = [](double x) { return x >= 0.0 && x <= 1.0; };
  expect(options.lr > 0.0, "lr", options.lr, "> 0");
  expect(options.n_steps > 0, "n_steps", options.n_steps, ">= 1");
  expect(options.batch_size > 0, "batch_size", options.batch_size, ">= 1");
  expect(options.rmsprop_alpha >= 0.0 && options.rmsprop_alpha < 1.0, "rmsprop_alpha",
         options.rmsprop_alpha, ">= 0 and < 1");
  expect(options.n_epochs > 0, "n_epochs", options.n_epochs, ">= 1");
  expect(fraction(options.gamma), "gamma", options.gamma, "0 to 1");
  expect(fraction(options.gae_lambda), "gae_lambda", options.gae_lambda, "0 to 1");
  expect(options.clip_range > 0.0, "clip_range", options.clip_range, "> 0");
  const double vf_range = options.clip_range_vf.value_or(1.0);
  expect(vf_range > 0.0, "clip_range_vf", vf_range, "> 0");
  expect(options.max_grad_norm >= 0.0, "max_grad_norm", options.max_grad_norm, ">= 0");
  expect(options.importance_cap > 0.0, "importance_cap", options.importance_cap, "> 0");
  expect(options.max_skipped_steps > 0, "max_skipped_steps", options.max_skipped_steps, ">= 1");
  return options;
}

rollout_batch contiguous(rollout_batch batch) {
  const auto make = [](column_info, at::Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.contiguous();
  };
  for_each_column(make, batch);
  for (auto* other : {&batch.action, &batch.final_index}) make({}, *other);
  return batch;
}

optimizer make_optimizer(const ppo_options& options, std::int64_t parameter_count) {
  const auto count = static_cast<std::size_t>(parameter_count);
  if (options.optimizer == optimizer_kind::adam) {
    return adam(count, {.eps = options.optimizer_eps, .max_grad_norm = options.max_grad_norm});
  }
  return rmsprop(count,
                 {.alpha = options.rmsprop_alpha,
                  .eps = options.optimizer_eps,
                  .max_grad_norm = options.max_grad_norm,
                  .tensorflow_like = options.optimizer == optimizer_kind::rmsprop_tensorflow_like});
}

// What decides a rank's next update besides the weights and its rows, in one number.
double fingerprint(const ppo_learner_state& state) {
  std::string text;
  const auto add = [&](const auto& values) {
    text.append(reinterpret_cast<const char*>(std::data(values)),
                std::size(values) * sizeof(*std::data(values)));
  };
  add(state.random);
  add(std::array{state.n_updates, std::int64_t{state.skipped_in_a_row}});
  if (const auto* adam = std::get_if<adam_state>(&state.optimizer)) {
    add(adam->first_moment);
    add(adam->second_moment);
    add(std::array{adam->step});
  } else {
    const auto& rmsprop = std::get<rmsprop_state>(state.optimizer);
    add(rmsprop.mean_square);
    add(std::array{rmsprop.step});
  }
  return static_cast<double>(std::hash<std::string>()(text) >> 16);  // exact, and in a sum too
}

void require_same_state(collective& ranks, const ppo_learner_state& state) {
  std::vector<double> prints(ranks.world(), 0.0);
  prints[ranks.rank()] = fingerprint(state);
  ranks.sum(std::span<double>(prints));
  for (std::size_t rank = 1; rank < prints.size(); ++rank) {
    if (prints[rank] == prints[0]) continue;
    throw collective_error(
        fmt::format("ppo: rank {} of {} has another optimiser or generator than rank 0; expected "
                    "learners made with the same seed and options, or restored from the same state",
                    rank, ranks.world()));
  }
}

// `valid` without the steps after which no episode ends in this batch.
at::Tensor of_whole_episodes(const rollout_batch& batch) {
  const auto T = batch.steps();
  const auto B = batch.environments();
  auto valid = batch.valid.defined() ? batch.valid.clone() : at::ones({T, B}, at::kBool);
  const bool* terminated = batch.terminated.data_ptr<bool>();
  const bool* truncated = batch.truncated.data_ptr<bool>();
  for (std::int64_t b = 0; b < B; ++b) {
    for (auto t = T - 1; t >= 0; --t) {
      if (terminated[t * B + b] || truncated[t * B + b]) break;
      valid.data_ptr<bool>()[t * B + b] = false;
    }
  }
  return valid;
}

}  // namespace

/// Sums over minibatches, of which ppo_metrics are the means.
struct ppo_learner::epoch_sums {
  ppo_loss_metrics total{.importance_weight = 0.0};
  double last_loss = 0.0;
  double kl_of_epoch = 0.0;
  double grad_norm = 0.0;
  std::int64_t minibatches = 0;
  std::int64_t minibatches_of_epoch = 0;
  std::int64_t steps = 0;
  std::int64_t skipped = 0;

  void begin_epoch() { kl_of_epoch = 0.0, minibatches_of_epoch = 0; }

  void add(const ppo_loss_metrics& m) {
    total.policy_gradient_loss += m.policy_gradient_loss;
    total.value_loss += m.value_loss;
    total.entropy_loss += m.entropy_loss;
    total.clip_fraction += m.clip_fraction;
    total.importance_weight += m.importance_weight;
    kl_of_epoch += m.approx_kl;
    last_loss = m.loss;
    ++minibatches;
    ++minibatches_of_epoch;
  }

  ppo_loss_metrics means() const {
    const auto mean = [](double sum, std::int64_t count) { return count ? sum / count : 0.0; };
    return {.loss = last_loss,
            .policy_gradient_loss = mean(total.policy_gradient_loss, minibatches),
            .value_loss = mean(total.value_loss, minibatches),
            .entropy_loss = mean(total.entropy_loss, minibatches),
            .approx_kl = mean(kl_of_epoch, minibatches_of_epoch),
            .clip_fraction = mean(total.clip_fraction, minibatches),
            .importance_weight = mean(total.importance_weight, minibatches)};
  }
};

ppo_learner::ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed)
    : options_(checked(options)),
      model_(shape, options.network, seed),
      optimizer_(make_optimizer(options, model_.trained_count())),
      random_(~seed),
      minibatch_(shape),
      gradient_({.clip_range = options.clip_range,
                 .clip_range_vf = options.clip_range_vf,
                 .ent_coef = options.ent_coef,
                 .vf_coef = options.baseline ? options.vf_coef : 0.0,
                 .normalize_advantage = options.normalize_advantage,
                 .importance_cap = options.importance_cap}),
      skips_("ppo", options.max_skipped_steps) {
  detail::log_once(model_.backend());
  model_.take_normalized_obs(true);
}

// Validity as the options want it.
rollout_batch ppo_learner::prepared(rollout_batch batch) {
  batch = contiguous(std::move(batch));
  if (options_.whole_episodes) batch.valid = of_whole_episodes(batch);
  return batch;
}

// The present critic's values of the last observations, laid out as truncated is.
at::Tensor ppo_learner::final_values(const rollout_batch& batch) {
  const auto T = batch.steps();
  const auto B = batch.environments();
  auto final_value = at::zeros({T, B}, at::kFloat);
  std::vector<bool> given(T * B, false);
  if (batch.final_obs.defined() && batch.final_obs.size(0) > 0) {
    const auto value = model_.values(batch.final_obs);
    const auto index = batch.final_index.accessor<std::int64_t, 2>();
    for (std::int64_t f = 0; f < value.size(0); ++f) {
      const auto t = index[f][0];
      const auto b = index[f][1];
      TORCH_CHECK(t >= 0 && t < T && b >= 0 && b < B, "rollout batch: final_index (", t, ", ", b,
                  ") lies outside [", T, ", ", B, "]");
      final_value[t][b] = value[f];
      given[t * B + b] = true;
    }
  }
  const auto* terminated = batch.terminated.data_ptr<bool>();
  const auto* truncated = batch.truncated.data_ptr<bool>();
  const auto* valid = batch.valid.defined() ? batch.valid.data_ptr<bool>() : nullptr;
  for (std::int64_t i = 0; i < T * B; ++i) {
    const bool needed = truncated[i] && !terminated[i] && (!valid || valid[i]);
    TORCH_CHECK(given[i] || !needed, "rollout batch: the episode truncated at (", i / B, ", ",
                i % B, ") has no row in final_obs");
  }
  return final_value;
}

// Under the weights that acted if they are the present ones, else under the present ones.
detail::training_targets ppo_learner::make_targets(const rollout_batch& batch, bool stale) {
  gae_inputs in{.reward = batch.reward,
                .value = batch.value,
                .terminated = batch.terminated,
                .truncated = batch.truncated,
                .final_value = batch.final_value,
                .bootstrap_value = batch.bootstrap_value,
                .valid = batch.valid};
  if (stale) {
    in.value = model_.values(batch.obs.flatten(0, 1)).view(batch.reward.sizes());
    in.bootstrap_value = model_.values(batch.bootstrap_obs);
    in.final_value = final_values(batch);
  }
  if (!options_.baseline) {
    in.value = at::zeros_like(batch.reward);
    in.bootstrap_value = at::zeros_like(batch.bootstrap_value);
    in.final_value = at::zeros_like(batch.reward);
  }
  auto targets = gae(in, {.gamma = options_.gamma, .lambda = options_.gae_lambda});
  return {in.value.contiguous(), targets.advantage, targets.returns, {}};
}

void ppo_learner::find_proximal_log_prob(const rollout_batch& batch,
                                         detail::training_targets& targets,
                                         std::span<const detail::row_index> usable) {
  constexpr std::size_t block = 256;
  targets.proximal_log_prob = at::zeros_like(batch.reward);
  auto* proximal = targets.proximal_log_prob.data_ptr<float>();
  for (std::size_t from = 0; from < usable.size(); from += block) {
    const auto rows = usable.subspan(from, std::min(block, usable.size() - from));
    minibatch_.gather(batch, rows);
    const auto evaluation =
        model_.evaluate_rows(minibatch_.obs(), minibatch_.rows(), minibatch_.actions());
    for (std::size_t i = 0; i < rows.size(); ++i) proximal[rows[i]] = evaluation.log_prob[i];
  }
}

// False when the KL divergence ends the update.
bool ppo_learner::train_epoch(const rollout_batch& batch, const detail::training_targets& targets,
                              detail::shared_rows& order, double lr, epoch_sums& sums) {
  const auto batch_size = static_cast<std::size_t>(options_.batch_size);
  const auto count = static_cast<std::size_t>(model_.trained_count());
  const std::span<float> parameters(model_.parameters().data_ptr<float>(), count);
  const std::span<const float> gradient(model_.gradient().data_ptr<float>(), count);
  std::vector<advantage_scale> scales;
  if (ranks_->world() > 1 && options_.normalize_advantage) {
    scales = detail::advantage_scales(order, batch_size, targets.advantage, *ranks_);
  }
  for (std::size_t from = 0; from < order.size(); from += batch_size) {
    const auto rows = std::min(batch_size, order.size() - from);
    minibatch_.gather(batch, targets, order.own(from, rows));
    if (!scales.empty()) minibatch_.normalise_advantage(scales[from / batch_size]);
    const auto metrics = gradient_.evaluate(model_, minibatch_, rows);
    // The loss is summed in double; what overflows a float is no number to learn from either.
    if (!std::isfinite(static_cast<float>(metrics.loss))) {
      ++sums.skipped;
      skips_.skipped("loss", metrics.loss);
      continue;
    }
    if (options_.target_kl && metrics.approx_kl > 1.5 * *options_.target_kl) {
      sums.add(metrics);
      return false;
    }
    gradient_.differentiate(model_, minibatch_);
    const double grad_norm = optimizer_.step(parameters, gradient, lr);
    if (!std::isfinite(grad_norm)) {
      ++sums.skipped;
      skips_.skipped("gradient norm", grad_norm);
      continue;
    }
    skips_.taken();
    sums.add(metrics);
    sums.grad_norm += grad_norm;
    ++sums.steps;
  }
  return true;
}

double ppo_learner::over_ranks(double value) {
  ranks_->sum(std::span<double>(&value, 1));
  return value;
}

ppo_metrics ppo_learner::update(const rollout_batch& given, double progress_remaining) {
  // Stale rows of another rank are in the same minibatches.
  const bool stale = over_ranks(given.proximal_correction || options_.proximal_correction) > 0;
  check(given, model_.shape(), stale);
  const at::NoGradGuard no_grad;
  const auto batch = prepared(given);
  auto targets = make_targets(batch, stale);
  detail::shared_rows order(detail::usable_rows(batch, targets, model_.shape()), *ranks_);
  if (stale) find_proximal_log_prob(batch, targets, order.own());

  const double lr = annealed(options_.lr, options_.lr_schedule, progress_remaining);
  const double clip_range =
      annealed(options_.clip_range, options_.clip_schedule, progress_remaining);
  gradient_.options().clip_range = clip_range;
  const auto row_count = static_cast<std::int64_t>(order.size());
  ppo_metrics metrics{.learning_rate = lr,
                      .clip_range = clip_range,
                      .trained_rows = row_count,
                      .dropped_rows = std::llround(over_ranks(batch.reward.numel())) - row_count};

  epoch_sums sums;
  if (row_count > 0) {
    metrics.explained_variance = detail::explained_variance(targets, order.own(), *ranks_);
  }
  for (int epoch = 0; epoch < options_.n_epochs && row_count > 0; ++epoch) {
    sums.begin_epoch();
    order.shuffle(random_);
    metrics.stopped_by_kl = !train_epoch(batch, targets, order, lr, sums);
    ++n_updates_;
    if (metrics.stopped_by_kl) break;
  }

  metrics.loss = sums.means();
  metrics.grad_norm = sums.steps ? sums.grad_norm / sums.steps : 0.0;
  metrics.optimizer_steps = sums.steps;
  metrics.skipped_steps = sums.skipped;
  metrics.n_updates = n_updates_;
  const auto std = model_.action_std();
  if (!std.empty()) metrics.std = std::accumulate(std.begin(), std.end(), 0.0) / std.size();
  return metrics;
}

void ppo_learner::join(std::shared_ptr<collective> ranks) {
  if (ranks->world() == 1) return;
  ranks_ = std::move(ranks);
  ranks_->broadcast(
      {model_.parameters().data_ptr<float>(), static_cast<std::size_t>(model_.parameter_count())});
  require_same_state(*ranks_, state());
  gradient_.share_with(ranks_);
}

ppo_learner_state ppo_learner::state() const {
  return {.parameters = model_.parameters().clone(),
          .optimizer = optimizer_.state(),
          .random = random_.state(),
          .n_updates = n_updates_,
          .skipped_in_a_row = skips_.in_a_row()};
}

void ppo_learner::set_state(const ppo_learner_state& state) {
  optimizer_.set_state(state.optimizer);
  model_.load_parameters(state.parameters);
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  skips_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
