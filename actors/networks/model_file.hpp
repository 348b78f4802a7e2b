#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <ATen/core/Tensor.h>

#include "actors/networks/network.hpp"

namespace troupe {

class actor_critic;

/// A model file that cannot be written, or is missing, damaged or of another shape. The message
/// names the file.
class model_file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a model file holds.
struct saved_model {
  network_shape shape;
  network_options options;
  at::Tensor parameters;  ///< float [P], as the kind's class has them
  std::uint64_t policy_version = 0;
  std::optional<double> score = std::nullopt;  ///< Of the evaluation that it was kept for, if any.
};

/// Writes a file that Python's torch.load reads too: PyTorch's zip format with a dictionary, and
/// the SHA-256 of all that as the zip's comment. It is written beside `path`, flushed to the disk
/// and renamed, so `path` is either the old or the new model, whole. Throws model_file_error; a
/// full disk leaves the old file.
void save_model(const std::filesystem::path& path, const saved_model& model);
void save_model(const std::filesystem::path& path, const actor_critic& model,
                std::uint64_t policy_version = 0);

/// Reads a model; the SHA-256 is verified before anything is parsed. Throws model_file_error.
/// The digest tells damage, and nobody's authorship. A file can hold nothing but numbers, texts and
/// weights: read_plain_pickle refuses everything else, so a stranger's file can run no code.
saved_model load_model(const std::filesystem::path& path);

/// Reads the weights into `model`, returns their version. Throws model_file_error naming both
/// shapes if they differ; `model` is then unchanged.
std::uint64_t load_model(const std::filesystem::path& path, actor_critic& model);

/// SHA-256, 64 hexadecimal digits, of the bytes of a contiguous float tensor: equal weights, equal
/// text.
std::string weights_sha256(const at::Tensor& parameters);

}  // namespace troupe
