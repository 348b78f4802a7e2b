#include "actors/torch/torch.hpp"

#include "actors/llm/model/read_adapters.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* config_name = "adapter_config.json";

json read_adapter_config(const fs::path& folder) {
  auto config = read_model_json(folder / config_name);
  if (!config.is_object())
    throw llm_file_error((folder / config_name).string() + ": expected an object, got " +
                         config.type_name());
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

/// The fields of PEFT that say nothing about how weights are computed from the matrices, or that
/// are read here.
constexpr std::string_view known_fields[] = {"auto_mapping",
                                             "base_model_name_or_path",
                                             "bias",
                                             "corda_config",
                                             "ensure_weight_tying",
                                             "eva_config",
                                             "exclude_modules",
                                             "inference_mode",
                                             "init_lora_weights",
                                             "layers_pattern",
                                             "layers_to_transform",
                                             "loftq_config",
                                             "lora_alpha",
                                             "lora_dropout",
                                             "megatron_config",
                                             "megatron_core",
                                             "peft_type",
                                             "peft_version",
                                             "qalora_group_size",
                                             "r",
                                             "revision",
                                             "runtime_config",
                                             "target_modules",
                                             "task_type",
                                             "use_rslora"};

/// Tells of fields that nothing is known about: they may change what is computed.
void tell_unknown_fields(const fs::path& folder, const json& config) {
  std::string names;
  for (const auto& [field, value] : config.items()) {
    if (is_off(value) || std::ranges::find(known_fields, field) != std::end(known_fields)) continue;
    names += (names.empty() ? "" : ", ") + detail::printable(field, 60);
  }
  if (!names.empty())
    log::warn_once(
        "the adapters' configuration has fields that are not known here and are left out",
        {{"file", (folder / config_name).string()}, {"fields", names}});
}

/// With these initialisations the matrices belong to a model whose weights were changed, too.
void refuse_changed_base(const fs::path& folder, const json& config) {
  const auto found = config.find("init_lora_weights");
  if (found == config.end() || !found->is_string()) return;
  const auto kind = found->get<std::string>();
  for (const auto* changes : {"pissa", "olora", "corda", "loftq", "lora_ga"}) {
    if (kind.starts_with(changes))
      throw refusal(folder, config, "init_lora_weights",
                    "one that leaves the model's weights as they are: convert the adapters to "
                    "ones of LoRA");
  }
}

/// Refuses target_modules of which none has matrices, and tells of single ones.
void check_targets(const fs::path& folder, const json& config,
                   const std::vector<std::string>& layers) {
  const auto targets = config.find("target_modules");
  if (targets == config.end() || !targets->is_array()) return;  // a pattern, or "all-linear"
  std::string missing;
  bool any = targets->empty();
  for (const auto& target : *targets) {
    if (!target.is_string()) throw refusal(folder, config, "target_modules", "names of layers");
    const auto name = target.get<std::string>();
    const bool has = std::ranges::any_of(
        layers, [&](const auto& layer) { return layer == name || layer.ends_with('.' + name); });
    any = any || has;
    if (!has) missing += (missing.empty() ? "" : ", ") + detail::printable(name, 60);
  }
  if (!any)
    throw refusal(folder, config, "target_modules",
                  "names of layers that adapter_model.safetensors has matrices for");
  if (!missing.empty())
    log::warn_once("target_modules name layers that the adapters have no matrices for",
                   {{"file", (folder / config_name).string()}, {"names", missing}});
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
  refuse_changed_base(folder, config);
  tell_unknown_fields(folder, config);
  const auto r = config.find("r");
  if (r == config.end() || !r->is_number_unsigned() || *r < 1u || *r > 65536u)
    refuse("r", "a rank of 1 or more");
  rank = r->get<std::int64_t>();
  const auto alpha = config.find("lora_alpha");
  if (alpha == config.end() || !alpha->is_number()) refuse("lora_alpha", "a number");
  const bool stabilised = config.contains("use_rslora") && config["use_rslora"] == true;
  const auto of_rank = static_cast<double>(rank);
  if (!std::isfinite(alpha->get<double>())) refuse("lora_alpha", "a finite number");
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
  copy_weights(view, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
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
  const auto settings = read_adapter_config(folder);
  const double scale = checked_scale(folder, settings, rank);
  auto found = matrices_in(folder);
  std::vector<std::string> layers;
  for (const auto& [layer, both] : found) layers.push_back(layer);
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
  if (found.empty()) return check_targets(folder, settings, layers);
  const auto& [layer, both] = *found.begin();
  throw(both.a ? *both.a : *both.b).error("expected a linear layer of the model");
}

}  // namespace troupe::llm
