#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

#include "actors/llm/files/known_models.hpp"
#include "actors/llm/generator/conversation_writer.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/torch/torch_threads.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

namespace {

using namespace troupe::llm;

std::uint64_t any_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// Answers each line of stdin until its end.
void talk(const chat_arguments& arguments) {
  const auto path = llm::resolve_model(arguments.model);
  const auto tokens = read_tokenizer(path);
  const auto style = read_chat_style(path, arguments.chat_template);
  if (!arguments.chat_template.empty())
    std::fprintf(stderr, "The chat template is %s.\n", style.name().c_str());
  auto model = read_model(path);
  conversation_writer writer(pack_weights(model.config, model.weights),
                             {.temperature = arguments.temperature,
                              .top_p = arguments.top_p,
                              .seed = arguments.seed.value_or(any_seed())});
  const auto config = std::move(model.config);
  model = {};  // frees the weights, of which the writer has a copy in its own order
  const auto turn_end = tokens.find(end_of_turn(tokens, style));

  const bool terminal = isatty(STDIN_FILENO) != 0;
  std::string line;
  bool open = true;  // true if the last answer lacks its end of turn, or there was none
  for (bool first = true;;) {
    if (terminal) std::fputs("> ", stdout);
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    std::vector<token_id> ids;
    if (first) {
      std::vector<chat_message> messages;
      if (!arguments.system.empty()) messages.push_back({"system", arguments.system});
      messages.push_back({"user", line});
      ids = encode_chat(tokens, style, messages);
    } else {
      if (open && turn_end) ids.push_back(*turn_end);
      const auto next = encode_next_turn(tokens, style, {"user", line});
      ids.insert(ids.end(), next.begin(), next.end());
    }
    first = false;
    writer.read(ids);
    utf8_stream text;
    open = true;
    for (std::int64_t i = 0; i < arguments.max_tokens; ++i) {
      const auto id = writer.write();
      const auto& eos = config.eos_tokens;
      open = id != turn_end;
      if (!open || std::ranges::find(eos, id) != eos.end()) break;
      if (!tokens.is_special(id)) std::fputs(text.add(tokens.bytes_of(id)).c_str(), stdout);
      std::fflush(stdout);
    }
    std::printf("%s\n", text.end().c_str());
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
    std::fprintf(stderr, "troupe chat: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe chat: %s\n", e.what());
    return 1;
  }
}

}  // namespace troupe::command
