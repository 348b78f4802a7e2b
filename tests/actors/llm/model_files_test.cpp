// Models as people have them: whose files disagree, with other tools' keys, in parts, and adapters.
#include "actors/torch/torch.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/config_keys.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_adapters.hpp"
#include "actors/llm/model/read_model.hpp"
#include "tests/actors/llm/copied_tensor.hpp"
#include "tests/actors/llm/gguf_bytes.hpp"
#include "tests/actors/llm/small_models.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/captured_stream.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using nlohmann::json;

std::string refusal_of(const fs::path& path) {
  return testing::message_of<llm_file_error>([&] { read_model(path); });
}

std::string_view bytes_in(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

tensor_to_write to_write(const at::Tensor& tensor) {
  return {tensor_type::f32, tensor.sizes().vec(), bytes_in(tensor)};
}

/// A folder with a small model of Llama's, whose embedding is its head.
class tied_model {
 public:
  tied_model() { write_model(path(), config, weights); }

  fs::path path() const { return folder_.path / "model"; }
  /// Adds a head to the file, with this beginning of all names.
  void add_head(const at::Tensor& head, const std::string& prefix = "") {
    const auto kept = read_safetensors(folder_.path / "model" / "model.safetensors");
    std::map<std::string, tensor_to_write> tensors;
    std::deque<std::string> bytes;
    for (const auto& [name, view] : kept.tensors)
      tensors[prefix + name] = copied_tensor(view, bytes);
    tensors[prefix + "lm_head.weight"] = to_write(head);
    write_safetensors(path() / "model.safetensors", tensors);
  }
  void change_config(const std::string& key, const json& value) {
    auto document = read_model_json(path() / "config.json");
    document[key] = value;
    write_durably(path() / "config.json", document.dump());
  }

  const model_config config = small_model(model_family::llama);
  const model_weights weights = random_weights(config, 3);

 private:
  temporary_folder folder_;
};

TEST_CASE(
    "model files: a head that differs from the embedding is kept, whatever config.json says") {
  tied_model model;
  REQUIRE(model.config.tied_embeddings);
  const auto head = model.weights.embedding.flip(0).contiguous();
  for (const std::string prefix : {"", "module."}) {  // the second adds to the first's names
    CAPTURE(prefix);
    tied_model one;
    one.add_head(head, prefix);
    CHECK_FALSE(read_model_shape(one.path()).tied_embeddings);
    const auto read = read_model(one.path());
    CHECK_FALSE(read.config.tied_embeddings);
    REQUIRE(read.weights.head.defined());
    CHECK(at::equal(read.weights.head, head));

    // What is written says the same of itself.
    const temporary_folder again;
    write_model(again.path, read.config, read.weights);
    CHECK(read_model_json(again.path / "config.json")["tie_word_embeddings"] == false);
    CHECK(at::equal(read_model(again.path).weights.head, head));
  }
  model.add_head(model.weights.embedding);
  CHECK(read_model_shape(model.path()).tied_embeddings);
  CHECK_FALSE(read_model(model.path()).weights.head.defined());
}

TEST_CASE("model files: a configuration that is no object is refused by its file") {
  for (const std::string name : {"config.json", "generation_config.json"}) {
    tied_model model;
    write_durably(model.path() / name, "[1]");
    CHECK(refusal_of(model.path()) ==
          (model.path() / name).string() + ": expected an object, got array");
  }
  tied_model model;
  model.change_config("rope_parameters", json::array({1}));
  CHECK_THAT(refusal_of(model.path()),
             Contains("config.json: /rope_parameters: expected an object, got array"));
}

TEST_CASE("model files: a model without a head that config.json does not tie is refused") {
  tied_model model;
  model.change_config("tie_word_embeddings", false);
  CHECK_THAT(refusal_of(model.path()),
             Contains("\"lm_head.weight\", got none") && Contains("tie_word_embeddings"));
}

TEST_CASE("model files: notes in config.json pass, and what may change the arithmetic is refused") {
  using enum key_use;
  CHECK(use_of_key("transformers_version", "5.1") == pass);
  CHECK(use_of_key("anything", nullptr) == pass);
  CHECK(use_of_key("attn_logit_softcapping", nullptr) == pass);
  CHECK(use_of_key("partial_rotary_factor", 1.0) == pass);
  CHECK(use_of_key("use_mrope", false) == pass);
  CHECK(use_of_key("some_tool_version", "2026.3") == tell);
  CHECK(use_of_key("training.dataset", json{"a", "b"}) == tell);
  CHECK(use_of_key("some_flag", false) == tell);
  CHECK(use_of_key("extra", json::object()) == tell);
  // Switched off is not harmless where the name is of the arithmetic, nor is a text.
  CHECK(use_of_key("use_rope", false) == refuse);
  CHECK(use_of_key("rms_norm_affine", false) == refuse);
  CHECK(use_of_key("norm_version", "2") == refuse);
  CHECK(use_of_key("partial_rotary_factor", 0.5) == refuse);
  CHECK(use_of_key("num_local_experts", 8) == refuse);
  CHECK(use_of_key("some_flag", true) == refuse);
  CHECK(use_of_key("some_number", 2) == refuse);
  CHECK(use_of_key("kind", "other") == refuse);

  const auto refusal_with = [](const char* key, const json& value) {
    tied_model model;
    model.change_config(key, value);
    return refusal_of(model.path());
  };
  CHECK(refusal_with("some_tool_version", "2026.3") == "");
  CHECK(refusal_with("quantization_config", nullptr) == "");
  CHECK(refusal_with("auto_map", {{"AutoTokenizer", "own.Tokenizer"}}) == "");
  CHECK_THAT(refusal_with("final_logit_softcapping", 30.0),
             Contains("/final_logit_softcapping: expected no such field"));
  CHECK_THAT(refusal_with("auto_map", {{"AutoModelForCausalLM", "modeling_own.Own"}}),
             Contains("code of its own, modeling_own.Own"));
}

TEST_CASE("model files: quantised weights are named, with what to take instead") {
  const auto refusal_with = [](const char* key, const json& value) {
    tied_model model;
    model.change_config(key, value);
    return refusal_of(model.path());
  };
  CHECK_THAT(
      refusal_with("quantization_config", {{"quant_method", "fp8"}}),
      Contains("quantised by fp8, which is not read: take the original model, or a GGUF file"));
  CHECK_THAT(refusal_with("quantization_config", {{"quant_method", "bitsandbytes"},
                                                  {"load_in_4bit", true},
                                                  {"bnb_4bit_quant_type", "nf4"}}),
             Contains("quantised by bitsandbytes (4 bits, nf4)"));
  CHECK_THAT(refusal_with("quantization", {{"bits", 4}, {"group_size", 64}}),
             Contains("quantised by an unknown method (4 bits)"));
  // Without a word in config.json the names of the tensors tell.
  tied_model model;
  const auto kept = read_safetensors(model.path() / "model.safetensors");
  std::map<std::string, tensor_to_write> tensors;
  std::deque<std::string> bytes;
  for (const auto& [name, view] : kept.tensors)
    tensors[name.ends_with("up_proj.weight") ? name.substr(0, name.size() - 6) + "qweight" : name] =
        copied_tensor(view, bytes);
  write_safetensors(model.path() / "model.safetensors", tensors);
  CHECK_THAT(refusal_of(model.path()),
             Contains("these weights are quantised") && Contains("up_proj.qweight"));
}

TEST_CASE("model files: what is nearly a model's path is told") {
  const temporary_folder folder;
  write_durably(folder.path / "model.bin", "x");
  CHECK_THAT(refusal_of(folder.path / "model.bin"), Contains("a file whose name ends in .gguf"));
  write_durably(folder.path / "small.gguf", "x");
  CHECK_THAT(refusal_of(folder.path),
             Contains("the path of a GGUF file such as") && Contains("small.gguf"));
}

/// Writes the model as GGUF, in this many files. `change` adds to the metadata of the first and
/// returns the number of values that it has added.
template <class Change>
fs::path write_gguf(const fs::path& folder, const model_config& c, const model_weights& weights,
                    std::uint32_t parts, Change change) {
  std::vector<std::pair<weight_place, at::Tensor>> all;
  auto copy = weights;
  for_each_weight(c, copy, [&](const weight_place& place, at::Tensor& tensor) {
    all.emplace_back(place, tensor.contiguous());
  });
  const auto path_of = [&](std::uint32_t which) {
    if (parts == 1) return folder / "m.gguf";
    return folder /
           ("m-0000" + std::to_string(which) + "-of-0000" + std::to_string(parts) + ".gguf");
  };
  for (std::uint32_t part = 1; part <= parts; ++part) {
    gguf_bytes metadata;
    metadata.bytes.clear();
    std::uint64_t values = 0;
    if (part == 1) {
      metadata.word("general.architecture", "qwen3")
          .whole("qwen3.embedding_length", std::uint32_t(c.hidden_size))
          .whole("qwen3.feed_forward_length", std::uint32_t(c.intermediate_size))
          .whole("qwen3.block_count", std::uint32_t(c.layers))
          .whole("qwen3.attention.head_count", std::uint32_t(c.heads))
          .whole("qwen3.attention.head_count_kv", std::uint32_t(c.kv_heads))
          .whole("qwen3.attention.key_length", std::uint32_t(c.head_dim))
          .whole("qwen3.context_length", std::uint32_t(c.max_positions))
          .real("qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
      values = 9 + change(metadata);
    }
    if (parts > 1) {
      metadata.whole("split.no", part - 1)
          .whole("split.count", parts)
          .whole("split.tensors.count", std::uint32_t(all.size()));
      values += 3;
    }
    const auto begin = all.size() * (part - 1) / parts, end = all.size() * part / parts;
    gguf_bytes file;
    file.begin(end - begin, values);
    file.bytes += metadata.bytes;
    std::string data;
    for (auto i = begin; i < end; ++i) {
      const auto& [place, tensor] = all[i];
      std::vector<std::uint64_t> sizes(place.shape.rbegin(), place.shape.rend());
      file.tensor(place.gguf_name, sizes, 0, data.size());
      data += bytes_in(tensor);
      data.resize((data.size() + 31) / 32 * 32);
    }
    file.data(0);
    write_durably(path_of(part), file.bytes + data);
  }
  return path_of(1);
}

std::uint64_t nothing_more(gguf_bytes&) { return 0; }

TEST_CASE("model files: any part of a GGUF file that was cut means the whole model") {
  const auto config = small_model(model_family::qwen3);
  const auto weights = random_weights(config, 4);
  const auto flat = flatten_weights(config, weights);
  const temporary_folder folder;
  write_gguf(folder.path, config, weights, 3, nothing_more);
  for (const std::string which : {"1", "2", "3"}) {
    const auto read = read_model(folder.path / ("m-0000" + which + "-of-00003.gguf"));
    CHECK(at::equal(flatten_weights(read.config, read.weights), flat));
  }
  const auto one = write_gguf(folder.path, config, weights, 1, nothing_more);
  CHECK(at::equal(flatten_weights(config, read_model(one).weights), flat));

  fs::copy_file(folder.path / "m-00001-of-00003.gguf", folder.path / "renamed.gguf");
  CHECK_THAT(refusal_of(folder.path / "renamed.gguf"), Contains("this is one of 3 files"));
  fs::copy_file(folder.path / "m-00002-of-00003.gguf", folder.path / "m-00003-of-00003.gguf",
                fs::copy_options::overwrite_existing);
  CHECK_THAT(refusal_of(folder.path / "m-00001-of-00003.gguf"),
             Contains("split.no") && Contains("expected 2, got 1"));
  fs::remove(folder.path / "m-00003-of-00003.gguf");
  CHECK_THAT(refusal_of(folder.path / "m-00002-of-00003.gguf"),
             Contains("m-00003-of-00003.gguf: expected part 3 of 3"));
}

TEST_CASE("model files: a GGUF file's head is its own, also when it is written as a folder") {
  const auto config = small_model(model_family::qwen3);
  const auto weights = random_weights(config, 4);
  const temporary_folder folder;
  const auto read = read_model(write_gguf(folder.path, config, weights, 1, nothing_more));
  CHECK_FALSE(read.config.tied_embeddings);
  write_model(folder.path / "again", read.config, read.weights);
  CHECK(read_model_json(folder.path / "again" / "config.json")["tie_word_embeddings"] == false);
  CHECK(at::equal(read_model(folder.path / "again").weights.head, weights.head));
}

TEST_CASE("model files: a key of a GGUF file that may change the arithmetic is refused") {
  const auto config = small_model(model_family::qwen3);
  const auto weights = random_weights(config, 4);
  const temporary_folder folder;
  const auto refusal_with = [&](auto change) {
    return refusal_of(write_gguf(folder.path, config, weights, 1, change));
  };
  CHECK_THAT(refusal_with([](gguf_bytes& to) {
               to.whole("qwen3.attention.sliding_window", 64);
               return 1;
             }),
             Contains("qwen3.attention.sliding_window") && Contains("expected no such key"));
  CHECK(refusal_with([](gguf_bytes& to) {
          to.whole("qwen3.expert_count", 0).real("qwen3.logit_scale", 1).word("other.key", "x");
          return 3;
        }) == "");
  CHECK_THAT(refusal_with([](gguf_bytes& to) {
               to.word("general.type", "adapter");
               return 1;
             }),
             Contains("LoRA adapters"));
  // The name of the linear scaling in files of 2023.
  const auto scaled = read_model(write_gguf(folder.path, config, weights, 1, [](gguf_bytes& to) {
    to.real("qwen3.rope.scale_linear", 4);
    return 1;
  }));
  CHECK(scaled.config.scaling.type == rope_scaling::kind::linear);
  CHECK(scaled.config.scaling.factor == 4);
}

/// A folder with adapters of rank 2 beside two layers of a small model.
class adapter_folder {
 public:
  adapter_folder() {
    fs::create_directories(path());
    a_ = at::arange(2 * 32, at::kFloat).reshape({2, 32}) / 64;
    b_ = at::arange(64 * 2, at::kFloat).reshape({64, 2}) / 128;
    write({{"base_model_name_or_path", "somebody/model"},
           {"peft_type", "LORA"},
           {"r", 2},
           {"lora_alpha", 8},
           {"target_modules", {"q_proj"}},
           {"bias", "none"}});
    write_tensors("q_proj", b_);
  }

  fs::path path() const { return folder_.path / "adapters"; }
  void write(const json& config) {
    config_ = config;
    write_durably(path() / "adapter_config.json", config.dump());
  }
  void change(const std::string& key, const json& value) {
    auto config = config_;
    config[key] = value;
    write(config);
  }
  void write_tensors(const std::string& layer, const at::Tensor& b) {
    std::map<std::string, tensor_to_write> tensors;
    const auto name = "base_model.model.model.layers.1.self_attn." + layer;
    tensors[name + ".lora_A.weight"] = to_write(a_);
    tensors[name + ".lora_B.weight"] = to_write(b);
    write_safetensors(path() / "adapter_model.safetensors", tensors);
  }
  at::Tensor product() const { return at::matmul(b_, a_); }
  std::string refusal(const model_config& config) const {
    return testing::message_of<llm_file_error>([&] {
      auto weights = random_weights(config, 3);
      add_adapters(path(), config, weights);
    });
  }

 private:
  temporary_folder folder_;
  json config_;
  at::Tensor a_, b_;
};

TEST_CASE("model files: adapters are added to their layers, with the scale that PEFT gives them") {
  const auto config = small_model(model_family::llama);
  REQUIRE(config.q_size() == 64);
  const auto before = random_weights(config, 3);
  adapter_folder adapters;
  CHECK(has_adapters_alone(adapters.path()));
  for (const bool stabilised : {false, true}) {
    adapters.change("use_rslora", stabilised);
    auto weights = random_weights(config, 3);
    add_adapters(adapters.path(), config, weights);
    const double scale = stabilised ? 8 / std::sqrt(2.0) : 4;
    CHECK(at::allclose(weights.layers[1].q, before.layers[1].q + scale * adapters.product()));
    CHECK(at::equal(weights.layers[0].q, before.layers[0].q));
    CHECK(at::equal(weights.layers[1].k, before.layers[1].k));
  }
}

TEST_CASE(
    "model files: adapters that are computed otherwise, or fit no layer, are refused by name") {
  const auto config = small_model(model_family::llama);
  adapter_folder adapters;
  CHECK(adapters.refusal(config) == "");
  const auto with = [&](const char* key, const json& value) {
    adapter_folder one;
    one.change(key, value);
    return one.refusal(config);
  };
  CHECK_THAT(with("use_dora", true), Contains("/use_dora") && Contains("got true"));
  CHECK_THAT(with("peft_type", "IA3"), Contains("/peft_type") && Contains("IA3"));
  CHECK_THAT(with("modules_to_save", json{"lm_head"}), Contains("/modules_to_save"));
  CHECK_THAT(with("rank_pattern", {{"q_proj", 4}}), Contains("/rank_pattern"));
  CHECK_THAT(with("bias", "all"), Contains("/bias"));
  CHECK_THAT(with("init_lora_weights", "pissa_niter_16"), Contains("/init_lora_weights"));
  CHECK(with("init_lora_weights", "gaussian") == "");
  CHECK_THAT(with("target_modules", json{"query", "value"}),
             Contains("/target_modules: expected names of layers") && Contains("query"));
  CHECK_THAT(with("r", 3), Contains("expected shape") && Contains("got [64, 2]"));
  adapters.write_tensors("other_proj", at::zeros({64, 2}));
  CHECK_THAT(adapters.refusal(config), Contains("other_proj") && Contains("a linear layer"));
  adapters.write_tensors("q_proj", at::zeros({32, 2}));
  CHECK_THAT(adapters.refusal(config), Contains("expected shape [64, 2], got [32, 2]"));
}

TEST_CASE("model files: adapters without their model say whose they are") {
  adapter_folder adapters;
  CHECK_THAT(testing::message_of<llm_file_error>([&] { base_of_adapters(adapters.path()); }),
             Contains("these are LoRA adapters of somebody/model") && Contains("model.base_path"));
  CHECK(base_of_adapters(adapters.path(), "elsewhere") == "elsewhere");
  tied_model base;
  adapters.change("base_model_name_or_path", base.path().string());
  CHECK(base_of_adapters(adapters.path()) == base.path());
}

TEST_CASE("model files: fields and names of adapters that nothing follows from are told") {
  const auto config = small_model(model_family::llama);
  adapter_folder adapters;
  adapters.change("new_arithmetic", 2.5);
  {
    testing::captured_stderr captured;
    CHECK(adapters.refusal(config) == "");
    CHECK_THAT(captured.text(), Contains("not known here") && Contains("new_arithmetic"));
  }
  adapters.change("target_modules", {"q_proj", "query"});
  testing::captured_stderr captured;
  CHECK(adapters.refusal(config) == "");
  CHECK_THAT(captured.text(), Contains("no matrices for") && Contains("names=query"));
}

TEST_CASE("model files: a weight that is not finite is told with its file and its name") {
  const temporary_folder folder;
  const auto config = small_model(model_family::qwen2);
  auto weights = random_weights(config, 1);
  weights.layers[1].up[3][5] = std::numeric_limits<float>::quiet_NaN();
  write_model(folder.path / "nan", config, weights);
  CHECK_THAT(
      refusal_of(folder.path / "nan"),
      Contains("nan/model.safetensors: tensor \"model.layers.1.mlp.up_proj.weight\" at byte") &&
          Contains("expected finite numbers, got NaN at element 101"));
  weights.layers[1].up[3][5] = 1.0;
  weights.norm[2] = -std::numeric_limits<float>::infinity();
  write_model(folder.path / "infinite", config, weights);
  CHECK_THAT(refusal_of(folder.path / "infinite"),
             Contains("model.norm.weight") && Contains("got infinity at element 2"));
  adapter_folder adapters;
  auto b = at::zeros({64, 2});
  b[0][1] = std::numeric_limits<float>::infinity();
  adapters.write_tensors("q_proj", b);
  CHECK_THAT(adapters.refusal(small_model(model_family::llama)),
             Contains("q_proj.lora_B.weight") && Contains("got infinity at element 1"));
}

TEST_CASE("model files: one that is cut short while it is read is an error") {
  const temporary_folder folder;
  const auto config = small_model(model_family::qwen2);
  write_model(folder.path, config, random_weights(config, 1));
  const auto path = folder.path / "model.safetensors";
  const auto file = read_safetensors(path);
  fs::resize_file(path, 4096);
  const auto& last = std::ranges::max_element(file.tensors, {}, [](const auto& one) {
                       return one.second.offset;
                     })->second;
  std::vector<float> values(static_cast<std::size_t>(last.elements()));
  CHECK_THROWS_WITH(copy_floats(last, values),
                    Contains("model.safetensors: expected") && Contains("got its end at byte"));
}

}  // namespace
}  // namespace troupe::llm
