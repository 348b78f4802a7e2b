#include "algorithms/multi_agent/off_policy/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/multi_agent/off_policy/rule.hpp"
#include "algorithms/off_policy/learner_checks.hpp"

namespace troupe {
namespace {

/// Makes the graph for all networks, on libtorch if one of them needs it.
std::unique_ptr<graph> make_graph(gradient_backend backend, const joint_q_networks& networks) {
  return make_graph(backend, networks.stacks());
}

std::size_t size_of(const std::unique_ptr<value_mixer>& mixer) {
  return mixer ? static_cast<std::size_t>(mixer->layout().count) : 0;
}

}  // namespace

named_values named(const joint_q_metrics& m) {
  return {{"train/loss", m.loss}, {"train/q_mean", m.q_mean}, {"train/grad_norm", m.grad_norm}};
}

joint_q_learner::joint_q_learner(const char* name, const network_shape& shape,
                                 const joint_q_options& options, std::uint64_t seed,
                                 std::vector<std::uint8_t> trained,
                                 std::unique_ptr<value_mixer> mixer)
    : name_(name),
      options_(checked_options(options, name)),
      networks_(shape, options.network),
      trained_(std::move(trained)),
      mixer_(std::move(mixer)),
      parameters_(networks_.parameter_count() + size_of(mixer_)),
      target_(parameters_.size()),
      gradient_(parameters_.size()),
      random_(seed),
      graph_(make_graph(options.backend, networks_)),
      guard_(name, options.max_skipped_steps),
      reward_scale_(options.normalize_reward, mixer_ ? 1 : networks_.agents()) {
  networks_.initialise(random_, options_.network.ortho_init, parameters_.data());
  if (mixer_) mixer_->initialise(random_, parameters_.data() + networks_.parameter_count());
  target_ = parameters_;
  make_parts();
}

/// Makes the optimisers: one for each policy that learns by itself, or one for the whole team.
void joint_q_learner::make_parts() {
  const auto add = [this](std::size_t first, std::size_t count, int policy) {
    const adam_options with{.eps = options_.adam_eps, .max_grad_norm = options_.max_grad_norm};
    parts_.push_back({first, count, policy, adam(count, with)});
  };
  if (mixer_) return add(0, parameters_.size(), -1);
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (!trained_[i]) continue;
    add(networks_[i].first, networks_[i].stack.parameter_count(), static_cast<int>(i));
  }
}

/// Returns whether an agent of the policy acts in some row of the batch.
bool joint_q_learner::has_rows(const part& of) const {
  if (of.policy < 0) return true;
  const auto agents = networks_.agents();
  for (const auto agent : networks_.rows().agents_of(static_cast<std::size_t>(of.policy))) {
    for (auto at = agent; at < rows_.acts.size(); at += agents) {
      if (rows_.acts[at] != 0) return true;
    }
  }
  return false;
}

/// Takes a step of each optimiser, and returns the norm of the whole gradient.
double joint_q_learner::take_step(double lr) {
  double squares = 0.0;
  for (auto& each : parts_) {
    if (!has_rows(each)) continue;
    const std::span all(parameters_);
    const std::span gradient(std::as_const(gradient_));
    const double norm = each.optimizer.step(all.subspan(each.first, each.count),
                                            gradient.subspan(each.first, each.count), lr);
    squares += norm * norm;
  }
  return std::sqrt(squares);
}

/// Adds the batch's rewards to their statistics and returns the batch with scaled ones. As in
/// EPyMARL, a reward counts each time that it is drawn.
const transition_batch& joint_q_learner::scaled(const transition_batch& batch) {
  if (!reward_scale_.is_wanted()) return batch;
  scaled_ = batch;
  if (mixer_) {
    reward_scale_.add(0, batch.reward);
    for (auto& reward : scaled_.reward) reward = reward_scale_.apply(0, reward);
    return scaled_;
  }
  const auto agents = networks_.agents();
  std::vector<float> of_agent;
  for (std::size_t agent = 0; agent < agents; ++agent) {
    of_agent.clear();
    for (auto at = agent; at < batch.agent_reward.size(); at += agents) {
      if (rows_.acts[at] != 0) of_agent.push_back(batch.agent_reward[at]);
    }
    reward_scale_.add(agent, of_agent);
    for (auto at = agent; at < batch.agent_reward.size(); at += agents) {
      scaled_.agent_reward[at] = reward_scale_.apply(agent, batch.agent_reward[at]);
    }
  }
  return scaled_;
}

/// Writes the mean size of the errors of each row's agents that act; a team has one.
void joint_q_learner::take_errors(variable error) {
  const auto sizes = graph_->values(abs(error));
  const auto columns = static_cast<std::size_t>(error.columns());
  td_errors_.resize(static_cast<std::size_t>(error.rows()));
  for (std::size_t row = 0; row < td_errors_.size(); ++row) {
    float sum = 0.0f, acting = mixer_ ? 1.0f : 0.0f;
    for (auto at = row * columns; at < (row + 1) * columns; ++at) {
      sum += sizes[at];
      if (!mixer_) acting += rows_.acts[at];
    }
    td_errors_[row] = acting > 0 ? sum / acting : 0.0f;
  }
}

joint_q_metrics joint_q_learner::update(const transition_batch& given, double progress_remaining,
                                        std::optional<double> chosen_lr) {
  check(given, networks_.shape());
  const detail::flush_denormals flush;
  gather_rows(given, networks_, trained_, rows_);
  graph_->clear();
  const auto [loss, q_mean, error] =
      joint_q_loss(*graph_, networks_, mixer_.get(), {parameters_, gradient_}, {target_},
                   scaled(given), rows_, options_.double_q);
  take_errors(error);
  joint_q_metrics metrics{.loss = graph_->number(loss),
                          .q_mean = graph_->number(q_mean),
                          .learning_rate = chosen_lr.value_or(
                              annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  if (!std::isfinite(static_cast<float>(metrics.loss))) {
    metrics.skipped = true;
    guard_.skipped("loss", metrics.loss);
  } else {
    graph_->backward(loss);
    metrics.grad_norm = take_step(metrics.learning_rate);
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

void joint_q_learner::update_target(std::int64_t times) {
  if (times == 0) return;
  // The online weights don't change in between, so one pass replaces all updates.
  const double stays = std::pow(1.0 - options_.tau, static_cast<double>(times));
  polyak_average(std::as_const(parameters_), 1.0 - stays, target_);
}

std::span<const float> joint_q_learner::acting() const {
  return std::span(parameters_).first(networks_.parameter_count());
}

named_tensors joint_q_learner::beside() const {
  if (!mixer_) return {};
  return tensors_of(mixer_->layout(), parameters_.data() + networks_.parameter_count());
}

void joint_q_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  detail::expect_size(name_.c_str(), "model", acting.size(), networks_.parameter_count());
  if (mixer_ && mixer_->layout().count > 0 && !beside.empty()) {
    copy_tensors(mixer_->layout(), beside, parameters_.data() + networks_.parameter_count());
  }
  std::ranges::copy(acting, parameters_.begin());
  target_ = parameters_;
}

joint_q_learner_state joint_q_learner::state() const {
  joint_q_learner_state now{.parameters = {parameters_.begin(), parameters_.end()},
                            .target = {target_.begin(), target_.end()},
                            .random = random_.state(),
                            .n_updates = n_updates_,
                            .skipped_in_a_row = guard_.in_a_row(),
                            .reward_scale = reward_scale_.saved()};
  for (const auto& each : parts_) now.optimizers.push_back(each.optimizer.state());
  return now;
}

void joint_q_learner::set_state(const joint_q_learner_state& state) {
  const char* name = name_.c_str();
  detail::expect_size(name, "parameters", state.parameters.size(), parameters_.size());
  detail::expect_size(name, "target", state.target.size(), target_.size());
  detail::expect_size(name, "optimisers", state.optimizers.size(), parts_.size());
  reward_scale_.restore(name, state.reward_scale);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i].optimizer.set_state(state.optimizers[i]);
  std::ranges::copy(state.parameters, parameters_.begin());
  std::ranges::copy(state.target, target_.begin());
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  guard_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
