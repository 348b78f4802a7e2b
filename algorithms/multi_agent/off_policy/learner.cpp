#include "algorithms/multi_agent/off_policy/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/networks/allowed_choices.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/learner_checks.hpp"

namespace troupe {
namespace {

bool uses_fused(gradient_backend backend, const joint_q_networks& networks) {
  bool all = true;
  for (std::size_t i = 0; i < networks.policies(); ++i) {
    all = detail::uses_fused(backend, networks[i].stack) && all;
  }
  return all;
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
      fused_(uses_fused(options.backend, networks_)),
      guard_(name, options.max_skipped_steps),
      reward_scale_(options.normalize_reward, mixer_ ? 1 : networks_.agents()),
      passes_(networks_.policies()) {
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

// ---- the gradient by hand ----------------------------------------------------------------------

/// Computes the values of a policy's agents: chosen_ in the batch's rows, next_ in the next ones.
void joint_q_learner::take_values(std::size_t policy, const transition_batch& batch) {
  const auto& of = networks_[policy];
  const auto& net = of.stack.top();
  const auto& members = networks_.rows().agents_of(policy);
  const auto& shape = networks_.shape();
  const auto agents = networks_.agents();
  const int rows = batch.rows * static_cast<int>(members.size());
  auto& with = passes_[policy];
  const auto inputs = static_cast<std::size_t>(rows) * static_cast<std::size_t>(net.inputs());
  const std::span obs(detail::grown(with.obs, inputs), inputs);
  const std::span next_obs(detail::grown(with.next_obs, inputs), inputs);
  networks_.rows().gather_inputs(policy, batch.obs, obs);
  networks_.rows().gather_inputs(policy, batch.next_obs, next_obs);
  const float* online = parameters_.data() + of.first;
  const float* q = net.forward(online, obs.data(), rows, with.online);
  const float* next =
      net.forward(target_.data() + of.first, next_obs.data(), rows, with.next_target);
  const float* chooser =
      options_.double_q ? net.forward(online, next_obs.data(), rows, with.next_online) : next;
  const bool masked = networks_.rows().shape_of_policy(policy).mask_size > 0;
  std::size_t first = 0;  // of the agent's values
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    for (const auto agent : members) {
      const auto at = row * agents + agent;
      const auto choice =
          batch.choice[at - agent + static_cast<std::size_t>(shape.agents[agent].integers_begin)];
      const float* mask = batch.next_obs.data() + row * static_cast<std::size_t>(shape.obs_size) +
                          static_cast<std::size_t>(shape.agents[agent].mask_begin);
      const auto best = detail::best_allowed(chooser + first, masked ? mask : nullptr, of.actions);
      chosen_[at] = flags_.acts[at] ? q[first + static_cast<std::size_t>(choice)] : 0.0f;
      next_[at] = flags_.goes_on[at] ? next[first + static_cast<std::size_t>(best)] : 0.0f;
      first += static_cast<std::size_t>(of.actions);
    }
  }
}

td_loss_metrics joint_q_learner::loss_of_team(const transition_batch& batch) {
  const auto first = networks_.parameter_count();
  const auto rows = static_cast<std::size_t>(batch.rows);
  float* next_total = detail::grown(next_total_, rows);
  float* total = detail::grown(total_, rows);
  float* d_total = detail::grown(d_total_, rows);
  mixer_->mix(target_.data() + first, batch.next_obs.data(), next_.data(), batch.rows, next_total);
  mixer_->mix(parameters_.data() + first, batch.obs.data(), chosen_.data(), batch.rows, total);
  const team_td_rows in{.rows = batch.rows,
                        .q_total = total,
                        .next_total = next_total,
                        .reward = batch.reward.data(),
                        .terminated = batch.terminated.data(),
                        .discount = batch.discount.data(),
                        .weight = batch.weight.empty() ? nullptr : batch.weight.data()};
  const auto metrics = team_td_loss(in, d_total, td_errors_.data());
  mixer_->backward(parameters_.data() + first, batch.obs.data(), chosen_.data(), batch.rows,
                   d_total, d_chosen_.data(), gradient_.data() + first);
  return metrics;
}

td_loss_metrics joint_q_learner::loss_of_agents(const transition_batch& batch) {
  const agent_td_rows in{.rows = batch.rows,
                         .agents = static_cast<int>(networks_.agents()),
                         .policy = networks_.policy_of_agent().data(),
                         .policies = static_cast<int>(networks_.policies()),
                         .acts = flags_.acts.data(),
                         .q = chosen_.data(),
                         .next = next_.data(),
                         .reward = batch.agent_reward.data(),
                         .terminated = batch.agent_terminated.data(),
                         .discount = batch.discount.data(),
                         .weight = batch.weight.empty() ? nullptr : batch.weight.data()};
  return agent_td_loss(in, d_chosen_.data(), td_errors_.data());
}

/// Computes the gradient of a policy from d_chosen_.
void joint_q_learner::go_back(std::size_t policy, const transition_batch& batch) {
  const auto& of = networks_[policy];
  const auto& members = networks_.rows().agents_of(policy);
  const auto& shape = networks_.shape();
  const auto agents = networks_.agents();
  const int rows = batch.rows * static_cast<int>(members.size());
  auto& with = passes_[policy];
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(of.actions);
  float* d_q = detail::grown(with.d_q, size);
  std::fill_n(d_q, size, 0.0f);
  float* d_row = d_q;
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    for (const auto agent : members) {
      const auto at = row * agents + agent;
      const auto choice =
          batch.choice[at - agent + static_cast<std::size_t>(shape.agents[agent].integers_begin)];
      if (flags_.acts[at]) d_row[choice] = d_chosen_[at];
      d_row += of.actions;
    }
  }
  of.stack.top().backward(parameters_.data() + of.first, with.obs.data(), rows, d_q, with.online,
                          gradient_.data() + of.first);
}

td_loss_metrics joint_q_learner::fused_gradient(const transition_batch& batch) {
  const auto size = static_cast<std::size_t>(batch.rows) * networks_.agents();
  for (auto* block : {&chosen_, &next_, &d_chosen_}) detail::grown(*block, size);
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (trained_[i]) take_values(i, batch);
  }
  const auto metrics = mixer_ ? loss_of_team(batch) : loss_of_agents(batch);
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (trained_[i]) go_back(i, batch);
  }
  return metrics;
}

// ---- one step ----------------------------------------------------------------------------------

/// Returns whether an agent of the policy acts in some row of the batch.
bool joint_q_learner::has_rows(const part& of) const {
  if (of.policy < 0) return true;
  const auto agents = networks_.agents();
  for (const auto agent : networks_.rows().agents_of(static_cast<std::size_t>(of.policy))) {
    for (auto at = agent; at < flags_.acts.size(); at += agents) {
      if (flags_.acts[at]) return true;
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
      if (flags_.acts[at]) of_agent.push_back(batch.agent_reward[at]);
    }
    reward_scale_.add(agent, of_agent);
    for (auto at = agent; at < batch.agent_reward.size(); at += agents) {
      scaled_.agent_reward[at] = reward_scale_.apply(agent, batch.agent_reward[at]);
    }
  }
  return scaled_;
}

joint_q_metrics joint_q_learner::update(const transition_batch& given, double progress_remaining,
                                        std::optional<double> chosen_lr) {
  check(given, networks_.shape());
  const detail::flush_denormals flush;
  td_errors_.resize(static_cast<std::size_t>(given.rows));
  detail::flags_of(given, networks_.shape(), trained_, flags_);
  const auto& batch = scaled(given);
  const auto loss = fused_ ? fused_gradient(batch) : libtorch_gradient(batch);
  joint_q_metrics metrics{.loss = loss.loss,
                          .q_mean = loss.q_mean,
                          .learning_rate = chosen_lr.value_or(
                              annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  if (!std::isfinite(static_cast<float>(loss.loss))) {
    metrics.skipped = true;
    guard_.skipped("loss", loss.loss);
  } else {
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
