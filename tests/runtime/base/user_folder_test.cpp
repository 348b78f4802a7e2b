#include "runtime/base/user_folder.hpp"

#include <cstdlib>
#include <optional>

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

/// A variable of the environment, as it was before once this has gone.
class changed_variable {
 public:
  changed_variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~changed_variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST_CASE("user folder: the variable's, else the usual one below the home folder") {
  const changed_variable home("HOME", "/home/somebody");
  {
    const changed_variable state("XDG_STATE_HOME", "/var/state");
    CHECK(user_folder("XDG_STATE_HOME", ".local/state") == "/var/state");
  }
  for (const char* ignored : {static_cast<const char*>(nullptr), "", "relative/state"}) {
    const changed_variable state("XDG_STATE_HOME", ignored);
    CHECK(user_folder("XDG_STATE_HOME", ".local/state") == "/home/somebody/.local/state");
  }
}

TEST_CASE("user folder: without HOME the user database says where home is") {
  const passwd* const entry = ::getpwuid(::geteuid());
  if (!entry || entry->pw_dir[0] != '/') return;  // a user without an entry
  const std::filesystem::path known = entry->pw_dir;
  const changed_variable home("HOME", nullptr), state("XDG_STATE_HOME", nullptr);
  CHECK(user_folder("XDG_STATE_HOME", ".local/state") == known / ".local/state");
}

}  // namespace
}  // namespace troupe::detail
