#include "actors/torch/torch.hpp"

#include "actors/llm/model/read_model.hpp"

#include <set>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "runtime/base/told_once.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

at::Tensor to_float(const tensor_view& view, const weight_place& place) {
  if (view.shape != place.shape)
    throw view.error("expected shape " + to_string(place.shape) + ", got " + to_string(view.shape));
  const auto tensor = at::empty(place.shape, at::kFloat);
  copy_weights(view, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

llm_file_error missing(const fs::path& path, const std::string& name) {
  return llm_file_error(path.string() + ": expected a tensor \"" + name + "\", got none");
}

using named_tensors = std::map<std::string, tensor_view>;

constexpr std::string_view embedding_name = "model.embed_tokens.weight";
constexpr std::string_view head_name = "lm_head.weight";

/// The names of the tensors in a checkpoint. They may be those of for_each_weight, may have a
/// prefix
/// ("module.model.norm.weight"), or may lack "model." if only the body was saved ("norm.weight").
class checkpoint_names {
 public:
  checkpoint_names(const named_tensors& tensors, const fs::path& path) {
    for (const auto& [name, view] : tensors) {
      if (!name.ends_with(embedding_name)) continue;
      prefix_ = name.substr(0, name.size() - embedding_name.size());
      return;
    }
    if (!tensors.contains("embed_tokens.weight")) throw missing(path, std::string(embedding_name));
    body_ = true;
  }

  /// The name of the tensor that for_each_weight calls `name`.
  std::string name_of(const std::string& name) const {
    return body_ && name.starts_with("model.") ? name.substr(6) : prefix_ + name;
  }

 private:
  std::string prefix_;
  bool body_ = false;
};

bool are_equal(const tensor_view& a, const tensor_view& b) {
  if (a.shape != b.shape) return false;
  if (a.type == b.type) return have_equal_bytes(a, b);
  const weight_place place{.name = {}, .gguf_name = {}, .shape = a.shape};
  return at::equal(to_float(a, place), to_float(b, place));
}

/// The tensor with the head, if the checkpoint has one.
const tensor_view* head_in(const named_tensors& tensors) {
  for (const auto& [name, view] : tensors) {
    if (name.ends_with(head_name)) return &view;
  }
  return nullptr;
}

/// With tie_word_embeddings a checkpoint may have the embedding once more as its head. If it has
/// another matrix there, the model was saved with a head of its own, whatever config.json says.
/// transformers doesn't tie these two either.
model_config with_head_of(const named_tensors& tensors, model_config config,
                          const fs::path& folder) {
  if (!config.tied_embeddings) return config;
  const auto* head = head_in(tensors);
  const checkpoint_names names(tensors, folder);
  if (!head || are_equal(*head, tensors.at(names.name_of(std::string(embedding_name)))))
    return config;
  log::warn_once(
      "config.json says tie_word_embeddings, but the head differs from the embedding: they are not "
      "tied",
      {{"model", folder.string()}, {"head", head->name}});
  config.tied_embeddings = false;
  return config;
}

llm_file_error missing_in(const named_tensors& tensors, const fs::path& folder,
                          const std::string& name, const weight_place& place) {
  if (place.name == head_name)
    return llm_file_error(missing(folder, name).what() +
                          std::string("; config.json has no tie_word_embeddings true, with which "
                                      "the embedding is the head"));
  // Quantised weights have their parts in such tensors, also without a quantization_config.
  const auto stem = name.substr(0, name.size() - std::string_view("weight").size());
  for (const char* part : {"qweight", "weight_packed", "weight_q", "scales"}) {
    if (tensors.contains(stem + part))
      return llm_file_error(
          folder.string() + ": these weights are quantised (tensor \"" + stem + part +
          "\"), which is not read: take the original model, or a GGUF file of it");
  }
  return missing(folder, name);
}

model_weights read_safetensors_weights(named_tensors tensors, const model_config& config,
                                       const fs::path& folder) {
  const checkpoint_names names(tensors, folder);
  model_weights weights;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& tensor) {
    const auto name = names.name_of(place.name);
    const auto at = tensors.find(name);
    if (at == tensors.end()) throw missing_in(tensors, folder, name, place);
    tensor = to_float(at->second, place);
    tensors.erase(at);
  });
  for (const auto& [name, view] : tensors) {
    const bool copy_of_embedding = config.tied_embeddings && name.ends_with(head_name);
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
      // Old converters wrote the frequencies of the rotary embeddings, which are computed here.
      const bool computed =
          name.ends_with(".attn_rot_embd.weight") || name.ends_with(".attn_rot_embd");
      if (!known.contains(name) && !computed) throw view.error("expected no tensor of this name");
    }
  }
  return weights;
}

/// Throws an error that says what the path should be, for those that are nearly models.
void check_folder(const fs::path& path) {
  if (fs::is_regular_file(path))
    throw llm_file_error(path.string() +
                         ": expected a Hugging Face folder, or a file whose name ends in .gguf");
  if (!fs::is_directory(path) || fs::exists(path / "config.json")) return;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".gguf")
      throw llm_file_error(path.string() +
                           ": expected config.json in the folder, or the path of a "
                           "GGUF file such as " +
                           entry.path().string());
  }
}

}  // namespace

language_model read_model(const fs::path& path) {
  if (path.extension() == ".gguf") {
    const gguf_file file(path);
    auto config = read_model_config(file);
    auto weights = read_gguf_weights(file, config);
    return {std::move(config), std::move(weights)};
  }
  check_folder(path);
  auto config = read_model_config(path / "config.json");
  auto tensors = read_checkpoint_tensors(path);
  config = with_head_of(tensors, std::move(config), path);
  auto weights = read_safetensors_weights(std::move(tensors), config, path);
  return {std::move(config), std::move(weights)};
}

model_config read_model_shape(const fs::path& path) {
  if (path.extension() == ".gguf") return read_model_config(gguf_file(path));
  check_folder(path);
  auto config = read_model_config(path / "config.json");
  // Only a tied head needs the tensors, whose bytes are not read for anything else.
  if (!config.tied_embeddings) return config;
  return with_head_of(read_checkpoint_tensors(path), std::move(config), path);
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
