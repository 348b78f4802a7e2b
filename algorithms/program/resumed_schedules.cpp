#include "algorithms/program/resumed_schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "runtime/base/log.hpp"

namespace troupe::command {
namespace {

using nlohmann::json;

/// The value of a member, or null if there is none.
json member(const json& of, const char* name) {
  return of.is_object() && of.contains(name) ? of[name] : json();
}

double number_in(const json& of, const char* name, double otherwise = 0) {
  const auto found = member(of, name);
  return found.is_number() ? found.get<double>() : otherwise;
}

/// The share of a schedule that has passed after a warm-up.
double passed(double steps, double length, double warmup) {
  return std::clamp((steps - warmup) / std::max(1.0, length - warmup), 0.0, 1.0);
}

schedule falling_rate(std::string option, const json& trainer, const std::string& kind) {
  const double lr = number_in(trainer, "lr"), warmup = number_in(trainer, "warmup_updates");
  const double kept = number_in(trainer, "final_share");
  const bool cosine = kind == "cosine";
  return {.option = std::move(option),
          .at =
              [=](double steps, double length) {
                const double share = passed(steps, length, warmup);
                const double left =
                    cosine ? 0.5 * (1 + std::cos(std::numbers::pi * share)) : 1 - share;
                return lr * (kept + (1 - kept) * left);
              },
          .is_rate = true};
}

/// A value that goes from one number to another in a straight line, over a share of the steps.
schedule straight(std::string option, double first, double last, double share = 1) {
  return {.option = std::move(option), .at = [=](double steps, double length) {
            const double done = share > 0 ? passed(steps, length * share, 0) : 1;
            return first + done * (last - first);
          }};
}

std::int64_t length_of(const json& config) {
  const auto own = member(config, "schedule_steps");
  return own.is_number() ? own.get<std::int64_t>() : config.at("total_steps").get<std::int64_t>();
}

std::string in_words(const schedule& of, const json& config, double length) {
  const auto whole = config.at("total_steps").get<std::int64_t>();
  auto text = fmt::format("{:.3g} to {:.3g} at step {:.0f}", of.at(0, length),
                          of.at(length, length), length);
  if (static_cast<double>(whole) > length)
    text += fmt::format(", then {:.3g} to step {}", of.at(length, length), whole);
  return text;
}

}  // namespace

std::vector<schedule> schedules_of(const json& config) {
  std::vector<schedule> found;
  const auto trainer = member(config, "trainer");
  for (const char* name : {"lr_schedule", "schedule"}) {
    const auto kind = member(trainer, name);
    if (kind == "linear" || kind == "cosine")
      found.push_back(falling_rate(std::string("trainer.") + name, trainer, kind));
  }
  if (member(trainer, "clip_schedule") == "linear")
    found.push_back(straight("trainer.clip_schedule", number_in(trainer, "clip_range"), 0));
  const auto exploration = member(config, "exploration");
  const double first = number_in(exploration, "initial"), last = number_in(exploration, "final");
  if (member(exploration, "fraction").is_number() && first != last)
    found.push_back(straight("exploration", first, last, number_in(exploration, "fraction")));
  const auto priorities = member(member(config, "replay"), "prioritised");
  const double beta = number_in(priorities, "beta"), beta_end = number_in(priorities, "beta_end");
  if (priorities.is_object() && beta != beta_end)
    found.push_back(straight("replay.prioritised.beta", beta, beta_end));
  return found;
}

bool set_schedule_steps(json& document, const json& before, const json& after, bool stretch) {
  if (!after.contains("schedule_steps")) return false;  // a program's own algorithm has none
  const auto longer = after.at("total_steps") > before.at("total_steps");
  auto wanted = after.at("schedule_steps");
  if (stretch) {
    wanted = nullptr;
  } else if (longer && wanted.is_null()) {
    wanted = before.at("total_steps");
  }
  if (wanted == after.at("schedule_steps")) return false;
  document["schedule_steps"] = wanted;
  return true;
}

void tell_schedules(const json& before, const json& after, std::int64_t made) {
  if (before.at("total_steps") == after.at("total_steps") && length_of(before) == length_of(after))
    return;
  const auto was = static_cast<double>(length_of(before));
  const auto becomes = static_cast<double>(length_of(after));
  const auto steps = static_cast<double>(made);
  for (const auto& each : schedules_of(after)) {
    if (was != becomes) {
      log::info("a schedule is planned anew for the later end",
                {{"schedule", each.option},
                 {"was", in_words(each, before, was)},
                 {"becomes", in_words(each, after, becomes)},
                 {fmt::format("at_step_{}", made),
                  fmt::format("{:.3g} -> {:.3g}", each.at(steps, was), each.at(steps, becomes))}});
    } else if (each.is_rate && each.at(becomes, becomes) == 0) {
      log::warn(
          "the learning rate stays 0 after the earlier end, so nothing is learned there; "
          "--schedules stretch plans the schedules anew",
          {{"schedule", each.option},
           {"was", in_words(each, before, was)},
           {"becomes", in_words(each, after, becomes)}});
    } else {
      log::info(
          "a schedule keeps its last value after the earlier end; --schedules stretch plans "
          "the schedules anew",
          {{"schedule", each.option},
           {"was", in_words(each, before, was)},
           {"becomes", in_words(each, after, becomes)}});
    }
  }
}

}  // namespace troupe::command
