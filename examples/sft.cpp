// Supervised fine-tuning: a language model learns to write given answers.
//
// The roles:
//   dataset   draws prompts and answers, shuffled anew each epoch
//   trainer   trains by AdamW on the cross-entropy of the answers' tokens, and evaluates
//
//   ./sft
//   ./sft --model DIR --data FILE.jsonl --out DIR --lora 8 lr=1e-4
//
// Without a model, a tiny one learns to add the digits of two-digit numbers in seconds. A line of
// data is {"prompt": TEXT, "answer": TEXT} or {"messages": [...]}. --out gets safetensors.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "actors/data/dataset.hpp"
#include "actors/llm/generator/generation_engine.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/sft/sft_learner.hpp"
#include "runtime/system/system.hpp"

namespace llm = troupe::llm;
using namespace std::chrono_literals;

using examples = troupe::dataset<troupe::sft_example>;

/// The model and the data.
struct setup {
  llm::language_model model;
  std::vector<troupe::sft_example> data;
};

/// Ids 0 to 9 are digits; 10 ends a question ("47>"), 11 an answer ("11").
setup sums_of_digits() {
  llm::model_config config;
  config.hidden_size = 64, config.intermediate_size = 128, config.layers = 2;
  config.heads = config.kv_heads = 4, config.head_dim = 16;
  config.vocab_size = 12, config.max_positions = 16, config.tied_embeddings = true;
  setup made{{config, llm::random_weights(config, 1)}, {}};
  for (int number = 10; number < 100; ++number) {
    const int a = number / 10, b = number % 10;
    made.data.push_back({{a, b, 10}, {(a + b) % 10, 11}});
    if (a + b > 9) made.data.back().answer.insert(made.data.back().answer.begin(), 1);
  }
  return made;
}

setup read_setup(const std::string& model, const std::string& data) {
  setup made{llm::read_model(model), {}};
  const auto& config = made.model.config;
  const auto tokens = llm::read_tokenizer(model);
  made.data = troupe::read_sft_examples(data, {.tokens = &tokens,
                                               .style = llm::read_chat_style(model),
                                               .max_tokens = config.max_positions});
  return made;
}

struct settings {
  setup what;
  troupe::sft_options options;
  int updates = 150, batch_size = 32, lora = 0;
  std::string out;
};

/// The role that trains the model and evaluates it.
class sft_trainer {
 public:
  sft_trainer(const setup& what, const troupe::sft_options& options, int lora)
      : config_(what.model.config),
        start_(llm::flatten_weights(config_, what.model.weights)),
        learner_(lora ? troupe::sft_learner(config_, options, start_, {.rank = lora}, 1)
                      : troupe::sft_learner(config_, options, start_)) {}

  auto train_step(std::vector<troupe::sft_example> batch) { return learner_.update(batch); }

  /// The number of examples that the model answers exactly when it takes the likeliest tokens.
  int right_answers(std::vector<troupe::sft_example> asked) {
    llm::generation_engine engine(llm::pack_weights(config_, now()), 0, {});
    int right = 0;
    for (const auto& one : asked) {
      const auto ticket = engine.submit({.prompt = one.prompt,
                                         .max_tokens = std::int64_t(one.answer.size()),
                                         .sampling = {.temperature = 0.0}});
      while (engine.step()) {
      }
      right += engine.take(ticket)[0].tokens == one.answer;
    }
    return right;
  }

  void write(std::string folder) { llm::write_model(folder, config_, now()); }

 private:
  llm::model_weights now() const { return llm::weights_in(config_, learner_.model_parameters()); }

  llm::model_config config_;
  at::Tensor start_;  // float [P]
  troupe::sft_learner learner_;
};

troupe::task<> fine_tune(troupe::system& sys, settings s) {
  const std::size_t shown = std::min<std::size_t>(s.what.data.size(), 100);
  const std::vector<troupe::sft_example> some(s.what.data.begin(), s.what.data.begin() + shown);
  auto data = co_await sys.serve<examples>({.name = "dataset"}, s.what.data);
  auto student = co_await sys.serve<sft_trainer>({.name = "trainer", .deadline = 24h}, s.what,
                                                 s.options, s.lora);
  for (int update = 1; update <= s.updates; ++update) {
    std::vector<troupe::sft_example> batch;
    while (std::ssize(batch) < s.batch_size)
      batch.push_back(co_await data.route<&examples::next>());
    const auto report = co_await student.route<&sft_trainer::train_step>(std::move(batch));
    if (update % 50 == 1) std::printf("update %d: loss %.3f\n", update, report["train/loss"]);
  }
  const int right = co_await student.route<&sft_trainer::right_answers>(some);
  std::printf("%d of %zu answers are right\n", right, shown);
  if (!s.out.empty()) co_await student.route<&sft_trainer::write>(s.out);
}

int main(int argc, char** argv) {
  CLI::App app("Fine-tunes a language model on prompts and answers.");
  settings s;
  std::string model, data;
  std::vector<std::string> overrides;
  auto* model_option = app.add_option("--model", model, "A chat model's folder or GGUF file.");
  app.add_option("--data", data, "JSON Lines to learn from.")->needs(model_option);
  app.add_option("--out", s.out, "The folder for the trained model. By default it isn't kept.");
  app.add_option("--updates", s.updates)->check(CLI::Range(1, 1'000'000));
  app.add_option("--batch", s.batch_size, "Examples in an update.")->check(CLI::Range(1, 4096));
  app.add_option("--lora", s.lora, "LoRA's rank; 0: all weights.")->check(CLI::Range(0, 1024));
  app.add_option("options", overrides, "Options of the learner, such as lr=1e-5.");
  try {
    app.parse(argc, argv);
    s.options = troupe::parse_config<troupe::sft_options>(troupe::load_config("", overrides),
                                                          {.lr = model.empty() ? 4e-3 : 2e-5});
    troupe::use_one_torch_thread();
    s.what = model.empty() ? sums_of_digits() : read_setup(model, data);
    troupe::system sys;
    sys.run(fine_tune(sys, std::move(s)));
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sft: %s\n", e.what());
    return 1;
  }
}
