#include "actors/llm/files/safetensors.hpp"

#include <cstring>
#include <fstream>

#include "actors/checkpoint/durable_file.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

std::string with_length(const std::string& header, const std::string& data = {}) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

/// What the file with these bytes is refused with.
std::string refusal_of(const std::string& bytes) {
  const temporary_folder folder;
  const auto path = folder.path / "m.safetensors";
  write_durably(path, bytes);
  const auto message = testing::message_of<llm_file_error>([&] { read_safetensors(path); });
  CHECK((message.empty() || message.starts_with(path.string() + ": ")));
  return message;
}

std::string entry(const std::string& name, const std::string& shape, int begin, int end,
                  const std::string& dtype = "F32") {
  return '"' + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + ',' + std::to_string(end) + "]}";
}

TEST_CASE("safetensors: what is written is read again, by falling size of elements") {
  const temporary_folder folder;
  const auto path = folder.path / "m.safetensors";
  const float matrix[] = {1.5f, -2.0f, 0.0f, 3.25f, 1e-30f, 7.0f};
  const std::uint16_t halves[] = {0x3c00, 0xc000};  // 1, -2
  write_safetensors(path,
                    {{"a", {tensor_type::f16, {2}, {reinterpret_cast<const char*>(halves), 4}}},
                     {"b", {tensor_type::f32, {2, 3}, {reinterpret_cast<const char*>(matrix), 24}}},
                     {"empty", {tensor_type::i64, {0, 5}, {}}}},
                    {{"format", "pt"}});
  const auto file = read_safetensors(path);
  CHECK(file.metadata.at("format") == "pt");
  REQUIRE(file.tensors.size() == 3);
  const auto& b = file.tensors.at("b");
  CHECK(b.shape == std::vector<std::int64_t>{2, 3});
  CHECK(b.offset < file.tensors.at("a").offset);
  CHECK(b.offset % 8 == 0);
  float read[6];
  copy_floats(b, read);
  CHECK(std::memcmp(read, matrix, sizeof matrix) == 0);
  copy_floats(file.tensors.at("a"), std::span(read, 2));
  CHECK(read[0] == 1.0f);
  CHECK(read[1] == -2.0f);
  CHECK_THROWS_WITH(copy_floats(file.tensors.at("empty"), std::span<float>()),
                    Contains("\"empty\"") && Contains("got I64"));
}

TEST_CASE("safetensors: a file that is no such file is refused with the reason") {
  CHECK_THAT(refusal_of(""), Contains("got a file of 0"));
  CHECK_THAT(refusal_of(with_length("{}").substr(0, 9)), Contains("header of at most 1"));
  CHECK_THAT(refusal_of(std::string(8, '\xff') + "{}"),
             Contains("got one of 18446744073709551615"));
  CHECK_THAT(refusal_of(with_length("{")), Contains("header: JSON: expected JSON"));
  CHECK_THAT(refusal_of(with_length("[]")), Contains("expected an object"));
  CHECK_THAT(refusal_of(with_length(
                 "{" + entry("x", "[1]", 0, 4) + "," + entry("x", "[1]", 0, 4) + "}", "0000")),
             Contains("once"));
}

TEST_CASE("safetensors: a tensor that lies is refused by name and offset") {
  const auto of = [](const std::string& entries, const std::string& data) {
    return refusal_of(with_length("{" + entries + "}", data));
  };
  CHECK_THAT(of(entry("x", "[2]", 0, 8), "0000"), Contains("\"x\"") && Contains("[0,8]"));
  CHECK_THAT(of(entry("x", "[2]", 0, 4), "0000"),
             Contains("at byte") && Contains("expected 8 bytes for F32 [2], got 4"));
  CHECK_THAT(of(entry("x", "[-1]", 0, 4), "0000"), Contains("whole numbers"));
  CHECK_THAT(of(entry("x", "[4611686018427387904,4611686018427387904]", 0, 4), "0000"),
             Contains("2^62"));
  CHECK_THAT(of(entry("x", "[1]", 0, 4, "F8_E4M3"), "0000"), Contains("got \"F8_E4M3\""));
  CHECK_THAT(of(entry("x", "[1]", 0, 4, "Q4_0"), "0000"), Contains("got \"Q4_0\""));
  CHECK_THAT(of(entry("x", "[1]", 4, 8), "00000000"), Contains("begin where the one before ends"));
  CHECK_THAT(of(entry("x", "[1]", 0, 4), "00000000"), Contains("up to the end"));
  CHECK_THAT(of(entry("x", "[2]", 0, 8) + "," + entry("y", "[1]", 4, 8), "00000000"),
             Contains("\"y\"") && Contains("begin where the one before ends"));
  CHECK_THAT(of(R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1})", "0000"),
             Contains("data_offsets"));
}

TEST_CASE("checkpoint: shards are read through their index, which must be true") {
  const temporary_folder folder;
  const std::string bytes(4, '\0');
  const auto one = [&](const char* name, const char* file) {
    write_safetensors(folder.path / file, {{name, {tensor_type::f32, {1}, bytes}}});
  };
  one("a", "model-1.safetensors");
  one("b", "model-2.safetensors");
  const auto index = folder.path / "model.safetensors.index.json";
  const auto map = [&](const std::string& text) {
    write_durably(index, R"({"weight_map":{)" + text + "}}");
  };
  map(R"("a":"model-1.safetensors","b":"model-2.safetensors")");
  CHECK(read_checkpoint_tensors(folder.path).size() == 2);
  map(R"("a":"model-1.safetensors","b":"model-1.safetensors")");
  CHECK_THROWS_WITH(read_checkpoint_tensors(folder.path), Contains("\"b\" in model-1.safetensors"));
  map(R"("a":"../model-1.safetensors")");
  CHECK_THROWS_WITH(read_checkpoint_tensors(folder.path), Contains("beside it"));
  map(R"("a":"model-3.safetensors")");
  CHECK_THROWS_WITH(read_checkpoint_tensors(folder.path),
                    Contains("model-3.safetensors: expected a readable"));
}

}  // namespace
}  // namespace troupe::llm
