#pragma once
// How a language model learns to write given answers.

#include <cstdint>

#include "actors/llm/model/packed_forward.hpp"
#include "actors/trainer/adam.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

enum class sft_schedule {
  constant,
  cosine,  ///< Loshchilov and Hutter 2017, arXiv:1608.03983, equation 5, without restarts
};

/// Defaults are those of TRL's SFTTrainer where it has the option.
struct sft_options {
  double lr = 2e-5;  ///< AdamW's step size after the warm-up
  sft_schedule schedule = sft_schedule::constant;
  std::int64_t warmup_updates = 0;  ///< over which lr rises from 0
  std::int64_t total_updates = 0;   ///< cosine: when it has come to its end; unused else
  double final_share = 0.0;         ///< cosine: of lr, at the end
  double max_grad_norm = 1.0;       ///< of all parameters together; 0: no clipping
  double weight_decay = 0.0;
  double beta1 = 0.9, beta2 = 0.999, adam_eps = 1e-8;
  std::int64_t micro_tokens = 4096;  ///< of one forward pass, at least one example; memory
  llm::compute_type compute = llm::compute_type::f32;
  bool recompute_layers = false;
  int max_skipped_steps = 10;  ///< non-finite steps in a row that end training

  adam_options adam() const;
};

/// Of the update with this number, counted from 0.
double learning_rate(const sft_options& options, std::int64_t update);

void describe(enum_schema<sft_schedule>& s);
void describe(options_schema<sft_options>& s);

namespace llm {
void describe(enum_schema<compute_type>& s);
}

}  // namespace troupe
