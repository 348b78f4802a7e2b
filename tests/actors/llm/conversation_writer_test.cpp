#include "actors/llm/generator/conversation_writer.hpp"

#include "actors/llm/generator/generation_engine.hpp"
#include "actors/llm/model/read_model.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::llm {
namespace {

using testing::has_text;

void check_turns(const sampling_options& sampling) {
  const auto m = read_model(testing::source_path("tests/fixtures/llm/models/qwen3"));
  const auto packed = pack_weights(m.config, m.weights);
  conversation_writer writer(packed, sampling);
  std::vector<token_id> said;
  for (token_id turn = 1; turn <= 4; ++turn) {
    const std::vector<token_id> next{turn, 7, token_id(3 * turn)};
    writer.read(next);
    said.insert(said.end(), next.begin(), next.end());
    generation_engine e(packed, 1, {});
    const auto which =
        e.submit({.prompt = said, .max_tokens = 40, .sampling = sampling, .stop_at_eos = false});
    while (e.step()) {
    }
    const auto answers = e.take(which);
    for (const auto id : answers.front().tokens) {
      CHECK(writer.write() == id);
      said.push_back(id);
    }
  }
  CHECK(writer.length() == std::ssize(said));
}

TEST_CASE("conversation: each turn is written as if all before it had just been read") {
  check_turns({.temperature = 0});
  check_turns({.temperature = 0, .repetition_penalty = 1.5});
}

TEST_CASE("conversation: after forget() a text is written as by a new writer") {
  const auto m = read_model(testing::source_path("tests/fixtures/llm/models/qwen3"));
  const auto packed = pack_weights(m.config, m.weights);
  const std::vector<token_id> first{1, 2, 3}, second{4, 5};
  // With a penalty for what was said before, a text that is left over would be seen.
  const sampling_options sampling{.temperature = 0, .repetition_penalty = 1.5};
  conversation_writer used(packed, sampling), fresh(packed, sampling);
  used.read(first);
  for (int i = 0; i < 20; ++i) used.write();
  used.forget();
  CHECK(used.length() == 0);
  used.read(second);
  fresh.read(second);
  for (int i = 0; i < 20; ++i) CHECK(used.write() == fresh.write());
}

TEST_CASE("conversation: the context is not exceeded, and what isn't the model's is refused") {
  const auto m = read_model(testing::source_path("tests/fixtures/llm/models/qwen3"));
  conversation_writer writer(pack_weights(m.config, m.weights), {.seed = 1});
  CHECK_THROWS_WITH(writer.write(), has_text("expected something to be read first"));
  CHECK_THROWS_WITH(writer.read({}), has_text("got none"));
  const std::vector<token_id> foreign{1, 64}, many(250, 1), more(10, 1);
  CHECK_THROWS_WITH(writer.read(foreign), has_text("ids from 0 to 63, got 64"));
  writer.read(many);
  CHECK_THROWS_WITH(writer.read(more), has_text("fewer tokens than the context of 256, got 260"));
  for (int i = 0; i < 6; ++i) writer.write();
  CHECK_THROWS_WITH(writer.write(), has_text("the context of 256 is full"));
}

}  // namespace
}  // namespace troupe::llm
