#include "runtime/wire/portable_function.hpp"

#include "runtime/metrics/registry.hpp"
#include "tests/runtime/wire/wire_values.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using wire_values::there_and_back;
using scorer = portable_function<double(const std::string&)>;

/// A lambda whose captures have names.
struct per_letter {
  double each;
  std::vector<char> free;
  double operator()(const std::string& text) const {
    double sum = 0;
    for (const char c : text)
      sum += std::find(free.begin(), free.end(), c) == free.end() ? each : 0;
    return sum;
  }
};

double length(const std::string& text) { return static_cast<double>(text.size()); }

static_assert(encodable<scorer> && encodable<std::vector<scorer>>);

TEST_CASE("portable function: a lambda without captures crosses, and two of them stay apart") {
  const scorer one = [](const std::string&) { return 1.0; };
  const scorer size = [](const std::string& text) { return static_cast<double>(text.size()); };
  CHECK(there_and_back(one)("abc") == 1);
  CHECK(there_and_back(size)("abc") == 3);
  CHECK(there_and_back(there_and_back(size))("abc") == 3);
}

TEST_CASE("portable function: a struct that can be called crosses with its members") {
  const scorer letters = per_letter{0.5, {'b', 'c'}};
  CHECK(there_and_back(letters)("abcd") == 1);
}

TEST_CASE("codec: a registry of metrics arrives as the one that is there") {
  metrics_registry here, there;
  const auto bytes = detail::encode(&here);
  CHECK(detail::decode<metrics_registry*>(bytes.bytes(), {&there}) == &there);
  CHECK_THROWS_WITH(detail::decode<metrics_registry*>(bytes.bytes()),
                    Contains("no metrics_registry"));
  CHECK(there_and_back(static_cast<metrics_registry*>(nullptr)) == nullptr);
}

TEST_CASE("portable function: none stays none") {
  CHECK_FALSE(there_and_back(scorer()));
  CHECK_FALSE(scorer(nullptr));
}

TEST_CASE("portable function: what can't cross works here and says so where it is to be encoded") {
  const double weight = 2;
  const scorer capturing = [weight](const std::string&) { return weight; };
  const scorer pointer = &length;
  CHECK(capturing("abc") == 2);
  CHECK(pointer("abc") == 3);
  CHECK_THROWS_AS(detail::encode(capturing), wire_error);
  CHECK_THROWS_WITH(detail::encode(pointer), Contains("a lambda without captures"));
}

TEST_CASE("portable function: a key that there isn't, or of another kind, is refused") {
  const scorer one = [](const std::string&) { return 1.0; };
  using counter = portable_function<int(int)>;
  const counter other = [](int i) { return i + 1; };
  for (const std::uint64_t offset : {0, 1, 8, 1 << 20}) {
    const auto bytes = detail::encode(one);
    std::uint64_t key;
    std::memcpy(&key, bytes.data() + 1, sizeof key);
    const auto moved = detail::encode(std::pair(true, key + offset));
    CHECK_THROWS_AS(detail::decode<counter>(moved.bytes()), wire_error);
  }
  const auto bytes = detail::encode(other);
  CHECK(detail::decode<counter>(bytes.bytes())(1) == 2);
}

}  // namespace
}  // namespace troupe
