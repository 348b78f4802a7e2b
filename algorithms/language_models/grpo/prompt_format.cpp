#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/prompt_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/language_models/rate_limited_log.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/call/next_turn.hpp"

namespace troupe {

std::vector<llm::chat_message> prompt_format::opening(const llm::problem& asked) const {
  std::vector<llm::chat_message> said;
  const auto conversation = conversation_of(asked);
  const auto has_system = [](const auto& of) { return of.front().role == "system"; };
  if (has_system(conversation)) {
    said.push_back(conversation.front());
  } else if (!system_prompt.empty()) {
    said.push_back({"system", system_prompt});
  }
  const auto add = [&](const std::vector<llm::chat_message>& messages) {
    said.insert(said.end(), messages.begin() + has_system(messages), messages.end());
  };
  for (const auto& shot : shots) {
    add(conversation_of(shot));
    said.push_back({"assistant", shot.expected});
  }
  add(conversation);
  return said;
}

std::vector<llm::token_id> prompt_format::prompt_of(const llm::problem& asked) const {
  if (is_letters) return tokens.encode(asked.letters);
  auto format = conversations();
  format.chat.tools = asked.tools;
  return format.prompt(tokens, opening(asked));
}

std::vector<llm::token_id> prompt_format::prompt_of(
    const std::vector<llm::chat_message>& said) const {
  return conversations().prompt(tokens, said);
}

std::vector<llm::token_id> prompt_format::next_turn(const wording& said, bool ended) const {
  std::vector<llm::token_id> ids;
  if (!ended) ids.push_back(end_id());
  const auto more =
      is_letters ? tokens.encode(said.letters) : conversations().next(tokens, {"user", said.words});
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

llm::problem opening_of(const text_step& first) {
  llm::problem made{.question = first.shown.words, .letters = first.shown.letters};
  if (!first.system.empty())
    made.messages = {{"system", first.system}, {"user", first.shown.words}};
  return made;
}

prompt_format prompt_format_of(const grpo_config& config, std::span<const llm::problem> training) {
  auto model = config.model;
  if (!model.tokens) model.tokens = small_model::letters;
  prompt_format made{language_model_of(model)};
  if (made.is_letters) return made;
  if (config.task.shots > std::ssize(training))
    throw config_error("/task/shots",
                       fmt::format("expected no more than the {} training problems, got {}",
                                   training.size(), config.task.shots));
  made.system_prompt = config.model.system_prompt;
  made.shots = {training.begin(), training.begin() + config.task.shots};
  return made;
}

namespace {

/// Takes supervised steps on the mean cross-entropy of the sampler's answers. Returns Adam's
/// moments.
task<adam_state> warm_up(const grpo_config& config, const prompt_format& format,
                         warm_start_sampler sampler, std::function<bool()> stop_asked,
                         llm::trained_weights& trained) {
  const auto& warm = config.warm_start;
  const int batches = warm.batches.value_or(0);
  if (batches == 0) co_return adam_state{};
  const auto count = static_cast<std::size_t>(trained.parameters.numel());
  adam optimizer(count, {.eps = 1e-8, .max_grad_norm = 1.0});
  action_random random(derived_seed(config.seed, "warm start"));
  rate_limited_log tell;
  double loss_now = 0.0;
  for (int batch = 0; batch < batches; ++batch) {
    co_await next_turn();
    if (stop_asked && stop_asked())
      throw call_error(error_kind::cancelled, "the warm start was stopped");
    std::vector<llm::token_group> groups;
    for (int i = 0; i < warm.batch_size; ++i) groups.push_back(sampler(random));
    trained.gradient.zero_();
    const auto loss = -llm::answer_log_probs(format.config, trained.weights, groups).mean();
    loss.backward();
    const double norm = optimizer.step({trained.parameters.data_ptr<float>(), count},
                                       {trained.gradient.data_ptr<float>(), count},
                                       warm.lr * (1.0 - double(batch) / batches));
    loss_now = loss.item<double>();
    if (!std::isfinite(norm))
      throw non_finite_training(
          fmt::format("grpo: step {} of the warm start has a loss of {}", batch + 1, loss_now));
    if (tell.due())
      log::info("the warm start is under way",
                {{"batch", batch + 1}, {"of", batches}, {"loss", loss_now}});
  }
  log::info("the warm start is over", {{"batches", batches}, {"loss", loss_now}});
  co_return optimizer.state();
}

}  // namespace

warm_start_sampler answer_problems(const prompt_format& format,
                                   std::vector<llm::problem> problems) {
  std::map<std::string, std::vector<llm::problem>> of_answer;
  for (auto& one : problems) of_answer[one.expected].push_back(std::move(one));
  std::vector<std::vector<llm::problem>> kinds;
  for (auto& [answer, some] : of_answer) kinds.push_back(std::move(some));
  return [&format, kinds = std::move(kinds)](action_random& random) {
    const auto& some = kinds[random.below(kinds.size())];
    const auto& one = some[random.below(some.size())];
    return llm::token_group{format.prompt_of(one), {format.answer_of(one.expected)}};
  };
}

namespace {

/// Adds a reply to an answer, after the text that the model read before it. Returns false if the
/// model's context has no room for both.
bool add_reply(const prompt_format& format, llm::token_group& to,
               const std::vector<llm::token_id>& read, const std::vector<llm::token_id>& reply) {
  auto& answer = to.answers.back();
  const auto used = to.prompt.size() + answer.size() + read.size() + reply.size();
  if (std::cmp_greater(used, format.config.max_positions)) return false;
  llm::append_read(answer, to.read.back(), read);
  answer.insert(answer.end(), reply.begin(), reply.end());
  return true;
}

/// The turns as the model sees them: one answer after another on one list of tokens, or each of its
/// own where the chat template writes earlier turns anew. Ends where the context is full; an empty
/// group means that it has no room for the first turn.
llm::token_group practised(const prompt_format& format, const std::vector<dialogue_turn>& turns) {
  llm::token_group made{{}, {{}}, {{}}};
  const bool rewrites = format.rewrites();
  std::vector<llm::chat_message> said;
  for (const auto& [shown, reply] : turns) {
    const auto ids = format.answer_of(format.is_letters ? reply.letters : reply.words);
    const bool first = made.answers.front().empty();
    if (first) {
      said = format.opening(opening_of({.shown = shown}));
    } else {
      said.push_back({"user", shown.words});
      if (rewrites) {
        made.answers.emplace_back();
        made.read.emplace_back();
      }
    }
    const auto read = first      ? format.prompt_of(opening_of({.shown = shown}))
                      : rewrites ? format.prompt_of(said)
                                 : format.next_turn(shown, true);
    if (!add_reply(format, made, read, ids)) break;
    said.push_back({"assistant", reply.words});
  }
  if (made.answers.back().empty()) {
    made.answers.pop_back();
    made.read.pop_back();
  }
  llm::share_prompt(made);
  return made;
}

}  // namespace

warm_start_sampler practise_replies(
    const prompt_format& format,
    std::function<std::vector<dialogue_turn>(action_random& random)> practise) {
  return [&format, practise = std::move(practise)](action_random& random) {
    const auto turns = practise(random);
    auto made = practised(format, turns);
    if (!made.answers.empty()) return made;
    const auto& [shown, said] = turns.at(0);
    const auto used = format.prompt_of(opening_of({.shown = shown})).size() +
                      format.answer_of(format.is_letters ? said.letters : said.words).size();
    throw config_error("/model/max_positions",
                       fmt::format("expected room for the first turn of the world's practice, "
                                   "{} tokens, got {}",
                                   used, format.config.max_positions));
  };
}

std::vector<sft_example> warm_start_examples(const grpo_config& config, const prompt_format& format,
                                             std::span<const llm::problem> held_out) {
  const auto& path = config.warm_start.data;
  auto read = read_sft_lines(path, {.tokens = &format.tokens,
                                    .style = format.style,
                                    .end = format.end_id(),
                                    .chat = format.conversations().chat,
                                    .max_tokens = format.config.max_positions,
                                    .system_prompt = format.system_prompt,
                                    .fields = {.python = config.data_fields().python},
                                    .keep_thoughts = format.keep_thoughts});
  std::set<std::string> judged;
  for (const auto& each : held_out) judged.insert(prompt_key(each));
  std::vector<sft_example> shown;
  std::int64_t left_out = 0;
  for (auto& line : read.lines) {
    const bool leaves = judged.contains(line.key);
    left_out += leaves;
    if (!leaves) std::ranges::move(line.examples, std::back_inserter(shown));
  }
  if (shown.empty())
    throw config_error("/warm_start/data",
                       "expected lines that ask other problems than those that are held out, got "
                       "none in " +
                           path);
  if (left_out > 0)
    log::info("lines that ask held-out problems are left out of the warm start",
              {{"file", path}, {"lines", left_out}});
  return shown;
}

warm_start_sampler draw_examples(std::vector<sft_example> examples) {
  return [examples = std::move(examples)](action_random& random) {
    const auto& one = examples[random.below(examples.size())];
    return llm::token_group{one.prompt, {one.answer}};
  };
}

task<grpo_start> starting_weights(const grpo_config& config, const prompt_format& format,
                                  warm_start_sampler sampler, std::function<bool()> stop_asked) {
  auto trained = llm::train_weights(
      format.config,
      llm::flatten_weights(format.config, first_weights(config.model, format.config, config.seed)));
  auto moments =
      co_await warm_up(config, format, std::move(sampler), std::move(stop_asked), trained);
  if (!config.warm_start.keep_moments.value_or(true)) moments = {};
  co_return grpo_start{trained.parameters, std::move(moments)};
}

}  // namespace troupe
