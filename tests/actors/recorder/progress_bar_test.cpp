#include "actors/recorder/progress_bar.hpp"

#include <algorithm>
#include <sstream>

#include "tests/test.hpp"

namespace {

using std::chrono::duration;
using troupe::progress_bar;
using troupe::progress_line;
using troupe::progress_state;

progress_state at(std::int64_t step, double seconds) {
  return {step, 100000, duration<double>(seconds), 187.25};
}

TEST_CASE("progress_line: shows share, steps, rate, time left and return", "[recorder]") {
  CHECK(progress_line(at(50000, 10)) ==
        " 50% |############            | 50k/100k steps, 5k steps/s, ETA 0:10, return 187.2");
  CHECK(progress_line({0, 100000, {}}) ==
        "  0% |                        | 0/100k steps, 0 steps/s");
  CHECK(progress_line(at(120000, 10)) ==
        "100% |########################| 120k/100k steps, 12k steps/s, return 187.2");
  CHECK(progress_line({1234, 0, duration<double>(2)}) == "1.23k steps, 617 steps/s");
  CHECK_THAT(progress_line({10, 100000, duration<double>(1)}), Catch::Contains("ETA 2:46:39"));
}

TEST_CASE("progress_line: takes the words of what the run counts", "[recorder]") {
  progress_state state{120, 240, duration<double>(60), 0.8754};
  state.labels = {.steps = "updates", .score = "reward"};
  CHECK(progress_line(state, false) == " 50% 120/240 updates, 2 updates/s, ETA 1:00, reward 0.875");
}

TEST_CASE("progress_bar: on a terminal one line is redrawn ten times a second", "[recorder]") {
  std::ostringstream out;
  progress_bar bar(out, true);
  for (int i = 0; i < 100; ++i) bar.update(at(1000 * i, 0.01 * i));
  bar.finish(at(100000, 1));
  bar.finish(at(100000, 1));
  const auto text = out.str();
  CHECK(std::count(text.begin(), text.end(), '\r') == 11);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("progress_bar: a shorter line covers the longer one before it", "[recorder]") {
  std::ostringstream out;
  progress_bar bar(out, true);
  bar.update({1234, 0, duration<double>(1)});
  bar.update({2000, 0, duration<double>(2)});
  CHECK(out.str() == "\r1.23k steps, 1.23k steps/s\r2k steps, 1k steps/s      ");
  bar.clear();
  CHECK_THAT(out.str(), Catch::EndsWith("\r" + std::string(20, ' ') + "\r"));
}

TEST_CASE("progress_bar: elsewhere there is a plain line every five seconds", "[recorder]") {
  std::ostringstream out;
  progress_bar bar(out, false);
  for (int i = 1; i <= 1250; ++i) bar.update(at(80 * i, 0.01 * i));
  bar.finish(at(100000, 12.5));
  CHECK(out.str() ==
        " 40% 40k/100k steps, 8k steps/s, ETA 0:08, return 187.2\n"
        " 80% 80k/100k steps, 8k steps/s, ETA 0:03, return 187.2\n"
        "100% 100k/100k steps, 8k steps/s, return 187.2\n");
}

TEST_CASE("progress_bar: one that takes up another's place waits as long for its first line",
          "[recorder]") {
  std::ostringstream out;
  progress_bar bar(out, false);
  bar.skip_to(at(50000, 7));
  bar.update(at(60000, 11.9));
  CHECK(out.str().empty());
  bar.update(at(60000, 12));
  CHECK_THAT(out.str(), Catch::StartsWith(" 60% 60k/100k steps"));
}

}  // namespace
