#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft_setup.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/data/jsonl.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/chat_model.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains, Catch::Matchers::EndsWith;

/// A folder with files of examples, which a model of bytes reads.
class stage {
 public:
  std::filesystem::path path() const { return folder_.path; }
  std::string file(const std::string& name, const std::vector<nlohmann::json>& lines) const {
    std::ofstream to(folder_.path / name);
    for (const auto& line : lines) to << line.dump() << '\n';
    return (folder_.path / name).string();
  }
  sft_config config(const std::string& data) const {
    sft_config made;
    made.model.max_positions = 512;
    made.task.data = data;
    return made;
  }

 private:
  temporary_folder folder_;
};

nlohmann::json pair(const std::string& prompt, const std::string& answer) {
  return {{"prompt", prompt}, {"answer", answer}};
}

std::vector<nlohmann::json> sums(int count) {
  std::vector<nlohmann::json> lines;
  for (int i = 0; i < count; ++i)
    lines.push_back(pair(std::to_string(i) + " + 1", std::to_string(i + 1)));
  return lines;
}

bool has(const std::vector<sft_example>& all, const sft_example& one) {
  return std::ranges::count(all, one) > 0;
}

bool are_apart(const sft_setup& made) {
  return std::ranges::none_of(made.held_out,
                              [&](const auto& one) { return has(made.training, one); });
}

TEST_CASE("sft setup: lines are held out by the seed, and trained on nowhere") {
  const stage on;
  auto config = on.config(on.file("data.jsonl", sums(40)));
  const auto usual = read_sft_setup(config);
  CHECK(usual.held_out.size() == 4);  // a tenth
  CHECK(usual.training.size() == 36);
  config.task.held_out = 0.25;
  const auto made = read_sft_setup(config);
  CHECK(made.held_out.size() == 10);
  CHECK(made.training.size() == 30);
  CHECK(are_apart(made));
  CHECK((read_sft_setup(config).held_out == made.held_out));
  config.seed = 2;
  const auto other = read_sft_setup(config);
  CHECK((other.held_out != made.held_out));
  CHECK(are_apart(other));
  config.task.held_out = 0.999;  // something is left to train on
  CHECK(read_sft_setup(config).training.size() == 1);
  config.task.held_out = 0.0;
  CHECK(read_sft_setup(config).held_out.empty());
  CHECK(read_sft_setup(config).training.size() == 40);
}

TEST_CASE("sft setup: a repeated line and a conversation are held out as a whole") {
  const stage on;
  auto lines = sums(8);
  for (const auto& line : sums(8)) lines.push_back(line);
  for (int i = 0; i < 8; ++i) {
    const auto said = std::to_string(i);
    lines.push_back({{"messages",
                      {{{"role", "user"}, {"content", "Say " + said}},
                       {{"role", "assistant"}, {"content", said}},
                       {{"role", "user"}, {"content", "Again"}},
                       {{"role", "assistant"}, {"content", said}}}}});
  }
  auto config = on.config(on.file("data.jsonl", lines));
  config.task.held_out = 0.5;
  const auto made = read_sft_setup(config);
  CHECK(made.held_out.size() == 16);  // 8 of 16 different lines, of two examples each
  CHECK(made.training.size() == 16);
  CHECK(are_apart(made));
  // The prompt of a conversation's second example begins with the first.
  for (const auto& held : made.held_out) {
    const auto continues = [&](const auto& one) {
      return one.prompt.size() > held.prompt.size() &&
             std::equal(held.prompt.begin(), held.prompt.end(), one.prompt.begin());
    };
    CHECK(std::ranges::none_of(made.training, continues));
  }
}

TEST_CASE("sft setup: a file of its own is for evaluation, with other keys and a system message") {
  const stage on;
  const auto line = [](const char* question, const char* completion) {
    return nlohmann::json{{"question", question}, {"completion", completion}};
  };
  auto config = on.config(on.file("data.jsonl", {line("a", "b")}));
  config.task.held_out_data = on.file("held_out.jsonl", {line("c", "d")});
  config.task.prompt = "question";
  config.task.answer = "completion";
  config.model.system_prompt = "Be brief.";
  const auto made = read_sft_setup(config);
  REQUIRE(made.training.size() == 1);
  REQUIRE(made.held_out.size() == 1);
  const auto& tokens = made.model.tokens;
  CHECK(tokens.decode(made.training[0].answer) == "b<|end|>");
  CHECK(tokens.decode(made.held_out[0].answer) == "d<|end|>");
  CHECK_THAT(tokens.decode(made.training[0].prompt), Contains("<|system|>Be brief.<|end|>"));
  CHECK(!judges_training(config));
  shared_sft_setup shared(config);
  CHECK(completed(config, shared).task.held_out == 0.0);
  config.task.held_out_data.clear();
  config.task.held_out = 0.1;
  CHECK_THROWS_WITH(read_sft_setup(config), Contains("/task/held_out: expected 0"));
  config.task.held_out = 0.0;
  CHECK(judges_training(config));
  CHECK((read_sft_setup(config).judged(0) == made.training));
}

TEST_CASE("sft setup: of few prompts none is held out, and of a few more two are") {
  const stage on;
  for (const auto& [prompts, held_out] : {std::pair{1, 0}, {2, 0}, {3, 0}, {4, 2}, {21, 2}}) {
    auto config = on.config(on.file("data.jsonl", sums(prompts)));
    CHECK(std::ssize(read_sft_setup(config).held_out) == held_out);
    shared_sft_setup setup(config);
    config = completed(config, setup);
    CHECK(judges_training(config) == (held_out == 0));
    CHECK(std::ssize(read_sft_setup(config).held_out) == held_out);
  }
}

TEST_CASE("sft setup: what a held-out line asks is learned in no other conversation") {
  const stage on;
  const auto turns = [](std::vector<std::string> texts) {
    auto messages = nlohmann::json::array();
    for (std::size_t i = 0; i < texts.size(); ++i)
      messages.push_back({{"role", i % 2 ? "assistant" : "user"}, {"content", texts[i]}});
    return nlohmann::json{{"messages", messages}};
  };
  std::vector<nlohmann::json> lines;
  for (int i = 0; i < 10; ++i) {
    const auto said = std::to_string(i);
    lines.push_back(turns({"Say " + said, said}));
    lines.push_back(turns({"Say " + said, said, "Again", said}));  // begins like the one before
  }
  auto config = on.config(on.file("data.jsonl", lines));
  config.task.held_out = 0.5;
  const auto made = read_sft_setup(config);
  for (const auto& held : made.held_out)
    CHECK(std::ranges::none_of(made.training,
                               [&](const auto& one) { return one.prompt == held.prompt; }));
  // Each line is there, if not all of its answers.
  CHECK(made.training.size() + made.held_out.size() >= 20);
}

std::string refusal_of(const sft_config& config) {
  return testing::message_of([&] { read_sft_setup(config); });
}

TEST_CASE("sft setup: all lines that can't be learned from are told at once, up to twenty") {
  const stage on;
  auto lines = sums(4);
  lines[1] = {{"prompt", "a"}};
  lines[3] = pair("a", std::string(100, 'b'));
  auto config = on.config(on.file("data.jsonl", lines));
  config.task.max_tokens = 60;
  const auto told = refusal_of(config);
  CHECK_THAT(told,
             Contains("/task/data: ") &&
                 Contains("data.jsonl:2: expected the field \"answer\", got the fields prompt\n"));
  CHECK_THAT(told, Contains("data.jsonl:4: expected at most 60 tokens of prompt and answer, got"));
  CHECK_THAT(told, !Contains("jsonl:1:") && !Contains("jsonl:3:"));

  config = on.config(on.file("bad.jsonl", std::vector<nlohmann::json>(30, lines[1])));
  const auto many = refusal_of(config);
  CHECK(std::ranges::count(many, '\n') == 20);
  CHECK_THAT(many, Contains("bad.jsonl:20: ") && !Contains("bad.jsonl:21: "));
  CHECK_THAT(many, EndsWith("\nand 10 more; `troupe check-data` lists all"));
}

TEST_CASE("sft setup: long examples are left out where that is asked for") {
  const stage on;
  auto lines = sums(4);
  lines[3] = pair("a", std::string(100, 'b'));
  auto config = on.config(on.file("data.jsonl", lines));
  config.task.held_out = 0.0;
  config.task.max_tokens = 60;
  config.task.too_long = long_examples::skip;
  CHECK(read_sft_setup(config).training.size() == 3);
  config.task.data = on.file("long.jsonl", {lines[3]});
  CHECK_THAT(refusal_of(config), Contains("/task/data: expected examples of at most 60 tokens"));
  config.task.max_tokens = 513;
  CHECK_THAT(refusal_of(config), Contains("/task/max_tokens: expected at most 512"));
}

TEST_CASE("sft setup: the number of updates is that of the epochs, or total_steps") {
  const stage on;
  auto config = on.config(on.file("data.jsonl", sums(40)));
  config.trainer.batch_size = 8;
  shared_sft_setup setup(config);
  const auto usual = completed(config, setup);  // 36 examples are 5 batches
  CHECK(usual.total_steps == 15);
  CHECK(usual.evaluation.every_updates == 5);
  CHECK(usual.trainer.lr == 1e-3);
  CHECK(usual.task.held_out == 0.1);
  CHECK(usual.learner().total_updates == 15);
  CHECK(usual.learner().schedule == lr_decay::linear);
  config.trainer.epochs = 0.5;
  CHECK(completed(config, setup).total_steps == 3);
  config.trainer.lora.rank = 4;
  CHECK(completed(config, setup).trainer.lora.adapters().value().rank == 4);
  config.total_steps = 7;
  CHECK(completed(config, setup).total_steps == 7);
  config.trainer.warmup_updates = 7;
  CHECK_THROWS_WITH(completed(config, setup),
                    Contains("/trainer/warmup_updates: expected fewer than the 7 updates"));
}

TEST_CASE("sft setup: a chat model's format, and its step size") {
  const stage on;
  testing::write_chat_model(on.path() / "model");
  auto config = on.config(on.file("data.jsonl", sums(4)));
  config.model.path = (on.path() / "model").string();
  const auto made = read_sft_setup(config);
  const auto& tokens = made.model.tokens;
  CHECK_THAT(tokens.decode(made.training[0].prompt), EndsWith("<|im_start|>assistant\n"));
  CHECK_THAT(tokens.decode(made.training[0].answer), EndsWith("<|im_end|>"));
  shared_sft_setup setup(config);
  CHECK(completed(config, setup).trainer.lr == 2e-5);
  config.trainer.lora.rank = 4;
  CHECK(completed(config, setup).trainer.lr == 2e-4);
  config.trainer.lr = 1e-4;
  CHECK(completed(config, setup).trainer.lr == 1e-4);
}

TEST_CASE("sft setup: the data isn't read where the configuration has all") {
  sft_config config;
  config.task.data = "nowhere.jsonl";
  config.model.path = "nowhere";
  config.total_steps = 7;
  config.evaluation.every_updates = 2;
  config.task.held_out = 0.1;
  CHECK(algorithm_with(config).settings.updates == 7);
  CHECK_THROWS(algorithm_with(config).check());
  config.total_steps.reset();
  CHECK_THROWS(algorithm_with(config));
}

TEST_CASE("sft setup: what is missing or contradicts itself is refused by name") {
  sft_config config;
  CHECK_THAT(refusal_of(config), Contains("/task/data: expected a file"));
  const auto refusal = [](const char* text) {
    return testing::message_of<config_error>(
        [&] { parse_config<sft_config>(nlohmann::json::parse(text)); });
  };
  CHECK_THAT(refusal(R"({"task": {"held_out": 0.1, "held_out_data": "a"}})"),
             Contains("null or 0 where held_out_data is a file"));
  CHECK_THAT(refusal(R"({"task": {"held_out": 1}})"), Contains("/task/held_out"));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"targets": ["q", "q"]}}})"),
             Contains("each layer once"));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"targets": ["x"]}}})"),
             Contains("/trainer/lora/targets"));
}

}  // namespace
}  // namespace troupe
