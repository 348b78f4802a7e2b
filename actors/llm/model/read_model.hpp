#pragma once
// Reads and writes language models: Hugging Face folders, and GGUF files for reading.

#include <filesystem>
#include <map>
#include <string>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"

namespace troupe::llm {

/// A language model as it is read from a file.
struct language_model {
  model_config config;
  model_weights weights;
};

/// Reads a folder with config.json and safetensors, as Hugging Face's tools write it, or a GGUF
/// file. All weights are converted to float. Throws llm_file_error for anything that
/// read_model_config and the readers of the files refuse, for a weight that is missing or has
/// another shape, and for a tensor that the model doesn't have. A head that differs from the
/// embedding is kept, with a warning, if config.json says that they are tied.
language_model read_model(const std::filesystem::path& path);

/// The shape with which read_model reads a model, without its weights. Throws like read_model, but
/// for the weights.
model_config read_model_shape(const std::filesystem::path& path);

/// Writes config.json and model.safetensors, which transformers can read, into a folder, which is
/// created if necessary. `notes` become metadata of model.safetensors, beside "format". Each file
/// is replaced atomically. Throws std::system_error that names the file, and std::invalid_argument
/// for a model that config.json can't describe.
void write_model(const std::filesystem::path& folder, const model_config& config,
                 const model_weights& weights,
                 const std::map<std::string, std::string>& notes = {});

}  // namespace troupe::llm
