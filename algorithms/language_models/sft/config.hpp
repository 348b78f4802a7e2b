#pragma once
// The options of supervised fine-tuning, by which a language model learns to write given answers.

#include <cstdint>

#include "actors/llm/model/packed_forward.hpp"
#include "algorithms/language_models/config.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The step size after the warm-up.
enum class sft_schedule {
  constant,
  cosine,  ///< Loshchilov and Hutter 2017, arXiv:1608.03983, equation 5, without restarts
};

/// `describe` has the unit, the range and the meaning of each option. The defaults are those of
/// TRL's SFTTrainer where it has the option.
struct sft_options : language_model_options {
  double lr = 2e-5;
  sft_schedule schedule = sft_schedule::constant;
  std::int64_t warmup_updates = 0;
  std::int64_t total_updates = 0;
  double final_share = 0.0;
  std::int64_t micro_tokens = 4096;
  llm::compute_type compute = llm::compute_type::f32;
  bool recompute_layers = false;
};

/// The step size of the update with this number, counted from 0.
double learning_rate(const sft_options& options, std::int64_t update);

void describe(enum_schema<sft_schedule>& s);
void describe(options_schema<sft_options>& s);

namespace llm {
void describe(enum_schema<compute_type>& s);
}

}  // namespace troupe
