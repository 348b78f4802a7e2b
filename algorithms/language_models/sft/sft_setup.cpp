#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "actors/llm/model/flat_weights.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

using lines = std::vector<sft_line>;

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
          .end = model.end_id(),
          .chat = model.conversations().chat,
          .max_tokens = most_tokens(config, model),
          .system_prompt = config.model.system_prompt,
          .fields = config.fields(),
          .keep_thoughts = model.keep_thoughts};
}

/// Reads the rows of the file that `option` names.
lines read_lines(const std::string& option, const std::string& path, const sft_config& config,
                 const sft_encoding& encoding) {
  sft_lines read;
  try {
    read = read_sft_lines(path, encoding, config.task.too_long == long_examples::skip);
  } catch (const std::exception& error) {
    throw config_error(option, error.what());
  }
  if (read.skipped > 0)
    log::warn("lines that are too long were left out",
              {{"file", path}, {"lines", read.skipped}, {"max_tokens", encoding.max_tokens}});
  if (std::cmp_equal(read.skipped, read.lines.size()))
    throw config_error(option, fmt::format("expected examples of at most {} tokens "
                                           "(task.max_tokens), got longer ones alone in {}",
                                           encoding.max_tokens, path));
  return std::move(read.lines);
}

std::vector<std::vector<std::size_t>> by_prompt(const lines& all) {
  std::vector<std::string> keys;
  for (const auto& line : all) keys.push_back(line.key);
  return llm::rows_by_prompt(keys);
}

/// The number of prompts of so many that are held out.
std::int64_t held_out_of(std::int64_t prompts, const sft_config& config) {
  if (!config.task.held_out_data.empty()) return 0;
  if (!config.task.held_out) return llm::usual_held_out(prompts);
  const double share = *config.task.held_out;
  if (share == 0) return 0;
  if (prompts < 2)
    throw config_error("/task/held_out",
                       fmt::format("expected 0 for a file with one different prompt, of which none "
                                   "can be held out, got {}",
                                   share));
  return std::clamp<std::int64_t>(std::llround(share * double(prompts)), 1, prompts - 1);
}

/// The prompts of examples, which it refers to.
class known_prompts {
 public:
  void add(const sft_example& one) { prompts_.insert(&one.prompt); }
  bool has(const sft_example& one) const { return prompts_.contains(&one.prompt); }

 private:
  struct in_order {
    bool operator()(const auto* a, const auto* b) const { return *a < *b; }
  };
  std::set<const std::vector<llm::token_id>*, in_order> prompts_;
};

/// Appends the examples of a line. Leaves out those that are not asked for and whose prompt is
/// known, and returns their number.
std::int64_t append(std::vector<sft_example>& to, const sft_line& line,
                    const known_prompts& known) {
  std::int64_t left_out = 0;
  for (std::size_t i = 0; i < line.examples.size(); ++i) {
    const bool leaves = i != line.asked && known.has(line.examples[i]);
    left_out += leaves;
    if (!leaves) to.push_back(line.examples[i]);
  }
  return left_out;
}

/// Divides the lines into those that are trained on and those that are held out. An answer within a
/// conversation of one part, whose prompt is what a line of the other part asks, is left out.
void divide(const lines& all, const sft_config& config, sft_setup& into) {
  const auto prompts = by_prompt(all);
  const auto wanted = held_out_of(std::ssize(prompts), config);
  std::vector<bool> is_held_out(all.size());
  lines held_out;
  known_prompts judged, trained;
  for (const auto prompt : llm::draw_held_out(prompts.size(), wanted, config.seed)) {
    for (const auto line : prompts[prompt]) {
      is_held_out[line] = true;
      held_out.push_back(all[line]);
    }
  }
  for (const auto& line : held_out)
    if (!line.examples.empty() && !line.is_document) judged.add(line.examples[line.asked]);
  std::int64_t left_out = 0;
  for (std::size_t line = 0; line < all.size(); ++line)
    if (!is_held_out[line]) left_out += append(into.training, all[line], judged);
  for (const auto& one : into.training) trained.add(one);
  for (const auto& line : held_out) left_out += append(into.held_out, line, trained);
  if (left_out > 0)
    log::info(
        "answers within conversations were left out, as other lines that are held out or "
        "trained on ask the same",
        {{"answers", left_out}});
}

void tell_repeated(const lines& trained, const lines& held_out, const std::string& path) {
  std::set<std::string_view> known;
  for (const auto& line : trained) known.insert(line.key);
  const auto repeated =
      std::ranges::count_if(held_out, [&](const auto& line) { return known.contains(line.key); });
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
  return config.task.held_out_data.empty() && config.task.held_out == 0.0;
}

sft_setup read_sft_setup(const sft_config& config) {
  const auto& task = config.task;
  if (task.data.empty())
    throw config_error("/task/data",
                       "expected a file of examples in JSON Lines or Parquet, got \"\"");
  sft_setup made{.model = language_model_of(config.model), .training = {}, .held_out = {}};
  const auto encoding = encoding_of(config, made.model);
  const auto all = read_lines("/task/data", task.data, config, encoding);
  made.prompts = std::ssize(by_prompt(all));
  divide(all, config, made);
  if (made.training.empty())
    throw config_error("/task/data",
                       fmt::format("expected examples to train on of at most {} tokens "
                                   "(task.max_tokens), got such that are held out alone in {}",
                                   encoding.max_tokens, task.data));
  if (!task.held_out_data.empty()) {
    const auto others = read_lines("/task/held_out_data", task.held_out_data, config, encoding);
    tell_repeated(all, others, task.held_out_data);
    for (const auto& line : others) append(made.held_out, line, {});
  } else if (!task.held_out && made.held_out.empty()) {
    log::warn(
        "no line is held out, since there are few; evaluations take those that are trained on",
        {{"file", task.data}, {"prompts", made.prompts}});
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
  if (!config.task.held_out) {
    const auto prompts = config.task.held_out_data.empty() ? setup.get().prompts : 0;
    config.task.held_out =
        prompts > 0 ? double(llm::usual_held_out(prompts)) / double(prompts) : 0.0;
  }
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
