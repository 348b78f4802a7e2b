// What Troupe makes of a model's files, for peers.py to compare:
//
//   llm_probe tokenize TOKENIZER   a JSON text a line from stdin; {"plain": [ids], "parsed": [ids],
//   "text": decoded} llm_probe logits MODEL OUT     [ids] from stdin; OUT.safetensors: "decoder"
//   and "packed", [tokens, vocabulary] llm_probe greedy MODEL COUNT   [ids] from stdin; [ids] that
//   follow llm_probe rewrite MODEL FOLDER writes the model as safetensors llm_probe speed MODEL
//   COUNT    CPU seconds of COUNT steps of 32 sequences that share a prompt of 64 tokens
//   llm_probe chats MODEL   a conversation in JSON a line from stdin: messages with role, content
//   and fields (JSON), tools (JSON), open, thinking, date; {"text": text, "ids": [ids]} or
//   {"refused": why}

#include "actors/torch/torch.hpp"

#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/decoder.hpp"
#include "actors/llm/model/packed_forward.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/torch/torch_threads.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

std::vector<token_id> read_ids() { return json::parse(std::cin).get<std::vector<token_id>>(); }

void tokenize(const std::string& path) {
  const auto tokens = read_tokenizer(path);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto text = json::parse(line).get<std::string>();
    const auto parsed = tokens.encode(text, {.add_special = true, .parse_special = true});
    const json answer{
        {"plain", tokens.encode(text)}, {"parsed", parsed}, {"text", tokens.decode(parsed)}};
    std::cout << answer.dump() << '\n';
  }
}

void chats(const std::string& path) {
  const auto tokens = read_tokenizer(path);
  const auto style = read_chat_style(path);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto asked = json::parse(line);
    std::vector<chat_message> messages;
    for (const auto& one : asked.at("messages"))
      messages.push_back({one.at("role"), one.at("content"), one.at("fields")});
    const chat_options options{.generation_prompt = asked.at("open"),
                               .thinking = asked.at("thinking"),
                               .date = asked.at("date"),
                               .tools = asked.at("tools")};
    json answer;
    try {
      answer["text"] = render_chat(style, messages, options).chars;
      answer["ids"] = encode_chat(tokens, style, messages, options);
    } catch (const std::invalid_argument& e) {
      answer = {{"refused", e.what()}};
    }
    std::cout << answer.dump() << '\n';
  }
}

tensor_to_write to_write(const at::Tensor& tensor) {
  return {tensor_type::f32,
          tensor.sizes().vec(),
          {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()}};
}

void logits(const language_model& m, const std::string& out) {
  const at::NoGradGuard no_gradients;
  const auto ids = read_ids();
  decoder d(pack_weights(m.config, m.weights));
  kv_sequence sequence(m.config, std::int64_t(ids.size()));
  const token_run run{&sequence, ids, wanted_logits::all};
  const auto decoded = d.forward({&run, 1});
  const auto hidden = packed_hidden(m.config, m.weights, {ids, {std::int64_t(ids.size())}});
  const auto packed = logits_of(m.config, m.weights, hidden).contiguous();
  write_safetensors(out, {{"decoder", to_write(decoded)}, {"packed", to_write(packed)}});
}

void greedy(const language_model& m, int count) {
  auto ids = read_ids();
  decoder d(pack_weights(m.config, m.weights));
  kv_sequence sequence(m.config, std::int64_t(ids.size()) + count);
  std::vector<token_id> answer;
  while (int(answer.size()) < count) {
    const token_run run{&sequence, ids};
    ids = {static_cast<token_id>(d.forward({&run, 1}).argmax(-1).item<std::int64_t>())};
    answer.push_back(ids[0]);
  }
  std::cout << json(answer).dump() << '\n';
}

void speed(const language_model& m, int count) {
  constexpr std::size_t batch = 32;
  decoder d(pack_weights(m.config, m.weights));
  const std::vector<token_id> prompt(64, 1000);
  kv_sequence shared(m.config, 64);
  const token_run prefill{&shared, prompt, wanted_logits::none};
  d.forward({&prefill, 1});
  std::vector<kv_sequence> sequences;
  for (std::size_t i = 0; i < batch; ++i) sequences.push_back(shared.fork(count));
  const auto begin = std::clock();
  for (int step = 0; step < count; ++step) {
    std::vector<token_run> runs;
    for (auto& sequence : sequences) runs.push_back({&sequence, std::span(prompt).first(1)});
    d.forward(runs).argmax(-1);
  }
  std::cout << double(std::clock() - begin) / CLOCKS_PER_SEC << '\n';
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw std::invalid_argument("expected a command and a path");
  const auto& command = words[0];
  const auto third = words.size() > 2 ? words[2] : std::string();
  if (command == "tokenize") {
    tokenize(words[1]);
    return 0;
  }
  if (command == "chats") {
    chats(words[1]);
    return 0;
  }
  const auto m = read_model(words[1]);
  if (command == "logits") logits(m, third);
  if (command == "greedy") greedy(m, std::stoi(third));
  if (command == "rewrite") write_model(third, m.config, m.weights);
  if (command == "speed") speed(m, std::stoi(third));
  return 0;
}

}  // namespace
}  // namespace troupe::llm

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  try {
    return troupe::llm::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "llm_probe: " << e.what() << '\n';
    return 1;
  }
}
