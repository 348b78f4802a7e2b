#include "algorithms/off_policy/agent_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <stdexcept>

#include "actors/networks/joint_shape.hpp"

namespace troupe {
namespace {

/// Rewards whose discount is smaller count nothing after an agent's end, so that a step of an
/// agent that has ended does not keep all later ones of a long episode waiting.
constexpr float negligible = 1e-3f;

}  // namespace

agent_results::agent_results(const network_shape& shape, std::vector<double> shares,
                             bool limits_end)
    : shape_(shape),
      shares_(std::move(shares)),
      limits_end_(limits_end),
      reward_(shape.agents.size()),
      terminated_(shape.agents.size()),
      cut_(shape.agents.size()) {
  const auto count = shape.agents.size();
  if (shares_.empty() || shares_.size() == count * count) return;
  throw std::invalid_argument(fmt::format(
      "agents: expected shares of the rewards of {} agents for each of them, got {} numbers", count,
      shares_.size()));
}

void agent_results::take(const env_step& after, std::size_t i, const float* before,
                         const float* next) {
  const auto count = shape_.agents.size();
  const auto rewards = std::span(after.agent_reward).subspan(i * count, count);
  const auto ends = std::span(after.agent_ended).subspan(i * count, count);
  const bool over = after.terminated[i] != 0 || after.truncated[i] != 0;
  all_terminated_ = after.terminated[i] != 0 || (limits_end_ && over);
  next_.assign(next, next + shape_.obs_size);
  for (std::size_t agent = 0; agent < count; ++agent) {
    double reward = rewards[agent];
    if (!shares_.empty()) {
      reward = 0;
      for (std::size_t k = 0; k < count; ++k) reward += shares_[agent * count + k] * rewards[k];
    }
    const auto end = static_cast<episode_end>(ends[agent]);
    const bool cut = end == episode_end::truncated && !limits_end_;
    reward_[agent] = static_cast<float>(reward);
    terminated_[agent] = (end != episode_end::none || over) && !cut ? 1.0f : 0.0f;
    cut_[agent] = cut;
    const int active = shape_.agents[agent].active;
    if (cut && active >= 0 && would_act_next(shape_.agents, agent, before, next)) {
      next_[static_cast<std::size_t>(active)] = 1.0f;
    }
  }
}

/// Adds the agent's reward to its last step, and completes that step if the agent acts again or has
/// ended.
void agent_steps::settle(std::size_t agent, const agent_results& of, bool over) {
  const auto waits = [agent](const joined& step) { return step.waits[agent] != 0; };
  const auto reversed = std::views::reverse(open_);
  const auto last = std::ranges::find_if(reversed, waits);
  if (last == reversed.end()) return;
  auto& step = *last;
  auto& weight = step.weight[agent];
  step.agent_reward[agent] += weight * of.reward()[agent];
  const auto& view = of.shape().agents[agent];
  const auto next = of.next();
  const bool cut = of.cut()[agent] != 0;
  const bool terminated = of.terminated()[agent] != 0 || weight < 1;
  if (discount_after_end_ && terminated && !over) {
    weight *= static_cast<float>(*discount_after_end_);
    if (weight >= negligible) return;
  }
  const bool acts = view.active < 0 || next[static_cast<std::size_t>(view.active)] != 0;
  if (!acts && !cut && !terminated && !over) return;
  const auto copy = [&](int begin, int size) {
    std::copy_n(next.begin() + begin, size, step.next_obs.begin() + begin);
  };
  copy(view.obs_begin, view.obs_size);
  copy(view.mask_begin, of.shape().policies[static_cast<std::size_t>(view.policy)].mask_size);
  if (view.active >= 0) copy(view.active, 1);
  if (view.active >= 0 && cut) step.next_obs[static_cast<std::size_t>(view.active)] = 1.0f;
  step.agent_terminated[agent] = terminated ? 1.0f : 0.0f;
  step.waits[agent] = 0;
}

/// Completes the last transition of an agent that had ended and acts again, so it gets no more of
/// the rewards after its end.
void agent_steps::end_earlier(std::size_t agent) {
  for (auto& step : open_) {
    if (step.waits[agent] == 0) continue;
    step.agent_terminated[agent] = 1;
    step.waits[agent] = 0;
  }
}

std::vector<agent_steps::joined> agent_steps::add(joined step, const agent_results& of) {
  const auto& agents = of.shape().agents;
  const auto count = agents.size();
  step.agent_reward.assign(count, 0);
  step.agent_terminated.assign(count, 0);
  step.weight.assign(count, 1);
  step.next_obs.assign(of.next().begin(), of.next().end());
  step.waits.clear();
  for (const auto& agent : agents) {
    step.waits.push_back(agent.active < 0 || step.obs[static_cast<std::size_t>(agent.active)] != 0);
  }
  for (std::size_t agent = 0; agent < count; ++agent)
    if (step.waits[agent] != 0) end_earlier(agent);
  const bool over = step.end != episode_end::none;
  open_.push_back(std::move(step));
  for (std::size_t agent = 0; agent < count; ++agent) settle(agent, of, over);
  std::vector<joined> complete;
  while (!open_.empty() && std::ranges::find(open_.front().waits, 1) == open_.front().waits.end()) {
    complete.push_back(std::move(open_.front()));
    open_.pop_front();
  }
  return complete;
}

}  // namespace troupe
