// Whom programs run as, and what of theirs is left.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "actors/coder/coder.hpp"
#include "runtime/base/descriptor.hpp"
#include "tests/actors/coder/is_root.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

coder coder_of(code_limits limits = {}) {
  limits.wall_s = 60;
  return coder({.allow_unsandboxed = true, .limits = limits});
}

/// Not one that has ended and that nobody has waited for.
bool is_running(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string key, value; status >> key; std::getline(status, value)) {
    if (key == "State:" && status >> value) return value != "Z" && value != "X";
  }
  return false;
}

/// Its daemon runs `what`, with the parent's end of a pipe closed when the program's first process
/// has ended. The program reports the daemon's number, and ends.
std::string with_daemon(const std::string& what) {
  return "import os, signal, time\n"
         "ended, alive = os.pipe()\n"
         "began, begin = os.pipe()\n"
         "if os.fork() == 0:\n"
         "    os.setsid()\n"
         "    if os.fork() > 0: os._exit(0)\n"
         "    os.setsid()\n"
         "    os.close(alive)\n"
         "    os.write(3, str(os.getpid()).encode())\n"
         "    os.write(begin, b'x')\n" +
         what +
         "    time.sleep(1000)\n"
         "os.wait()\n"
         "os.read(began, 1)\n";
}

TEST_CASE("coder: nothing that a program has started outlives the call") {
  if (!is_root()) return;
  for (const char* daemon : {"",
                             "    for s in range(1, 65):\n"
                             "        try: signal.signal(s, signal.SIG_IGN)\n"
                             "        except (OSError, ValueError): pass\n",
                             // Stops whoever would kill it.
                             "    os.read(ended, 1)\n"
                             "    while True:\n"
                             "        try: os.kill(-1, signal.SIGSTOP)\n"
                             "        except OSError: pass\n",
                             // Is never the process that was there a moment ago.
                             "    os.read(ended, 1)\n"
                             "    while True:\n"
                             "        try:\n"
                             "            if os.fork() > 0: os._exit(0)\n"
                             "        except OSError: pass\n"}) {
    CAPTURE(daemon);
    coder running = coder_of({.processes = 8});
    const auto result = running.run({with_daemon(daemon), ""});
    CHECK(result.succeeded());
    REQUIRE(!result.reported.empty());
    CHECK(!is_running(result.reported));
    // Who it was has nothing left that could be seen, either.
    const auto next =
        running.run({"import os\n"
                     "def user(n):\n"
                     "    try: lines = open('/proc/' + n + '/status').read().split('\\n')\n"
                     "    except OSError: return -1\n"
                     "    if any(l.startswith('State:\\tZ') for l in lines): return -1\n"
                     "    return [int(l.split()[1]) for l in lines if l.startswith('Uid:')][0]\n"
                     "numbers = [n for n in os.listdir('/proc') if n.isdigit()]\n"
                     "print(sum(user(n) == os.getuid() for n in numbers))\n",
                     ""});
    CHECK(next.output == "1\n");
  }
}

TEST_CASE("coder: a program has as many processes and threads as it may") {
  if (!is_root()) return;
  const auto bomb = coder_of({.processes = 5})
                        .run({"import os, time\n"
                              "made = 0\n"
                              "try:\n"
                              "    while True:\n"
                              "        if os.fork() == 0: time.sleep(1000)\n"
                              "        made += 1\n"
                              "except OSError as e: print(made, e.errno)\n",
                              ""});
  CHECK(bomb.output == "4 " + std::to_string(EAGAIN) + "\n");
  const auto threads = coder_of({.processes = 2})
                           .run({"import threading\n"
                                 "stay = threading.Event()\n"
                                 "def start(): threading.Thread(target=stay.wait).start()\n"
                                 "start()\n"
                                 "try: start()\n"
                                 "except RuntimeError as e: print(e)\n"
                                 "stay.set()\n",
                                 ""});
  CHECK(threads.output == "can't start new thread\n");
  // What ended is gone: the next program has as many again.
  coder again = coder_of({.processes = 3});
  for (int i = 0; i < 3; ++i) {
    const auto forks =
        again.run({"import os, time\n"
                   "for i in range(2):\n"
                   "    if os.fork() == 0: os.setsid(); time.sleep(1000)\n",
                   ""});
    CHECK(forks.succeeded());
  }
}

TEST_CASE("coder: each has a user of its own, whose group is its only one, and keeps it") {
  if (!is_root()) return;
  const std::string who = "import os\nprint(os.getresuid(), os.getresgid(), os.getgroups())";
  coder first = coder_of(), second = coder_of();
  const auto of_first = first.run({who, ""}).output;
  const auto of_second = second.run({who, ""}).output;
  CHECK(of_first != of_second);
  CHECK(first.run({who, ""}).output == of_first);
  int user = 0;
  REQUIRE(std::sscanf(of_first.c_str(), "(%d", &user) == 1);
  CHECK(user >= 61'184);
  CHECK(user < 65'519);
  const auto number = std::to_string(user);
  const auto thrice = "(" + number + ", " + number + ", " + number + ")";
  CHECK(of_first == thrice + " " + thrice + " []\n");
}

TEST_CASE("coder: refuses where other coders have all users, and takes what one gives back") {
  if (!is_root()) return;
  const coder_options one_pair{.allow_unsandboxed = true,
                               .limits = {.wall_s = 60},
                               .first_user = 65'400,
                               .last_user = 65'401};
  {
    const coder first(one_pair);
    CHECK_THROWS_WITH(coder(one_pair), Catch::Contains("a user from 65400 to 65401"));
  }
  CHECK(coder(one_pair).run({"import os\nprint(os.getuid())", ""}).output == "65400\n");
}

TEST_CASE(
    "coder: a program can put no link in its folder's place, which would be followed as root") {
  if (!is_root()) return;
  const temporary_folder temporary, victim;
  std::filesystem::permissions(temporary.path, std::filesystem::perms(01777));
  std::ofstream(victim.path / "kept") << "x";
  ::setenv("TMPDIR", temporary.path.c_str(), 1);
  const auto moved =
      coder_of({.files = 2})
          .run({"import os\n"
                "os.mkdir('inner')\n"
                "os.symlink('" +
                    victim.path.string() +
                    "', 'inner/link')\n"
                    "here = os.getcwd()\n"
                    "for old, new in ((here, here + '_'), (os.path.dirname(here), '/tmp/else')):\n"
                    "    try: os.rename(old, new)\n"
                    "    except PermissionError: print('no')\n",
                ""});
  ::unsetenv("TMPDIR");
  CHECK(moved.output == "no\nno\n");
  CHECK(moved.succeeded());
  CHECK(count_entries(victim.path) == 1);
  CHECK(count_entries(temporary.path) == 0);
}

/// A pipe with a name, for programs of any user.
std::string pipe_in(const std::filesystem::path& folder, const char* name) {
  const auto path = (folder / name).string();
  if (::mkfifo(path.c_str(), 0600) != 0 || ::chmod(path.c_str(), 0666) != 0)
    throw std::runtime_error("cannot make " + path);
  return path;
}

TEST_CASE("coder: one's program can't send a signal to the other's") {
  if (!is_root()) return;
  const temporary_folder shared;
  std::filesystem::permissions(shared.path, std::filesystem::perms::all);
  const auto number = pipe_in(shared.path, "number"), over = pipe_in(shared.path, "over");
  coder first = coder_of(), second = coder_of();
  code_result attacked;
  std::thread attacked_runs([&] {
    attacked =
        first.run({"import os\n"
                   "open('" +
                       number +
                       "', 'w').write(str(os.getpid()))\n"
                       "print(open('" +
                       over + "').read())",
                   ""});
  });
  const auto attacking =
      second.run({"import os, signal\n"
                  "other = int(open('" +
                      number +
                      "').read())\n"
                      "for whom in (other, -1):\n"
                      "    try:\n"
                      "        os.kill(whom, signal.SIGKILL)\n"
                      "        print('sent')\n"
                      "    except OSError as e: print(type(e).__name__)\n"
                      "open('" +
                      over + "', 'w').write('alive')\n",
                  ""});
  attacked_runs.join();
  // To all that it may send one to, which is none.
  CHECK_THAT(attacking.output, Catch::StartsWith("PermissionError\n"));
  CHECK(attacking.succeeded());
  CHECK(attacked.output == "alive\n");
}

/// What `f` says, run by a process of an ordinary user.
template <class F>
std::string as_ordinary_user(F f) {
  constexpr uid_t ordinary = 65'533;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const detail::descriptor read_end(ends[0]);
  detail::descriptor write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      if (::geteuid() == 0 && (::setgid(ordinary) != 0 || ::setuid(ordinary) != 0))
        throw std::runtime_error("cannot become an ordinary user");
      said = f();
    } catch (const std::exception& e) {
      said = e.what();
    }
    [[maybe_unused]] const auto written = ::write(write_end.number(), said.data(), said.size());
    ::_exit(0);
  }
  write_end = detail::descriptor();
  std::string said(4096, '\0');
  const auto size = ::read(read_end.number(), said.data(), said.size());
  ::waitpid(child, nullptr, 0);
  said.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return said;
}

TEST_CASE("coder: an ordinary user's programs are that user's, and start no process") {
  const auto said = as_ordinary_user([] {
    const auto result =
        coder_of().run({"import os\n"
                        "print(os.getuid())\n"
                        "try: os.fork()\n"
                        "except OSError as e: print(e.errno)\n",
                        ""});
    const auto expected = std::to_string(::geteuid()) + "\n" + std::to_string(EAGAIN) + "\n";
    return result.output == expected ? "as expected" : result.output;
  });
  CHECK(said == "as expected");
}

TEST_CASE("coder: an ordinary user's programs can't keep their folders by taking rights away") {
  const temporary_folder temporary;
  std::filesystem::permissions(temporary.path, std::filesystem::perms(01777));
  ::setenv("TMPDIR", temporary.path.c_str(), 1);
  const auto said = as_ordinary_user([] {
    const auto result = coder_of({.files = 3})
                            .run({"import os\n"
                                  "os.makedirs('a/b/c')\n"
                                  "for folder in ('a/b/c', 'a/b', 'a', '.'): os.chmod(folder, 0)\n",
                                  ""});
    return std::string(result.succeeded() ? "no more than 3" : "more");
  });
  ::unsetenv("TMPDIR");
  CHECK(said == "no more than 3");
  CHECK(count_entries(temporary.path) == 0);
}

TEST_CASE("coder: an ordinary user's programs can't be allowed to start any") {
  const auto said = as_ordinary_user([]() -> std::string {
    coder_of({.processes = 2});
    return "allowed";
  });
  CHECK_THAT(said, Catch::Contains("expected 1 process where this process is not root's") &&
                       Catch::Contains("got processes 2"));
}

}  // namespace
}  // namespace troupe
