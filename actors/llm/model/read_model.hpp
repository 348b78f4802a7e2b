#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"

namespace troupe::llm {

/// A language model as it lies on the disk.
struct language_model {
  model_config config;
  model_weights weights;
};

/// Reads a folder with config.json and safetensors, as Hugging Face's tools write it, or a GGUF
/// file; all weights as float. Throws llm_file_error for what read_model_config and the files'
/// readers refuse, for a weight that is missing or of another shape, and for a tensor that belongs
/// to nothing.
language_model read_model(const std::filesystem::path& path);

/// Writes config.json and model.safetensors into a folder, made if it isn't there; transformers
/// reads it. `notes` are in the metadata of the latter, beside "format". Each file is the old or
/// the new one, whole. Throws std::system_error naming the file, and std::invalid_argument for a
/// model that config.json can't describe.
void write_model(const std::filesystem::path& folder, const model_config& config,
                 const model_weights& weights,
                 const std::map<std::string, std::string>& notes = {});

}  // namespace troupe::llm
