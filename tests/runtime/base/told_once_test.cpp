#include "runtime/base/told_once.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/captured_stream.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

int count(const std::string& text, const std::string& of) {
  int times = 0;
  for (auto at = text.find(of); at != text.npos; at = text.find(of, at + 1)) ++times;
  return times;
}

TEST_CASE("told once: a line with the same facts is logged once, one with others again") {
  log::set_level("info");
  const testing::captured_stderr said;
  for (int i = 0; i < 3; ++i) {
    log::warn_once("the weather of this test is told", {{"place", "here"}});
    log::info_once("the weather of this test is told", {{"place", "there"}});
  }
  CHECK(count(said.text(), "the weather of this test is told") == 2);
  CHECK(count(said.text(), "place=here") == 1);
}

TEST_CASE("told once: of threads that ask about one key, one finds it new") {
  std::atomic<int> found{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { found += log::is_new("the key of eight threads") ? 1 : 0; });
  threads.clear();
  CHECK(found == 1);
}

TEST_CASE("told once: no more keys than the bound are remembered, and others stay new") {
  log::known_keys known(2);
  CHECK(known.is_new("one"));
  CHECK(known.is_new("two"));
  for (int i = 0; i < 2; ++i) CHECK(known.is_new("three"));
  for (const char* key : {"one", "two"}) CHECK_FALSE(known.is_new(key));
}

}  // namespace
}  // namespace troupe
