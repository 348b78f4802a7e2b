#pragma once
// Model files: saving and loading a network with its shape and options.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <ATen/core/Tensor.h>

#include "actors/environments/space.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

class actor_critic;

/// Thrown for a model file that cannot be written, or is missing, damaged or of another shape, and
/// for a file of another kind. The message names the file and, if it is known, the algorithm that
/// wrote it.
class model_file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The contents of a model file.
struct saved_model {
  network_shape shape;
  network_options options;
  at::Tensor parameters;  ///< float [P], in the layout of the kind's class
  std::uint64_t policy_version = 0;
  /// The score of the evaluation that chose this model, if any.
  std::optional<double> score = std::nullopt;
  std::int64_t steps = 0;  ///< The environment steps that it was trained on.
  /// The tensors that don't act: an off-policy algorithm's critics "qf0.N.weight", ... and SAC's
  /// "log_ent_coef" [1]. Empty for on-policy algorithms, whose critic is one of the parameters.
  named_tensors beside = {};
  std::string algo = {};  ///< The algorithm that wrote it. Files of older versions have none.
  /// The action space of its environment, to which actions are scaled. Files of older versions have
  /// none.
  std::optional<space> action_space = std::nullopt;
};

/// Returns who wrote a model, for messages: "sac", or for a file that does not tell it, such as "an
/// algorithm with a network of kind squashed_gaussian".
std::string writer_of(const saved_model& model);

/// Writes a file that Python's torch.load reads with its defaults: PyTorch's zip format with a
/// dictionary, and the SHA-256 of the rest as the zip's comment. The dictionary has the parameters
/// as one block, views of it by the names and shapes of named_tensors.hpp, and those beside. It is
/// written beside `path`, flushed to the disk and renamed, so `path` is either the complete old or
/// the complete new model. Throws model_file_error; a full disk leaves the old file.
void save_model(const std::filesystem::path& path, const saved_model& model);
void save_model(const std::filesystem::path& path, const actor_critic& model,
                std::uint64_t policy_version = 0);

/// Reads a model. The SHA-256 is verified before anything is parsed. Throws model_file_error. The
/// digest detects damage and proves no authorship. A file can hold only numbers, texts and weights:
/// read_plain_pickle refuses everything else, so a stranger's file can run no code.
saved_model load_model(const std::filesystem::path& path);

/// Reads the weights into `model` and returns their version. Throws model_file_error if the file
/// has a network of another kind, or of several agents, with the algorithm that wrote it in its
/// message, and with both shapes if these differ; `model` is then unchanged.
std::uint64_t load_model(const std::filesystem::path& path, actor_critic& model);

/// Returns the SHA-256, 64 hexadecimal digits, of the bytes of a contiguous float tensor. Equal
/// weights have equal digests.
std::string weights_sha256(const at::Tensor& parameters);

}  // namespace troupe
