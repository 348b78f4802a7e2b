#include "runtime/base/outcome.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("outcome: its value is reached like that of an optional") {
  outcome<std::string> text("abc");
  CHECK(*text == "abc");
  CHECK(text->size() == 3);
  *text += "d";
  const auto& seen = text;
  CHECK(*seen == "abcd");
  CHECK(seen->back() == 'd');

  outcome<std::unique_ptr<int>> number(std::make_unique<int>(7));
  const auto taken = *std::move(number);
  CHECK(*taken == 7);
}

TEST_CASE("outcome: without a value its error is thrown") {
  const outcome<std::string> failed(std::make_exception_ptr(std::runtime_error("no text")));
  CHECK_FALSE(failed);
  CHECK_THROWS_WITH(*failed, "no text");
  CHECK_THROWS_WITH(failed->size(), "no text");
  CHECK_THROWS_WITH(failed.value(), "no text");
}

}  // namespace
}  // namespace troupe
