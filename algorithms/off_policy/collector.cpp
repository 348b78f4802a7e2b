#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "runtime/service/progress.hpp"

namespace troupe {

transition_widths widths_of(const network_shape& shape) {
  return {.obs = static_cast<std::size_t>(shape.obs_size),
          .action = static_cast<std::size_t>(shape.continuous_size),
          .choices = static_cast<std::size_t>(shape.choice_count()),
          .agents = shape.agents.size()};
}

namespace {

/// The scale of actions that are only floats.
action_scale scale_of(const env_spec& spec, const network_shape& shape) {
  const bool floats = shape.policies.empty() ? spec.action_space.get_if<spaces::box>() != nullptr
                                             : shape.choice_count() == 0;
  return floats ? action_scale(spec.action_space) : action_scale();
}

/// Throws std::invalid_argument for several agents that a collector can't have.
void require_agents(const collector_options& options) {
  if (options.n_step > 1) {
    throw std::invalid_argument(
        fmt::format("collector: n_step: expected 1 with several agents, got {}", options.n_step));
  }
  const bool floats = options.shape.is_continuous();
  for (const auto& policy : options.shape.policies) {
    const auto own = shape_of(policy);
    if (floats ? own.is_continuous() && own.choice_count() == 0
               : own.discrete_actions > 0 && own.action_size() == 1) {
      continue;
    }
    throw std::invalid_argument(
        fmt::format("collector: policy \"{}\": expected agents with one choice, or continuous "
                    "actions of all agents, got {}",
                    policy.name, to_string(own)));
  }
  if (floats && options.agents.own_steps) {
    throw std::invalid_argument("collector: own_steps: expected false with continuous actions");
  }
}

/// Returns which floats of the environment's action explore, [A], those of policies that do.
std::vector<std::uint8_t> exploring_floats(const network_shape& shape,
                                           const std::vector<std::uint8_t>& explores) {
  std::vector<std::uint8_t> floats(static_cast<std::size_t>(shape.continuous_size));
  for (const auto& agent : shape.agents) {
    const auto index = static_cast<std::size_t>(agent.policy);
    const auto& policy = shape.policies[index];
    const bool does = policy.script.empty() && (explores.empty() || explores[index] != 0);
    std::fill_n(floats.begin() + agent.floats_begin, policy.continuous_size, does);
  }
  return floats;
}

/// Takes the memory for so many rows at once, which would grow in many steps else.
void reserve(transition_rows& rows, std::size_t count, const transition_widths& widths) {
  const auto each = [count](const char*, std::size_t width, auto& column) {
    column.reserve(count * width);
  };
  for_each_column(widths, each, rows);
  for_each_place_column(each, rows);
  each("episode", 1, rows.episode);
}

}  // namespace

collector::collector(const replica_info& info, collector_options options,
                     service<weight_store> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      environments_(info, options_.environments, options_.environment_seed, options_.observers,
                    options_.discount_rewards ? std::optional(options_.gamma) : std::nullopt),
      scale_(scale_of(environments_.spec(), options_.shape)),
      choices_(environments_.spec().action_space),
      count_(environments_.size()),
      noise_(options_.explore.noise, count_,
             static_cast<std::size_t>(options_.shape.action_size())),
      random_(derived_seed(options_.seed, "collector", {info.index, info.generation})) {
  first_environment_ = static_cast<std::uint32_t>(info.index * count_);
  // Episode numbers differ from those of this replica's predecessor, whose collections may still be
  // on their way to the replay.
  const auto first_episode = derived_seed(options_.seed, "episodes", {info.index, info.generation});
  at_.resize(count_, {.episode = static_cast<std::uint32_t>(first_episode)});
  const auto widths = widths_of(options_.shape);
  taken_.resize(count_ * widths.action);
  choice_.resize(count_ * widths.choices);
  if (options_.shape.policies.empty()) {
    network_.emplace(options_.shape, options_.network);
  } else {
    serve_agents();
  }
  for (std::size_t i = 0; options_.n_step > 1 && i < count_; ++i) {
    sums_.emplace_back(options_.n_step, options_.gamma);
  }
}

/// Makes what the constructor makes for several agents alone.
void collector::serve_agents() {
  require_agents(options_);
  const auto& agents = options_.agents;
  const auto script = [&agents](scripted_policy_request of) {
    of.env_options = agents.env_options;
    return make_scripted_policy(of);
  };
  constexpr std::uint64_t any_seed = 0;  // the store's weights replace the initial ones
  policies_.emplace(options_.shape, options_.network, environments_.spec().action_space, any_seed,
                    script);
  explore_.policies = agents.explores;
  float_explores_ = exploring_floats(options_.shape, agents.explores);
  results_ = agent_results(options_.shape, agents.reward_shares, agents.limits_end);
  const auto varies = [](const agent_view& agent) { return agent.active >= 0; };
  if (agents.own_steps && std::ranges::any_of(options_.shape.agents, varies)) {
    const auto discount = agents.reward_after_end ? std::optional(options_.gamma) : std::nullopt;
    agent_steps_.assign(count_, agent_steps(discount));
  }
}

task<> collector::catch_up() {
  auto newest = co_await store_.route<&weight_store::latest>();
  update(std::move(newest));
}

void collector::update(weights fresh) {
  if (fresh.version <= version_) return;
  if (network_) {
    network_->load_parameters(fresh.parameters);
  } else {
    policies_->load_parameters(fresh.parameters);
  }
  version_ = fresh.version;
}

void collector::choose(std::span<const float> obs, std::int64_t step) {
  const auto& explore = options_.explore;
  bool at_random = step < explore.learning_starts;
  if (policies_ && !taken_.empty()) return choose_floats(obs, at_random);
  if (policies_) {
    explore_.share = at_random ? 1.0 : explore.epsilon.at(step, explore.total_steps);
    policies_->choose(obs.data(), static_cast<int>(count_), random_, explore_, choice_.data());
    return;
  }
  if (!choice_.empty() && !at_random) {  // one draw for all environments, as in Stable-Baselines3
    at_random = random_.uniform() < explore.epsilon.at(step, explore.total_steps);
  }
  if (!at_random) {
    network_->act(obs.data(), static_cast<int>(count_), random_, false,
                  {choice_.data(), taken_.data()});
    return;
  }
  const auto choices = static_cast<std::uint64_t>(std::max(options_.shape.discrete_actions, 1));
  for (auto& c : choice_) c = static_cast<std::int64_t>(random_.below(choices));
  for (auto& a : taken_) a = static_cast<float>(2 * random_.uniform() - 1);
}

/// Chooses the continuous actions of several agents, with noise or at random for those that
/// explore.
void collector::choose_floats(std::span<const float> obs, bool at_random) {
  policies_->act(obs.data(), static_cast<int>(count_), random_, true, {nullptr, taken_.data()});
  scale_.shrink(taken_.data(), count_);
  best_ = taken_;
  if (at_random) {
    for (auto& a : taken_) a = static_cast<float>(2 * random_.uniform() - 1);
  }
  noise_.add(taken_, random_);
  const auto width = float_explores_.size();
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!float_explores_[i % width]) taken_[i] = best_[i];
  }
}

void collector::draw_noise(std::int64_t t) {
  const int every = options_.network.sde_sample_freq;
  if (network_ && (t == 0 || (every > 0 && t % every == 0))) {
    network_->draw_noise(static_cast<int>(count_), random_);
  }
}

env_actions collector::act(std::span<const float> obs, std::int64_t step) {
  choose(obs, step);
  if (!policies_) noise_.add(taken_, random_);
  env_actions actions{choice_, taken_};
  choices_.to_environment(actions.discrete);
  if (!taken_.empty()) scale_.stretch(actions.continuous.data(), count_);
  return actions;
}

void collector::append(transition_rows& to, std::span<const float> before, const env_step& after) {
  const auto width = static_cast<std::size_t>(options_.shape.obs_size);
  for (std::size_t i = 0; i < count_; ++i) {
    const float* next = after.obs.data() + i * width;
    for (const auto& ended : after.finished) {
      if (ended.index == i) next = ended.final_obs.data();
    }
    bool failed = false;
    for (const auto& failure : after.failures) {
      failed = failed || (failure.index == i && !failure.at_reset);
    }
    if (!failed) {
      append_row(to, i, before.data() + i * width, next, after);
    } else if (!sums_.empty()) {
      sums_[i].clear();
    } else if (!agent_steps_.empty()) {
      agent_steps_[i].clear();
    }
    if (failed || after.terminated[i] != 0 || after.truncated[i] != 0) {
      at_[i].begin_another();
    } else {
      ++at_[i].step;
    }
  }
}

void collector::append_row(transition_rows& to, std::size_t i, const float* before,
                           const float* next, const env_step& after) {
  const auto widths = widths_of(options_.shape);
  const auto put = [](auto& column, const auto* row, std::size_t n) {
    column.insert(column.end(), row, row + n);
  };
  const auto end = after.terminated[i] != 0  ? episode_end::terminated
                   : after.truncated[i] != 0 ? episode_end::truncated
                                             : episode_end::none;
  if (policies_) return append_agents(to, i, before, next, after, end);
  if (sums_.empty()) {
    put(to.obs, before, widths.obs);
    put(to.action, taken_.data() + i * widths.action, widths.action);
    put(to.choice, choice_.data() + i * widths.choices, widths.choices);
    to.reward.push_back(static_cast<float>(after.reward[i]));
    put(to.next_obs, next, widths.obs);
    to.terminated.push_back(after.terminated[i]);
    to.discount.push_back(static_cast<float>(options_.gamma));
    append_place(to, i, at_[i].step, end);
    return;
  }
  sum_of_steps::input step{.obs = {before, before + widths.obs},
                           .reward = after.reward[i],
                           .next_obs = {next, next + widths.obs},
                           .terminated = after.terminated[i] != 0,
                           .truncated = after.truncated[i] != 0};
  put(step.action.taken, taken_.data() + i * widths.action, widths.action);
  if (widths.choices > 0) step.action.choice = choice_[i];
  for (const auto& sum : sums_[i].add(std::move(step))) {
    put(to.obs, sum.obs.data(), widths.obs);
    put(to.action, sum.action.taken.data(), widths.action);
    put(to.choice, &sum.action.choice, widths.choices);
    to.reward.push_back(static_cast<float>(sum.reward));
    put(to.next_obs, sum.next_obs.data(), widths.obs);
    to.terminated.push_back(sum.terminated);
    to.discount.push_back(static_cast<float>(std::pow(options_.gamma, sum.steps)));
    append_place(to, i, at_[i].step - static_cast<std::uint32_t>(sum.steps - 1),
                 sum.steps == 1 ? end : episode_end::none);
  }
}

/// Throws std::runtime_error if an agent that acted after `before` [D] waits for its next turn:
/// central critics of continuous actions learn from single steps, which have no next value of it.
void collector::refuse_turns(const float* before) {
  const auto& agents = options_.shape.agents;
  for (std::size_t agent = 0; agent < agents.size(); ++agent) {
    const auto active = static_cast<std::size_t>(std::max(agents[agent].active, 0));
    const bool waits = agents[agent].active >= 0 && before[active] != 0 &&
                       results_.next()[active] == 0 && results_.terminated()[agent] == 0 &&
                       results_.cut()[agent] == 0;
    if (!waits) continue;
    throw std::runtime_error(fmt::format(
        "{}: agent \"{}\": expected an agent with continuous actions to act in every step until "
        "its end, got one that waits for its turn; ippo and mappo learn with agents that act in "
        "turn",
        environments_.spec().id, agents[agent].name));
  }
}

/// Appends the row of several agents, or those that this step completes with own_steps.
void collector::append_agents(transition_rows& to, std::size_t i, const float* before,
                              const float* next, const env_step& after, episode_end end) {
  const auto widths = widths_of(options_.shape);
  const auto put = [](auto& column, const auto& row) {
    column.insert(column.end(), row.begin(), row.end());
  };
  const std::span choices(choice_.data() + i * widths.choices, widths.choices);
  results_.take(after, i, before, next);
  if (options_.shape.is_continuous()) refuse_turns(before);
  if (agent_steps_.empty()) {
    put(to.obs, std::span(before, widths.obs));
    put(to.action, std::span(taken_).subspan(i * widths.action, widths.action));
    put(to.choice, choices);
    to.reward.push_back(static_cast<float>(after.reward[i]));
    put(to.next_obs, results_.next());
    to.terminated.push_back(results_.all_terminated());
    to.discount.push_back(static_cast<float>(options_.gamma));
    put(to.agent_reward, results_.reward());
    put(to.agent_terminated, results_.terminated());
    append_place(to, i, at_[i].step, end);
    return;
  }
  agent_steps::joined step{.obs = {before, before + widths.obs},
                           .choice = {choices.begin(), choices.end()},
                           .reward = after.reward[i],
                           .terminated = results_.all_terminated(),
                           .step = at_[i].step,
                           .end = end};
  for (const auto& joined : agent_steps_[i].add(std::move(step), results_)) {
    put(to.obs, joined.obs);
    put(to.choice, joined.choice);
    to.reward.push_back(static_cast<float>(joined.reward));
    put(to.next_obs, joined.next_obs);
    to.terminated.push_back(joined.terminated);
    to.discount.push_back(static_cast<float>(options_.gamma));
    put(to.agent_reward, joined.agent_reward);
    put(to.agent_terminated, joined.agent_terminated);
    append_place(to, i, joined.step, joined.end);
  }
}

void collector::append_place(transition_rows& to, std::size_t i, std::uint32_t step,
                             episode_end end) const {
  to.environment.push_back(first_environment_ + static_cast<std::uint32_t>(i));
  to.episode.push_back(at_[i].episode);
  to.step.push_back(step);
  to.ended.push_back(static_cast<std::uint8_t>(end));
}

void collector::begin_episodes() {
  for (auto& sums : sums_) sums.clear();
  for (auto& steps : agent_steps_) steps.clear();
  for (auto& at : at_) at.begin_another();
}

collected_transitions collector::collect(std::int64_t first, std::int64_t steps) {
  collected_transitions made;
  made.version = version_;
  auto seen = environments_.observe();
  if (seen.begun) begin_episodes();
  auto obs = std::move(seen.rows);
  const auto count = static_cast<std::int64_t>(count_);
  reserve(made.rows, static_cast<std::size_t>(steps * count), widths_of(options_.shape));
  for (std::int64_t t = 0; t < steps; ++t) {
    draw_noise(t);
    auto after = environments_.step(act(obs, first + t * count));
    note_progress();
    append(made.rows, obs, after);
    made.discounted.insert(made.discounted.end(), after.discounted.begin(), after.discounted.end());
    made.steps += count;
    for (auto& e : after.finished) {
      made.episodes.push_back({made.steps, e.episode_return, e.length, std::move(e.info)});
      if (policies_) made.episodes.back().agent_returns = std::move(e.agent_returns);
      noise_.reset(e.index);
    }
    for (const auto& f : after.failures) noise_.reset(f.index);
    obs = std::move(after.obs);
  }
  return made;
}

struct collector::state {
  std::string environments;
  action_random::state_type random;
  std::vector<double> noise;
  std::vector<std::vector<sum_of_steps::output>> sums;  ///< The n-step sums that have begun.
  std::vector<episode_step> at;                         ///< The position of each environment.
};

/// The state with own_steps.
struct collector::agents_state {
  state all;
  std::vector<std::vector<agent_steps::joined>> begun;  ///< [B] The transitions that have begun.
};

std::string collector::save() {
  state now{environments_.save(), random_.state(), noise_.state(), {}, at_};
  for (const auto& each : sums_) now.sums.emplace_back(each.begun().begin(), each.begun().end());
  if (agent_steps_.empty()) return state_bytes(now);
  agents_state with_agents{std::move(now), {}};
  for (const auto& each : agent_steps_) {
    with_agents.begun.emplace_back(each.begun().begin(), each.begun().end());
  }
  return state_bytes(with_agents);
}

void collector::restore(std::string bytes) {
  agents_state read;
  if (agent_steps_.empty()) {
    read.all = state_of<state>(bytes);
  } else {
    read = state_of<agents_state>(bytes);
  }
  auto& saved = read.all;
  const auto widths = widths_of(options_.shape);
  bool fits = saved.sums.size() == sums_.size();
  for (const auto& each : saved.sums) {
    for (const auto& sum : each) {
      fits = fits && sum.obs.size() == widths.obs && sum.action.taken.size() == widths.action;
    }
  }
  if (!fits) {
    throw state_error(
        fmt::format("sums of n steps: expected those of {} environments", sums_.size()));
  }
  if (saved.at.size() != count_) {
    throw state_error(
        fmt::format("saved collector: expected where each of {} environments is, got {}", count_,
                    saved.at.size()));
  }
  fits = read.begun.size() == agent_steps_.size();
  for (const auto& each : read.begun) {
    for (const auto& step : each) {
      fits = fits && step.obs.size() == widths.obs && step.next_obs.size() == widths.obs &&
             step.choice.size() == widths.choices && step.agent_reward.size() == widths.agents &&
             step.agent_terminated.size() == widths.agents && step.waits.size() == widths.agents &&
             step.weight.size() == widths.agents;
    }
  }
  if (!fits) {
    throw state_error(fmt::format("saved collector: expected steps of {} agents in {} environments",
                                  widths.agents, agent_steps_.size()));
  }
  environments_.restore(std::move(saved.environments));
  random_.set_state(saved.random);
  noise_.set_state(std::move(saved.noise));
  at_ = std::move(saved.at);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].set_begun({saved.sums[i].begin(), saved.sums[i].end()});
  }
  for (std::size_t i = 0; i < agent_steps_.size(); ++i) {
    agent_steps_[i].set_begun({read.begun[i].begin(), read.begun[i].end()});
  }
}

}  // namespace troupe
