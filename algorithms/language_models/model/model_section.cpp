#include "algorithms/language_models/model/model_section.hpp"

namespace troupe {

void describe(enum_schema<small_model>& s) {
  s.name("letters", small_model::letters).name("bytes", small_model::bytes);
}

void describe(enum_schema<earlier_thoughts>& s) {
  s.name("drop", earlier_thoughts::drop).name("keep", earlier_thoughts::keep);
}

void describe(options_schema<model_section>& s) {
  s.field("path", &model_section::path)
      .help(
          "A model's folder or GGUF file, or the name of one that `troupe models get` has "
          "installed. Empty means a small model whose weights are drawn from the seed.");
  s.field("tokens", &model_section::tokens)
      .help(
          "The tokens of the small model: letters are 22 letters, for the built-in tasks; bytes "
          "read and write any text; null means letters for the built-in tasks, and else bytes.");
  s.field("layers", &model_section::layers)
      .at_least(1)
      .at_most(64)
      .help("The layers of the model of bytes.");
  s.field("hidden_size", &model_section::hidden_size)
      .at_least(32)
      .at_most(4096)
      .help("The width of the model of bytes, a multiple of 32.");
  s.rule("hidden_size", "a multiple of 32",
         [](const model_section& of) { return of.hidden_size % 32 == 0; });
  s.field("max_positions", &model_section::max_positions)
      .at_least(16)
      .at_most(131'072)
      .unit("tokens")
      .help("The longest context of the model of bytes.");
  s.field("system_prompt", &model_section::system_prompt)
      .help("The system message of a chat model. Empty means the one that its chat template has.");
  s.field("base_path", &model_section::base_path)
      .help(
          "The folder or GGUF file of the model that the LoRA adapters in model.path belong to, or "
          "the name of an installed one. Empty means the one that adapter_config.json names, if it "
          "is a path.");
  s.field("chat_template", &model_section::chat_template)
      .help(
          "The name of the chat template, for a model that has several, such as tool_use. none "
          "asks "
          "the model with plain prompts, also if it has a template. Empty means the default one; a "
          "model without any is a base model and gets plain prompts.");
  s.field("thinking", &model_section::thinking)
      .also_known_as({"enable_thinking"})
      .help(
          "true lets a model think before it answers, false begins its answers with empty "
          "thoughts. "
          "null means what its chat template does by default. Templates without thoughts ignore "
          "it.");
  s.field("earlier_thoughts", &model_section::thoughts)
      .help(
          "The thoughts of earlier turns in a conversation: drop leaves them to the chat template, "
          "and most templates drop them; keep lets the model read all that it wrote.");
}

}  // namespace troupe
