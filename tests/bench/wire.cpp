// What it costs to make a value into bytes and these into a value again, in CPU time of this
// process: median of the rounds.
//
//   wire_int_ns         the arguments of a small call: one int
//   wire_struct_ns      a text, 8 floats, two numbers
//   wire_floats_ratio   1 MB of floats, over copying such a vector twice

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/wire/codec.hpp"

namespace troupe {
namespace {

constexpr int rounds = 7;

struct small_message {
  std::string name = "environments";
  std::vector<float> obs = std::vector<float>(8, 0.5f);
  std::int64_t version = 7;
  double value = 0.25;
};

/// Keeps the compiler from leaving out what made the value.
template <class T>
void use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// The median cost of one call, in ns.
template <class Work>
double nanoseconds(int calls, Work work) {
  std::vector<double> each;
  for (int round = 0; round <= rounds; ++round) {  // the first is not counted
    const auto from = std::clock();
    for (int i = 0; i < calls; ++i) work();
    const auto passed = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
    if (round > 0) each.push_back(passed / calls * 1e9);
  }
  std::nth_element(each.begin(), each.begin() + rounds / 2, each.end());
  return each[rounds / 2];
}

template <class T>
double there_and_back(int calls, const T& value) {
  return nanoseconds(calls, [&] {
    const auto bytes = detail::encode(value);
    use(detail::decode<T>(bytes.bytes()));
  });
}

int run(bool as_json) {
  const std::vector<float> floats((1 << 20) / sizeof(float), 0.5f);
  const double copies = nanoseconds(2000, [&] {
    const auto once = floats;
    use(once);
    const auto twice = once;
    use(twice);
  });
  const double large = there_and_back(2000, floats);
  const nlohmann::json figures{{"wire_int_ns", there_and_back(2'000'000, std::tuple<int>(7))},
                               {"wire_struct_ns", there_and_back(1'000'000, small_message())},
                               {"wire_floats_ratio", large / copies}};
  for (const auto& [name, figure] : figures.items())
    std::printf("%-20s %8.2f\n", name.c_str(), figure.get<double>());
  std::printf("1 MB of floats: %.1f GB/s there and back\n", (1 << 20) / large);
  if (as_json) std::printf("%s\n", figures.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  return troupe::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
}
