#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "actors/data/shuffled_order.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

using lines = std::vector<std::vector<sft_example>>;

constexpr double held_out_share = 0.05;

std::int64_t most_tokens(const sft_config& config, const language_model& model) {
  const std::int64_t context = model.config.max_positions;
  const auto asked = config.task.max_tokens.value_or(context);
  if (asked > context)
    throw config_error(
        "/task/max_tokens",
        fmt::format("expected at most {}, the model's context, got {}", context, asked));
  return asked;
}

sft_encoding encoding_of(const sft_config& config, const language_model& model) {
  return {.tokens = &model.tokens,
          .style = model.style,
          .end = model.stop_ids().back(),
          .chat = {.thinking = false},
          .max_tokens = most_tokens(config, model),
          .system_prompt = config.model.system_prompt,
          .prompt_key = config.task.prompt,
          .answer_key = config.task.answer};
}

/// Reads the lines of the file that `option` names.
lines read_lines(const std::string& option, const std::string& path, const sft_config& config,
                 const sft_encoding& encoding) {
  auto read = read_sft_lines(path, encoding, config.task.too_long == long_examples::skip);
  if (read.skipped > 0)
    log::warn("lines that are too long were left out",
              {{"file", path}, {"lines", read.skipped}, {"max_tokens", encoding.max_tokens}});
  if (read.examples.empty())
    throw config_error(option, fmt::format("expected examples of at most {} tokens "
                                           "(task.max_tokens), got longer ones alone in {}",
                                           encoding.max_tokens, path));
  return std::move(read.examples);
}

/// The tokens of a line. Lines with the same tokens are the same line to the model.
std::vector<llm::token_id> key_of(const std::vector<sft_example>& line) {
  std::vector<llm::token_id> key;
  for (const auto& [prompt, answer] : line) {
    key.insert(key.end(), prompt.begin(), prompt.end());
    key.insert(key.end(), answer.begin(), answer.end());
  }
  return key;
}

/// The indices of the lines with the same tokens, for each different line in the file's order.
std::vector<std::vector<std::size_t>> different_lines(const lines& all) {
  std::map<std::vector<llm::token_id>, std::size_t> known;
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(key_of(all[i]), places.size());
    if (is_new) places.emplace_back();
    places[at->second].push_back(i);
  }
  return places;
}

void append(std::vector<sft_example>& to, const std::vector<sft_example>& line) {
  std::ranges::copy(line, std::back_inserter(to));
}

/// Divides the lines into those that are trained on and those that are held out.
void divide(const lines& all, double share, std::uint64_t seed, sft_setup& into) {
  const auto different = different_lines(all);
  const auto count = std::ssize(different);
  if (count < 2)
    throw config_error("/task/held_out",
                       fmt::format("expected 0 for a file with one different line, of which none "
                                   "can be held out, got {}",
                                   share));
  const auto wanted = std::clamp<std::int64_t>(std::llround(share * double(count)), 1, count - 1);
  detail::shuffled_order order(different.size(), true, derived_seed(seed, "held-out lines"));
  std::vector<bool> is_held_out(all.size());
  for (std::int64_t i = 0; i < wanted; ++i) {
    for (const auto line : different[order.next()]) {
      is_held_out[line] = true;
      append(into.held_out, all[line]);
    }
  }
  for (std::size_t line = 0; line < all.size(); ++line)
    if (!is_held_out[line]) append(into.training, all[line]);
}

void tell_repeated(const lines& trained, const lines& held_out, const std::string& path) {
  std::map<std::vector<llm::token_id>, bool> known;
  for (const auto& line : trained) known[key_of(line)] = true;
  const auto repeated = std::ranges::count_if(
      held_out, [&](const auto& line) { return known.contains(key_of(line)); });
  if (repeated > 0)
    log::warn("lines for evaluation are trained on, too",
              {{"file", path}, {"lines", repeated}, {"of", held_out.size()}});
}

double usual_lr(const sft_config& config) {
  if (config.model.path.empty()) return 1e-3;
  return config.trainer.lora.rank > 0 ? 2e-4 : 2e-5;
}

template <class T>
void fill(std::optional<T>& option, T by_default) {
  if (!option) option = by_default;
}

}  // namespace

std::vector<sft_example> sft_setup::judged(std::size_t most) const {
  const auto& all = held_out.empty() ? training : held_out;
  const auto count = most == 0 ? all.size() : std::min(most, all.size());
  return {all.begin(), all.begin() + std::ptrdiff_t(count)};
}

bool judges_training(const sft_config& config) {
  return config.task.held_out_data.empty() && config.task.held_out.value_or(held_out_share) == 0;
}

sft_setup read_sft_setup(const sft_config& config) {
  const auto& task = config.task;
  if (task.data.empty())
    throw config_error("/task/data", "expected a file of examples in JSON Lines, got \"\"");
  sft_setup made{.model = language_model_of(config.model), .training = {}, .held_out = {}};
  const auto encoding = encoding_of(config, made.model);
  const auto all = read_lines("/task/data", task.data, config, encoding);
  const double share = task.held_out_data.empty() ? task.held_out.value_or(held_out_share) : 0.0;
  if (share > 0) {
    divide(all, share, config.seed, made);
  } else {
    for (const auto& line : all) append(made.training, line);
  }
  if (!task.held_out_data.empty()) {
    const auto others = read_lines("/task/held_out_data", task.held_out_data, config, encoding);
    tell_repeated(all, others, task.held_out_data);
    for (const auto& line : others) append(made.held_out, line);
  }
  log::info("the examples were read", {{"file", task.data},
                                       {"training", made.training.size()},
                                       {"held_out", made.held_out.size()}});
  return made;
}

std::int64_t updates_per_epoch(const sft_config& config, std::int64_t examples) {
  const std::int64_t size = config.trainer.batch_size;
  return (examples + size - 1) / size;
}

const sft_setup& shared_sft_setup::get() {
  const std::lock_guard lock(mutex_);
  if (!read_) read_.emplace(read_sft_setup(config_));
  return *read_;
}

sft_config completed(sft_config config, shared_sft_setup& setup) {
  const auto per_epoch = [&] {
    return updates_per_epoch(config, std::ssize(setup.get().training));
  };
  fill(config.task.held_out, config.task.held_out_data.empty() ? held_out_share : 0.0);
  fill(config.trainer.lr, usual_lr(config));
  // As transformers' Trainer counts them: max_steps = ceil(num_train_epochs * updates of an epoch).
  if (!config.total_steps)
    config.total_steps =
        static_cast<std::int64_t>(std::ceil(config.trainer.epochs * double(per_epoch())));
  if (!config.evaluation.every_updates) config.evaluation.every_updates = per_epoch();
  const auto scheduled = config.schedule_steps.value_or(*config.total_steps);
  if (config.trainer.warmup_updates >= scheduled)
    throw config_error("/trainer/warmup_updates",
                       fmt::format("expected fewer than the {} updates of the run, as the step "
                                   "size never comes to lr else, got {}",
                                   scheduled, config.trainer.warmup_updates));
  return config;
}

at::Tensor starting_weights(const sft_config& config, const language_model& model) {
  return llm::flatten_weights(model.config, first_weights(config.model, model.config, config.seed));
}

}  // namespace troupe
