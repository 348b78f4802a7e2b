// A served language model writes four answers to one prompt, which is computed once, and then four
// more during which new weights arrive. The roles are the weights, a generator, and a reference
// model that computes the log-probabilities of the answers.
//
//   generate                uses a tiny model with random weights, which writes random letters
//   MODEL=PATH generate     uses a Hugging Face folder or a GGUF file, such as one that
//                           `troupe models get` installs

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "actors/llm/generator/generator.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/scorer/scorer.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/weights/give_weights.hpp"
#include "runtime/system/run.hpp"

namespace llm = troupe::llm;
using troupe::placement, troupe::serve_options;
using namespace std::chrono_literals;

namespace {

struct roles {
  troupe::service<troupe::weight_store> weights;
  troupe::service<llm::generator> generators;
  troupe::service<llm::scorer> reference;
};

/// A model, the texts of its tokens, and a prompt.
struct writer {
  llm::language_model model;
  llm::token_texts texts;
  std::vector<llm::token_id> prompt;
};

/// A tiny model whose tokens are letters.
writer tiny_writer() {
  writer w;
  w.model.config = {.hidden_size = 64,
                    .intermediate_size = 128,
                    .layers = 2,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 16,
                    .vocab_size = 27,
                    .max_positions = 512,
                    .tied_embeddings = true};
  w.model.weights = llm::random_weights(w.model.config, 1);
  for (char letter = 'a'; letter <= 'z'; ++letter) w.texts.bytes.emplace_back(1, letter);
  w.texts.bytes.emplace_back(" ");
  w.prompt = {7, 4, 11, 11, 14};  // "hello"
  return w;
}

writer read_writer(const std::string& path) {
  const auto tokens = llm::read_tokenizer(path);
  const std::vector<llm::chat_message> question{{"user", "Name a fruit, in one word."}};
  return {llm::read_model(path), llm::texts_of(tokens),
          llm::encode_chat(tokens, llm::read_chat_style(path), question)};
}

troupe::task<roles> serve(troupe::system& sys, writer w) {
  roles c;
  c.weights = co_await sys.serve<troupe::weight_store>({.name = "weights"});
  const troupe::weights first{1, llm::flatten_weights(w.model.config, w.model.weights), {}};
  co_await c.weights.route<&troupe::weight_store::put>(first);
  // The answers of a killed replica are written again.
  // A chat model may take minutes.
  serve_options options{.name = "generator", .placement = placement::thread, .deadline = 1h};
  options.idempotent = {troupe::endpoint<&llm::generator::generate_group>};
  llm::generator_options how{.config = w.model.config, .engine = {.slots = 8}, .texts = w.texts};
  c.generators = co_await sys.serve<llm::generator>(options, how, c.weights, &sys.metrics());
  serve_options as_reference{.name = "reference", .placement = placement::thread, .deadline = 1h};
  c.reference = co_await sys.serve<llm::scorer>(as_reference, w.model.config, c.weights);
  co_return c;
}

troupe::task<std::vector<llm::completion>> ask(roles c, std::vector<llm::token_id> prompt,
                                               std::int64_t tokens) {
  llm::generation_request request{.prompt = std::move(prompt),
                                  .max_tokens = tokens,
                                  .sampling = {.temperature = 0.8, .seed = 1}};
  co_return co_await c.generators.route<&llm::generator::generate_group>(request, std::int64_t{4});
}

void print(const std::vector<llm::completion>& answers) {
  for (const auto& one : answers) {
    double sum = 0;
    for (const auto p : one.log_probs) sum += p;
    std::printf(
        "  \"%s\"  %zu tokens, log-probability %.2f, weights %lld to %lld, prompt computed: %lld\n",
        one.text.substr(0, 60).c_str(), one.tokens.size(), sum,
        static_cast<long long>(one.first_version()), static_cast<long long>(one.last_version()),
        static_cast<long long>(one.prompt_tokens_computed));
  }
}

/// The largest difference of a token's log-probability between the generator and the reference
/// model.
troupe::task<double> distance(roles c, std::vector<llm::token_id> prompt, llm::completion answer) {
  llm::score_request request{prompt, std::ssize(prompt), 0.8};
  request.tokens.insert(request.tokens.end(), answer.tokens.begin(), answer.tokens.end());
  const auto scored = co_await c.reference.route<&llm::scorer::score>(request);
  double most = 0;
  for (std::size_t i = 0; i < scored.log_probs.size(); ++i)
    most = std::max(most, std::abs(scored.log_probs[i] - answer.log_probs[i]));
  co_return most;
}

/// Gives new weights to the generators, as a trainer does after a step.
troupe::task<> publish(roles c, at::Tensor parameters) {
  co_await troupe::sleep_for(100us);
  const troupe::weights fresh{2, std::move(parameters), {}};
  co_await c.weights.route<&troupe::weight_store::put>(fresh);
  co_await troupe::give_weights<&llm::generator::update>(c.generators, fresh);
}

troupe::task<> demo(troupe::system& sys) {
  const char* path = std::getenv("MODEL");
  const auto w = path ? read_writer(path) : tiny_writer();
  const auto c = co_await serve(sys, w);

  std::puts("four answers to one prompt:");
  const auto answers = co_await ask(c, w.prompt, 24);
  print(answers);
  const double most = co_await distance(c, w.prompt, answers[0]);
  std::printf("  generator and reference model differ by %.1g\n", most);
  if (most > 1e-5) throw std::runtime_error("generator and reference model disagree");

  std::puts("and four while new weights arrive:");
  const auto next = llm::flatten_weights(w.model.config, llm::random_weights(w.model.config, 2));
  const auto both = co_await troupe::all(ask(c, w.prompt, 400), publish(c, next));
  print(std::get<0>(both));
}

}  // namespace

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, demo);
}
