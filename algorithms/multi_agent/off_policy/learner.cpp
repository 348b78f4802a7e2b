#include "algorithms/multi_agent/off_policy/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/gradients/engine.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/multi_agent/off_policy/rule.hpp"

namespace troupe {
namespace {

std::size_t size_of(const std::unique_ptr<value_mixer>& mixer) {
  return mixer ? static_cast<std::size_t>(mixer->layout().count) : 0;
}

}  // namespace

joint_q_learner::joint_q_learner(const char* name, const network_shape& shape,
                                 const joint_q_options& options, std::uint64_t seed,
                                 std::vector<std::uint8_t> trained,
                                 std::unique_ptr<value_mixer> mixer)
    : learner(name, learning_of(options), seed),
      options_(checked_options(options, name)),
      networks_(shape, options.network),
      trained_(std::move(trained)),
      mixer_(std::move(mixer)),
      parameters_(networks_.parameter_count() + size_of(mixer_)),
      target_(parameters_.size()),
      trained_block_("", parameters_.size(),
                     {.eps = options_.adam_eps, .max_grad_norm = options_.max_grad_norm},
                     std::span<const parameter_range>(optimised_parts())),
      graph_(make_graph(options.backend, networks_.stacks())),
      reward_scale_(options.normalize_reward, mixer_ ? 1 : networks_.agents()) {
  networks_.initialise(random(), options_.network.ortho_init, parameters_.data());
  if (mixer_) mixer_->initialise(random(), parameters_.data() + networks_.parameter_count());
  target_ = parameters_;
}

/// The parameters of each optimiser: those of each policy that learns by itself, or all of a team.
std::vector<parameter_range> joint_q_learner::optimised_parts() const {
  if (mixer_) return {{0, parameters_.size()}};
  std::vector<parameter_range> parts;
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (trained_[i]) parts.push_back({networks_[i].first, networks_[i].stack.parameter_count()});
  }
  return parts;
}

/// Returns whether an agent of the policy acts in some row of the batch.
bool joint_q_learner::acts(std::size_t policy) const {
  const auto agents = networks_.agents();
  for (const auto agent : networks_.rows().agents_of(policy)) {
    for (auto at = agent; at < rows_.acts.size(); at += agents) {
      if (rows_.acts[at] != 0) return true;
    }
  }
  return false;
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
  auto& td_errors = report().td_errors;
  td_errors.resize(static_cast<std::size_t>(error.rows()));
  for (std::size_t row = 0; row < td_errors.size(); ++row) {
    float sum = 0.0f, acting = mixer_ ? 1.0f : 0.0f;
    for (auto at = row * columns; at < (row + 1) * columns; ++at) {
      sum += sizes[at];
      if (!mixer_) acting += rows_.acts[at];
    }
    td_errors[row] = acting > 0 ? sum / acting : 0.0f;
  }
}

void joint_q_learner::check_batch(const transition_batch& batch) const {
  check(batch, networks_.shape());
}

bool joint_q_learner::step(const transition_batch& batch) {
  gather_rows(batch, networks_, trained_, rows_);
  graph_->clear();
  const auto [loss, q_mean, error] =
      joint_q_loss(*graph_, networks_, mixer_.get(), trained_block_.of(parameters_), {target_},
                   scaled(batch), rows_, options_.double_q);
  take_errors(error);
  report().metrics = {{"train/loss", graph_->number(loss)},
                      {"train/q_mean", graph_->number(q_mean)}};
  due_.clear();
  for (std::size_t i = 0; !mixer_ && i < networks_.policies(); ++i) {
    if (trained_[i]) due_.push_back(acts(i));
  }
  const double norm =
      trained_block_.minimise(loss, parameters_, report().learning_rate, guard(), due_);
  if (std::isnan(norm)) return false;
  report().metrics.push_back({"train/grad_norm", norm});
  return true;
}

void joint_q_learner::update_target(std::int64_t times) {
  polyak_average(std::as_const(parameters_), options_.tau, target_, times);
}

std::span<const float> joint_q_learner::acting() const {
  return std::span(parameters_).first(networks_.parameter_count());
}

named_tensors joint_q_learner::beside() const {
  if (!mixer_) return {};
  return tensors_of(mixer_->layout(), parameters_.data() + networks_.parameter_count());
}

void joint_q_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  expect_size_of(acting);
  if (mixer_ && mixer_->layout().count > 0 && !beside.empty()) {
    copy_tensors(mixer_->layout(), beside, parameters_.data() + networks_.parameter_count());
  }
  std::ranges::copy(acting, parameters_.begin());
  target_ = parameters_;
}

void joint_q_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("parameters", parameters_);
  visit("target", target_);
  trained_block_.visit_state(visit);
  visit("reward_scale", reward_scale_);
}

}  // namespace troupe
