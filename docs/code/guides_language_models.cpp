// The code of docs/guides/language_models.md.

#include "actors/torch/torch.hpp"

#include <cstdint>
#include <string>
#include <vector>

// readme: decoder
#include "actors/llm/model/decoder.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"

namespace llm = troupe::llm;

/// Reads a Hugging Face folder or a GGUF file, and computes what follows a question.
at::Tensor logits_after_hello(const std::string& path) {
  const auto m = llm::read_model(path);
  const auto tokens = llm::read_tokenizer(path);
  llm::decoder d(llm::pack_weights(m.config, m.weights));
  const std::vector<llm::chat_message> said{{"user", "Hello"}};
  const auto ids = llm::encode_chat(tokens, llm::read_chat_style(path), said);
  llm::kv_sequence sequence(m.config, 100);
  const llm::token_run run{&sequence, ids};
  return d.forward({&run, 1});  // [1, vocab_size]: after the last token
}
// readme: end

// readme: generator
#include "actors/llm/generator/generator.hpp"
#include "runtime/system/system.hpp"

troupe::task<std::vector<llm::completion>> answer(troupe::system& sys, llm::generator_options how,
                                                  troupe::service<troupe::weight_store> weights,
                                                  std::vector<llm::token_id> ids) {
  troupe::serve_options options{.name = "generator", .placement = troupe::placement::thread};
  options.idempotent = {troupe::endpoint<&llm::generator::generate>,
                        troupe::endpoint<&llm::generator::generate_group>};
  auto generators = co_await sys.serve<llm::generator>(options, how, weights, &sys.metrics());
  llm::generation_request request{
      .prompt = ids, .max_tokens = 64, .sampling = {.temperature = 0.8}};
  co_return co_await generators.route<&llm::generator::generate_group>(request, std::int64_t{8});
}
// readme: end

// readme: training
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/trainer/adam.hpp"

/// Takes one step by which the answers of these groups become likelier.
void train_once(const llm::model_config& config, llm::trained_weights& trained,
                troupe::adam& optimizer, const std::vector<llm::token_group>& groups) {
  const auto log_probs = llm::answer_log_probs(config, trained.weights, groups);
  (-log_probs.mean()).backward();  // adds to trained.gradient
  const auto count = static_cast<std::size_t>(trained.parameters.numel());
  optimizer.step({trained.parameters.data_ptr<float>(), count},
                 {trained.gradient.data_ptr<float>(), count}, 1e-5);
  trained.gradient.zero_();
}
// readme: end
