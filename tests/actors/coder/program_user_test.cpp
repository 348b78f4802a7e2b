#include "actors/sandbox/program_user.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/actors/coder/is_root.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr uid_t first = 65'300, last = 65'309;  // what the tests take

/// A child that is this user already, and waits for a signal.
pid_t waiting_child(uid_t user) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(user) != 0 || ::write(ends[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char ready;
  REQUIRE(::read(ends[0], &ready, 1) == 1);
  ::close(ends[0]);
  ::close(ends[1]);
  return child;
}

/// Not even in the process table.
bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

TEST_CASE("program user: each is another while it is held, and begins with an even number") {
  if (!is_root()) return;
  const temporary_folder folder;
  const program_user one(first, last, folder.path);
  CHECK(one.number() == first);
  {
    const program_user two(first, last, folder.path);
    CHECK(two.number() == first + 2);
  }
  const program_user three(first + 1, last, folder.path);
  CHECK(three.number() == first + 2);
  CHECK_THROWS_WITH(program_user(first, first + 3, folder.path),
                    Catch::Contains("a user from 65300 to 65303"));
  CHECK_THROWS_WITH(program_user(first + 4, first + 4, folder.path),
                    Catch::Contains("a user from 65304 to 65304"));
}

TEST_CASE("program user: whom the machine knows is not taken") {
  if (!is_root()) return;
  const temporary_folder folder;
  constexpr uid_t nobody = 65'534;
  CHECK_THROWS_WITH(program_user(nobody, nobody + 1, folder.path),
                    Catch::Contains("none that the machine knows"));
}

TEST_CASE("program user: what a user still runs is killed when it is taken") {
  if (!is_root()) return;
  const temporary_folder folder;
  const pid_t child = waiting_child(first);
  const program_user taken(first, last, folder.path);
  CHECK(taken.number() == first);
  CHECK(is_gone(child));
}

TEST_CASE(
    "program user: what a user still runs is killed when it is given back, and no one else's") {
  if (!is_root()) return;
  const temporary_folder folder;
  pid_t own = 0, other = 0;
  {
    const program_user taken(first, last, folder.path);
    own = waiting_child(taken.number());
    other = waiting_child(taken.number() + 2);
  }
  CHECK(is_gone(own));
  CHECK(!is_gone(other));
  ::kill(other, SIGKILL);
  CHECK(::waitpid(other, nullptr, 0) == other);
}

TEST_CASE("program user: a folder of locks that others can enter, or that is a link, is refused") {
  if (!is_root()) return;
  const temporary_folder folder;
  fs::permissions(folder.path, fs::perms(0755));
  CHECK_THROWS_WITH(program_user(first, last, folder.path),
                    Catch::Contains("of user 0 with mode 700, got user 0 with mode 755"));
  fs::permissions(folder.path, fs::perms(0700));
  REQUIRE(::chown(folder.path.c_str(), first, first) == 0);
  CHECK_THROWS_WITH(program_user(first, last, folder.path),
                    Catch::Contains("got user 65300 with mode 700"));
  REQUIRE(::chown(folder.path.c_str(), 0, 0) == 0);
  const auto link = folder.path / "link";
  fs::create_directory_symlink(folder.path, link);
  CHECK_THROWS_WITH(program_user(first, last, link), Catch::Contains("cannot open the folder"));
  CHECK_THROWS_WITH(program_user(first, last, folder.path / "none" / "users"),
                    Catch::Contains("cannot make the folder"));
}

}  // namespace
}  // namespace troupe
