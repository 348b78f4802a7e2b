#include "algorithms/language_models/sft/config.hpp"

#include <fmt/format.h>

namespace troupe {

sft_options sft_config::learner() const {
  sft_options made;
  static_cast<language_model_options&>(made) = trainer;
  made.lr = trainer.lr.value();
  made.schedule = trainer.schedule;
  made.warmup_updates = trainer.warmup_updates;
  made.total_updates = schedule_steps.value_or(total_steps.value());
  made.final_share = trainer.final_share;
  made.micro_tokens = trainer.micro_tokens;
  made.compute = trainer.compute;
  made.recompute_layers = trainer.recompute_layers;
  return made;
}

llm::data_fields sft_config::fields() const {
  return {.prompt = task.prompt,
          .answer = task.answer,
          .text = task.text,
          .python = {.interpreter = python.interpreter,
                     .start_timeout = python.start_timeout,
                     .memory_limit_mb = python.memory_limit_mb}};
}

void describe(enum_schema<lr_decay>& s) {
  s.name("constant", lr_decay::constant)
      .name("cosine", lr_decay::cosine)
      .name("linear", lr_decay::linear);
}

void describe(enum_schema<long_examples>& s) {
  s.name("refuse", long_examples::refuse).name("skip", long_examples::skip);
}

namespace {

/// Describes the options that the learner and the section `trainer` of a run share, except lr.
template <class Options>
void describe_learning(options_schema<Options>& s) {
  s.field("schedule", &Options::schedule)
      .also_known_as({"lr_scheduler_type"})
      .help(
          "The step size after the warm-up: it stays constant, falls in a straight line, or falls "
          "along half a cosine.");
  s.field("warmup_updates", &Options::warmup_updates)
      .also_known_as({"warmup_steps"})
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates over which the step size rises linearly to lr; the first update "
          "has lr / warmup_updates.");
  s.field("final_share", &Options::final_share)
      .has_effect_if("trainer.schedule is not constant",
                     [](const Options& o) { return o.schedule != lr_decay::constant; })
      .at_least(0)
      .at_most(1)
      .help("The share of lr that is left at the end of the schedule.");
  s.field("micro_tokens", &Options::micro_tokens)
      .at_least(1)
      .unit("tokens")
      .help(
          "The most tokens in one forward pass, which takes at least one example. A smaller "
          "number takes less memory and does not change the result.");
  s.field("compute", &Options::compute)
      .also_known_as({"bf16"})
      .help(
          "The type in which linear layers are computed. Weights and optimiser are float with "
          "either. bf16 is faster on CPUs with AVX-512 BF16, and many times slower on CPUs without "
          "AVX-512.");
  s.field("recompute_layers", &Options::recompute_layers)
      .also_known_as({"gradient_checkpointing"})
      .help(
          "true computes each layer twice instead of keeping the data that its gradient needs, "
          "which saves memory.");
  describe_adamw(s);
}

}  // namespace

void describe(options_schema<sft_options>& s) {
  s.field("lr", &sft_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("AdamW's step size after the warm-up.");
  describe_learning(s);
  s.field("total_updates", &sft_options::total_updates)
      .also_known_as({"max_steps"})
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates after which the linear or the cosine schedule has reached its "
          "end.");
  s.rule("total_updates", "more than warmup_updates, where schedule is linear or cosine",
         [](const sft_options& o) {
           return o.schedule == lr_decay::constant || o.total_updates > o.warmup_updates;
         });
}

namespace llm {

void describe(enum_schema<compute_type>& s) {
  s.name("f32", compute_type::f32).name("bf16", compute_type::bf16);
}

}  // namespace llm

void describe(options_schema<sft_task_section>& s) {
  s.field("data", &sft_task_section::data)
      .also_known_as({"dataset", "train_file", "train_data"})
      .help(
          "The file of examples, in JSON Lines or Parquet. A row is {\"prompt\": TEXT, \"answer\": "
          "TEXT}, {\"messages\": [{\"role\": R, \"content\": TEXT}, ...]}, where each message of "
          "the assistant is learned, or {\"text\": TEXT}, all of which is learned.");
  s.field("held_out", &sft_task_section::held_out)
      .also_known_as({"test_size", "validation_split"})
      .at_least(0)
      .below(1)
      .help(
          "The share of the prompts that are not trained on and used for evaluation. The seed says "
          "which; lines that ask the same are held out together, and GRPO holds out the same ones. "
          "null means a tenth, at least 2 and at most 200 prompts, none of fewer than 4, and 0 "
          "with "
          "held_out_data. With 0 and no held_out_data, evaluations take the examples that are "
          "trained on.");
  s.field("held_out_data", &sft_task_section::held_out_data)
      .also_known_as({"eval_dataset", "validation_file"})
      .help("A file of examples for evaluation, like data. Empty means a share of data.");
  s.field("prompt", &sft_task_section::prompt)
      .help(
          "The field of the prompt: a text, which a chat model reads as a message of the user, or "
          "a "
          "list of messages; or a template with fields in braces, such as \"{context} "
          "{question}\".");
  s.field("answer", &sft_task_section::answer)
      .also_known_as({"completion"})
      .help(
          "The field of the answer: a text, a number, or a list of messages, of which those of the "
          "assistant are learned. Rows without \"answer\" may have \"completion\".");
  s.field("text", &sft_task_section::text)
      .also_known_as({"dataset_text_field"})
      .help(
          "The field of documents, all of whose tokens are learned. Empty means the field \"text\" "
          "of rows that have neither messages nor a prompt.");
  s.field("max_tokens", &sft_task_section::max_tokens)
      .also_known_as({"max_length", "max_seq_length"})
      .at_least(2)
      .unit("tokens")
      .help(
          "The most tokens of an example, prompt and answer together. null means the model's "
          "context.");
  s.field("too_long", &sft_task_section::too_long)
      .help(
          "The treatment of examples of more than max_tokens: refuse ends the run before it "
          "begins and names the lines, skip leaves them out. No example is cut.");
  s.rule("held_out", "null or 0 where held_out_data is a file", [](const sft_task_section& t) {
    return t.held_out_data.empty() || t.held_out.value_or(0) == 0;
  });
}

void describe(options_schema<sft_python_section>& s) {
  describe_python(s, "interpreter", &sft_python_section::interpreter,
                  &sft_python_section::memory_limit_mb, "Parquet readers");
  describe_timeout(s, "start_timeout", &sft_python_section::start_timeout)
      .help("How long the process may take to import pyarrow and to open the file.");
}

void describe(options_schema<sft_trainer_section>& s) {
  s.field("epochs", &sft_trainer_section::epochs)
      .also_known_as({"num_train_epochs"})
      .above(0)
      .at_most(1e6)
      .help(
          "The number of passes over the examples, each in an order of its own. The last batch of "
          "a pass may be smaller.");
  s.field("batch_size", &sft_trainer_section::batch_size)
      .also_known_as({"per_device_train_batch_size"})
      .at_least(1)
      .at_most(65536)
      .unit("examples")
      .help("The number of examples in one update.");
  s.field("lr", &sft_trainer_section::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help(
          "AdamW's step size after the warm-up. null means 1e-3 for the small model, 2e-5 for "
          "other "
          "ones, and 2e-4 for their adapters.");
  describe_learning(s);
  s.field("lora", &sft_trainer_section::lora).help("Low-rank adapters.");
}

void describe(options_schema<sft_evaluation_section>& s) {
  s.field("every_updates", &sft_evaluation_section::every_updates)
      .also_known_as({"eval_steps"})
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates between evaluations; the first is before training. null means one "
          "evaluation an epoch. 0 means only one, at the end.");
  const auto during_training = [](const sft_evaluation_section& e) { return e.every_updates != 0; };
  s.field("examples", &sft_evaluation_section::examples)
      .has_effect_if("evaluation.every_updates is not 0", during_training)
      .at_least(1)
      .unit("examples")
      .help(
          "The most held-out examples in an evaluation during training. null means all of them, as "
          "in the evaluation at the end.");
  s.field("stop_at", &sft_evaluation_section::stop_at)
      .has_effect_if("evaluation.every_updates is not 0", during_training)
      .at_most(0)
      .unit("nats")
      .help(
          "The score at which training ends, which is minus the mean cross-entropy of an "
          "evaluation: -0.5 ends it at a loss of 0.5. null means that only total_steps ends it.");
}

void describe(options_schema<sft_config>& s) {
  s.field("algo", &sft_config::algo)
      .one_of({"sft"})
      .help("The algorithm that this file configures.");
  s.field("task", &sft_config::task).help("The examples that the model learns.");
  s.field("python", &sft_config::python).help("The Python process that reads Parquet.");
  s.option(&sft_config::python).has_effect_if("a file is Parquet", [](const sft_config& c) {
    return c.task.data.ends_with(".parquet") || c.task.held_out_data.ends_with(".parquet");
  });
  s.field("model", &sft_config::model).help("The language model that learns.");
  s.field("total_steps", &sft_config::total_steps)
      .also_known_as({"max_steps", "steps"})
      .at_least(1)
      .at_most(1e9)
      .unit("updates")
      .help(
          "The number of updates after which training ends. null means as many as trainer.epochs "
          "takes.");
  describe_schedule_steps(s, &sft_config::schedule_steps, "updates");
  s.field("seed", &sft_config::seed)
      .help("The seed of the held-out lines, the order of the examples and the adapters.");
  s.field("trainer", &sft_config::trainer).help("The update rule.");
  s.option(&sft_config::trainer, &sft_trainer_section::epochs)
      .has_effect_if("total_steps is null", [](const sft_config& c) { return !c.total_steps; });
  s.field("evaluation", &sft_config::evaluation)
      .help("The evaluation of the model on held-out examples.");
  s.field("checkpoint", &sft_config::checkpoint)
      .help("The checkpoints, from which a run is resumed.");
  describe_deterministic(s);
}

}  // namespace troupe
