#include "tests/fuzz/malformed_config.hpp"
#include "tests/message_of.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <regex>

#include "algorithms/on_policy/ppo/config.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::config_mutator;
using testing::malformed_config;

/// The message with which it is refused; empty where it is accepted.
std::string refusal(const malformed_config& c) {
  return testing::message_of<config_error>([&] {
    auto document = parse_json(c.text, "config.json");
    for (const auto& text : c.overrides) apply_override(document, text);
    parse_config<ppo_config>(document);
  });
}

bool names_place(const malformed_config& c, const std::string& message) {
  static const std::regex line("line [1-9][0-9]*, column [1-9][0-9]*");
  if (!c.place.empty()) return message.rfind(c.place, 0) == 0;
  // Text that is well-formed by chance may name a key twice, which has a path as its place.
  const bool repeats_key = message.find(": expected each key once") != std::string::npos;
  return std::regex_search(message, line) || (repeats_key && message[0] == '/');
}

/// What a terminal can show: UTF-8, in nlohmann's judgement, without control characters.
bool is_text(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 0x20; });
}

TEST_CASE("configuration: ten thousand malformed ones are each refused with the place named") {
  config_mutator mutator(schema_json<ppo_config>(), to_json(ppo_config{}));
  std::map<std::string, int> refused;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    const auto c = mutator.make(seed);
    const auto message = refusal(c);
    ++refused[c.kind];
    const bool good =
        !message.empty() && names_place(c, message) && message.size() < 1000 && is_text(message);
    if (good) continue;
    INFO("seed " << seed << ": " << c.kind);
    INFO("file: " << c.text.substr(0, 2000));
    INFO("override: " << (c.overrides.empty() ? "none" : c.overrides[0].substr(0, 200)));
    INFO("expected to be named: " << (c.place.empty() ? "line and column" : c.place));
    INFO("refusal: " << message.substr(0, 1000));
    CHECK(good);
  }
  CHECK(refused.size() == config_mutator::kinds());
}

constexpr std::string_view some_yaml = R"(# a run
algo: ppo
env: &env {id: "CartPole-v1", n_envs: 8, placement: 'node:*'}
total_steps: 0x1000
rollout:
  n_steps: 256
trainer:
  lr: 3e-4
  target_kl: ~
policy: {hidden: [64, 64], ortho_init: true}
again: *env
faults: >-
  random
)";

TEST_CASE("configuration: YAML with some bytes changed is read, or refused in a line of text") {
  constexpr std::string_view marks =
      "{}[]:,&*!|>'\"%@`#?-~<\n\t \x04\xff"
      "a0";
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string text(some_yaml);
    for (auto n = 1 + below(4); n > 0; --n) {
      const auto at = below(text.size());
      const auto mark = marks[below(marks.size())];
      switch (below(4)) {
        case 0:
          text[at] = mark;
          break;
        case 1:
          text.insert(at, 1 + below(3), mark);
          break;
        case 2:
          text.erase(at, 1 + below(8));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(40)));
      }
    }
    INFO(text);
    try {
      const auto document = parse_yaml(text, "config.yaml").dump();
      CHECK(is_text(document));
    } catch (const config_error& e) {
      ++refused;
      const std::string message = e.what();
      CHECK(message.starts_with("config.yaml:"));
      CHECK(message.size() < 1000);
      CHECK(is_text(message));
    }
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace troupe
