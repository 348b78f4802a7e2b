#include "actors/networks/plain_pickle.hpp"

#include <random>
#include <string>

#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Contains;

std::string byte(int value) { return std::string(1, static_cast<char>(value)); }

std::string text(const std::string& characters) {
  std::string pickle = "X";
  for (int shift = 0; shift < 32; shift += 8) {
    pickle += byte(static_cast<int>(characters.size() >> shift & 0xff));
  }
  return pickle + characters;
}

// A dictionary with this one value, PROTO and STOP around it.
std::string with_value(const std::string& value) {
  return "\x80\x02}(" + text("key") + value + "u.";
}

plain_value read_value(const std::string& value) {
  return read_plain_pickle(with_value(value)).at("key");
}

const std::string floats =
    "(" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\x06tQ";
const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n(" + floats +
                           "K\x01(K\x02K\x03t(K\x03K\x01t\x89" + "ccollections\nOrderedDict\n)RtR";

TEST_CASE("plain_pickle: numbers, texts, lists of numbers and tensors are read", "[policy]") {
  CHECK(std::get<bool>(read_value("\x88")));
  CHECK(std::get<std::int64_t>(read_value("K\xff")) == 255);
  CHECK(std::get<std::int64_t>(read_value("M\xff\xff")) == 65535);
  CHECK(std::get<std::int64_t>(read_value("J\xff\xff\xff\xff")) == -1);
  CHECK(std::get<std::int64_t>(read_value("\x8a\x05" + std::string(4, '\0') + "\x81")) ==
        -127 * (std::int64_t{1} << 32));
  CHECK(std::get<double>(read_value("G?" + byte(0xf8) + std::string(6, '\0'))) == 1.5);
  CHECK(std::get<std::string>(read_value(text("relu"))) == "relu");
  CHECK(std::get<std::vector<std::int64_t>>(
            read_value("ctorch.jit._pickle\nbuild_intlist\n(](K\x01K\x02"
                       "etR")) == std::vector<std::int64_t>{1, 2});
  CHECK(std::get<bool>(
      read_value("ctorch.jit._pickle\nrestore_type_tag\n(\x88" + text("bool") + "tR")));
  const auto held = std::get<pickled_tensor>(read_value(tensor));
  CHECK(held.storage == "0");
  CHECK(held.offset == 1);
  CHECK(held.sizes == std::vector<std::int64_t>{2, 3});
  CHECK(held.strides == std::vector<std::int64_t>{3, 1});
}

TEST_CASE("plain_pickle: what is written is read as it was", "[policy]") {
  const std::vector<std::int64_t> numbers{0, -1, 1 << 20, std::int64_t{-1} << 40};
  const pickled_tensor held{
      .storage = "3", .offset = 5, .sizes = {2, 3}, .strides = {1, 2}, .storage_size = 11};
  const auto read = read_plain_pickle(write_plain_pickle({{"number", numbers.back()},
                                                          {"truth", true},
                                                          {"score", 0.1 + 0.2},
                                                          {"text", std::string("relu")},
                                                          {"numbers", numbers},
                                                          {"none", std::vector<std::int64_t>{}},
                                                          {"tensor", held}}));
  CHECK(std::get<std::int64_t>(read.at("number")) == numbers.back());
  CHECK(std::get<bool>(read.at("truth")));
  CHECK(std::get<double>(read.at("score")) == 0.1 + 0.2);
  CHECK(std::get<std::string>(read.at("text")) == "relu");
  CHECK(std::get<std::vector<std::int64_t>>(read.at("numbers")) == numbers);
  CHECK(std::get<std::vector<std::int64_t>>(read.at("none")).empty());
  const auto& tensor = std::get<pickled_tensor>(read.at("tensor"));
  CHECK(tensor.storage == "3");
  CHECK(tensor.offset == 5);
  CHECK(tensor.sizes == held.sizes);
  CHECK(tensor.strides == held.strides);
  CHECK(tensor.storage_size == 11);
}

TEST_CASE("plain_pickle: a pickle that calls something is refused with its name", "[policy]") {
  CHECK_THROWS_WITH(read_value("cos\nsystem\n(" + text("echo") + "tR"),
                    Contains("calls os system with 1 values"));
  CHECK_THROWS_WITH(read_value("ctorch._utils\n_rebuild_tensor_v2\n)R"),
                    Contains("_rebuild_tensor_v2 with 0 values"));
  CHECK_THROWS_WITH(read_value("cos\nsystem\n"), Contains("expected a number, a text"));
  CHECK_THROWS_WITH(read_value("K\x01"
                               "b"),
                    Contains("operation 0x62"));
  CHECK_THROWS_WITH(
      read_value("(" + text("storage") + "cos\nsystem\n" + text("0") + text("cpu") + "K\x06tQ"),
      Contains("expected a storage of floats, got os system"));
}

TEST_CASE("plain_pickle: a pickle that grows or nests without bound is refused", "[policy]") {
  std::string deep = ")";
  for (int i = 0; i < 100000; ++i) deep += "\x85";
  CHECK_THROWS_WITH(read_value(deep), Contains("too deep"));
  CHECK_THROWS_WITH(read_value(std::string(300000, '(')), Contains("more than 262144 values"));
  // One tuple on the stack, of many copies of a long name.
  std::string copies = "c" + std::string(1000, 'a') + "\nb\nq" + byte(0);
  for (int block = 0; block < 7; ++block) {
    copies += "(";
    for (int i = 0; i < 40000; ++i) copies += "h" + byte(0);
    copies += "t";
  }
  CHECK_THROWS_WITH(read_value(copies), Contains("more than 262144 values"));
  std::string doubled =
      "](K\x01"
      "eq" +
      byte(0);
  CHECK_THROWS_WITH(read_value(doubled + "h" + byte(0)), Contains("recalls value 0"));
  CHECK_THROWS_WITH(read_value("X\xff\xff\xff\xff"), Contains("the bytes end within"));
}

TEST_CASE("plain_pickle: a long text is read, and its copies have a bound", "[policy]") {
  const std::string longest(std::size_t{1} << 20, 'a');
  CHECK(std::get<std::string>(read_value(text(longest))) == longest);
  const auto kept = text(longest) + "q" + byte(0);
  CHECK(std::get<std::string>(read_value(kept)) == longest);
  // One copy is kept, and the others are recalled, or kept again.
  std::string recalled = "(" + kept, kept_again = kept;
  for (int i = 0; i < 256; ++i) {
    recalled += "h" + byte(0);
    kept_again += "q" + byte(0);
  }
  for (const auto& copies : {recalled, kept_again}) {
    CHECK_THROWS_WITH(read_value(copies), Contains("copies more than 268435456 bytes of texts"));
  }
}

TEST_CASE("plain_pickle: a cut or mutilated pickle is read or refused, no more", "[policy]") {
  const auto good = with_value(tensor);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_THROWS_AS(read_plain_pickle(good.substr(0, size)), std::invalid_argument);
  }
  CHECK_THROWS_WITH(read_plain_pickle(good + "."), Contains("ends before the bytes do"));
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 100000; ++i) {
    auto bad = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    try {
      read_plain_pickle(bad);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(refused > 50000);
}

}  // namespace
}  // namespace troupe
