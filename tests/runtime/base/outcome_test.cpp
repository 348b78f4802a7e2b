#include "runtime/base/outcome.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/test.hpp"

namespace troupe {
namespace {

template <class T>
outcome<T> failed() {
  return std::make_exception_ptr(std::runtime_error("the disk is full"));
}

TEST_CASE("outcome: the operators reach the value") {
  outcome<std::string> word = std::string("abc");
  CHECK(*word == "abc");
  CHECK(word->size() == 3);
  *word += "d";
  word->push_back('e');
  CHECK(word.value() == "abcde");
  const auto& same = word;
  CHECK(*same == "abcde");
  CHECK(same->size() == 5);
  CHECK(&*same == &word.value());
  CHECK(same.operator->() == &word.value());
}

TEST_CASE("outcome: the value of a temporary is moved out") {
  outcome<std::unique_ptr<int>> held = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(held);
  CHECK(*taken == 7);
  CHECK(*held == nullptr);
}

TEST_CASE("outcome: the operators keep constness and the kind of reference") {
  using one = outcome<std::string>;
  CHECK((std::is_same_v<decltype(*std::declval<one&>()), std::string&>));
  CHECK((std::is_same_v<decltype(*std::declval<const one&>()), const std::string&>));
  CHECK((std::is_same_v<decltype(*std::declval<one>()), std::string&&>));
  CHECK((std::is_same_v<decltype(std::declval<one&>().operator->()), std::string*>));
  CHECK((std::is_same_v<decltype(std::declval<const one&>().operator->()), const std::string*>));
}

TEST_CASE("outcome: without a value the operators throw the error, as value() does") {
  auto word = failed<std::string>();
  const auto& same = word;
  CHECK_THROWS_WITH(word.value(), "the disk is full");
  CHECK_THROWS_WITH(*word, "the disk is full");
  CHECK_THROWS_WITH(*same, "the disk is full");
  CHECK_THROWS_WITH(*std::move(word), "the disk is full");
  CHECK_THROWS_WITH(word->size(), "the disk is full");
  CHECK_THROWS_WITH(same->size(), "the disk is full");
}

TEST_CASE("outcome: that of nothing has the operator, too") {
  CHECK_NOTHROW(*outcome<void>());
  CHECK_THROWS_WITH(*failed<void>(), "the disk is full");
}

}  // namespace
}  // namespace troupe
