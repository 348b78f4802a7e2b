#include "algorithms/program/status/exposition.hpp"

#include <cmath>
#include <random>

#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::command {
namespace {

std::string error_of(const std::string& text) {
  return testing::message_of<exposition_error>([&] { parse_exposition(text); });
}

const std::string whole =
    "# HELP a_total What it is.\n# TYPE a_total counter\n"
    "a_total{service=\"policy\",route=\"act\\\"\\\\\\n\"} 17\n"
    "\n"
    "b_bucket{le=\"+Inf\"} 3 1700000000000\n"
    "  c NaN\nd -Inf\ne +Inf\nf{} 1.5e-3\ng{x=\"1\",} +2\n";

}  // namespace

TEST_CASE("exposition: samples are read with their labels") {
  const auto samples = parse_exposition(whole);
  REQUIRE(samples.size() == 7);
  CHECK(samples[0].name == "a_total");
  CHECK(samples[0].label("service") == "policy");
  CHECK(samples[0].label("route") == "act\"\\\\u000a");
  CHECK(samples[0].label("none").empty());
  CHECK(samples[0].value == 17);
  CHECK(samples[1].label("le") == "+Inf");
  CHECK(std::isnan(samples[2].value));
  CHECK(samples[3].value == -HUGE_VAL);
  CHECK(samples[4].value == HUGE_VAL);
  CHECK(samples[5].value == Approx(1.5e-3));
  CHECK(samples[6].value == 2);
  CHECK(parse_exposition("").empty());
}

TEST_CASE("exposition: what is malformed is refused with its line") {
  CHECK(error_of("a 1") == "line 1: expected a line feed at its end");
  CHECK(error_of("a 1\n1b 2\n") == "line 2: expected a metric's name, got \"1b 2\"");
  CHECK(error_of("a\n") == "line 1: expected a value, got its end");
  CHECK(error_of("a x\n") == "line 1: expected a value, got \"x\"");
  CHECK(error_of("a 0x1\n") == "line 1: expected a value, got \"0x1\"");
  CHECK(error_of("a inf\n") == "line 1: expected a value, got \"inf\"");
  CHECK(error_of("a 1 soon\n") == "line 1: expected a time in ms, got \"soon\"");
  CHECK(error_of("a 1 2 3\n") == "line 1: expected the end of the line, got \"3\"");
  CHECK(error_of("a{b} 1\n") == "line 1: expected = after the label b, got \"} 1\"");
  CHECK(error_of("a{b=1} 1\n") == "line 1: expected a quoted value of the label b, got \"1} 1\"");
  CHECK(error_of("a{b=\"1} 1\n") == "line 1: expected a closing quote, got its end");
  CHECK(error_of("a{b=\"\\t\"} 1\n") ==
        "line 1: expected n, \" or \\ after a backslash, got \"t\"} 1\"");
  CHECK(error_of("a{b=\"1\",b=\"2\"} 1\n") == "line 1: expected the label b once, got \"} 1\"");
  CHECK(error_of("a{b=\"1\" c=\"2\"} 1\n") ==
        "line 1: expected , or } after the label b, got \"c=\"2\"} 1\"");
}

TEST_CASE("exposition: no text of another program acts on a terminal, and none is long") {
  const auto samples = parse_exposition(
      "a{service=\"\x1b]0;title\x07\x1b[2Jred\"} 1\n"
      "b{service=\"\xc2\x9b"
      "2J\xe2\x80\xae\"} 1\nc{service=\"\xff\"} 1\n"
      "d{service=\"" +
      std::string(100'000, 'x') + "\"} 1\n");
  REQUIRE(samples.size() == 4);
  CHECK(samples[0].label("service") == "\\u001b]0;title\\u0007\\u001b[2Jred");
  CHECK(samples[1].label("service") == "\\u009b2J\\u202e");
  CHECK(samples[2].label("service") == "\xef\xbf\xbd");
  CHECK(samples[3].label("service").size() < 210);
  CHECK(error_of("\x1b[2Ja 1\n") == "line 1: expected a metric's name, got \"\\u001b[2Ja 1\"");
  CHECK(error_of(std::string(100'000, 'x') + "{" + std::string(100'000, 'y') + "\n").size() < 300);
}

TEST_CASE("exposition: damaged texts are refused or read, and nothing else") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = whole;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const auto at = below(text.size());
      if (below(3) == 0) {
        text.erase(at, 1 + below(4));
      } else {
        text[at] = static_cast<char>(below(2) ? "{}\"\\=,\n# 1"[below(10)] : below(256));
      }
    }
    refused += error_of(text) != "";
  }
  CHECK(refused > 5'000);
  CHECK(refused < 20'000);
}

}  // namespace troupe::command
