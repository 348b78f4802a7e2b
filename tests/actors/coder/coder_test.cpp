#include "actors/coder/coder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/base/descriptor.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Runs a program with room for the interpreter's start on a busy machine.
code_result run(const std::string& program, code_limits limits = {},
                const std::string& input = "") {
  if (limits.wall_s == code_limits{}.wall_s) limits.wall_s = 60;
  return coder({.allow_unsandboxed = true, .limits = limits})
      .run({.program = program, .input = input});
}

/// While it lives, temporary files are made in a folder of its own.
class own_temporary_folder {
 public:
  own_temporary_folder() { ::setenv("TMPDIR", folder_.path.c_str(), 1); }
  ~own_temporary_folder() { ::unsetenv("TMPDIR"); }
  std::size_t entries() const { return count_entries(folder_.path); }

 private:
  temporary_folder folder_;
};

TEST_CASE("coder: runs a program on its input, and says what it wrote and how it ended") {
  const auto well =
      run("import os, sys\n"
          "print(sys.stdin.read().upper())\n"
          "print('beside', file=sys.stderr)\n"
          "os.write(3, b'a report')\n",
          {}, "some text");
  CHECK(well.succeeded());
  CHECK_THAT(well.output, Catch::Contains("SOME TEXT"));
  CHECK(well.errors == "beside\n");
  CHECK(well.reported == "a report");
  CHECK(!well.truncated);
  CHECK(well.cpu_s > 0.0);

  const auto badly = run("raise SystemExit(7)");
  CHECK(badly.limit == code_limit::none);
  CHECK(badly.exit_code == 7);
  CHECK(!badly.succeeded());
  const auto wrong = run("this is no Python");
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.errors, Catch::Contains("SyntaxError"));
}

TEST_CASE("coder: a program that doesn't end is killed, whatever it does about signals") {
  const code_limits soon{.wall_s = 0.3};
  for (const char* endless : {"while True: pass", "import time\ntime.sleep(1000)",
                              "import signal, time\n"
                              "for s in range(1, 65):\n"
                              "    try: signal.signal(s, signal.SIG_IGN)\n"
                              "    except (OSError, ValueError): pass\n"
                              "time.sleep(1000)",
                              "import os, time\nos.close(1)\nos.close(2)\nos.close(3)\n"
                              "time.sleep(1000)",
                              "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
                              // Where nobody kills it with its own process group.
                              "import os, time\n"
                              "try: os.setpgid(0, os.getpgid(os.getppid()))\n"
                              "except OSError: pass\n"
                              "time.sleep(1000)"}) {
    CAPTURE(endless);
    const auto result = run(endless, soon);
    CHECK(result.limit == code_limit::wall_time);
    CHECK(result.signal == SIGKILL);
  }
}

TEST_CASE("coder: CPU time has a limit of its own") {
  const auto busy = run("while True: pass", {.wall_s = 60, .cpu_s = 1});
  CHECK(busy.limit == code_limit::cpu_time);
  CHECK(busy.signal == SIGXCPU);
  CHECK(busy.cpu_s > 0.5);  // the kernel counts the limit in ticks, and this is exact
}

TEST_CASE("coder: too much output ends a program, and what is kept has a limit") {
  for (const char* flood :
       {"import os\nwhile True: os.write(1, b'x' * 4096)", "print('x' * (1 << 24))",
        "import os\nwhile True: os.write(3, b'y' * 100)"}) {
    CAPTURE(flood);
    const auto result = run(flood, {.output_bytes = 10'000});
    CHECK(result.limit == code_limit::output_bytes);
    CHECK(result.truncated);
    CHECK(result.output.size() + result.reported.size() == 10'000);
  }
  const auto full = run("print('x' * 9999)", {.output_bytes = 10'000});
  CHECK(full.succeeded());
  CHECK(!full.truncated);
}

TEST_CASE("coder: output may be any bytes") {
  const auto bytes = run("import os\nos.write(1, bytes(range(256)))");
  CHECK(bytes.succeeded());
  REQUIRE(bytes.output.size() == 256);
  CHECK(static_cast<unsigned char>(bytes.output[255]) == 255);
}

TEST_CASE("coder: memory, files and descriptors end at their limits") {
  const auto hungry = run("try: bytearray(1 << 30)\nexcept MemoryError: print('no memory')");
  CHECK(hungry.output == "no memory\n");
  const auto growing =
      run("x = []\nwhile True: x.append('y' * 1000000)", {.memory_bytes = 100 << 20});
  CHECK(!growing.succeeded());
  const auto writing =
      run("try: open('big', 'wb').write(b'x' * 3000000)\n"
          "except OSError as e: print(e.errno)",
          {.written_bytes = 1 << 20});
  CHECK(writing.output == std::to_string(EFBIG) + "\n");
  const auto opening =
      run("files = []\n"
          "try:\n"
          "    while True: files.append(open('/dev/null'))\n"
          "except OSError as e: print(e.errno, len(files))",
          {.open_files = 32});
  CHECK_THAT(opening.output, Catch::StartsWith(std::to_string(EMFILE) + " 2"));
  const auto core = run("import os\nos.abort()");
  CHECK(core.limit == code_limit::none);
  CHECK(core.signal == SIGABRT);
}

TEST_CASE("coder: deep recursion is an error or a crash of the program's own") {
  CHECK(run("def f(n): return f(n + 1)\n"
            "try: f(0)\nexcept RecursionError: print('too deep')")
            .output == "too deep\n");
  CHECK(!run("import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)",
             {.memory_bytes = 100 << 20})

             .succeeded());
  CHECK(!run("eval('-' * 1000000 + '1')").succeeded());
}

TEST_CASE("coder: a program starts no process and no thread") {
  const auto forks =
      run("import os\n"
          "made = 0\n"
          "try:\n"
          "    while True:\n"
          "        if os.fork() == 0: os.setsid()\n"
          "        made += 1\n"
          "except OSError as e: print(made, e.errno)");
  CHECK(forks.output == "0 " + std::to_string(EAGAIN) + "\n");
  const auto shell =
      run("import subprocess\n"
          "try: subprocess.run(['/bin/true'])\n"
          "except OSError as e: print(e.errno)");
  CHECK(shell.output == std::to_string(EAGAIN) + "\n");
  const auto thread =
      run("import threading\n"
          "try: threading.Thread(target=print).start()\n"
          "except RuntimeError as e: print(e)");
  CHECK_THAT(thread.output, Catch::Contains("start new thread"));
}

TEST_CASE("coder: a program gets no descriptor, environment or rights of this process") {
  const detail::descriptor secret(::open("/dev/null", O_RDONLY));  // kept at exec
  ::setenv("TROUPE_SECRET", "1", 1);
  const auto result = run(
      "import os\n"
      "print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])\n"
      "print(len(os.listdir('/proc/self/fd')))\n"
      "print(dict(os.environ).get('TROUPE_SECRET'), 'PATH' in os.environ)\n"
      "print(os.getuid() == 0, os.getpgid(0) == os.getpid())\n"
      "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])\n");
  ::unsetenv("TROUPE_SECRET");
  // Standard input, output and error, the report, and the list's own.
  CHECK(result.output == "[0, 1, 2, 3]\n5\nNone False\nFalse True\n['1']\n");
  CHECK(::prctl(PR_GET_DUMPABLE) == 1);
}

TEST_CASE("coder: what a program is stands in no command line, and it is run as a program is") {
  const auto told =
      run("# a secret word\n"
          "print(open('/proc/self/cmdline').read().split(chr(0))[1:5])\n"
          "print('secret' + ' word' in open('/proc/self/cmdline').read())\n"
          "print(sorted(n for n in globals() if not n.startswith('__')), __name__)\n"
          "print('\u00e9'.encode())\n");
  CHECK(told.output == "['-I', '-S', '-B', '-c']\nFalse\n[] __main__\nb'\\xc3\\xa9'\n");
  CHECK(!run("print('\xff')").succeeded());  // no UTF-8
}

TEST_CASE("coder: a program's folder is its own, empty and gone afterwards") {
  const own_temporary_folder temporary;
  const auto first =
      run("import os\n"
          "print(os.listdir('.'))\n"
          "os.makedirs('a/b/c')\n"
          "open('a/b/file', 'w').write('x')\n"
          "os.symlink('/', 'a/root')\n"
          "os.chmod('a/b', 0)\nos.chmod('a', 0)\n");
  CHECK(first.output == "[]\n");
  CHECK(first.succeeded());
  CHECK(temporary.entries() == 0);
  CHECK(std::filesystem::exists("/usr"));
  run("while True: pass", {.wall_s = 0.3});
  CHECK(temporary.entries() == 0);
}

TEST_CASE("coder: folders within folders, more than descriptors or a path can hold, go too") {
  const own_temporary_folder temporary;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{64, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const auto deep =
      run("import os\n"
          "for name in ('0', '1', '2'): open(name, 'w').close()\n"
          "for i in range(1000):\n"
          "    os.mkdir('folder')\n"
          "    os.mkdir('5')\n"
          "    open('file', 'w').close()\n"
          "    os.symlink('/usr', 'link')\n"
          "    os.chdir('folder')\n"
          "os.chmod('.', 0)\n",
          {.cpu_s = 60, .files = 3 + 4 * 1000});
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(deep.succeeded());
  CHECK(temporary.entries() == 0);
  CHECK(std::filesystem::exists("/usr"));
}

TEST_CASE(
    "coder: a program that leaves more than it may in its folder fails, and the folder goes") {
  const own_temporary_folder temporary;
  const auto many = run("for i in range(1001): open(str(i), 'w').close()", {.files = 1000});
  CHECK(many.limit == code_limit::files);
  CHECK(!many.succeeded());
  CHECK(temporary.entries() == 0);

  const std::string writes =
      "import os\n"
      "os.mkdir('inner')\n"
      "for name in ('a', 'b', 'inner/c'): open(name, 'wb').write(b'x' * 1000)\n";
  const auto large = run(writes, {.written_bytes = 2999});
  CHECK(large.limit == code_limit::written_bytes);
  CHECK(run(writes, {.files = 3}).limit == code_limit::files);
  CHECK(run(writes, {.written_bytes = 3000, .files = 4}).succeeded());
  CHECK(temporary.entries() == 0);
}

TEST_CASE("coder: refuses unless it is allowed, and limits that are none") {
  CHECK_THROWS_WITH(coder({}), Catch::Contains("without a sandbox"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .limits = {.wall_s = 0}}),
                    Catch::Contains("wall_s 0"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .limits = {.processes = 0}}),
                    Catch::Contains("processes 0"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .first_user = 0}),
                    Catch::Contains("users from 1000 to 4294967294") &&
                        Catch::Contains("got first_user 0, last_user 65519"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .first_user = 65'519}),
                    Catch::Contains("first_user 65519, last_user 65519"));
  CHECK_THROWS_WITH(run(std::string(1 << 17, ' ')), Catch::Contains("got 131072"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .python = "/nowhere/python3"}),
                    Catch::Contains("interpreter at /nowhere/python3: No such file"));
  CHECK_THROWS_WITH(coder({.allow_unsandboxed = true, .python = "/usr"}).run({"", ""}),
                    Catch::Contains("could not execute the interpreter: Permission denied"));
}

TEST_CASE("coder: programs are counted by how they ended") {
  metrics_registry metrics;
  coder counting({.allow_unsandboxed = true, .limits = {.wall_s = 60}}, &metrics);
  counting.run({"print(1)", ""});
  counting.run({"import os\nos.abort()", ""});
  counting.run({"import os\nos.abort()", ""});
  const auto text = metrics.text();
  CHECK_THAT(text, Catch::Contains("troupe_code_runs_total{end=\"exited\"} 1") &&
                       Catch::Contains("troupe_code_runs_total{end=\"signalled\"} 2") &&
                       Catch::Contains("troupe_code_runs_total{end=\"wall_time\"} 0"));
}

task<> run_side_by_side(system& sys) {
  auto coders =
      co_await sys.serve<coder>({.name = "coder", .replicas = 2, .placement = placement::thread},
                                coder_options{.allow_unsandboxed = true, .limits = {.wall_s = 60}});
  const auto both = co_await coders.fanout<&coder::run>(code_request{"print(6 * 7)", ""});
  CHECK(both.size() == 2);
  for (const auto& one : both) CHECK(one.output == "42\n");
}

TEST_CASE("coder: is a role, with threads of its own") {
  system sys;
  sys.run(run_side_by_side(sys));
}

}  // namespace
}  // namespace troupe
