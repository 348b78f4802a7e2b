#include "actors/llm/files/gguf.hpp"

#include <cmath>
#include <cstring>
#include <fstream>

#include "actors/checkpoint/durable_file.hpp"
#include "tests/actors/llm/gguf_bytes.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

std::string refusal_of(const gguf_bytes& file) {
  const temporary_folder folder;
  const auto path = folder.path / "m.gguf";
  write_durably(path, file.bytes);
  const auto message = testing::message_of<llm_file_error>([&] { gguf_file{path}; });
  CHECK((message.empty() || message.starts_with(path.string() + ": ")));
  return message;
}

TEST_CASE("gguf: every type's values are those of the gguf package, bit for bit") {
  const gguf_file file(testing::source_path("tests/fixtures/llm/quantised.gguf"));
  CHECK(file.get<std::string_view>("general.architecture") == "llama");
  for (const std::string type :
       {"F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"}) {
    CAPTURE(type);
    const auto& stored = file.tensors().find(type)->second;
    const auto& values = file.tensors().find(type + ".values")->second;
    REQUIRE(name_of(stored.type) == type);
    REQUIRE(stored.elements() == values.elements());
    std::vector<float> got(static_cast<std::size_t>(stored.elements())), expected(got.size());
    copy_floats(stored, got);
    copy_floats(values, expected);
    std::size_t different = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool both_nan = std::isnan(got[i]) && std::isnan(expected[i]);
      if (!both_nan && std::memcmp(&got[i], &expected[i], sizeof(float)) != 0) {
        // The package sums some in another order.
        if (!(std::abs(got[i] - expected[i]) <= 1e-6f * std::abs(expected[i]))) ++different;
      }
    }
    CHECK(different == 0);
  }
}

TEST_CASE("gguf: metadata and tensors are read, sizes from the slowest on") {
  gguf_bytes made;
  made.begin(1, 4);
  made.text("a.count").add<std::uint32_t>(4).add<std::uint32_t>(7);
  made.text("a.real").add<std::uint32_t>(6).add<float>(0.5f);
  made.text("a.names")
      .add<std::uint32_t>(9)
      .add<std::uint32_t>(8)
      .add<std::uint64_t>(2)
      .text("x")
      .text("");
  made.text("a.flag").add<std::uint32_t>(7).add<std::uint8_t>(1);
  made.tensor("t", {3, 2}, 0, 0).data(24);
  const temporary_folder folder;
  write_durably(folder.path / "m.gguf", made.bytes);
  const gguf_file file(folder.path / "m.gguf");
  CHECK(file.get<std::int64_t>("a.count") == 7);
  CHECK(file.get<double>("a.real") == 0.5);
  CHECK(file.get<bool>("a.flag"));
  CHECK(file.get<std::vector<std::string_view>>("a.names") ==
        std::vector<std::string_view>{"x", ""});
  CHECK(file.find<std::int64_t>("a.none") == nullptr);
  CHECK_THROWS_WITH(file.get<bool>("a.count"), Contains("\"a.count\": expected another type"));
  CHECK(file.tensors().find("t")->second.shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("gguf: a file that isn't whole or lies is refused with place and reason") {
  gguf_bytes good;
  good.begin(2, 0).tensor("t", {8}, 0, 0).tensor("u", {8}, 0, 32).data(64);
  CHECK(refusal_of(good) == "");
  for (std::size_t length = 0; length < good.bytes.size(); ++length) {
    gguf_bytes cut;
    cut.bytes = good.bytes.substr(0, length);
    CAPTURE(length);
    CHECK(refusal_of(cut) != "");
  }
  CHECK_THAT(refusal_of({"GGML1234"}), Contains("begins with \"GGML\""));
  CHECK_THAT(refusal_of(gguf_bytes().begin(0, 0, 1)), Contains("version 2 or 3, got 1"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(1ull << 60, 0)), Contains("at most 1048576 tensors"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(0, 1).text("k").add<std::uint32_t>(13)),
             Contains("\"k\": expected a type of value"));
  CHECK_THAT(refusal_of(gguf_bytes()
                            .begin(0, 1)
                            .text("k")
                            .add<std::uint32_t>(9)
                            .add<std::uint32_t>(8)
                            .add<std::uint64_t>(1ull << 61)),
             Contains("array that fits"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(0, 1).text("k").add<std::uint32_t>(8).add<std::uint64_t>(
                 ~0ull)),
             Contains("got one of"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(1, 0).tensor("t", {8}, 4, 0).data(32)),
             Contains("ggml's type 4"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(1, 0).tensor("t", {8}, 2, 0).data(32)),
             Contains("whole blocks of 32"));
  CHECK_THAT(
      refusal_of(gguf_bytes().begin(1, 0).tensor("t", {1ull << 40, 1ull << 40}, 0, 0).data(32)),
      Contains("2^62"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(1, 0).tensor("t", {8}, 0, 8).data(64)),
             Contains("\"t\": expected an offset"));
  CHECK_THAT(refusal_of(gguf_bytes().begin(1, 0).tensor("t", {8}, 0, 64).data(64)),
             Contains("end of the file"));
  CHECK_THAT(
      refusal_of(gguf_bytes().begin(2, 0).tensor("t", {16}, 0, 0).tensor("u", {8}, 0, 32).data(64)),
      Contains("\"u\" at byte") && Contains("bytes of both"));
  CHECK_THAT(
      refusal_of(gguf_bytes().begin(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).data(64)),
      Contains("once"));
}

}  // namespace
}  // namespace troupe::llm
