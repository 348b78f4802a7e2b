#pragma once
// The model and the examples of a run, and the defaults that depend on them.

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "algorithms/language_models/model/language_model.hpp"
#include "algorithms/language_models/sft/config.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"

namespace troupe {

/// The model and the examples of a run.
struct sft_setup {
  language_model model;
  std::vector<sft_example> training;
  std::vector<sft_example> held_out;  ///< None of them is in `training`. It may be empty.
  std::int64_t prompts = 0;           ///< The number of different prompts in the file.

  /// The examples of an evaluation, at most `most`; 0 means all: those that are held out or, if
  /// there are none, those that are trained on.
  std::vector<sft_example> judged(std::size_t most) const;
};

/// True if no example is held out, so that evaluations take those that are trained on. The
/// configuration must be a completed one.
bool judges_training(const sft_config& config);

/// Reads the model without its weights, and the examples. The held-out lines depend on the data and
/// the seed alone, and GRPO holds out the same ones (llm::draw_held_out). Throws config_error, also
/// for the lines that can't be learned from, and llm_file_error.
sft_setup read_sft_setup(const sft_config& config);

/// The number of updates in a pass over so many examples.
std::int64_t updates_per_epoch(const sft_config& config, std::int64_t examples);

/// The setup of a configuration, which is read when it is first needed. The segments of a run share
/// it.
class shared_sft_setup {
 public:
  explicit shared_sft_setup(sft_config config) : config_(std::move(config)) {}
  /// Throws like read_sft_setup.
  const sft_setup& get();

 private:
  const sft_config config_;
  std::mutex mutex_;
  std::optional<sft_setup> read_;
};

/// Gives each option without a value its default. A run uses such a configuration and keeps it in
/// its config.json. Reads `setup` if the number of updates, the interval of evaluations, or the
/// share that is held out follows from the number of examples. Throws config_error, and like
/// read_sft_setup.
sft_config completed(sft_config config, shared_sft_setup& setup);

/// The weights [P] that training begins with. Throws llm_file_error.
at::Tensor starting_weights(const sft_config& config, const language_model& model);

}  // namespace troupe
