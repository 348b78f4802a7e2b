#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

#include "actors/llm/files/known_models.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/generator/conversation_writer.hpp"
#include "actors/llm/tokenizer/conversation_format.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/model/language_model.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::command {

namespace {

using namespace troupe::llm;
using troupe::language_model;  // the one with its texts and without its weights

model_section section_of(const chat_arguments& arguments) {
  return {.path = llm::resolve_model(arguments.model).string(),
          .base_path = arguments.base_path,
          .chat_template = arguments.chat_template,
          .thinking = arguments.thinking,
          .thoughts = arguments.earlier_thoughts == "keep" ? earlier_thoughts::keep
                                                           : earlier_thoughts::drop};
}

conversation_writer writer_for(const chat_arguments& arguments, const model_config& config) {
  return {pack_weights(config, first_weights(section_of(arguments), config, 0)),
          {.temperature = arguments.temperature,
           .top_p = arguments.top_p,
           .seed = arguments.seed.value_or(troupe::detail::random_number())}};
}

/// A conversation on the terminal. A base model, which knows no conversations, continues each line.
class dialogue {
 public:
  explicit dialogue(const chat_arguments& arguments)
      : model_(language_model_of(section_of(arguments))),
        format_(model_.conversations()),
        rewrites_(format_.rewrites()),
        max_tokens_(arguments.max_tokens),
        writer_(writer_for(arguments, model_.config)) {
    if (!arguments.system.empty()) opening_.push_back({"system", arguments.system});
    said_ = opening_;
  }

  /// Prints the answer to a line. A model may write any character: lines stay, and a control
  /// character becomes an escape.
  void answer(const std::string& line) {
    read({"user", line});
    const auto stop = model_.stop_ids();
    utf8_stream text;
    std::vector<token_id> written;
    open_ = true;
    for (std::int64_t i = 0; i < max_tokens_; ++i) {
      const auto id = writer_.write();
      open_ = id != format_.end;
      if (std::ranges::find(stop, id) != stop.end()) break;
      written.push_back(id);
      if (!model_.tokens.is_special(id))
        std::fputs(troupe::detail::printable_lines(text.add(model_.tokens.bytes_of(id))).c_str(),
                   stdout);
      std::fflush(stdout);
    }
    std::printf("%s\n", troupe::detail::printable_lines(text.end()).c_str());
    said_.push_back({"assistant", model_.tokens.decode(written)});
  }

 private:
  void read(const chat_message& message) {
    const bool first = said_.size() == opening_.size();
    if (!model_.style) said_ = opening_;
    said_.push_back(message);
    if (first || rewrites_ || !model_.style) {
      writer_.forget();
      writer_.read(format_.prompt(model_.tokens, said_));
      return;
    }
    std::vector<token_id> ids;
    if (open_) ids.push_back(format_.end);
    const auto next = format_.next(model_.tokens, message);
    ids.insert(ids.end(), next.begin(), next.end());
    writer_.read(ids);
  }

  const language_model model_;
  const conversation_format format_;
  const bool rewrites_;
  const std::int64_t max_tokens_;
  conversation_writer writer_;
  std::vector<chat_message> opening_, said_;
  bool open_ = true;  // true if the last answer lacks its end
};

/// Answers each line of stdin until its end.
void talk(const chat_arguments& arguments) {
  dialogue with(arguments);
  const bool terminal = isatty(STDIN_FILENO) != 0;
  for (std::string line;;) {
    if (terminal) std::fputs("> ", stdout);
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) break;
    if (!line.empty()) with.answer(line);
  }
  if (terminal) std::fputc('\n', stdout);
}

}  // namespace

int chat(const chat_arguments& arguments) {
  use_one_torch_thread();
  try {
    talk(arguments);
    return 0;
  } catch (const std::invalid_argument& e) {
    print_error("troupe chat", e.what());
    return 2;
  } catch (const llm_file_error& e) {  // as train and eval end for a model that can't be used
    print_error("troupe chat", e.what());
    return 2;
  } catch (const std::exception& e) {
    print_error("troupe chat", e.what());
    return 1;
  }
}

}  // namespace troupe::command
