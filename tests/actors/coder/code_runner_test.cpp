#include "actors/coder/code_runner.hpp"

#include <fstream>

#include "actors/coder/recorded_runs.hpp"
#include "actors/data/jsonl.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

task<code_result> run_in(system& sys, code_runner_options options, code_request asked) {
  auto runners = co_await sys.serve<code_runner>({.name = "coder", .placement = placement::thread},
                                                 std::move(options));
  co_return co_await runners.route<&code_runner::run>(std::move(asked));
}

code_result run(code_runner_options options, code_request asked, bool deterministic = false) {
  system sys({.deterministic = deterministic});
  return sys.run(run_in(sys, std::move(options), std::move(asked)));
}

TEST_CASE("code runner: a recording gives each request its results in their order") {
  const temporary_folder folder;
  const auto path = folder.path / "runs.jsonl";
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const code_request one{.program = "print(1)", .input = bytes, .files = {{"a", bytes}}},
      other{.program = "print(2)", .results = {"out"}};
  code_result full{.exit_code = 3,
                   .signal = 9,
                   .limit = code_limit::memory,
                   .output = bytes,
                   .errors = "an error",
                   .reported = bytes,
                   .truncated = true,
                   .files = {{"out", bytes}}};
  {
    recording_file recording(path);
    recording.append(line_of(one, {.output = "first"}));
    recording.append(line_of(other, full));
    recording.append(line_of(one, {.output = "second"}));
  }
  recorded_runs recorded(path);
  CHECK(recorded.next(one).output == "first");
  CHECK(recorded.next(one).output == "second");
  CHECK(recorded.next(one).output == "second");
  const auto read = recorded.next(other);
  CHECK(read.exit_code == 3);
  CHECK(read.signal == 9);
  CHECK(read.limit == code_limit::memory);
  CHECK(read.output == bytes);
  CHECK(read.errors == "an error");
  CHECK(read.reported == bytes);
  CHECK(read.truncated);
  CHECK(read.files == full.files);
  CHECK_THROWS_WITH(
      recorded.next({.program = "print(3)"}),
      Catch::Contains("expected a run of this program") && Catch::Contains("print(3)"));
  // A deterministic system has it, too.
  CHECK(run({.replay = path.string()}, one, true).output == "first");
}

TEST_CASE("code runner: a line that is no run is refused with its place") {
  const temporary_folder folder;
  const auto path = folder.path / "runs.jsonl";
  for (const char* line : {"{\"program\": \"x\"}", "[]", "{\"result\": 3}",
                           "{\"program\": \"x\", \"input\": \"\", \"result\": {\"output\": 3}}"}) {
    CAPTURE(line);
    std::ofstream(path) << line_of({.program = "print(1)"}, {}) << line << "\n";
    CHECK_THROWS_AS(recorded_runs(path), jsonl_error);
    CHECK_THROWS_WITH(recorded_runs(path),
                      Catch::Contains("runs.jsonl:2: expected ") ||
                          Catch::Contains("runs.jsonl:2: [json.exception.type"));
  }
  CHECK_THROWS(recorded_runs(folder.path / "none.jsonl"));
}

TEST_CASE("code runner: runs without a sandbox where that is allowed") {
  CHECK(run({.sandbox = {.limits = {.wall_s = 60}}, .allow_unsandboxed = true},
            {.program = "print(6 * 7)"})
            .output == "42\n");
}

}  // namespace
}  // namespace troupe
