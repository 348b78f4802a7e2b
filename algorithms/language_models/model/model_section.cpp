#include "algorithms/language_models/model/model_section.hpp"

namespace troupe {

void describe(enum_schema<small_model>& s) {
  s.name("letters", small_model::letters).name("bytes", small_model::bytes);
}

void describe(enum_schema<earlier_thoughts>& s) {
  s.name("drop", earlier_thoughts::drop).name("keep", earlier_thoughts::keep);
}

void describe(options_schema<model_section>& s) {
  const auto is_read = [](const model_section& m) { return !m.path.empty(); };
  const auto is_new = [](const model_section& m) { return m.path.empty(); };
  const auto has_size = [](const model_section& m) { return m.path.empty() && !m.is_letters(); };
  const auto has_template = [](const model_section& m) { return m.chat_template != "none"; };
  constexpr auto if_read = "model.path has a value";
  constexpr auto if_new = "model.path is empty";
  constexpr auto if_bytes = "the model is the small one of bytes";
  constexpr auto if_template = "model.chat_template is not none";
  s.field("path", &model_section::path)
      .help(
          "A model's folder or GGUF file, or the name of one that `troupe models get` has "
          "installed. Empty means a small model whose weights are drawn from the seed.");
  s.field("tokens", &model_section::tokens)
      .has_effect_if(if_new, is_new)
      .help(
          "The tokens of the small model: letters are 22 letters, for the built-in tasks; bytes "
          "read and write any text; null means letters for the built-in tasks, and else bytes.");
  s.field("layers", &model_section::layers)
      .has_effect_if(if_bytes, has_size)
      .at_least(1)
      .at_most(64)
      .help("The layers of the model of bytes.");
  s.field("hidden_size", &model_section::hidden_size)
      .has_effect_if(if_bytes, has_size)
      .at_least(32)
      .at_most(4096)
      .help("The width of the model of bytes, a multiple of 32.");
  s.rule("hidden_size", "a multiple of 32",
         [](const model_section& of) { return of.hidden_size % 32 == 0; });
  s.field("max_positions", &model_section::max_positions)
      .has_effect_if(if_bytes, has_size)
      .at_least(16)
      .at_most(131'072)
      .unit("tokens")
      .help("The longest context of the model of bytes.");
  s.field("system_prompt", &model_section::system_prompt)
      .has_effect_if("the model is not that of letters, which reads only the problem itself",
                     [](const model_section& m) { return !m.is_letters(); })
      .help("The system message of a chat model. Empty means the one that its chat template has.");
  s.field("base_path", &model_section::base_path)
      .has_effect_if(if_read, is_read)
      .help(
          "The folder or GGUF file of the model that the LoRA adapters in model.path belong to, or "
          "the name of an installed one. Empty means the one that adapter_config.json names, if it "
          "is a path.");
  s.field("chat_template", &model_section::chat_template)
      .has_effect_if(if_read, is_read)
      .help(
          "The name of the chat template, for a model that has several, such as tool_use. none "
          "asks "
          "the model with plain prompts, also if it has a template. Empty means the default one; a "
          "model without any is a base model and gets plain prompts.");
  s.field("thinking", &model_section::thinking)
      .has_effect_if(if_read, is_read)
      .has_effect_if(if_template, has_template)
      .also_known_as({"enable_thinking"})
      .help(
          "true lets a model think before it answers, false begins its answers with empty "
          "thoughts. "
          "null means what its chat template does by default. Templates without thoughts ignore "
          "it.");
  s.field("earlier_thoughts", &model_section::thoughts)
      .has_effect_if(if_read, is_read)
      .has_effect_if(if_template, has_template)
      .help(
          "The thoughts of earlier turns in a conversation: drop leaves them to the chat template, "
          "and most templates drop them; keep lets the model read all that it wrote.");
}

}  // namespace troupe
