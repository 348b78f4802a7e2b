#include "actors/torch/torch.hpp"

#include <cstring>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/decoder.hpp"
#include "actors/llm/model/packed_forward.hpp"
#include "actors/llm/model/read_model.hpp"
#include "tests/actors/llm/copied_tensor.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

const std::filesystem::path fixtures = testing::source_path("tests/fixtures/llm/models");
const std::vector<std::string> names{"llama", "llama_linear", "qwen2", "qwen3"};

/// Ids, and the logits after every sixth of them as transformers computed them.
struct known_logits {
  std::vector<token_id> ids;
  at::Tensor logits;
};

known_logits read_known(const std::string& name) {
  const auto file = read_safetensors(fixtures / name / "known.safetensors");
  const auto& ids = file.tensors.at("ids");
  const auto& logits = file.tensors.at("logits");
  known_logits known{std::vector<token_id>(static_cast<std::size_t>(ids.elements())),
                     at::empty(logits.shape)};
  ids.file->read(ids.offset, ids.size, reinterpret_cast<char*>(known.ids.data()));
  copy_floats(logits, {known.logits.data_ptr<float>(), std::size_t(logits.elements())});
  return known;
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().max().item<double>();
}

at::Tensor every_sixth(const at::Tensor& logits) { return logits.slice(0, 5, at::nullopt, 6); }

at::Tensor packed_logits(const language_model& m, const packed_tokens& tokens) {
  return logits_of(m.config, m.weights, packed_hidden(m.config, m.weights, tokens));
}

/// All logits of one sequence, given to the decoder in parts of these sizes.
at::Tensor decoded_logits(decoder& d, const std::vector<token_id>& ids,
                          std::vector<std::size_t> parts) {
  kv_sequence sequence(d.config(), std::int64_t(ids.size()));
  std::vector<at::Tensor> logits;
  std::size_t begin = 0;
  for (std::size_t i = 0; begin < ids.size(); ++i) {
    const auto count = std::min(parts[i % parts.size()], ids.size() - begin);
    const token_run run{&sequence, std::span(ids).subspan(begin, count), wanted_logits::all};
    logits.push_back(d.forward({&run, 1}));
    begin += count;
  }
  return at::cat(logits);
}

TEST_CASE("model: logits are those of transformers, packed and decoded") {
  for (const auto& name : names) {
    CAPTURE(name);
    const auto m = read_model(fixtures / name);
    const auto known = read_known(name);
    CHECK(known.logits.abs().max().item<double>() > 1.0);  // or nothing would be compared
    const auto packed = packed_logits(m, {known.ids, {std::int64_t(known.ids.size())}});
    CHECK(farthest(every_sixth(packed), known.logits) < 1e-4);
    decoder d(pack_weights(m.config, m.weights));
    CHECK(farthest(every_sixth(decoded_logits(d, known.ids, {known.ids.size()})), known.logits) <
          1e-4);
    CHECK(farthest(every_sixth(decoded_logits(d, known.ids, {1, 7, 20})), known.logits) < 1e-4);
  }
}

TEST_CASE("model: a GGUF file of Llama, with its rows in another order, gives the same logits") {
  const auto m = read_model(fixtures / "llama.gguf");
  const auto known = read_known("llama");
  const auto packed = packed_logits(m, {known.ids, {std::int64_t(known.ids.size())}});
  CHECK(farthest(every_sixth(packed), known.logits) < 1e-4);
}

TEST_CASE("packed: documents beside one another don't see each other, and have gradients") {
  auto m = read_model(fixtures / "qwen3");
  const auto ids = read_known("qwen3").ids;
  const auto both = packed_logits(m, {ids, {30, 60}});
  const auto alone = packed_logits(m, {{ids.begin() + 30, ids.end()}, {60}});
  CHECK(farthest(both.narrow(0, 30, 60), alone) < 1e-5);

  m.weights.layers[0].k.requires_grad_(true);
  const auto loss = packed_logits(m, {ids, {30, 60}}).logsumexp(-1).mean();
  loss.backward();
  const auto gradient = m.weights.layers[0].k.grad();
  // Against a difference of the loss, in one element.
  const float step = 1e-2f;
  double around[2];
  for (const int side : {0, 1}) {
    const at::NoGradGuard off;
    m.weights.layers[0].k[3][5] += side == 0 ? -step : 2 * step;
    around[side] =
        packed_logits(m, {ids, {30, 60}}).to(at::kDouble).logsumexp(-1).mean().item<double>();
  }
  const double slope = (around[1] - around[0]) / (2 * step);
  CHECK(gradient[3][5].item<double>() == Approx(slope).epsilon(0.02).margin(1e-5));
}

TEST_CASE("decoder: a token's logits are the same bits alone and in a batch") {
  const auto m = read_model(fixtures / "qwen2");
  const auto ids = read_known("qwen2").ids;
  decoder d(pack_weights(m.config, m.weights));
  std::vector<at::Tensor> alone;
  std::vector<kv_sequence> sequences;
  std::vector<token_run> runs;
  for (std::size_t i = 0; i < 11; ++i) {
    const std::vector<token_id> mine(ids.begin(), ids.begin() + std::ptrdiff_t(3 + 5 * i));
    alone.push_back(decoded_logits(d, mine, {mine.size()}).slice(0, -1));
    sequences.emplace_back(m.config, 80);
  }
  for (std::size_t i = 0; i < 11; ++i)
    runs.push_back({&sequences[i], std::span(ids).first(3 + 5 * i)});
  CHECK(at::equal(d.forward(runs), at::cat(alone)));
}

TEST_CASE("decoder: a prompt that forks share gives what each would have computed") {
  const auto m = read_model(fixtures / "llama");
  const auto ids = read_known("llama").ids;
  decoder d(pack_weights(m.config, m.weights));
  kv_sequence prompt(m.config, 40);
  const token_run first{&prompt, std::span(ids).first(37), wanted_logits::none};
  CHECK(d.forward({&first, 1}).size(0) == 0);
  auto one = prompt.fork(20), two = prompt.fork(20);
  CHECK(prompt.room() == 0);  // others look at its last part
  const token_run runs[] = {{&one, std::span(ids).subspan(37, 12)},
                            {&two, std::span(ids).subspan(60, 5)}};
  const auto logits = d.forward(runs);
  std::vector<token_id> second(ids.begin(), ids.begin() + 37);
  second.insert(second.end(), ids.begin() + 60, ids.begin() + 65);
  CHECK(farthest(logits[0], decoded_logits(d, {ids.begin(), ids.begin() + 49}, {49})[48]) < 1e-5);
  CHECK(farthest(logits[1], decoded_logits(d, second, {42})[41]) < 1e-5);
  CHECK(one.length() == 49);
  CHECK(two.length() == 42);
}

TEST_CASE("decoder: what can't be computed is refused and changes nothing") {
  const auto m = read_model(fixtures / "llama");
  decoder d(pack_weights(m.config, m.weights));
  kv_sequence sequence(m.config, 20);
  const std::vector<token_id> good(5, 1);
  const auto refusal_of = [&](std::vector<token_run> runs) {
    return testing::message_of<std::invalid_argument>([&] { d.forward(runs); });
  };
  const std::vector<token_id> foreign{1, 64}, many(40, 1);
  CHECK_THAT(refusal_of({{&sequence, foreign}}), Contains("ids from 0 to 63, got 64"));
  CHECK_THAT(refusal_of({{&sequence, {}}}), Contains("one token or more"));
  CHECK_THAT(refusal_of({{&sequence, good}, {&sequence, good}}),
             Contains("each sequence in one run"));
  CHECK_THAT(refusal_of({{&sequence, many}}), Contains("room for 40 tokens"));
  CHECK(sequence.length() == 0);
  CHECK_THROWS_WITH(kv_sequence(m.config, 257), Contains("0 to 256 tokens, got 257"));
  const auto other = read_model(fixtures / "qwen3");
  CHECK_THROWS_WITH(d.set_weights(pack_weights(other.config, other.weights)),
                    Contains("expected the weights of"));
  CHECK_THROWS_WITH(packed_logits(m, {many, {41}}), Contains("40 tokens together, got 41"));
}

TEST_CASE("model: what is written is read again, with the same bits") {
  for (const auto& name : names) {
    CAPTURE(name);
    const auto m = read_model(fixtures / name);
    const temporary_folder folder;
    write_model(folder.path / "copy", m.config, m.weights);
    const auto copy = read_model(folder.path / "copy");
    CHECK(to_config_json(copy.config) == to_config_json(m.config));
    const auto ids = read_known(name).ids;
    CHECK(at::equal(packed_logits(m, {ids, {90}}), packed_logits(copy, {ids, {90}})));
  }
}

TEST_CASE("config: the stop tokens, and what isn't known is refused by name") {
  CHECK(read_model_config(fixtures / "llama" / "config.json").eos_tokens ==
        std::vector<std::int64_t>{2, 5});
  const temporary_folder folder;
  const auto path = folder.path / "config.json";
  const auto text = read_text(fixtures / "qwen3" / "config.json");
  const auto refusal_of = [&](const std::string& what, const std::string& instead) {
    auto changed = text;
    const auto at = changed.find(what);
    REQUIRE(at != changed.npos);
    write_durably(path, changed.replace(at, what.size(), instead));
    return testing::message_of<llm_file_error>([&] { read_model_config(path); });
  };
  CHECK(refusal_of("\"qwen3\"", "\"qwen3\"") == "");
  CHECK_THAT(refusal_of("\"qwen3\"", "\"mistral\""),
             Contains("model_type: expected llama, qwen2 or qwen3, got \"mistral\""));
  CHECK_THAT(refusal_of("\"silu\"", "\"gelu\""), Contains("hidden_act"));
  CHECK_THAT(refusal_of("\"use_cache\"", "\"novelty\""),
             Contains("/novelty: expected no such field"));
  CHECK_THAT(refusal_of("\"default\"", "\"longrope\""), Contains("rope_type"));
  CHECK_THAT(refusal_of("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
             Contains("multiple of num_key_value_heads"));
  CHECK_THAT(refusal_of("\"hidden_size\": 32", "\"hidden_size\": -1"),
             Contains("hidden_size: expected a whole number"));
  CHECK_THAT(refusal_of("\"full_attention\"", "\"sliding_attention\""), Contains("layer_types"));
}

TEST_CASE("model: a checkpoint with a weight missing, another shape or one too many is refused") {
  const auto m = read_model(fixtures / "llama");
  const temporary_folder folder;
  write_model(folder.path, m.config, m.weights);
  const auto file = folder.path / "model.safetensors";
  const auto rewrite = [&](auto change) {
    const auto read = read_safetensors(fixtures / "llama" / "model.safetensors");
    std::map<std::string, tensor_to_write> tensors;
    std::deque<std::string> bytes;
    for (const auto& [name, view] : read.tensors) tensors[name] = copied_tensor(view, bytes);
    change(tensors);
    write_safetensors(file, tensors);
  };
  rewrite([](auto& tensors) { tensors.erase("model.layers.1.mlp.up_proj.weight"); });
  CHECK_THROWS_WITH(read_model(folder.path),
                    Contains("\"model.layers.1.mlp.up_proj.weight\", got none"));
  rewrite([](auto& tensors) { tensors["model.norm.weight"].shape = {4, 8}; });
  CHECK_THROWS_WITH(read_model(folder.path),
                    Contains("\"model.norm.weight\" at byte") && Contains("[32], got [4, 8]"));
  rewrite([](auto& tensors) { tensors["model.more"] = tensors["model.norm.weight"]; });
  CHECK_THROWS_WITH(read_model(folder.path),
                    Contains("\"model.more\"") && Contains("no tensor of this name"));
}

TEST_CASE("model: Llama 3's frequencies are kept, stretched, and on a line between") {
  // Wavelengths of 6.3, 63, 628 and 6283 tokens, where 32 and 128 are the bounds: by
  // transformers' _compute_llama3_parameters.
  model_config config{.head_dim = 8, .rope_theta = 10000.0};
  config.scaling = {.type = rope_scaling::kind::llama3,
                    .factor = 8.0,
                    .original_max_positions = 128,
                    .low_freq_factor = 1.0,
                    .high_freq_factor = 4.0};
  const auto frequencies = rope_frequencies(config);
  REQUIRE(frequencies.size() == 4);
  const double expected[] = {1.0, 0.042751178754307596, 0.00125, 0.000125};
  for (std::size_t i = 0; i < 4; ++i) CHECK(frequencies[i] == Approx(expected[i]).epsilon(1e-6));
}

}  // namespace
}  // namespace troupe::llm
