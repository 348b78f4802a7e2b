#include "actors/python/python_dataset.hpp"

#include <cstdlib>

#include "runtime/base/log.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

python_dataset_options of_function(const std::string& name, std::uint64_t seed = 1) {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  return {.function = "items:" + name,
          .seed = seed,
          .timeout = 20,
          .python = {.interpreter = "/usr/bin/python3", .start_timeout = 60}};
}

std::optional<json> whole(const json& item) { return item; }

python_dataset<json> items_of(const std::string& name, std::uint64_t seed = 1) {
  return {of_function(name, seed), whole};
}

std::vector<std::string> prompts(python_dataset<json>& items, int count) {
  std::vector<std::string> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(items.next().at("prompt").get<std::string>());
  return drawn;
}

TEST_CASE("python_dataset: a generator's items, epoch after epoch, with other seeds") {
  auto items = items_of("counted");
  const auto first = items.next();
  CHECK(first["prompt"] == "0+0=");
  CHECK(first["answer"] == 0);
  CHECK(first["level"] == 0);
  CHECK(items.epoch() == 0);
  CHECK(prompts(items, 4) == std::vector<std::string>{"1+1=", "2+2=", "3+3=", "4+4="});
  const auto again = items.next();
  CHECK(again["prompt"] == "0+0=");
  CHECK(again["seed"] != first["seed"]);
  CHECK(items.epoch() == 1);
}

TEST_CASE("python_dataset: the seed decides the items, and lists and texts are items, too") {
  auto one = items_of("drawn", 7), same = items_of("drawn", 7), other = items_of("drawn", 8);
  const auto drawn = prompts(one, 100);
  CHECK(drawn == prompts(same, 100));
  CHECK(drawn != prompts(other, 100));
  auto list = items_of("items");
  CHECK(list.next() == json{{"prompt", "1="}, {"target", "a"}});
  CHECK(list.next() == json{{"prompt", "2="}});
  CHECK(list.next()["prompt"] == "1=");
}

TEST_CASE("python_dataset: after a restoration no item is given twice, and none is left out") {
  const int at = GENERATE(0, 3, 5, 8, 64, 100);
  CAPTURE(at);
  for (const auto* name : {"counted", "drawn"}) {
    auto whole_run = items_of(name);
    prompts(whole_run, at);
    const auto saved = whole_run.save();
    const auto rest = prompts(whole_run, 20);
    auto resumed = items_of(name);
    resumed.restore(saved);
    CHECK(prompts(resumed, 20) == rest);
    whole_run.restore(saved);
    CHECK(prompts(whole_run, 20) == rest);
  }
}

TEST_CASE("python_dataset: an end after so many epochs, and items that are left out") {
  auto options = of_function("counted");
  options.epochs = 2;
  python_dataset<int> even(options, [](const json& item) -> std::optional<int> {
    const int answer = item.at("answer");
    return answer % 4 == 0 ? std::optional(answer) : std::nullopt;
  });
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const int answer : {0, 4, 8}) CHECK(even.next() == answer);
  }
  CHECK_THROWS_AS(even.next(), dataset_exhausted);
  options.epochs = -1;
  CHECK_THROWS_WITH(python_dataset<json>(options, whole), Contains("expected a number >= 0"));

  python_dataset<json> nothing(of_function("counted"),
                               [](const json&) { return std::optional<json>(); });
  CHECK_THROWS_WITH(nothing.next(), Contains("got none in a whole epoch"));
}

TEST_CASE("python_dataset: what is wrong is told with the item's number") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>(
      {{"none", "expected at least one item in epoch 0, got none"},
       {"nothing", "module items has no 'nothing'"},
       {"no_json", "item 0: expected values of JSON: got a value of type set"}}));
  CAPTURE(name);
  auto items = items_of(name);
  CHECK_THROWS_WITH(items.next(), Contains(expected));
}

TEST_CASE("python_dataset: items before a fault are given") {
  const auto [name, expected] = GENERATE(
      table<const char*, const char*>({{"throws", "LookupError: the file has ended"},
                                       {"no_items", "item 1: expected a dictionary or a text"}}));
  CAPTURE(name);
  auto items = items_of(name);
  CHECK(items.next()["prompt"] == "1=");
  for (int i = 0; i < 2; ++i)  // no new epoch begins after the fault
    CHECK_THROWS_WITH(items.next(), Contains("items:" + std::string(name)) && Contains(expected));
}

TEST_CASE(
    "python_dataset: an item that its maker refuses, and an iterator without a second epoch") {
  python_dataset<json> picky(of_function("counted"), [](const json& item) -> std::optional<json> {
    if (item.at("answer") == 4) throw std::invalid_argument("expected no 4");
    return item;
  });
  picky.next();
  picky.next();
  CHECK_THROWS_WITH(picky.next(), "items:counted: item 2: expected no 4");
  auto once = items_of("once");
  prompts(once, 2);
  CHECK_THROWS_WITH(once.next(), Contains("can be gone through only once"));
}

TEST_CASE("python_dataset: a process that ends is replaced, and no item is given twice") {
  const temporary_folder folder;
  ::setenv("TROUPE_TEST_MARK", (folder.path / "mark").c_str(), 1);
  log::set_level("off");
  auto items = items_of("dies_once");
  CHECK(prompts(items, 8) ==
        std::vector<std::string>{"0=", "1=", "2=", "3=", "4=", "5=", "6=", "7="});
  log::set_level("info");
  CHECK(std::filesystem::exists(folder.path / "mark"));
}

TEST_CASE(
    "python_dataset: a process that ends again where it has ended before, or hangs, is told") {
  log::set_level("off");
  auto dying = items_of("dies");
  CHECK_THROWS_WITH(dying.next(), Contains("ended with exit code 5"));
  auto options = of_function("hangs");
  options.timeout = 0.3;
  python_dataset<json> hanging(options, whole);
  CHECK_THROWS_WITH(hanging.next(),
                    Contains("the item after 0 took longer than 0.3 s (python.prompt_timeout)"));
  log::set_level("info");
}

}  // namespace
}  // namespace troupe
