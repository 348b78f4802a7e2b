// Writes malformed configurations for tests/fuzz/malformed_config_test.sh: malformed_configs COUNT
// DIR makes in DIR, for each number i below COUNT, i.json, i.overrides (a line each) and i.place,
// what the refusal must name.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "algorithms/on_policy/ppo/config.hpp"
#include "tests/fuzz/malformed_config.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: malformed_configs COUNT DIR\n", stderr), 2;
  const auto count = std::strtoull(argv[1], nullptr, 10);
  troupe::testing::config_mutator mutator(troupe::schema_json<troupe::ppo_config>(),
                                          troupe::to_json(troupe::ppo_config{}));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto c = mutator.make(i);
    const auto path = std::string(argv[2]) + '/' + std::to_string(i);
    std::ofstream(path + ".json", std::ios::binary) << c.text;
    std::ofstream overrides(path + ".overrides", std::ios::binary);
    for (const auto& text : c.overrides) overrides << text << '\n';
    std::ofstream(path + ".place", std::ios::binary) << (c.place.empty() ? "line " : c.place);
  }
}
