#include "actors/sandbox/sandboxed.hpp"

#include <signal.h>

#include <filesystem>

#include "actors/sandbox/check_sandbox.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/child_processes.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Room for the start of an interpreter on a busy machine.
code_limits roomy(code_limits limits) {
  if (limits.wall_s == code_limits{}.wall_s) limits.wall_s = 60;
  return limits;
}

task<code_result> run_in(system& sys, code_request asked, code_limits limits) {
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "coder"}, sandbox_options{.limits = roomy(limits), .warm = 0});
  co_return co_await coders.route<&sandboxed_python::run>(std::move(asked));
}

task<code_result> run_with(system& sys, code_request asked, sandbox_options options) {
  auto coders = co_await sys.serve<sandboxed_python>({.name = "other coder"}, std::move(options));
  co_return co_await coders.route<&sandboxed_python::run>(std::move(asked));
}

code_result run(code_request asked, code_limits limits = {}) {
  system sys;
  return sys.run(run_in(sys, std::move(asked), limits));
}

task<code_result> run_command_in(system& sys, command_request asked, code_limits limits) {
  auto commands = co_await sys.serve<sandboxed_command>({.name = "command"},
                                                        sandbox_options{.limits = roomy(limits)});
  co_return co_await commands.route<&sandboxed_command::run>(std::move(asked));
}

code_result run_command(command_request asked, code_limits limits = {}) {
  system sys;
  return sys.run(run_command_in(sys, std::move(asked), limits));
}

TEST_CASE("sandbox: runs a program on its input and files, and says what came of it") {
  const auto well = run({.program = "import os, sys\n"
                                    "print(sys.stdin.read().upper(), __name__, os.getcwd())\n"
                                    "print('beside', file=sys.stderr)\n"
                                    "os.write(3, b'a report')\n"
                                    "print(open('in/one').read())\n"
                                    "open('out', 'w').write('a result')\n",
                         .input = "some text",
                         .files = {{"in/one", "a file"}},
                         .results = {"out", "none"}});
  CAPTURE(well.errors);
  CHECK(well.succeeded());
  CHECK(well.output == "SOME TEXT __main__ /tmp\na file\n");
  CHECK(well.errors == "beside\n");
  CHECK(well.reported == "a report");
  CHECK(well.files == std::map<std::string, std::string>{{"out", "a result"}});
  CHECK(!well.truncated);
  CHECK(well.wall_s > 0.0);
  CHECK(well.cpu_s > 0.0);
  CHECK(well.memory_bytes > 1 << 20);

  const auto badly = run({.program = "raise SystemExit(7)"});
  CHECK(badly.exit_code == 7);
  CHECK(badly.limit == code_limit::none);
  CHECK(!badly.succeeded());
  const auto wrong = run({.program = "this is no Python"});
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.errors, Catch::Contains("SyntaxError"));
  // The traceback is the program's alone.
  const auto raised = run({.program = "1 / 0"});
  CHECK_THAT(raised.errors, Catch::Contains("File \"<program>\", line 1") &&
                                Catch::Contains("ZeroDivisionError") &&
                                !Catch::Contains("<string>"));
  CHECK(run({.program = "import os\nif os.fork() == 0: os.kill(os.getpid(), 11)\n"
                        "print(os.wait()[1])"},
            {.processes = 2})
            .output == "11\n");
  CHECK(run({.program = "import ctypes\nctypes.string_at(0)"}).signal == SIGSEGV);
}

TEST_CASE("sandbox: output may be any bytes") {
  const auto bytes = run({.program = "import os\nos.write(1, bytes(range(256)))"});
  REQUIRE(bytes.output.size() == 256);
  CHECK(static_cast<unsigned char>(bytes.output[255]) == 255);
}

TEST_CASE("sandbox: a limit that is hit has a name") {
  const auto named = [](const std::string& program, code_limits limits) {
    const auto result = run({.program = program}, limits);
    CAPTURE(program, result.errors);
    CHECK(!result.succeeded());
    return std::string(name_of(result.limit));
  };
  CHECK(named("import time\ntime.sleep(100)", {.wall_s = 1}) == "wall_time");
  CHECK(named("while True: pass", {.cpu_s = 1}) == "cpu_time");
  CHECK(named("bytearray(1 << 30)", {}) == "memory");
  CHECK(named("import os\nos.fork()", {}) == "processes");
  CHECK(named("import threading\nthreading.Thread(target=print).start()", {}) == "processes");
  CHECK(named("f = [open('/dev/null') for i in range(100)]", {}) == "open_files");
  CHECK(named("open('a', 'w').write('x' * (2 << 20))", {.written_bytes = 1 << 20}) ==
        "written_bytes");
  CHECK(named("for n in 'abc': open(n, 'w').write('x' * (400 << 10))",
              {.written_bytes = 1 << 20}) == "written_bytes");
  CHECK(named("for i in range(100): open(str(i), 'w')", {.files = 50}) == "files");
  CHECK(named("print('x' * 100000)", {}) == "output_bytes");
  CHECK(named("import os\nwhile True: os.write(3, b'x')", {.output_bytes = 1000}) ==
        "output_bytes");
  // What deals with a failure itself has hit none.
  CHECK(run({.program = "try: bytearray(1 << 30)\nexcept MemoryError: print('no memory')"})
            .succeeded());
}

TEST_CASE("sandbox: what a program may use has the size of its limits") {
  const auto seen =
      run({.program = "import os, resource\n"
                      "space = os.statvfs('/tmp')\n"
                      "made = 0\n"
                      "try:\n"
                      "    while True: open(f'/dev/shm/{made}', 'w'); made += 1\n"
                      "except OSError: pass\n"
                      "print(space.f_blocks * space.f_bsize, made,\n"
                      "      resource.getrlimit(resource.RLIMIT_AS)[1],\n"
                      "      resource.getrlimit(resource.RLIMIT_NPROC)[1])\n"},
          {.memory_bytes = 264 << 20, .processes = 2, .written_bytes = 8 << 20, .files = 100});
  // The files are a part of the memory.
  CHECK(seen.output == "8388608 100 134217728 2\n");
}

// sandbox_test.py runs it where control groups are delegated to the tests.
TEST_CASE("sandbox: a control group limits the memory of all processes together", "[.cgroup]") {
  const code_request asked{.program =
                               "import os, time\n"
                               "for i in range(3): os.fork()\n"
                               "kept = b'x' * (40 << 20)\n"
                               "time.sleep(1)\n"};
  // Each process stays below the limit, and eight of them do not.
  const auto together = run(asked, {.memory_bytes = 600 << 20, .processes = 8});
  CHECK(together.succeeded());
  const auto more =
      run({.program = "kept = b'x' * (60 << 20)\n"}, {.memory_bytes = 600 << 20, .processes = 8});
  CHECK(more.memory_bytes > 60 << 20);
  const code_request large{.program =
                               "import os, time\n"
                               "for i in range(3): os.fork()\n"
                               "kept = b'x' * (120 << 20)\n"
                               "time.sleep(1)\n"};
  CHECK(run(large, {.memory_bytes = 600 << 20, .processes = 8}).limit == code_limit::memory);
}

TEST_CASE("sandbox: a command runs like a program") {
  const auto sorted = run_command({.command = {"sort", "-r", "-"}, .input = "a\nb\n"});
  CAPTURE(sorted.errors);
  CHECK(sorted.succeeded());
  CHECK(sorted.output == "b\na\n");
  const auto shell = run_command({.command = {"sh", "-c", "cat one | tr a-z A-Z > out; exit 3"},
                                  .files = {{"one", "text"}},
                                  .results = {"out"}},
                                 {.processes = 4});
  CHECK(shell.exit_code == 3);
  CHECK(shell.files.at("out") == "TEXT");
  const auto none = run_command({.command = {"no-such-program"}});
  CHECK(none.exit_code == 127);
  CHECK_THAT(none.errors, Catch::Contains("no-such-program"));
  CHECK_THROWS_WITH(run_command({}), Catch::Contains("expected a command, got none"));
}

TEST_CASE("sandbox: what would lead out of it fails") {
  // tests/escapes has many more.
  const auto tried = run({.program = "import ctypes, os, socket\n"
                                     "libc = ctypes.CDLL(None, use_errno=True)\n"
                                     "print(libc.prctl(1, 0, 0, 0, 0), libc.unshare(0x10000000))\n"
                                     "try: socket.socket()\n"
                                     "except PermissionError: print('no socket')\n"
                                     "print(os.listdir('/proc/self/fd'))\n"
                                     "print(sorted(os.listdir('/')), dict(os.environ))\n"
                                     "os.symlink('/proc/self/status', 'link')\n"
                                     "os.mkfifo('pipe')\n",
                          .results = {"link", "pipe"}});
  CAPTURE(tried.errors);
  CHECK_THAT(tried.output, Catch::StartsWith("-1 -1\nno socket\n"));
  CHECK_THAT(tried.output, Catch::Contains("'HOME': '/tmp'") && !Catch::Contains("'home'"));
  CHECK(tried.files.empty());
}

TEST_CASE("sandbox: refuses names of files that lead out of its folder, and too large programs") {
  for (const char* name : {"", "/etc/passwd", "../out", "a/../../b", "a/", ".", "a/./b"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(run({.program = "pass", .files = {{name, "x"}}}),
                      Catch::Contains("expected a file's path below its folder"));
    CHECK_THROWS_WITH(run({.program = "pass", .results = {name}}),
                      Catch::Contains("expected a file's path below its folder"));
  }
  CHECK_THROWS_WITH(run({.program = "pass", .files = {{"big", std::string(2 << 20, 'x')}}},
                        {.written_bytes = 1 << 20}),
                    Catch::Contains("within the limits written_bytes and files"));
  CHECK_THROWS_WITH(run({.program = std::string(1 << 17, ' ')}), Catch::Contains("got 131072"));
}

TEST_CASE("sandbox: refuses limits that are none") {
  CHECK_THROWS_WITH(sandboxed_command({.limits = {.wall_s = 0}}), Catch::Contains("wall_s 0"));
  CHECK_THROWS_WITH(sandboxed_command({.limits = {.memory_bytes = 100 << 20, .processes = 2}}),
                    Catch::Contains("memory_bytes of at least 67108864 for each of 2 processes"));
  CHECK_THROWS_WITH(sandboxed_command({.readable = {"/nowhere"}}), Catch::Contains("/nowhere"));
  CHECK_THROWS_WITH(sandboxed_command({.readable = {"/tmp"}}), Catch::Contains("/tmp"));
  CHECK_THROWS_WITH(sandboxed_python({.python = "/nowhere/python3"}),
                    Catch::Contains("interpreter at /nowhere/python3: No such file"));
}

TEST_CASE("sandbox: refuses to run anything where bubblewrap is not installed") {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_WITH(sandboxed_python(), Catch::Contains("apt-get install bubblewrap"));
  CHECK_THROWS_AS(require_sandbox(), sandbox_unavailable);
  ::setenv("PATH", path.c_str(), 1);
  CHECK_NOTHROW(require_sandbox());
}

TEST_CASE("sandbox: an interpreter that does not start is an error, and no result") {
  // A program's own /tmp hides the machine's.
  ::setenv("TMPDIR", "/var/tmp", 1);
  const temporary_folder folder;
  ::unsetenv("TMPDIR");
  std::filesystem::permissions(folder.path, std::filesystem::perms(0755));
  const auto broken = folder.path / "python3";
  std::ofstream(broken) << "#!/bin/sh\necho broken >&2\nexit 3\n";
  std::filesystem::permissions(broken, std::filesystem::perms(0755));
  for (const int warm : {0, 1}) {
    system sys;
    const sandbox_options options{
        .readable = {"/usr", folder.path}, .warm = warm, .python = broken};
    CHECK_THROWS_WITH(sys.run(run_with(sys, {.program = "print(1)"}, options)),
                      Catch::Contains("the interpreter did not start: broken") ||
                          Catch::Contains("it has ended before its run"));
  }
}

task<> run_many(system& sys) {
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "coder"}, sandbox_options{.limits = {.wall_s = 60}, .parallel = 3});
  std::vector<task<outcome<code_result>>> runs;
  for (int i = 0; i < 12; ++i)
    runs.push_back(coders.try_route<&sandboxed_python::run>(
        code_request{.program = "print(" + std::to_string(i) + ")"}));
  const auto results = co_await all(std::move(runs));
  for (int i = 0; i < 12; ++i)
    CHECK(results[static_cast<std::size_t>(i)]->output == std::to_string(i) + "\n");
}

TEST_CASE("sandbox: one replica runs many programs at once, each with its own input") {
  system sys;
  sys.run(run_many(sys));
}

/// The number of processes that have a text in their command line.
int processes_with(const std::string& mark) {
  int count = 0;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator("/proc", ignored))
    count += testing::file_of(each.path(), "cmdline").find(mark) != std::string::npos;
  return count;
}

task<bool> until(std::string mark, bool is_there) {
  for (int i = 0; i < 1000; ++i) {
    if ((processes_with(mark) > 0) == is_there) co_return true;
    co_await sleep_for(10ms);
  }
  co_return false;
}

task<> give_up(system& sys) {
  const std::string mark = "marked-" + std::to_string(::getpid());
  const std::string program =
      "import os\nos.execv('/usr/bin/python3', ['python3', '-c', "
      "'import time; time.sleep(100)', '" +
      mark + "'])";
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "coder"}, sandbox_options{.limits = {.wall_s = 100}, .parallel = 1, .warm = 0});
  auto given_up = coders.with({.deadline = 5s})
                      .try_route<&sandboxed_python::run>(code_request{.program = program});
  const auto both = co_await all(std::move(given_up), until(mark, true));
  CHECK(!std::get<0>(both).ok());
  CHECK(std::get<1>(both));
  const bool has_gone = co_await until(mark, false);
  CHECK(has_gone);
  // Its place is free again.
  const auto next =
      co_await coders.route<&sandboxed_python::run>(code_request{.program = "print(1)"});
  CHECK(next.output == "1\n");
}

TEST_CASE("sandbox: a run whose caller has gone is killed") {
  system sys;
  sys.run(give_up(sys));
}

TEST_CASE("sandbox: a deterministic system refuses it by name") {
  system sys({.deterministic = true});
  CHECK_THROWS_WITH(sys.run(run_in(sys, {.program = "pass"}, {})),
                    Catch::Contains("a run in a sandbox"));
}

task<> run_three(system& sys, metrics_registry* metrics) {
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "coder"}, sandbox_options{.limits = {.wall_s = 60}, .warm = 0}, metrics);
  for (const char* program : {"pass", "bytearray(1 << 30)", "import ctypes\nctypes.string_at(0)"})
    co_await coders.route<&sandboxed_python::run>(code_request{.program = program});
}

TEST_CASE("sandbox: runs are counted by how they ended") {
  metrics_registry metrics;
  system sys;
  sys.run(run_three(sys, &metrics));
  CHECK_THAT(metrics.text(), Catch::Contains("troupe_code_runs_total{end=\"exited\"} 1") &&
                                 Catch::Contains("troupe_code_runs_total{end=\"memory\"} 1") &&
                                 Catch::Contains("troupe_code_runs_total{end=\"signalled\"} 1"));
}

}  // namespace
}  // namespace troupe
