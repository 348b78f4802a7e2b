#include "algorithms/language_models/grpo/world_episode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "actors/llm/training/token_groups.hpp"
#include "actors/random/action_random.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe::detail {
namespace {

using table = session<text_world>;

/// A turn that the episodes of a group share: the reply, and what the world said to it.
struct shared_turn {
  std::string said;
  text_step answer;
};

/// The deal that the episodes of a group share.
struct group_deal {
  const task_roles& task;
  text_reset with = {};
  std::vector<llm::token_id> prompt = {};  // with the shared turns
  // True if the chat template writes earlier turns anew. Then the tokens of an episode begin with
  // the prompt, as each reply may come after another text, and `said` has the messages.
  bool rewrites = false;
  std::vector<llm::chat_message> said = {};  // with the shared turns
  wording shown = {};
  std::vector<shared_turn> turns = {};
  std::vector<answer_turn> told = {};  // the same for people to read
};

/// One episode of a group.
struct game {
  std::uint64_t number = 0;  // its number in the group
  std::uint64_t seed = 0;    // the seed of sampling
  sampled_answer played;
  // The turns in the model's context after the prompt: each reply with the words that followed it.
  std::vector<std::vector<llm::token_id>> in_context = {};
  // The same as messages, a reply and what followed it, where the template writes turns anew.
  std::vector<llm::chat_message> said = {};
  std::int64_t version = std::numeric_limits<std::int64_t>::max();
  bool goes_on = false;  // it was cut, and the world has not ended it
  std::string dropped;   // the reason why it can't be trained on; empty if it can
};

/// The world's step; none if the world has failed or was lost. Throws any other error.
std::optional<text_step> step_of(outcome<text_step> told) {
  if (told) return std::move(told).value();
  const auto error = told.error();
  for (const auto kind : {error_kind::role_error, error_kind::session_lost,
                          error_kind::replica_lost, error_kind::deadline_exceeded}) {
    if (!is_kind(error, kind)) continue;
    if (should_tell())
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

/// A turn without what the world paid for it.
answer_turn turn_of(std::string shown, const llm::completion& written) {
  return {.shown = std::move(shown),
          .said = written.text,
          .tokens = std::ssize(written.tokens),
          .first_version = written.first_version(),
          .last_version = written.last_version()};
}

void add_sampled(game& to, const llm::completion& written) {
  auto& p = to.played;
  p.tokens.insert(p.tokens.end(), written.tokens.begin(), written.tokens.end());
  p.log_probs.insert(p.log_probs.end(), written.log_probs.begin(), written.log_probs.end());
  p.text += written.text;
  p.truncated = p.truncated || written.finish == llm::finish_reason::length;
  to.version = std::min(to.version, written.first_version());
}

const std::string& text_of(const answer_roles& r, const wording& shown) {
  return r.format->is_letters ? shown.letters : shown.words;
}

/// The tokens between a reply and the next one.
std::vector<llm::token_id> read_after(const answer_roles& r, const wording& shown,
                                      const llm::completion& reply) {
  return r.format->next_turn(shown, reply.finish != llm::finish_reason::length);
}

std::int64_t room_after(const answer_roles& r, const std::vector<llm::token_id>& prompt) {
  return r.format->config.max_positions - std::ssize(prompt);
}

/// A reply as the chat template reads it. The marks of thoughts may be special tokens, which the
/// text of a completion lacks.
llm::chat_message message_of(const answer_roles& r, const llm::completion& reply) {
  const auto& tokens = r.format->tokens;
  const auto mark = tokens.find("</think>");
  if (!mark || !tokens.is_special(*mark)) return {"assistant", reply.text};
  auto ids = reply.tokens;
  const bool ended = reply.finish != llm::finish_reason::length;
  if (ended && !ids.empty()) ids.pop_back();
  return {"assistant", tokens.decode(ids)};
}

/// Begins another part of the episode with these tokens, which the model reads.
void begin_part(sampled_answer& of, const std::vector<llm::token_id>& read) {
  of.earlier.push_back(
      {std::exchange(of.tokens, {}), std::exchange(of.read, {}), std::exchange(of.log_probs, {})});
  llm::append_read(of.tokens, of.read, read);
}

/// Removes the oldest turns of the context by the rules of the task. Returns false if there is
/// still no room for another reply.
bool forget_turns(const group_deal& deal, game& of, std::int64_t room) {
  auto& turns = of.in_context;
  const auto keep = [&](std::size_t count) {
    turns.erase(turns.begin(), turns.end() - std::ptrdiff_t(count));
  };
  const auto fits = [&] {
    std::int64_t tokens = 0;
    for (const auto& each : turns) tokens += std::ssize(each);
    return tokens < room;
  };
  if (deal.task.history) keep(std::min(turns.size(), std::size_t(*deal.task.history)));
  while (!fits() && turns.size() > 1 && deal.task.context == full_context_rule::forget)
    keep(turns.size() / 2);
  return fits();
}

/// Has the chat template write the conversation up to the next reply, and goes on from there.
/// Returns false if the model's context has no room for it and another reply.
bool rewrite(const answer_roles& r, const group_deal& deal, game& to, const wording& shown,
             const llm::completion& after) {
  auto& turns = to.said;
  turns.push_back(message_of(r, after));
  turns.push_back({"user", shown.words});
  const auto keep = [&](std::size_t count) {  // two messages a turn
    turns.erase(turns.begin(), turns.end() - std::ptrdiff_t(2 * count));
  };
  if (deal.task.history) keep(std::min(turns.size() / 2, std::size_t(*deal.task.history)));
  std::vector<llm::token_id> context;
  const auto fits = [&] {
    auto all = deal.said;
    all.insert(all.end(), turns.begin(), turns.end());
    context = r.format->prompt_of(all);
    return std::ssize(context) < r.format->config.max_positions;
  };
  bool has_room = fits();
  while (!has_room && turns.size() > 2 && deal.task.context == full_context_rule::forget) {
    keep(turns.size() / 4);
    has_room = fits();
  }
  if (!has_room) return false;
  auto& p = to.played;
  p.text += "\n> " + text_of(r, shown) + '\n';
  const auto [kept, added] = std::ranges::mismatch(p.tokens, context);
  if (kept == p.tokens.end()) {  // the template has left all earlier tokens as they were
    llm::append_read(p.tokens, p.read, std::vector<llm::token_id>(added, context.end()));
  } else {
    begin_part(p, context);
  }
  return true;
}

/// Adds the words of the next turn. Returns false if the model's context has no room for them and
/// another reply.
bool add_read(const answer_roles& r, const group_deal& deal, game& to, const wording& shown,
              const llm::completion& after) {
  if (deal.rewrites) return rewrite(r, deal, to, shown, after);
  const auto ids = read_after(r, shown, after);
  auto turn = after.tokens;
  turn.insert(turn.end(), ids.begin(), ids.end());
  to.in_context.push_back(std::move(turn));
  const auto turns = to.in_context.size();
  if (!forget_turns(deal, to, room_after(r, deal.prompt))) return false;
  auto& p = to.played;
  p.text += "\n> " + text_of(r, shown) + '\n';
  if (to.in_context.size() == turns) {
    llm::append_read(p.tokens, p.read, ids);
    return true;
  }
  std::vector<llm::token_id> seen;
  for (const auto& each : to.in_context) seen.insert(seen.end(), each.begin(), each.end());
  begin_part(p, seen);
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
  auto history = deal.rewrites ? std::vector<llm::token_id>() : deal.prompt;
  history.insert(history.end(), of.played.tokens.begin(), of.played.tokens.end());
  // Each turn begins at another length, which gives it a random stream of its own.
  const auto length = of.played.tokens.size(), parts = of.played.earlier.size();
  const auto seed = parts == 0 ? derived_seed(of.seed, "move", {length})
                               : derived_seed(of.seed, "move", {length, parts});
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
  auto turn = std::ssize(deal.turns) + 1;
  text_step last;
  std::string shown = text_of(r, deal.turns.empty() ? deal.shown : deal.turns.back().answer.shown);
  of.played.turns = deal.told;
  for (const auto& each : deal.turns) of.played.reward += each.answer.reward;
  if (deal.rewrites) llm::append_read(of.played.tokens, of.played.read, deal.prompt);
  for (;; ++turn) {
    if (!has_finite_log_probs(written)) {
      of.dropped = "log_prob";
      co_return;
    }
    add_sampled(of, written);
    of.played.turns.push_back(turn_of(std::move(shown), written));
    auto told = co_await at.try_route<&text_world::step>(written.text);
    auto now = step_of(std::move(told));
    if (!now) {
      of.dropped = "environment";
      co_return;
    }
    r.metrics.env_stepped(1);
    of.played.reward += now->reward;
    of.played.turns.back().reward = now->reward;
    of.played.turns.back().refused = !now->refused.empty();
    last = *std::move(now);
    if (last.ended) break;
    shown = text_of(r, last.shown);
    if (turn == deal.task.turns || !add_read(r, deal, of, last.shown, written)) {
      of.played.truncated = of.goes_on = true;
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

/// Deals, and takes the shared turns. Returns why the episode can't go on as the group's does;
/// empty if it can.
task<std::string> deal_again(const group_deal& deal, const table& at, std::uint64_t episode) {
  auto with = deal.with;
  with.episode = episode;
  auto told = co_await at.try_route<&text_world::reset>(with);
  auto now = step_of(std::move(told));
  if (!now) co_return "environment";
  if (now->shown != deal.shown) co_return "deal";
  for (const auto& turn : deal.turns) {
    auto next = co_await at.try_route<&text_world::step>(turn.said);
    now = step_of(std::move(next));
    if (!now) co_return "environment";
    if (now->shown != turn.answer.shown || now->ended) co_return "deal";
  }
  co_return "";
}

/// Ends an episode that the world has not ended, so that the slot of a server is free for others.
task<> leave(const table& at) {
  [[maybe_unused]] const auto told = co_await at.try_route<&text_world::end_episode>();
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
    of.dropped = co_await deal_again(deal, *at, of.number);
  }
  if (of.dropped.empty()) co_await take_turns(r, deal, *at, std::move(written), of);
  if (of.goes_on || !of.dropped.empty()) co_await leave(*at);
}

/// Plays the turns that the group shares, a number of them that its seed draws, and adds them to
/// the prompt. They end before the last turn of an episode. Returns false if the world has failed.
task<bool> share_turns(const answer_roles& r, group_deal& deal, const table& at,
                       std::uint64_t seed) {
  const auto most = static_cast<std::uint64_t>(
      std::min<std::int64_t>(deal.task.shared_turns, deal.task.turns - 1));
  const auto count = action_random(derived_seed(seed, "shared turns")).below(most + 1);
  for (std::uint64_t turn = 0; turn < count; ++turn) {
    auto written = co_await write(r, deal.prompt, derived_seed(seed, "shared turn", {turn}), 1);
    if (written.empty()) break;
    const auto& reply = written.front();
    auto told = co_await at.try_route<&text_world::step>(reply.text);
    auto now = step_of(std::move(told));
    if (!now) co_return false;
    auto said = deal.said;
    std::vector<llm::token_id> context;  // before the next reply
    if (!now->ended && deal.rewrites) {
      said.push_back(message_of(r, reply));
      said.push_back({"user", now->shown.words});
      context = r.format->prompt_of(said);
    } else if (!now->ended) {
      const auto read = read_after(r, now->shown, reply);
      context = deal.prompt;
      context.insert(context.end(), reply.tokens.begin(), reply.tokens.end());
      context.insert(context.end(), read.begin(), read.end());
    }
    if (now->ended || std::ssize(context) >= r.format->config.max_positions) {
      // The episodes part before this turn.
      const auto problem = co_await deal_again(deal, at, 0);
      co_return problem.empty();
    }
    auto shown = text_of(r, deal.turns.empty() ? deal.shown : deal.turns.back().answer.shown);
    auto& line = deal.told.emplace_back(turn_of(std::move(shown), reply));
    line.reward = now->reward;
    line.refused = !now->refused.empty();
    line.shared = true;
    deal.prompt = std::move(context);
    deal.said = std::move(said);
    deal.turns.push_back({reply.text, *std::move(now)});
  }
  co_return true;
}

/// Makes the tokens with which all parts of all episodes begin the prompt of the group.
void share_prompt(answer_group& group) {
  if (group.answers.empty()) return;
  llm::token_group all;
  const auto for_each_part = [&](auto visit) {
    for (auto& answer : group.answers) {
      for (auto& part : answer.earlier) visit(part.tokens, part.read);
      visit(answer.tokens, answer.read);
    }
  };
  for_each_part([&](auto& tokens, auto& read) {
    all.answers.push_back(std::move(tokens));
    all.read.push_back(std::move(read));
  });
  llm::share_prompt(all);
  group.prompt = std::move(all.prompt);
  std::size_t next = 0;
  for_each_part([&](auto& tokens, auto& read) {
    tokens = std::move(all.answers[next]);
    read = std::move(all.read[next]);
    ++next;
  });
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
  deal.prompt = r.format->prompt_of(group.asked);
  deal.rewrites = r.format->rewrites();
  if (deal.rewrites) deal.said = r.format->opening(group.asked);
  if (deal.task.shared_turns > 0) {
    const bool goes_on = co_await share_turns(r, deal, *first, drawn.seed);
    if (!goes_on) {
      co_await leave(*first);
      group.dropped["environment"] = r.group;
      co_return group;
    }
  }
  group.prompt = deal.prompt;

  auto written = co_await write(r, deal.prompt, drawn.seed, r.group);
  if (written.empty()) {
    co_await leave(*first);
    group.dropped["deadline"] = r.group;
    co_return group;
  }
  std::vector<game> games(written.size());
  std::vector<task<>> playing;
  for (std::size_t i = 0; i < games.size(); ++i) {
    games[i].number = i;
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
  if (deal.rewrites) share_prompt(group);
  co_return group;
}

}  // namespace troupe::detail
