#include "actors/recorder/tensorboard_writer.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using troupe::tensorboard_writer;
using troupe::detail::crc32c;
using troupe::detail::tf_record;

const tensorboard_writer::clock::time_point start{std::chrono::seconds(1700000000)};

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (int value : values) result += static_cast<char>(value);
  return result;
}

TEST_CASE("crc32c: equals the vectors of RFC 3720, appendix B.4", "[recorder]") {
  std::string up;
  for (int i = 0; i < 32; ++i) up += static_cast<char>(i);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62A8AB43U);
  CHECK(crc32c(up) == 0x46DD794EU);
  CHECK(crc32c("123456789") == 0xE3069283U);
}

TEST_CASE("tf_record: length and masked checksums frame the bytes", "[recorder]") {
  const auto record = tf_record("123456789");
  REQUIRE(record.size() == 8 + 4 + 9 + 4);
  CHECK(record.substr(0, 8) == bytes({9, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(record.substr(12, 9) == "123456789");
  // 0xE3069283 rotated right by 15 is 0x2507C60D; plus 0xA282EAD8 is 0xC78AB0E5.
  CHECK(record.substr(21) == bytes({0xE5, 0xB0, 0x8A, 0xC7}));
}

TEST_CASE("tensorboard_writer: the first record is the version", "[recorder]") {
  temporary_folder folder;
  tensorboard_writer writer(folder.path, start);
  const auto name = writer.path().filename().string();
  CHECK_THAT(name, Catch::StartsWith("events.out.tfevents.1700000000.") &&
                       Catch::EndsWith("." + std::to_string(::getpid()) + ".0"));
  // wall_time is field 1 (double), file_version field 3 (13 bytes).
  double wall_time = 1.7e9;
  std::string event = "\x09" + std::string(reinterpret_cast<char*>(&wall_time), 8);
  event +=
      "\x1a\x0d"
      "brain.Event:2";
  CHECK(read_text(writer.path()) == tf_record(event));
}

TEST_CASE("tensorboard_writer: a scalar is a summary value with the numbers of TensorFlow's fields",
          "[recorder]") {
  temporary_folder folder;
  tensorboard_writer writer(folder.path, start);
  const auto before = read_text(writer.path()).size();
  writer.write(300, {{"a", 1.0}}, start);
  double wall_time = 1.7e9;
  std::string event = "\x09" + std::string(reinterpret_cast<char*>(&wall_time), 8);
  event += bytes({0x10, 0xAC, 0x02});                 // step = 300
  event += bytes({0x2A, 10, 0x0A, 8, 0x0A, 1, 'a'});  // summary { value { tag: "a"
  event += bytes({0x15, 0x00, 0x00, 0x80, 0x3F});     // simple_value: 1.0 } }
  CHECK(read_text(writer.path()).substr(before) == tf_record(event));
}

TEST_CASE("tensorboard_writer: a scalar of zero is written, not left out", "[recorder]") {
  temporary_folder folder;
  tensorboard_writer writer(folder.path, start);
  writer.write(0, {{"train/clip_fraction", 0.0}}, start);
  // Field 2, a float: 15 00 00 00 00; four bytes of checksum follow.
  const auto text = read_text(writer.path());
  CHECK(text.substr(text.size() - 9, 5) == bytes({0x15, 0, 0, 0, 0}));
}

TEST_CASE("tensorboard_writer: wall time keeps what a double can hold of it", "[recorder]") {
  temporary_folder folder;
  tensorboard_writer writer(folder.path, start + std::chrono::milliseconds(250));
  double wall_time = 0;
  std::memcpy(&wall_time, read_text(writer.path()).data() + 8 + 4 + 1, sizeof wall_time);
  CHECK(wall_time == 1700000000.25);
}

// Hidden: tensorboard_test.sh runs it and reads the file with the real TensorBoard.
TEST_CASE("tensorboard_writer: writes the file that tensorboard_test.sh reads", "[.events]") {
  const char* folder = std::getenv("TROUPE_EVENTS_FOLDER");
  REQUIRE(folder != nullptr);
  tensorboard_writer writer(folder, start);
  for (int i = 0; i < 1000; ++i)
    writer.write(std::int64_t{2048} * i,
                 {{"rollout/ep_rew_mean", i / 7.0}, {"train/loss", -1e-6 * i}},
                 start + std::chrono::milliseconds(250 * i));
  writer.write(std::int64_t{1} << 40, {{"eval/mean_reward", 3.0e38}}, start);
}

}  // namespace
