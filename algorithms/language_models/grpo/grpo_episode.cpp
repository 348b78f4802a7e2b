#include "algorithms/language_models/grpo/grpo_episode.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "actors/coder/recorded_runs.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "algorithms/language_models/grpo/world_episode.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {
namespace {

sampled_answer answer_of(llm::completion written) {
  return {.tokens = std::move(written.tokens),
          .log_probs = {written.log_probs.begin(), written.log_probs.end()},
          .text = std::move(written.text),
          .truncated = written.finish == llm::finish_reason::length};
}

/// The beginning of a text for the log.
std::string shown(const std::string& text) {
  constexpr std::size_t most = 200;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// The text of an error, or its last line if an error with the same text was told before.
std::string short_if_told(const std::exception_ptr& error) {
  auto text = describe(error);
  if (log::is_new("an answer is dropped\n" + text)) return text;
  return text.substr(text.find_last_of('\n') + 1);
}

/// Logs why an answer is dropped, with its beginning, for the first failures.
void tell_failure(const llm::answered_problem& judged, const std::exception_ptr& error) {
  if (detail::should_tell())
    log::warn("an answer is dropped because its reward or its program failed",
              {{"prompt", shown(judged.asked.question)},
               {"answer", shown(judged.answer)},
               {"error", short_if_told(error)}});
}

/// Throws a lasting_error for a program that a recording does not have: it would not have other
/// answers, either.
void throw_if_missing(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const role_error& e) {
    try {
      if (e.cause()) std::rethrow_exception(e.cause());
    } catch (const missing_run& missing) {
      throw loops::lasting_error(missing.what());
    } catch (...) {
    }
  }
}

/// Returns true if the role has answered. Logs that it failed or was too slow, and throws any other
/// error.
template <class T>
bool came(const llm::answered_problem& judged, const outcome<T>& result) {
  if (result) return true;
  const auto error = result.error();
  if (is_kind(error, error_kind::role_error)) {
    throw_if_missing(error);
    tell_failure(judged, error);
    return false;
  }
  if (!is_kind(error, error_kind::deadline_exceeded)) std::rethrow_exception(error);
  detail::tell_too_late("an answer is dropped because it was not judged in time", error);
  return false;
}

/// An answer that was judged.
struct judged_answer {
  sampled_answer written;
  std::string dropped;  ///< The reason why it is dropped; empty if it is not.
};

/// The rewards of an answer by the functions in Python.
task<outcome<reward_result>> judge_in_python(const answer_roles& r, const task_roles& task,
                                             llm::answered_problem judged,
                                             std::vector<llm::token_id> tokens,
                                             std::int64_t version) {
  auto prompt = r.format->is_letters ? judged.asked.letters : judged.asked.question;
  auto sample = llm::completion_of(judged, std::move(prompt), bool(task.coders));
  sample.completion_ids = std::move(tokens);
  sample.global_step = version;
  sample.max_steps = task.updates;
  if (task.epochs_per_update) sample.epoch = double(version) * *task.epochs_per_update;
  auto result = co_await task.python_rewards.try_route<&python_reward::evaluate>(std::move(sample));
  // A replica that is lost costs its answers alone.
  const auto error = result.error();
  const bool is_lost =
      is_kind(error, error_kind::replica_lost) || is_kind(error, error_kind::poison);
  if (is_lost) co_return std::make_exception_ptr(role_error("rewards", error));
  co_return result;
}

/// Judges one answer, or says why it is dropped.
/// `version` is that of the weights which have answered.
task<judged_answer> judge_answer(const answer_roles& r, const task_roles& task, llm::problem asked,
                                 sampled_answer written, std::int64_t version) {
  llm::answered_problem judged{std::move(asked), written.text};
  if (task.coders) {
    const auto function = judged.asked.function;
    auto call = call_function(code_in(written.text), function);
    const auto ran = co_await task.coders.try_route<&code_runner::run>(std::move(call));
    if (!came(judged, ran)) co_return judged_answer{std::move(written), "coder"};
    if (const auto limit = ran.value().limit; limit != code_limit::none && detail::should_tell())
      log::warn("a program that the model wrote has hit a limit",
                {{"limit", std::string(name_of(limit))}});
    judged.tests_passed = passed_share(ran.value(), function);
  }
  const auto take = [&](const outcome<reward_result>& result) {
    if (!came(judged, result)) return false;
    const auto& reward = result.value();
    written.reward += reward.total;
    written.values.insert(written.values.end(), reward.values.begin(), reward.values.end());
    return true;
  };
  if (task.rewards) {
    const auto result = co_await task.rewards.try_route<&answer_judge::evaluate>(judged);
    if (!take(result)) co_return judged_answer{std::move(written), "reward"};
    written.right = written.values.front();
  }
  if (task.python_rewards) {
    const auto result = co_await judge_in_python(r, task, judged, written.tokens, version);
    if (!take(result)) co_return judged_answer{std::move(written), "reward"};
    if (!task.rewards) written.right = written.reward;
  }
  co_return judged_answer{std::move(written), ""};
}

task<answer_group> ask(const answer_roles& r, prompt_draw drawn) {
  const auto& task_of = r.tasks.at(drawn.task);
  auto group = co_await write_group(r, std::move(drawn));
  auto written = std::exchange(group.answers, {});
  std::vector<judged_answer> judged;
  if (task_of.python_rewards) {  // all at once, as its functions judge batches
    std::vector<task<judged_answer>> under_way;
    for (auto& each : written)
      under_way.push_back(judge_answer(r, task_of, group.asked, std::move(each), group.version));
    judged = co_await all(std::move(under_way));
  } else {
    for (auto& each : written) {
      auto one = co_await judge_answer(r, task_of, group.asked, std::move(each), group.version);
      judged.push_back(std::move(one));
    }
  }
  for (auto& [answer, dropped] : judged) {
    if (dropped.empty()) {
      group.answers.push_back(std::move(answer));
    } else {
      ++group.dropped[dropped];
    }
  }
  co_return group;
}

/// Draws a prompt, and has its task answered or played.
task<answer_group> ask_once(const answer_roles& r) {
  auto drawn = co_await r.prompts.route<&prompt_source::next>();
  const auto which = drawn.task;
  const auto number = drawn.number;
  answer_group group;
  if (r.tasks.at(which).worlds) {
    group = co_await detail::play_group(r, std::move(drawn));
  } else {
    group = co_await ask(r, std::move(drawn));
  }
  group.task = which;
  group.drawn = number;
  co_return group;
}

std::vector<std::string> in_words(const std::map<std::string, std::int64_t>& dropped) {
  std::vector<std::string> words;
  for (const auto& [reason, count] : dropped) words.push_back(fmt::format("{} {}", reason, count));
  return words;
}

}  // namespace

task<answer_group> write_group(answer_roles r, prompt_draw drawn) {
  answer_group group{.asked = std::move(drawn.asked)};
  group.prompt = r.format->prompt_of(group.asked);
  llm::generation_request request{.prompt = group.prompt,
                                  .max_tokens = r.max_completion_tokens,
                                  .sampling = r.sampling,
                                  .stop_ids = r.format->stop_ids()};
  request.sampling.seed = drawn.seed;
  auto written = co_await detail::write_answers(r, std::move(request), r.group);
  if (written.empty()) {
    group.dropped["deadline"] = r.group;
    co_return group;
  }
  group.version = written.front().first_version();
  for (auto& each : written) {
    group.version = std::min(group.version, each.first_version());
    if (detail::has_finite_log_probs(each)) {
      group.answers.push_back(answer_of(std::move(each)));
    } else {
      ++group.dropped["log_prob"];
    }
  }
  co_return group;
}

bool detail::has_finite_log_probs(const llm::completion& written) {
  return std::ranges::all_of(written.log_probs, [](double each) { return std::isfinite(each); });
}

bool detail::should_tell() {
  static std::atomic<int> told = 0;
  return told.fetch_add(1) < 10;
}

void detail::tell_too_late(std::string_view what, const std::exception_ptr& error) {
  log::warn(what, {{"error", describe(error)}, {"option", "rollout.answer_deadline_s"}});
}

task<std::vector<llm::completion>> detail::write_answers(const answer_roles& r,
                                                         llm::generation_request request,
                                                         std::int64_t answers) {
  auto written =
      co_await r.generators.try_route<&llm::generator::generate_group>(std::move(request), answers);
  if (!is_kind(written.error(), error_kind::deadline_exceeded))
    co_return std::move(written).value();
  tell_too_late("answers are dropped because they were not written in time", written.error());
  co_return std::vector<llm::completion>();
}

task<answer_group> generate_answers(answer_roles r) {
  std::optional<loops::update_gate::pass> passed;
  if (r.gate) passed.emplace(co_await r.gate->enter());
  std::map<std::string, std::int64_t> dropped;
  std::int64_t zero_variance = 0;
  for (int round = 1;; ++round) {
    auto group = co_await ask_once(r);
    for (const auto& [reason, count] : group.dropped) dropped[reason] += count;
    const bool none = group.answers.empty();
    const bool in_vain = none || (r.refill_zero_variance && group.has_zero_variance());
    if (!in_vain || (round == r.rounds && (!none || r.may_be_empty))) {
      group.dropped = std::move(dropped);
      group.zero_variance_before = zero_variance;
      co_return group;
    }
    if (round == r.rounds)
      throw std::runtime_error(
          fmt::format("grpo: none of the {} answers to each of {} prompts can be trained on; "
                      "dropped, by reason: {}",
                      r.group, round, fmt::join(in_words(dropped), ", ")));
    zero_variance += !none;
  }
}

}  // namespace troupe
