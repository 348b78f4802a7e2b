// What a disk that refuses a write, or a machine that goes down, leaves of checkpoints and of the
// best model: at every operation, with everything that was not synced missing, torn or there.

#include <cerrno>
#include <functional>
#include <set>
#include <span>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/checkpoint/durable_file.hpp"
#include "tests/actors/checkpoint/simulated_disk.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;
using detail::disk;
using testing::disk_image;
using testing::simulated_disk;

constexpr int errors[] = {ENOSPC, EIO, EDQUOT};
const checkpoint_kind kind{.algorithm = "ppo", .environment = "CartPole-v1", .network = "obs 4"};

/// The checkpoint of a step that is written as the `round`-th one.
checkpoint written(std::int64_t step, int round) {
  return {.kind = kind,
          .step = step,
          .config_sha256 = std::string(64, 'c'),
          .files = {{"learner.cbor", "round " + std::to_string(round)},
                    {"replay.cbor", std::string(600, static_cast<char>('a' + round % 26))}}};
}

bool equal(const checkpoint& a, const checkpoint& b) {
  return a.step == b.step && a.files == b.files;
}

bool equal(const std::string& a, const std::string& b) { return a == b; }

/// The folder of a run's checkpoints below the disk's root, as a run makes it.
fs::path checkpoints_in(const fs::path& root) { return root / "runs" / "x_1" / "checkpoints"; }

/// What a program knows of the things that it has written.
template <class T>
struct record {
  std::optional<T> saved;    ///< The last one that was reported as written.
  std::vector<T> attempted;  ///< Those after it that were not.

  void begin(T next) { attempted.push_back(std::move(next)); }
  void end() {
    saved = std::move(attempted.back());
    attempted.clear();
  }
  /// True for what may be found: nothing older than what was reported.
  bool allows(const std::optional<T>& found) const {
    if (!found) return !saved;
    const auto is = [&](const T& one) { return equal(one, *found); };
    return (saved && is(*saved)) || std::ranges::any_of(attempted, is);
  }
};

std::optional<checkpoint> newest(const fs::path& root, std::size_t keep) {
  return checkpoint_directory(checkpoints_in(root), keep).load_newest(kind, nullptr);
}

/// Writes the checkpoints of these steps, one after another, until the machine is down. Errors are
/// those of the disk, and a run goes on after them.
void write_all(
    const fs::path& root, std::span<const std::int64_t> steps, std::size_t keep,
    const simulated_disk& on, record<checkpoint>& seen,
    const std::function<void()>& after_each = [] {}) {
  const checkpoint_directory kept(checkpoints_in(root), keep);
  int round = 0;
  for (const auto step : steps) {
    auto next = written(step, ++round);
    seen.begin(next);
    try {
      kept.write(next);
      seen.end();
    } catch (const std::system_error&) {
    }
    if (on.is_down()) return;
    after_each();
  }
}

/// Finds out what a run finds after a crash, and that it can go on. Each image is tried once.
class inspection {
 public:
  explicit inspection(std::size_t keep) : keep_(keep) {}

  void look(const simulated_disk& at, const record<checkpoint>& seen) {
    for (const auto& image : at.images()) {
      if (!tried_.insert({image, expected(seen)}).second) continue;
      temporary_folder folder;
      testing::write_image(image, folder.path);
      const auto found = newest(folder.path, keep_);
      CHECK(seen.allows(found));
      const auto next = written((found ? found->step : 0) + 5, 25);
      checkpoint_directory(checkpoints_in(folder.path), keep_).write(next);
      const auto then = newest(folder.path, keep_);
      CHECK((then && equal(*then, next)));
    }
  }
  std::size_t tried() const { return tried_.size(); }

 private:
  static std::string expected(const record<checkpoint>& seen) {
    std::string text = seen.saved ? seen.saved->files.at("learner.cbor") : "none";
    for (const auto& each : seen.attempted) text += ", " + each.files.at("learner.cbor");
    return text;
  }

  const std::size_t keep_;
  std::set<std::pair<disk_image, std::string>> tried_;
};

/// Step 20 is written twice, as by a run that was resumed.
constexpr std::int64_t steps[] = {10, 20, 20, 30, 40};

void crash_at_each_operation(bool exchanges) {
  constexpr std::size_t keep = 2;
  inspection after(keep);
  bool crashed = true;
  int operation = 0;
  for (; crashed; ++operation) {
    CAPTURE(operation);
    temporary_folder folder;
    simulated_disk on(folder.path);
    if (!exchanges) on.refuse_exchanges();
    on.crash_at(operation);
    record<checkpoint> seen;
    {
      const disk::replacement scope(on);
      write_all(folder.path, steps, keep, on, seen);
    }
    crashed = on.is_down();
    after.look(on, seen);
  }
  CHECK(operation > 100);  // Else it has not seen the operations.
  CHECK(after.tried() > 100);
}

TEST_CASE("checkpoint: a machine that goes down at any operation leaves the last one reported") {
  crash_at_each_operation(true);
}

TEST_CASE("checkpoint: the same where two names can't be exchanged") {
  crash_at_each_operation(false);
}

void fail_at_each_operation(bool exchanges, bool for_good) {
  constexpr std::size_t keep = 2;
  constexpr std::int64_t few[] = {10, 20, 20, 30};
  inspection after(keep);
  // The first round, without a failure, counts the operations.
  int operations = 0;
  for (int operation = -1; operation < operations; ++operation) {
    for (const int error : errors) {
      CAPTURE(operation, error, for_good);
      temporary_folder folder;
      simulated_disk on(folder.path);
      if (!exchanges) on.refuse_exchanges();
      if (for_good) {
        on.fail_from(operation, error);
      } else {
        on.fail_at(operation, error);
      }
      record<checkpoint> seen;
      {
        const disk::replacement scope(on);
        write_all(folder.path, few, keep, on, seen,
                  [&] { CHECK(seen.allows(newest(folder.path, keep))); });
      }
      if (operation < 0) operations = on.operations();
      after.look(on, seen);
      on.be_well();
      const auto next = written(50, 24);
      seen.begin(next);
      {
        const disk::replacement scope(on);
        checkpoint_directory(checkpoints_in(folder.path), keep).write(next);
      }
      seen.end();
      CHECK(seen.allows(newest(folder.path, keep)));
      after.look(on, seen);
    }
  }
  CHECK(operations > 80);
}

TEST_CASE("checkpoint: any operation that the disk refuses once costs no checkpoint reported") {
  const bool exchanges = GENERATE(true, false);
  fail_at_each_operation(exchanges, false);
}

TEST_CASE("checkpoint: a disk that takes nothing more from any operation on costs none either") {
  fail_at_each_operation(true, true);
}

// ---- the best model

std::string model_of(int score) {
  return "score " + std::to_string(score) + std::string(700, '.') + " end";
}

/// The file as it is found; nothing if there is none.
std::optional<std::string> model_in(const fs::path& root) {
  if (!fs::exists(root / "best_model")) return std::nullopt;
  return read_text(root / "best_model");
}

void replace(const fs::path& root, int score, record<std::string>& seen) {
  const auto bytes = model_of(score);
  const std::string_view piece = bytes;
  seen.begin(bytes);
  try {
    replace_durably(root / "best_model", {&piece, 1});
    seen.end();
  } catch (const std::system_error&) {
  }
}

void look_at_model(const simulated_disk& on, const record<std::string>& seen) {
  for (const auto& image : on.images()) {
    const auto found = image.find("best_model");
    CHECK(seen.allows(found == image.end() ? std::nullopt : found->second));
  }
}

TEST_CASE("best model: a machine that goes down at any operation leaves it whole and no worse") {
  bool crashed = true;
  int operation = 0;
  for (; crashed; ++operation) {
    CAPTURE(operation);
    temporary_folder folder;
    simulated_disk on(folder.path);
    on.crash_at(operation);
    record<std::string> seen;
    {
      const disk::replacement scope(on);
      for (int score = 1; score <= 3 && !on.is_down(); ++score) replace(folder.path, score, seen);
    }
    crashed = on.is_down();
    look_at_model(on, seen);
  }
  CHECK(operation > 15);
}

TEST_CASE("best model: any operation that the disk refuses leaves it whole and no worse") {
  int operations = 1;
  for (int operation = 0; operation < operations; ++operation) {
    for (const int error : errors) {
      CAPTURE(operation, error);
      temporary_folder folder;
      simulated_disk on(folder.path);
      on.fail_at(operation, error);
      record<std::string> seen;
      const disk::replacement scope(on);
      for (int score = 1; score <= 3; ++score) {
        replace(folder.path, score, seen);
        CHECK(seen.allows(model_in(folder.path)));
        look_at_model(on, seen);
      }
      operations = std::max(operations, on.operations());
    }
  }
  CHECK(operations > 15);
}

}  // namespace
}  // namespace troupe
