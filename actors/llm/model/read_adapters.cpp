#include "actors/torch/torch.hpp"

#include "actors/llm/model/read_adapters.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* config_name = "adapter_config.json";

json read_adapter_config(const fs::path& folder) {
  auto config = read_model_json(folder / config_name);
  if (!config.is_object())
    throw llm_file_error((folder / config_name).string() + ": expected an object");
  return config;
}

llm_file_error refusal(const fs::path& folder, const json& config, const char* field,
                       const std::string& expected) {
  const auto value = config.contains(field) ? config[field].dump(-1, ' ', true) : "nothing";
  return llm_file_error((folder / config_name).string() + ": /" + field + ": expected " + expected +
                        ", got " + detail::printable(value, 100));
}

bool is_off(const json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

/// The factor of the product of the two matrices.
double checked_scale(const fs::path& folder, const json& config, std::int64_t& rank) {
  const auto refuse = [&](const char* field, const std::string& expected) {
    throw refusal(folder, config, field, expected);
  };
  if (config.value("peft_type", json()) != "LORA")
    refuse("peft_type", "\"LORA\": other adapters are not read");
  // Fields with which PEFT computes otherwise than weight + scale * b a.
  for (const char* field :
       {"use_dora", "lora_bias", "fan_in_fan_out", "modules_to_save", "rank_pattern",
        "alpha_pattern", "target_parameters", "trainable_token_indices", "alora_invocation_tokens",
        "use_qalora", "layer_replication", "arrow_config", "use_bdlora"}) {
    if (config.contains(field) && !is_off(config[field]))
      refuse(field, "none: adapters of this kind are not read");
  }
  if (config.contains("bias") && config["bias"] != "none") refuse("bias", "\"none\"");
  const auto r = config.find("r");
  if (r == config.end() || !r->is_number_unsigned() || *r < 1u || *r > 65536u)
    refuse("r", "a rank of 1 or more");
  rank = r->get<std::int64_t>();
  const auto alpha = config.find("lora_alpha");
  if (alpha == config.end() || !alpha->is_number()) refuse("lora_alpha", "a number");
  const bool stabilised = config.contains("use_rslora") && config["use_rslora"] == true;
  const auto of_rank = static_cast<double>(rank);
  return alpha->get<double>() / (stabilised ? std::sqrt(of_rank) : of_rank);
}

/// The two matrices beside a weight.
struct matrices {
  std::optional<tensor_view> a, b;
};

/// The matrices by the name of the layer: "model.layers.0.self_attn.q_proj".
std::map<std::string, matrices> matrices_in(const fs::path& folder) {
  std::map<std::string, matrices> found;
  for (const auto& [name, view] : read_safetensors(folder / "adapter_model.safetensors").tensors) {
    std::string layer = name;
    const std::string wrapped = "base_model.model.";
    if (layer.starts_with(wrapped)) layer.erase(0, wrapped.size());
    bool known = false;
    for (const bool first : {true, false}) {
      const std::string which = first ? ".lora_A" : ".lora_B";
      for (const auto* ending : {".weight", ".default.weight"}) {
        const auto suffix = which + ending;
        if (!layer.ends_with(suffix)) continue;
        auto& both = found[layer.substr(0, layer.size() - suffix.size())];
        (first ? both.a : both.b) = view;
        known = true;
        break;
      }
      if (known) break;
    }
    if (!known) throw view.error("expected lora_A and lora_B of linear layers alone");
  }
  return found;
}

at::Tensor to_float(const tensor_view& view, std::int64_t rows, std::int64_t columns) {
  if (view.shape != std::vector<std::int64_t>{rows, columns})
    throw view.error("expected shape " + to_string({rows, columns}) + ", got " +
                     to_string(view.shape));
  const auto tensor = at::empty({rows, columns}, at::kFloat);
  copy_floats(view, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

}  // namespace

bool has_adapters_alone(const fs::path& folder) {
  return fs::exists(folder / config_name) && !fs::exists(folder / "config.json");
}

fs::path base_of_adapters(const fs::path& folder, const fs::path& base_path) {
  if (!base_path.empty()) return base_path;
  const auto config = read_adapter_config(folder);
  const auto named = config.find("base_model_name_or_path");
  const bool is_text = named != config.end() && named->is_string();
  const auto name = is_text ? named->get<std::string>() : std::string();
  if (!name.empty()) {
    for (const auto& place : {fs::path(name), folder / name}) {
      if (fs::exists(place / "config.json") ||
          (fs::is_regular_file(place) && place.extension() == ".gguf"))
        return place;
    }
  }
  throw llm_file_error(folder.string() + ": these are LoRA adapters of " +
                       (name.empty() ? "a model without a name" : detail::printable(name, 100)) +
                       ": give the folder or the GGUF file of that model with model.base_path");
}

void add_adapters(const fs::path& folder, const model_config& config, model_weights& weights) {
  std::int64_t rank = 0;
  const double scale = checked_scale(folder, read_adapter_config(folder), rank);
  auto found = matrices_in(folder);
  const at::NoGradGuard off;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& weight) {
    const std::string_view ending = ".weight";
    if (place.shape.size() != 2 || !place.name.ends_with(ending)) return;
    const auto at = found.find(place.name.substr(0, place.name.size() - ending.size()));
    if (at == found.end()) return;
    const auto& [a, b] = at->second;
    if (!a || !b) throw(a ? *a : *b).error("expected lora_A and lora_B, got one of them");
    weight.addmm_(to_float(*b, place.shape[0], rank), to_float(*a, rank, place.shape[1]), 1.0,
                  scale);
    found.erase(at);
  });
  if (found.empty()) return;
  const auto& [layer, both] = *found.begin();
  throw(both.a ? *both.a : *both.b).error("expected a linear layer of the model");
}

}  // namespace troupe::llm
