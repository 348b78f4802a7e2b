#include "actors/torch/torch.hpp"

#include "actors/llm/model/read_model.hpp"

#include <set>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/safetensors.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

at::Tensor to_float(const tensor_view& view, const weight_place& place) {
  if (view.shape != place.shape)
    throw view.error("expected shape " + to_string(place.shape) + ", got " + to_string(view.shape));
  const auto tensor = at::empty(place.shape, at::kFloat);
  copy_floats(view, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

llm_file_error missing(const fs::path& path, const std::string& name) {
  return llm_file_error(path.string() + ": expected a tensor \"" + name + "\", got none");
}

// The prefix of the names in a checkpoint. The names may be those of for_each_weight, may have a
// prefix ("module.model.norm.weight"), or may lack "model." if only the body was saved
// ("norm.weight").
std::string prefix_of(const std::map<std::string, tensor_view>& tensors, const fs::path& path) {
  const std::string known = "model.embed_tokens.weight";
  for (const auto& [name, view] : tensors) {
    if (name.ends_with(known)) return name.substr(0, name.size() - known.size());
  }
  if (tensors.contains("embed_tokens.weight")) return "-";
  throw missing(path, known);
}

model_weights read_safetensors_weights(const fs::path& folder, const model_config& config) {
  auto tensors = read_checkpoint_tensors(folder);
  const auto prefix = prefix_of(tensors, folder);
  model_weights weights;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& tensor) {
    const auto name = prefix != "-"                      ? prefix + place.name
                      : place.name.starts_with("model.") ? place.name.substr(6)
                                                         : place.name;
    const auto at = tensors.find(name);
    if (at == tensors.end()) throw missing(folder, name);
    tensor = to_float(at->second, place);
    tensors.erase(at);
  });
  for (const auto& [name, view] : tensors) {
    const bool copy_of_embedding = config.tied_embeddings && name.ends_with("lm_head.weight");
    const bool computed = name.ends_with(".rotary_emb.inv_freq");  // in old checkpoints
    if (!copy_of_embedding && !computed) throw view.error("expected no tensor of this name");
  }
  return weights;
}

// The converter from Llama to GGUF reorders the rows of q and k so that the two numbers that RoPE
// rotates are neighbours: [heads, 2, head_dim / 2, ...] becomes [heads, head_dim / 2, 2, ...]. This
// function restores the first order.
at::Tensor with_halves_apart(const at::Tensor& tensor, std::int64_t heads) {
  const auto rest = tensor.dim() == 2 ? tensor.size(1) : 1;
  return tensor.view({heads, -1, 2, rest}).transpose(1, 2).reshape(tensor.sizes()).contiguous();
}

model_weights read_gguf_weights(const gguf_file& file, const model_config& config) {
  model_weights weights;
  std::size_t used = 0;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& tensor) {
    const auto at = file.tensors().find(place.gguf_name);
    if (at == file.tensors().end()) throw missing(file.path(), place.gguf_name);
    tensor = to_float(at->second, place);
    ++used;
    if (config.family == model_family::llama && place.permuted_heads > 0) {
      tensor = with_halves_apart(tensor, place.permuted_heads);
    }
  });
  if (file.tensors().contains("rope_freqs.weight")) ++used;
  if (used != file.tensors().size()) {
    model_weights again;
    std::set<std::string, std::less<>> known{"rope_freqs.weight"};
    for_each_weight(config, again,
                    [&](const weight_place& place, at::Tensor&) { known.insert(place.gguf_name); });
    for (const auto& [name, view] : file.tensors()) {
      if (!known.contains(name)) throw view.error("expected no tensor of this name");
    }
  }
  return weights;
}

}  // namespace

language_model read_model(const fs::path& path) {
  if (path.extension() == ".gguf") {
    const gguf_file file(path);
    auto config = read_model_config(file);
    auto weights = read_gguf_weights(file, config);
    return {std::move(config), std::move(weights)};
  }
  auto config = read_model_config(path / "config.json");
  auto weights = read_safetensors_weights(path, config);
  return {std::move(config), std::move(weights)};
}

void write_model(const fs::path& folder, const model_config& config, const model_weights& weights,
                 const std::map<std::string, std::string>& notes) {
  if (!config.rope_divisors.empty())
    throw std::invalid_argument(
        "write_model: " + folder.string() +
        ": config.json has no field for the frequencies' divisors of a GGUF file");
  std::map<std::string, tensor_to_write> tensors;
  std::vector<at::Tensor> kept;
  auto copy = weights;
  for_each_weight(config, copy, [&](const weight_place& place, at::Tensor& tensor) {
    kept.push_back(tensor.detach().to(at::kCPU, at::kFloat).contiguous());
    TORCH_CHECK(kept.back().sizes() == at::IntArrayRef(place.shape), place.name, " must be ",
                at::IntArrayRef(place.shape), ", got ", kept.back().sizes());
    tensors[place.name] = {
        tensor_type::f32,
        place.shape,
        {static_cast<const char*>(kept.back().data_ptr()), kept.back().nbytes()}};
  });
  fs::create_directories(folder);
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  metadata.insert(notes.begin(), notes.end());
  write_safetensors(folder / "model.safetensors", tensors, metadata);
  const auto text = to_config_json(config);
  const std::string_view piece = text;
  replace_durably(folder / "config.json", {&piece, 1});
}

}  // namespace troupe::llm
