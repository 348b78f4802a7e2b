#include "actors/sandbox/sandboxed_notebook.hpp"

#include <functional>

#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using notebooks = service<sandboxed_notebook>;

task<> serve_and(system& sys, sandbox_options options, double idle_s,
                 std::function<task<>(notebooks)> work) {
  if (options.limits.wall_s == code_limits{}.wall_s) options.limits.wall_s = 60;
  auto served = co_await sys.serve<sandboxed_notebook>({.name = "notebook"}, options, idle_s);
  co_await work(served);
}

void with_notebooks(sandbox_options options, std::function<task<>(notebooks)> work,
                    double idle_s = 600) {
  system sys;
  sys.run(serve_and(sys, std::move(options), idle_s, std::move(work)));
}

task<code_result> run(notebooks in, std::int64_t notebook, code_request code) {
  co_return co_await in.route<&sandboxed_notebook::run>(notebook_cell{notebook, std::move(code)});
}

task<> share_variables(notebooks in) {
  const auto one = co_await in.route<&sandboxed_notebook::open>();
  const auto other = co_await in.route<&sandboxed_notebook::open>();
  const auto first = co_await run(in, one, {.program = "x = 6\nprint(input())", .input = "told"});
  CHECK(first.output == "told\n");
  CHECK(first.succeeded());
  co_await run(in, other, {.program = "x = 7"});
  const auto second = co_await run(in, one, {.program = "print(x)\nopen('kept', 'w').write('y')"});
  CHECK(second.output == "6\n");
  CHECK(second.memory_bytes > 1 << 20);
  const auto raised = co_await run(in, one, {.program = "print('before')\n1 / 0"});
  CHECK(raised.exit_code == 1);
  CHECK(raised.output == "before\n");
  CHECK_THAT(raised.errors, Catch::Contains("ZeroDivisionError"));
  // It goes on, with its variables and files, and can be given more.
  const auto third =
      co_await run(in, one,
                   {.program = "print(x + 1, open('kept').read(), open('new').read())",
                    .files = {{"new", "z"}},
                    .results = {"kept"}});
  CHECK(third.output == "7 y z\n");
  CHECK(third.errors.empty());
  CHECK(third.files.at("kept") == "y");
  CHECK((co_await run(in, other, {.program = "print(x)"})).output == "7\n");
  const auto memory = co_await run(in, one, {.program = "bytearray(1 << 30)"});
  CHECK(memory.limit == code_limit::memory);
  CHECK((co_await run(in, one, {.program = "raise SystemExit(3)"})).exit_code == 3);
}

TEST_CASE("notebook: cells share their variables and files with those of the same notebook") {
  with_notebooks({}, share_variables);
}

task<> hit_limits(notebooks in) {
  auto one = co_await in.route<&sandboxed_notebook::open>();
  const auto late = co_await run(in, one, {.program = "print('a', flush=True)\nwhile True: pass"});
  CHECK(late.limit == code_limit::wall_time);
  CHECK(late.output == "a\n");
  CHECK_THROWS_WITH(
      (co_await in.try_route<&sandboxed_notebook::run>(notebook_cell{one, {}})).value(),
      Catch::Contains("expected an open notebook, got 1"));
  one = co_await in.route<&sandboxed_notebook::open>();
  CHECK((co_await run(in, one, {.program = "import os\nos._exit(9)"})).exit_code == 9);
  one = co_await in.route<&sandboxed_notebook::open>();
  const auto flood = co_await run(in, one, {.program = "while True: print('x' * 1000)"});
  CHECK(flood.limit == code_limit::output_bytes);
  // One that claims an end, with what it likes, ends only its own cell.
  one = co_await in.route<&sandboxed_notebook::open>();
  const auto forged = co_await run(
      in, one, {.program = "import os\nos.write(6, b'{\"exit_code\": \"x\", \"limit\": 3}\\n')"});
  CHECK(forged.exit_code == 0);
  co_await in.route<&sandboxed_notebook::close>(one);
  CHECK_THROWS_WITH(
      (co_await in.try_route<&sandboxed_notebook::run>(notebook_cell{one, {}})).value(),
      Catch::Contains("expected an open notebook"));
}

TEST_CASE("notebook: a limit that kills ends the notebook, and no other") {
  with_notebooks({.limits = {.wall_s = 4, .cpu_s = 20}}, hit_limits);
}

task<> open_too_many(notebooks in) {
  co_await in.route<&sandboxed_notebook::open>();
  CHECK_THROWS_WITH((co_await in.try_route<&sandboxed_notebook::open>()).value(),
                    Catch::Contains("at most 1 open notebooks"));
  // One that rests is closed.
  for (int i = 0; i < 1000; ++i) {
    const auto opened = co_await in.try_route<&sandboxed_notebook::open>();
    if (opened.ok()) co_return;
    co_await sleep_for(10ms);
  }
  FAIL("the notebook that rests was not closed");
}

TEST_CASE("notebook: there are as many as there may be, and those that rest are closed") {
  with_notebooks({.parallel = 1}, open_too_many, 0.5);
}

}  // namespace
}  // namespace troupe
