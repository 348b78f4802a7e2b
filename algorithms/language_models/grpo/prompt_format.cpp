#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/prompt_format.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/llm/tokenizer/write_tokenizer.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/language_models/grpo/rate_limited_log.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/call/next_turn.hpp"

namespace troupe {

namespace {

/// The key of the score in the metadata of a model's file.
constexpr const char* score_note = "score";

}  // namespace

std::vector<llm::token_id> prompt_format::prompt_of(const llm::problem& asked) const {
  if (!style) return tokens.encode(asked.letters);
  std::vector<llm::chat_message> said;
  if (!system_prompt.empty()) said.push_back({"system", system_prompt});
  for (const auto& shot : shots) {
    said.push_back({"user", shot.question});
    said.push_back({"assistant", shot.expected});
  }
  said.push_back({"user", asked.question});
  return llm::encode_chat(tokens, *style, said, {.thinking = false});
}

std::vector<llm::token_id> prompt_format::stop_ids() const {
  auto ids = config.eos_tokens;
  std::vector<llm::token_id> all(ids.begin(), ids.end());
  if (!style) return all;
  if (const auto end = tokens.find(llm::end_of_turn(*style))) all.push_back(*end);
  return all;
}

std::vector<llm::token_id> prompt_format::answer_of(const std::string& text) const {
  auto ids = tokens.encode(text);
  ids.push_back(stop_ids().back());
  return ids;
}

void prompt_format::write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                                std::optional<double> score) const {
  std::map<std::string, std::string> notes;
  if (score) notes[score_note] = fmt::format("{}", *score);
  llm::write_model(folder, config, llm::weights_in(config, parameters), notes);
  const std::string end(tokens.bytes_of(stop_ids().back()));
  llm::write_tokenizer(folder, parts, end, chat_template);
}

std::optional<double> score_of(const std::filesystem::path& folder) {
  const auto metadata = llm::read_safetensors(folder / "model.safetensors").metadata;
  const auto noted = metadata.find(score_note);
  if (noted == metadata.end()) return std::nullopt;
  const auto& text = noted->second;
  double score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  return error == std::errc() ? std::optional(score) : std::nullopt;
}

std::vector<llm::token_id> prompt_format::next_turn(const openenv::wording& said,
                                                    bool ended) const {
  std::vector<llm::token_id> ids;
  if (!ended) ids.push_back(stop_ids().back());
  const auto more =
      style ? llm::encode_next_turn(tokens, *style, {"user", said.words}, {.thinking = false})
            : tokens.encode(said.letters);
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

std::string prompt_format::describe() const {
  return fmt::format("{} layers of {}, {} heads ({} of keys) of {}, {} tokens", config.layers,
                     config.hidden_size, config.heads, config.kv_heads, config.head_dim,
                     config.vocab_size);
}

llm::problem opening_of(const std::string& rules, const openenv::wording& shown) {
  return {.question = rules + '\n' + shown.words, .letters = shown.letters, .expected = {}};
}

prompt_format prompt_format_of(const grpo_config& config, std::span<const llm::problem> training) {
  if (config.model.path.empty()) {
    auto parts = llm::letters_tokenizer_parts();
    return {
        .config = llm::letters_model(), .tokens = llm::tokenizer(parts), .parts = std::move(parts)};
  }
  if (config.task.shots > std::ssize(training))
    throw config_error("/task/shots",
                       fmt::format("expected no more than the {} training problems, got {}",
                                   training.size(), config.task.shots));
  const std::filesystem::path path = config.model.path;
  auto shape = std::filesystem::is_directory(path) ? llm::read_model_config(path / "config.json")
                                                   : llm::read_model_config(llm::gguf_file(path));
  auto parts = llm::read_tokenizer_parts(path);
  auto chat_template = llm::read_chat_template(path);
  return {.config = std::move(shape),
          .tokens = llm::put_together(parts, path),
          .style = llm::chat_style_of(chat_template, path.string()),
          .system_prompt = config.model.system_prompt,
          .parts = std::move(parts),
          .chat_template = std::move(chat_template),
          .shots = {training.begin(), training.begin() + config.task.shots}};
}

namespace {

/// Random weights with a standard deviation of 1 / sqrt(width), since the usual 0.02 is too small
/// for narrow layers.
llm::model_weights letters_weights(const llm::model_config& config, std::uint64_t seed) {
  auto drawn = llm::random_weights(config, seed);
  const double factor = 50.0 / std::sqrt(double(config.hidden_size));
  llm::for_each_weight(config, drawn, [&](const llm::weight_place& place, at::Tensor& weight) {
    if (place.shape.size() > 1) weight.mul_(factor);
  });
  return drawn;
}

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

warm_start_sampler practise_moves(const prompt_format& format, openenv::text_view view) {
  return [&format, view = std::move(view)](action_random& random) {
    llm::token_group made{{}, {{}}, {{}}};
    auto& answer = made.answers.front();
    for (const auto& [shown, said] : view.practise(random)) {
      if (answer.empty()) {
        made.prompt = format.prompt_of(opening_of(view.rules, shown));
      } else {
        llm::append_read(answer, made.read.front(), format.next_turn(shown, true));
      }
      const auto move = format.answer_of(format.style ? said.words : said.letters);
      answer.insert(answer.end(), move.begin(), move.end());
    }
    return made;
  };
}

task<grpo_start> starting_weights(const grpo_config& config, const prompt_format& format,
                                  warm_start_sampler sampler, std::function<bool()> stop_asked) {
  const auto read = [&] {
    if (config.model.path.empty()) return letters_weights(format.config, config.seed);
    return llm::read_model(config.model.path).weights;
  };
  auto trained = llm::train_weights(format.config, llm::flatten_weights(format.config, read()));
  auto moments =
      co_await warm_up(config, format, std::move(sampler), std::move(stop_asked), trained);
  if (!config.warm_start.keep_moments.value_or(true)) moments = {};
  co_return grpo_start{trained.parameters, std::move(moments)};
}

}  // namespace troupe
