#include "actors/worlds/task_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

namespace {

[[noreturn]] void refuse(const std::string& id, const std::string& expected, const space& got) {
  throw std::invalid_argument(fmt::format("{}: expected {}, as one of several tasks, got {}", id,
                                          expected, to_string(got)));
}

bool shows_image(const space& observations) {
  if (const auto* box = observations.get_if<spaces::box>()) {
    return box->type == spaces::element::uint8;
  }
  if (const auto* tuple = observations.get_if<spaces::tuple>()) {
    return std::ranges::any_of(tuple->parts, shows_image);
  }
  const auto* dict = observations.get_if<spaces::dict>();
  return dict &&
         std::ranges::any_of(dict->parts, shows_image, &std::pair<std::string, space>::second);
}

/// Returns the action space that holds the actions of all tasks.
space padded_actions(const std::vector<env_spec>& specs) {
  std::int64_t most = 0;
  spaces::box widest;
  for (const auto& spec : specs) {
    const auto* discrete = spec.action_space.get_if<spaces::discrete>();
    const auto* box = spec.action_space.get_if<spaces::box>();
    const bool is_known = box || (discrete && discrete->start == 0);
    if (!is_known) refuse(spec.id, "actions that are Discrete, from 0, or Box", spec.action_space);
    const bool fits = discrete ? widest.low.empty() : most == 0;
    if (!fits)
      refuse(spec.id, fmt::format("actions of the kind that {} has", specs.front().id),
             spec.action_space);
    if (discrete) {
      most = std::max(most, discrete->n);
      continue;
    }
    for (std::size_t i = 0; i < box->low.size(); ++i) {
      if (i == widest.low.size()) {
        widest.low.push_back(box->low[i]);
        widest.high.push_back(box->high[i]);
      }
      widest.low[i] = std::min(widest.low[i], box->low[i]);
      widest.high[i] = std::max(widest.high[i], box->high[i]);
    }
  }
  if (most > 0) return spaces::discrete(most);
  return spaces::box(std::move(widest.low), std::move(widest.high));
}

/// Returns the spec of the environment that has all these tasks.
env_spec padded_spec(std::vector<env_task> tasks, const std::vector<env_spec>& specs) {
  std::size_t widest = 0;
  for (const auto& spec : specs) {
    if (shows_image(spec.observation_space))
      refuse(spec.id, "observations that are no images", spec.observation_space);
    widest = std::max(widest, spec.observation_space.flat_size());
  }
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const auto width = static_cast<std::int64_t>(widest + tasks.size());
  return {.id = name_of(tasks),
          .observation_space = spaces::box(-infinite, infinite, {width}),
          .action_space = padded_actions(specs),
          .tasks = std::move(tasks)};
}

}  // namespace

task_environment::task_environment(std::vector<env_task> tasks,
                                   std::vector<std::unique_ptr<environment>> each) {
  if (tasks.empty() || tasks.size() != each.size())
    throw std::invalid_argument(fmt::format(
        "tasks: expected as many as the {} environments, got {}", each.size(), tasks.size()));
  std::vector<env_spec> specs;
  for (auto& inner : each) {
    const auto spec = inner->spec();
    part one{.obs_size = spec.observation_space.flat_size(),
             .step_limit = spec.max_episode_steps.value_or(-1)};
    if (const auto* discrete = spec.action_space.get_if<spaces::discrete>())
      one.actions = discrete->n;
    if (const auto* box = spec.action_space.get_if<spaces::box>()) {
      one.low = box->low;
      one.high = box->high;
    }
    if (spec.levels > 1) inner->set_level(spec.levels - 1);
    one.inner = std::move(inner);
    parts_.push_back(std::move(one));
    specs.push_back(spec);
  }
  spec_ = padded_spec(std::move(tasks), specs);
}

std::span<float> task_environment::begin_row(std::span<float> obs) const {
  const auto one_hot = obs.last(parts_.size());
  const auto own = obs.first(parts_[task_].obs_size);
  std::fill(obs.begin() + static_cast<std::ptrdiff_t>(own.size()), obs.end(), 0.0F);
  one_hot[task_] = 1;
  return own;
}

void task_environment::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  length_ = 0;
  for (std::size_t i = 0; seed && i < parts_.size(); ++i) {
    if (i == task_) continue;
    std::vector<float> unseen(parts_[i].obs_size);
    parts_[i].inner->reset(seed, unseen);
  }
  parts_[task_].inner->reset(seed, begin_row(obs));
}

step_result task_environment::step_inner(action_view action, std::span<float> obs) {
  auto& of = parts_[task_];
  if (of.actions > 0) {
    const auto choice = std::min(action.discrete(), of.actions - 1);
    return of.inner->step(action_view(choice), obs);
  }
  const auto given = action.continuous().first(of.low.size());
  std::vector<float> own(given.begin(), given.end());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = std::clamp(own[i], of.low[i], of.high[i]);
  return of.inner->step(action_view(std::span<const float>(own)), obs);
}

step_result task_environment::step(action_view action, std::span<float> obs) {
  auto result = step_inner(action, begin_row(obs));
  result.truncated = result.truncated || ++length_ == parts_[task_].step_limit;
  return result;
}

bool task_environment::save(state_writer& to) const {
  std::vector<std::string> each;
  for (const auto& part : parts_) {
    state_writer one;
    if (!part.inner->save(one)) return false;
    each.push_back(one.bytes());
  }
  to.put("tasks", each);
  to.put("length", length_);
  return true;
}

void task_environment::restore(const state_reader& from) {
  const auto each = from.get<std::vector<std::string>>("tasks");
  if (each.size() != parts_.size())
    throw state_error(fmt::format("{}: expected the state of {} tasks, got that of {}", spec_.id,
                                  parts_.size(), each.size()));
  for (std::size_t i = 0; i < each.size(); ++i) parts_[i].inner->restore(state_reader(each[i]));
  from.get("length", length_);
}

std::unique_ptr<vector_environment> make_task_environments(const std::vector<env_task>& tasks,
                                                           std::size_t size,
                                                           const environment_request& each) {
  const auto make = [tasks, each] {
    std::vector<std::unique_ptr<environment>> made;
    for (const auto& task : tasks) {
      auto request = each;
      request.id = task.name;
      made.push_back(make_environment(request));
    }
    return task_environment(tasks, std::move(made));
  };
  return std::make_unique<vector_env<task_environment>>(size, make);
}

std::string name_of(const std::vector<env_task>& tasks) {
  std::string name;
  for (const auto& task : tasks) name += (name.empty() ? "" : "+") + task.name;
  return name;
}

}  // namespace troupe
