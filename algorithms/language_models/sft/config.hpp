#pragma once
// The options of supervised fine-tuning, by which a language model learns to write given answers:
// those of the learner, and the configuration of a run. The `describe` functions (config.cpp) have
// the unit, the range and the meaning of each option; `troupe config sft` prints them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/model/packed_forward.hpp"
#include "actors/llm/tasks/data_rows.hpp"
#include "algorithms/language_models/config.hpp"
#include "algorithms/language_models/lr_schedule.hpp"
#include "algorithms/language_models/model/lora_section.hpp"
#include "algorithms/language_models/model/model_section.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/train.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The options of the learner. The defaults are those of TRL's SFTTrainer where it has the option,
/// except the schedule: without a number of updates the step size stays constant.
struct sft_options : language_model_options {
  double lr = 2e-5;
  lr_decay schedule = lr_decay::constant;
  std::int64_t warmup_updates = 0;
  std::int64_t total_updates = 0;
  double final_share = 0.0;
  std::int64_t micro_tokens = 4096;
  llm::compute_type compute = llm::compute_type::f32;
  bool recompute_layers = false;

  /// The step size of each update.
  lr_schedule lr_of_updates() const {
    return {.lr = lr,
            .decay = schedule,
            .warmup_updates = warmup_updates,
            .total_updates = total_updates,
            .final_share = final_share};
  }
};

/// The treatment of examples that are longer than task.max_tokens.
enum class long_examples { refuse, skip };

/// The examples.
struct sft_task_section {
  std::string data = {};
  std::optional<double> held_out = {};
  std::string held_out_data = {};
  std::string prompt = "prompt", answer = "answer", text = {};
  std::optional<std::int64_t> max_tokens = {};
  long_examples too_long = long_examples::refuse;
};

/// The update rule of a run. The defaults are those of TRL's SFTTrainer where it has the option.
struct sft_trainer_section : language_model_options {
  double epochs = 3.0;
  int batch_size = 16;
  std::optional<double> lr = {};
  lr_decay schedule = lr_decay::linear;
  std::int64_t warmup_updates = 0;
  double final_share = 0.0;
  std::int64_t micro_tokens = 4096;
  llm::compute_type compute = llm::compute_type::f32;
  bool recompute_layers = false;
  lora_section lora = {};
};

/// The Python process that reads Parquet.
struct sft_python_section {
  std::string interpreter = {};
  double start_timeout = 120;
  std::int64_t memory_limit_mb = 0;
};

/// The evaluation on held-out examples.
struct sft_evaluation_section {
  std::optional<std::int64_t> every_updates = {};
  std::optional<std::int64_t> examples = {};
  std::optional<double> stop_at = {};
};

/// The configuration of a run.
struct sft_config {
  std::string algo = "sft";
  sft_task_section task = {};
  sft_python_section python = {};
  model_section model = {.tokens = small_model::bytes};
  std::optional<std::int64_t> total_steps = {};
  std::optional<std::int64_t> schedule_steps = {};
  std::uint64_t seed = 1;
  sft_trainer_section trainer = {};
  sft_evaluation_section evaluation = {};
  checkpoint_section checkpoint = {};
  bool deterministic = false;
  std::string faults = {};

  /// The learner's options. The configuration must be a completed one (sft_setup.hpp).
  sft_options learner() const;
  /// The fields of the rows.
  llm::data_fields fields() const;
};

void describe(enum_schema<lr_decay>& s);
void describe(enum_schema<long_examples>& s);
void describe(options_schema<sft_options>& s);
void describe(options_schema<sft_task_section>& s);
void describe(options_schema<sft_python_section>& s);
void describe(options_schema<sft_trainer_section>& s);
void describe(options_schema<sft_evaluation_section>& s);
void describe(options_schema<sft_config>& s);

namespace llm {
void describe(enum_schema<compute_type>& s);
}  // namespace llm

/// The algorithm for train and train_in. Reads the data if the number of updates follows from it.
/// Throws config_error, also for lines that can't be learned from, and llm_file_error.
algorithm algorithm_with(const sft_config& config);

}  // namespace troupe
