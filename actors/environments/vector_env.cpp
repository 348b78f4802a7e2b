#include "actors/environments/vector_env.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/environments/agent_layout.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe {

std::string_view to_string(env_failure_reason reason) {
  switch (reason) {
    case env_failure_reason::threw:
      return "threw";
    case env_failure_reason::nonfinite:
      return "nonfinite";
    case env_failure_reason::shape:
      return "shape";
    case env_failure_reason::lost:
      return "lost";
  }
  return "unknown";
}

void vector_environment::rename(const std::string&) {}

void vector_environment::set_level(std::size_t) {}

void vector_environment::set_turns(std::vector<std::size_t>) {}

void vector_environment::set_allowances(const call_allowances&) {}

bool vector_environment::render(std::size_t, canvas&) { return false; }

void vector_environment::set_final_canvas(canvas*) {}

void vector_environment::set_options(const std::string& json) {
  if (json != "{}") detail::refuse_options(spec().id, json);
}

void vector_environment::set_attr(const std::string& name, const std::string&) {
  detail::refuse_attr(spec().id, name);
}

std::optional<std::string> vector_environment::save() { return std::nullopt; }

void vector_environment::restore(const std::string&) {
  throw state_error(spec().id + ": it can't be restored; expected an environment with save");
}

namespace detail {
namespace {

// The number of newly made environments whose first reset may fail before environment_lost is
// thrown.
constexpr int replacements_max = 3;

// Returns the reason and the message of the exception being handled.
std::pair<env_failure_reason, std::string> reason_of_exception() {
  try {
    throw;
  } catch (const wrong_shape& error) {
    return {env_failure_reason::shape, error.what()};
  } catch (const std::exception& error) {
    return {env_failure_reason::threw, error.what()};
  } catch (...) {
    return {env_failure_reason::threw, "an exception that is no std::exception"};
  }
}

// Returns the last failure of environment `i` and the first one, which may be its cause: a step
// before the resets, or the reset of the old environment.
std::string told_of(const std::vector<env_failure>& failures, std::size_t i) {
  const auto& last = failures.back().message;
  const auto first = std::ranges::find(failures, i, &env_failure::index);
  if (first->message == last) return last;
  return fmt::format("{}; the first failure was that of {}: {}", last,
                     first->at_reset ? "a reset" : "a step", first->message);
}

std::size_t checked_size(std::size_t size, const env_spec& spec) {
  if (size == 0)
    throw std::invalid_argument(spec.id + ": expected a batch of at least 1 environment, got 0");
  return size;
}

}  // namespace

vector_env_base::vector_env_base(std::size_t size, const env_spec& spec)
    : spec_(spec),
      obs_size_(spec.observation_space.flat_size()),
      limit_(spec.max_episode_steps.value_or(-1)),
      checker_(spec, checked_size(size, spec)),
      layout_(spec),
      agents_(layout_.count()),
      episodes_(size),
      agent_sums_(size * agents_),
      agents_ended_(size * agents_),
      level_(spec.levels - 1) {
  if (spec.levels < 1) throw std::invalid_argument(spec.id + ": expected a level or more, got 0");
  if (spec.max_episode_steps && limit_ < 1)
    throw std::invalid_argument(
        fmt::format("{}: expected max_episode_steps >= 1, got {}", spec.id, limit_));
}

void vector_env_base::rename(const std::string& id) {
  spec_.id = id;
  checker_.rename(id);
}

void vector_env_base::set_level(std::size_t level) {
  if (level >= spec_.levels)
    throw std::invalid_argument(
        fmt::format("{}: expected a level below {}, got {}", spec_.id, spec_.levels, level));
  level_ = level;
}

void vector_env_base::set_turns(std::vector<std::size_t> turns) {
  if (turns.empty()) throw std::invalid_argument(spec_.id + ": expected a turn or more, got none");
  for (const auto task : turns)
    if (task >= spec_.tasks.size())
      throw std::invalid_argument(
          fmt::format("{}: expected a task below {}, got {}", spec_.id, spec_.tasks.size(), task));
  turns_ = std::move(turns);
  turn_ = 0;
}

vector_env_base::episode vector_env_base::next_episode(std::size_t i) {
  episode next{.level = level_};
  if (!turns_.empty()) {
    next.task = turns_[turn_];
    turn_ = (turn_ + 1) % turns_.size();
  } else if (!spec_.tasks.empty()) {
    next.task = i % spec_.tasks.size();
  }
  return next;
}

void vector_env_base::tell_choice(std::size_t i) {
  if (spec_.levels > 1) at(i).set_level(episodes_[i].level);
  if (!spec_.tasks.empty()) at(i).set_task(episodes_[i].task);
}

void vector_env_base::set_allowances(const call_allowances& of) { allowances_ = of; }

void vector_env_base::allow(duration allowance) const {
  if (allowances_.note_progress) allowances_.note_progress(allowance);
}

env_reset vector_env_base::reset(std::optional<std::uint64_t> seed) {
  allow(allowances_.reset);
  // Environment 0 is seeded with `seed` itself and would draw the same numbers, so a seed derived
  // from it is used here.
  if (seed) replacement_seeds_ = numpy_random(derived_seed(*seed, "replacements"));
  env_reset out;
  obs_rows rows(size(), obs_size_);
  for (std::size_t i = 0; i < size(); ++i)
    begin_episode(i, seed ? std::optional(*seed + i) : std::nullopt, rows, out.failures);
  was_reset_ = true;
  out.obs = std::move(rows).take();
  return out;
}

/// The saved state. `environments` holds each environment's own state as its `save` wrote it.
struct vector_env_base::state {
  std::vector<std::string> environments;
  std::vector<episode> episodes;
  std::vector<double> agent_sums;
  std::vector<std::uint8_t> agents_ended;
  std::size_t level;               ///< The level of the episodes that begin next.
  std::vector<std::size_t> turns;  ///< See set_turns.
  std::size_t turn;
  numpy_random_state replacement_seeds;
  bool was_reset;
};

std::optional<std::string> vector_env_base::save() {
  state all{.environments = {},
            .episodes = episodes_,
            .agent_sums = agent_sums_,
            .agents_ended = agents_ended_,
            .level = level_,
            .turns = turns_,
            .turn = turn_,
            .replacement_seeds = replacement_seeds_.save(),
            .was_reset = was_reset_};
  for (std::size_t i = 0; i < size(); ++i) {
    state_writer one;
    if (!at(i).save(one)) return std::nullopt;
    all.environments.push_back(one.bytes());
  }
  return state_bytes(all);
}

void vector_env_base::restore(const std::string& bytes) {
  auto all = state_of<state>(bytes);
  if (all.environments.size() != size() || all.episodes.size() != size() ||
      all.agent_sums.size() != agent_sums_.size() ||
      all.agents_ended.size() != agents_ended_.size())
    throw state_error(fmt::format("{}: expected the state of {} environments, got that of {}",
                                  spec_.id, size(), all.environments.size()));
  check_choice(all);
  episodes_ = std::move(all.episodes);
  agent_sums_ = std::move(all.agent_sums);
  agents_ended_ = std::move(all.agents_ended);
  level_ = all.level;
  turns_ = std::move(all.turns);
  turn_ = all.turn;
  for (std::size_t i = 0; i < size(); ++i) {
    if (has_choice()) tell_choice(i);
    at(i).restore(state_reader(all.environments[i]));
  }
  replacement_seeds_.restore(all.replacement_seeds);
  was_reset_ = all.was_reset;
}

void vector_env_base::check_choice(const state& of) const {
  const auto is_level = [this](std::size_t level) { return level < spec_.levels; };
  const auto is_task = [this](std::size_t task) {
    return task < std::max<std::size_t>(spec_.tasks.size(), 1);
  };
  const auto fits = [&](const episode& e) { return is_level(e.level) && is_task(e.task); };
  if (is_level(of.level) && std::ranges::all_of(of.episodes, fits) &&
      std::ranges::all_of(of.turns, is_task) && (of.turns.empty() || of.turn < of.turns.size())) {
    return;
  }
  throw state_error(fmt::format("{}: expected the state of {} levels and {} tasks, got another",
                                spec_.id, spec_.levels, spec_.tasks.size()));
}

env_step vector_env_base::step(env_actions actions) {
  env_step out;
  step_into(actions, out);
  return out;
}

vector_env_base::batch_step vector_env_base::begin_step(env_actions& actions, env_step& out) {
  if (!was_reset_)
    throw std::logic_error(spec_.id + ": expected a reset before the first step, got none");
  checker_.check(actions);
  allow(allowances_.step);
  out.reward.assign(size(), 0);
  out.terminated.assign(size(), 0);
  out.truncated.assign(size(), 0);
  out.agent_reward.assign(agent_sums_.size(), 0);
  out.agent_ended.assign(agents_ended_.size(), 0);
  out.finished.clear();
  out.failures.clear();
  out.process_replaced.reset();
  return {actions, obs_rows(size(), obs_size_, std::move(out.obs)), out};
}

void vector_env_base::end_step(batch_step& batch) { batch.out.obs = std::move(batch.rows).take(); }

void vector_env_base::set_options(const std::string& json) {
  for (std::size_t i = 0; i < size(); ++i) at(i).set_options(json);
}

void vector_env_base::set_attr(const std::string& name, const std::string& json) {
  for (std::size_t i = 0; i < size(); ++i) at(i).set_attr(name, json);
}

void vector_env_base::settle_agents(env_step& out, std::size_t i, std::span<const float> last,
                                    bool at_limit) {
  const auto steps = at(i).agent_steps();
  for (std::size_t a = 0; a < agents_; ++a) {
    const auto place = i * agents_ + a;
    auto ended = steps[a].ended;
    if (at_limit && ended == episode_end::none && !agents_ended_[place])
      ended = episode_end::truncated;
    out.agent_reward[place] = steps[a].reward;
    out.agent_ended[place] = static_cast<std::uint8_t>(ended);
    agent_sums_[place] += steps[a].reward;
    agents_ended_[place] |= static_cast<std::uint8_t>(ended != episode_end::none);
    // An agent that acts again has begun another episode.
    if (ended == episode_end::none && layout_.active().size > 0 && layout_.acts(last, a))
      agents_ended_[place] = 0;
  }
}

void vector_env_base::finish(batch_step& batch, std::size_t i, const step_result& last) {
  if (final_canvas_) at(i).render(*final_canvas_);
  const auto obs = batch.rows.row(i);
  auto info = at(i).info();
  if (last.success) info["is_success"] = *last.success ? 1 : 0;
  const auto sums = std::span(agent_sums_).subspan(i * agents_, agents_);
  batch.out.finished.push_back({.index = i,
                                .episode_return = episodes_[i].sum,
                                .length = episodes_[i].length,
                                .final_obs = {obs.begin(), obs.end()},
                                .level = episodes_[i].level,
                                .task = episodes_[i].task,
                                .success = last.success.value_or(last.terminated),
                                .info = std::move(info),
                                .agent_returns = {sums.begin(), sums.end()}});
  begin_next_episode(batch, i);
}

void vector_env_base::drop_thrown(batch_step& batch, std::size_t i) {
  auto [reason, message] = reason_of_exception();
  batch.out.failures.push_back(failure_of(i, reason, std::move(message), false));
  begin_next_episode(batch, i);
}

void vector_env_base::drop_faulty(batch_step& batch, std::size_t i, double reward) {
  std::pair fault{env_failure_reason::nonfinite,
                  fmt::format("expected a finite reward{}, got {}",
                              std::isfinite(reward) ? " that a float of 32 bits has" : "", reward)};
  if (!batch.rows.good(i)) fault = batch.rows.fault(i);
  batch.out.failures.push_back(failure_of(i, fault.first, std::move(fault.second), false));
  begin_next_episode(batch, i);
}

void vector_env_base::begin_next_episode(batch_step& batch, std::size_t i) {
  allow(allowances_.reset);
  begin_episode(i, std::nullopt, batch.rows, batch.out.failures);
  allow(allowances_.step);
}

void vector_env_base::begin_episode(std::size_t i, std::optional<std::uint64_t> seed,
                                    obs_rows& rows, failure_list& failures) {
  episodes_[i] = next_episode(i);
  const auto its = static_cast<std::ptrdiff_t>(i * agents_);
  std::fill_n(agent_sums_.begin() + its, agents_, 0.0);
  std::fill_n(agents_ended_.begin() + its, agents_, std::uint8_t{0});
  if (try_reset(i, seed, rows, failures)) return;
  for (int attempt = 0; attempt < replacements_max; ++attempt)
    if (try_replace(i, rows, failures)) return;
  throw environment_lost(fmt::format(
      "environment {} of {}: expected an episode to begin, but its reset failed, and that of {} "
      "newly made ones: {}",
      i, spec_.id, replacements_max, told_of(failures, i)));
}

bool vector_env_base::try_replace(std::size_t i, obs_rows& rows, failure_list& failures) {
  try {
    replace(i);
  } catch (const environment_process_lost&) {
    throw;
  } catch (...) {
    auto [reason, message] = reason_of_exception();
    failures.push_back(failure_of(i, reason, "making it anew: " + message, true));
    return false;
  }
  return try_reset(i, replacement_seeds_.next64(), rows, failures);
}

bool vector_env_base::try_reset(std::size_t i, std::optional<std::uint64_t> seed, obs_rows& rows,
                                failure_list& failures) {
  rows.clear(i);
  try {
    tell_choice(i);
    at(i).reset(seed, rows.row(i));
  } catch (const environment_process_lost&) {
    throw;
  } catch (...) {
    auto [reason, message] = reason_of_exception();
    failures.push_back(failure_of(i, reason, std::move(message), true));
    return false;
  }
  if (rows.good(i)) return true;
  auto [reason, message] = rows.fault(i);
  failures.push_back(failure_of(i, reason, std::move(message), true));
  return false;
}

env_failure vector_env_base::failure_of(std::size_t i, env_failure_reason reason,
                                        std::string message, bool at_reset) const {
  return {.index = i,
          .id = spec_.id,
          .reason = reason,
          .message = std::move(message),
          .at_reset = at_reset};
}

}  // namespace detail
}  // namespace troupe
