#include "algorithms/language_models/grpo/world_episode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "actors/random/derived_seed.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe::detail {
namespace {

using table = session<text_world>;

/// The deal that the episodes of a group share.
struct group_deal {
  const task_roles& task;
  text_reset with = {};
  std::vector<llm::token_id> prompt = {};
  wording shown = {};
};

/// One episode of a group.
struct game {
  std::uint64_t seed = 0;  // the seed of sampling
  sampled_answer played;
  std::int64_t version = std::numeric_limits<std::int64_t>::max();
  std::string dropped;  // the reason why it can't be trained on; empty if it can
};

/// The world's step; none if the world has failed or was lost. Throws any other error.
std::optional<text_step> step_of(outcome<text_step> told) {
  if (told) return std::move(told).value();
  const auto error = told.error();
  for (const auto kind : {error_kind::role_error, error_kind::session_lost,
                          error_kind::replica_lost, error_kind::deadline_exceeded}) {
    if (!is_kind(error, kind)) continue;
    log::warn("an episode is dropped because its world failed", {{"error", describe(error)}});
    return std::nullopt;
  }
  std::rethrow_exception(error);
}

/// A session with a world; none if other episodes have held all worlds until the deadline.
task<std::optional<table>> open_table(const task_roles& task_of) {
  const session_options alone{.exclusive = true};
  std::exception_ptr error;
  try {
    co_return co_await task_of.worlds.session(alone);
  } catch (...) {
    error = std::current_exception();
  }
  if (!is_kind(error, error_kind::deadline_exceeded)) std::rethrow_exception(error);
  tell_too_late("an episode is dropped because no world was free in time", error);
  co_return std::nullopt;
}

void add_sampled(game& to, const llm::completion& written) {
  auto& p = to.played;
  p.tokens.insert(p.tokens.end(), written.tokens.begin(), written.tokens.end());
  p.log_probs.insert(p.log_probs.end(), written.log_probs.begin(), written.log_probs.end());
  p.text += written.text;
  p.truncated = p.truncated || written.finish == llm::finish_reason::length;
  to.version = std::min(to.version, written.first_version());
}

/// Adds the words of the next turn. Returns false if the model's context has no room for them and
/// another reply.
bool add_read(const answer_roles& r, const group_deal& deal, game& to, const wording& shown,
              const llm::completion& after) {
  const bool ended = after.finish != llm::finish_reason::length;
  const auto ids = r.format->next_turn(shown, ended);
  auto& p = to.played;
  const auto room = r.format->config.max_positions - std::ssize(deal.prompt) - std::ssize(p.tokens);
  if (std::ssize(ids) >= room) return false;
  llm::append_read(p.tokens, p.read, ids);
  p.text += "\n> " + (r.format->style ? shown.words : shown.letters) + '\n';
  return true;
}

/// The answers to a prompt, from known_replies if they are there. Empty if they were not written in
/// time.
task<std::vector<llm::completion>> write(const answer_roles& r, std::vector<llm::token_id> prompt,
                                         std::uint64_t seed, std::int64_t answers) {
  if (r.known_replies) {
    const auto known = r.known_replies->find(prompt);
    if (known != r.known_replies->end())
      co_return std::vector<llm::completion>(static_cast<std::size_t>(answers), known->second);
  }
  llm::generation_request request{.prompt = prompt,
                                  .max_tokens = r.max_completion_tokens,
                                  .sampling = r.sampling,
                                  .stop_ids = r.format->stop_ids()};
  request.sampling.seed = seed;
  auto written = co_await write_answers(r, std::move(request), answers);
  if (r.known_replies && !written.empty())
    r.known_replies->emplace(std::move(prompt), written.front());
  co_return written;
}

/// The next reply of an episode; none if it was not written in time.
task<std::optional<llm::completion>> write_reply(const answer_roles& r, const group_deal& deal,
                                                 const game& of) {
  auto history = deal.prompt;
  history.insert(history.end(), of.played.tokens.begin(), of.played.tokens.end());
  // Each turn begins at another length, which gives it a random stream of its own.
  const auto seed = derived_seed(of.seed, "move", {of.played.tokens.size()});
  auto written = co_await write(r, std::move(history), seed, 1);
  if (written.empty()) co_return std::nullopt;
  co_return std::move(written.front());
}

/// True if the world says that its episode was a success or, without such a number, if its return
/// is above 0.
bool is_success(const text_step& last, double world_return) {
  const auto told = last.info.find("success");
  return told == last.info.end() ? world_return > 0 : told->second > 0;
}

/// Plays the episode to its end, from its first reply, which is `written`.
task<> take_turns(const answer_roles& r, const group_deal& deal, const table& at,
                  llm::completion written, game& of) {
  std::int64_t turn = 1;
  text_step last;
  for (;; ++turn) {
    if (!has_finite_log_probs(written)) {
      of.dropped = "log_prob";
      co_return;
    }
    add_sampled(of, written);
    auto told = co_await at.try_route<&text_world::step>(written.text);
    auto now = step_of(std::move(told));
    if (!now) {
      of.dropped = "environment";
      co_return;
    }
    r.metrics.env_stepped(1);
    of.played.reward += now->reward;
    last = *std::move(now);
    if (last.ended) break;
    if (turn == deal.task.turns || !add_read(r, deal, of, last.shown, written)) {
      of.played.truncated = true;
      break;
    }
    auto next = co_await write_reply(r, deal, of);
    if (!next) {
      of.dropped = "deadline";
      co_return;
    }
    written = std::move(*next);
  }
  of.played.right = is_success(last, of.played.reward) ? 1.0 : 0.0;
  of.played.reward = deal.task.outcomes.reward(of.played.reward);
  if (!std::isfinite(of.played.reward)) {
    of.dropped = "reward";
  } else {
    r.metrics.episode_ended(of.played.reward, turn, of.played.truncated);
  }
}

/// Plays one episode. `first` is the table at which the group's deal was seen, for the group's
/// first episode. Other episodes open a table of their own and deal again with the same seed.
task<> play(const answer_roles& r, const group_deal& deal, std::optional<table> first,
            llm::completion written, game& of) {
  // The parameter would hold the table for as long as the task lasts, while others wait for it.
  std::optional<table> at = std::exchange(first, std::nullopt);
  if (!at) {
    at = co_await open_table(deal.task);
    if (!at) {
      of.dropped = "environment";
      co_return;
    }
    auto told = co_await at->try_route<&text_world::reset>(deal.with);
    const auto now = step_of(std::move(told));
    if (!now || now->shown != deal.shown) {
      of.dropped = now ? "deal" : "environment";
      co_return;
    }
  }
  co_await take_turns(r, deal, *at, std::move(written), of);
}

}  // namespace

task<answer_group> play_group(const answer_roles& r, prompt_draw drawn) {
  answer_group group;
  group_deal deal{.task = r.tasks.at(drawn.task)};
  deal.with.seed = environment_seed(drawn.seed, "deal");
  if (!drawn.asked.columns.empty()) deal.with.item = drawn.asked.columns;
  std::optional<table> first = co_await open_table(deal.task);
  if (!first) {
    group.dropped["environment"] = r.group;
    co_return group;
  }
  auto told = co_await first->try_route<&text_world::reset>(deal.with);
  const auto opening = step_of(std::move(told));
  if (!opening) {
    group.dropped["environment"] = r.group;
    co_return group;
  }
  deal.shown = opening->shown;
  group.asked = opening_of(*opening);
  group.asked.level = drawn.asked.level;
  deal.prompt = group.prompt = r.format->prompt_of(group.asked);

  auto written = co_await write(r, deal.prompt, drawn.seed, r.group);
  if (written.empty()) {
    group.dropped["deadline"] = r.group;
    co_return group;
  }
  std::vector<game> games(written.size());
  std::vector<task<>> playing;
  for (std::size_t i = 0; i < games.size(); ++i) {
    games[i].seed = derived_seed(drawn.seed, "game", {i});
    playing.push_back(
        play(r, deal, std::exchange(first, std::nullopt), std::move(written[i]), games[i]));
  }
  co_await all(std::move(playing));

  group.version = std::numeric_limits<std::int64_t>::max();
  for (auto& each : games) {
    group.version = std::min(group.version, each.version);
    if (each.dropped == "environment") r.metrics.env_failed("threw");
    if (each.dropped == "reward") r.metrics.env_failed("nonfinite");
    if (each.dropped.empty())
      group.answers.push_back(std::move(each.played));
    else
      ++group.dropped[each.dropped];
  }
  co_return group;
}

}  // namespace troupe::detail
