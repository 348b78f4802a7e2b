#pragma once
// Reads LoRA adapters as PEFT writes them: adapter_config.json and adapter_model.safetensors.

#include <filesystem>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"

namespace troupe::llm {

/// True for a folder with adapters and without the model that they belong to.
bool has_adapters_alone(const std::filesystem::path& folder);

/// The folder or GGUF file of the model that these adapters belong to: `base_path` or, if that is
/// empty, base_model_name_or_path of adapter_config.json, from the working directory or from
/// `folder`. Throws llm_file_error that names the model if it is nowhere here.
std::filesystem::path base_of_adapters(const std::filesystem::path& folder,
                                       const std::filesystem::path& base_path = {});

/// Adds the adapters to the weights of their model. Throws llm_file_error that names what is not
/// read (DoRA, biases, modules that are saved as a whole, a rank or an alpha of single layers), a
/// tensor that belongs to no linear layer of the model, and a shape that doesn't fit.
void add_adapters(const std::filesystem::path& folder, const model_config& config,
                  model_weights& weights);

}  // namespace troupe::llm
