#include "actors/checkpoint/checkpoint_directory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <system_error>

#include "actors/checkpoint/sha256.hpp"
#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

void put_text(const fs::path& path, const std::string& text) {
  fs::remove(path);  // some file systems wait for the disk where a file is emptied
  std::ofstream(path, std::ios::binary) << text;
}

const checkpoint_kind of_poles{
    .algorithm = "ppo", .environment = "CartPole-v1", .network = "obs 4, discrete 2"};

/// A checkpoint whose files all tell its step.
checkpoint of_step(std::int64_t step, std::size_t bytes = 3000) {
  const auto filled = [&](const char* name) {
    std::string text = name;
    while (text.size() < bytes) text += " " + std::to_string(step);
    return text;
  };
  return {.kind = of_poles,
          .step = step,
          .config_sha256 = std::string(64, 'c'),
          .files = {{"learner.cbor", filled("learner")}, {"replay.cbor", filled("replay")}}};
}

struct refusals {
  std::vector<std::string> folders;
  std::vector<std::string> reasons;
  auto counter() {
    return [this](const fs::path& folder, const std::string& why) {
      folders.push_back(folder.filename());
      reasons.push_back(why);
    };
  }
};

std::optional<checkpoint> newest(const checkpoint_directory& from, refusals& seen) {
  return from.load_newest(of_poles, seen.counter());
}

TEST_CASE("checkpoint: what was written comes back, and the newest three are kept") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path / "checkpoints");
  refusals seen;
  CHECK_FALSE(newest(kept, seen));
  for (int step = 1; step <= 5; ++step) kept.write(of_step(step * 1000));
  CHECK(kept.steps() == std::vector<std::int64_t>{5000, 4000, 3000});
  const auto loaded = newest(kept, seen);
  REQUIRE(loaded);
  CHECK(loaded->step == 5000);
  CHECK(loaded->files == of_step(5000).files);
  CHECK(loaded->config_sha256 == std::string(64, 'c'));
  CHECK(seen.folders.empty());
}

TEST_CASE(
    "checkpoint: one of another algorithm, environment or network is refused with both named") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const std::string own = ", got one of ppo on CartPole-v1 with a network of obs 4, discrete 2";
  const auto refused = [&](const checkpoint_kind& expected, const std::string& named) {
    CHECK_THROWS_AS(kept.load_newest(expected, nullptr), checkpoint_mismatch);
    CHECK_THROWS_WITH(kept.load_newest(expected, nullptr),
                      Catch::Contains("ckpt-1: expected a checkpoint of " + named + own));
  };
  refused({"dqn", "CartPole-v1", "obs 4, discrete 2"},
          "dqn on CartPole-v1 with a network of obs 4, discrete 2");
  refused({"ppo", "CartPole-v0", "obs 4, discrete 2"},
          "ppo on CartPole-v0 with a network of obs 4, discrete 2");
  refused({"ppo", "CartPole-v1", "obs 8, discrete 2"},
          "ppo on CartPole-v1 with a network of obs 8, discrete 2");
}

/// Damages one random file of the newest of two checkpoints, `times` times; each time the one
/// before must be taken instead.
void check_detected(int times, std::uint32_t seed,
                    const std::function<void(std::string&, std::mt19937&)>& damage) {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const auto place = kept.write(of_step(2));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() == 4);

  std::mt19937 random(seed);
  int detected = 0;
  for (int i = 0; i < times; ++i) {
    const auto& path = files[random() % files.size()];
    const auto good = read_text(path);
    auto bad = good;
    while (bad == good) damage(bad, random);
    put_text(path, bad);
    refusals seen;
    const auto loaded = newest(kept, seen);
    detected += loaded && loaded->step == 1 && seen.folders == std::vector<std::string>{"ckpt-2"};
    put_text(path, good);
  }
  CHECK(detected == times);
  refusals seen;
  CHECK(newest(kept, seen)->step == 2);
}

TEST_CASE("checkpoint: 1,000 of 1,000 single-bit flips are detected") {
  check_detected(1000, 1, [](std::string& bytes, std::mt19937& random) {
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
  });
}

TEST_CASE("checkpoint: 200 of 200 truncations are detected") {
  check_detected(200, 2, [](std::string& bytes, std::mt19937& random) {
    bytes.resize(random() % bytes.size());
  });
}

TEST_CASE("checkpoint: 200 of 200 overwrites are detected") {
  check_detected(200, 3, [](std::string& bytes, std::mt19937& random) {
    const auto at = random() % bytes.size();
    const auto end = std::min(bytes.size(), at + 1 + random() % 64);
    for (auto i = at; i < end; ++i) bytes[i] = static_cast<char>(random());
  });
}

TEST_CASE("checkpoint: a missing file, manifest or folder of files is told by its path") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  kept.write(of_step(2));
  kept.write(of_step(3));
  fs::remove(folder.path / "ckpt-3" / "learner.cbor");
  fs::remove(folder.path / "ckpt-2" / "manifest.json");
  refusals seen;
  CHECK(newest(kept, seen)->step == 1);
  CHECK(seen.folders == std::vector<std::string>{"ckpt-3", "ckpt-2"});
  CHECK_THAT(seen.reasons.at(0), Catch::Contains("cannot open") && Catch::Contains("learner.cbor"));
}

TEST_CASE("checkpoint: a file that became larger than any memory is damaged, and is not read") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const auto place = kept.write(of_step(2));
  fs::resize_file(place / "learner.cbor", std::uintmax_t{1} << 42);  // It has no more blocks.
  refusals seen;
  CHECK(newest(kept, seen)->step == 1);
  REQUIRE(seen.reasons.size() == 1);
  CHECK_THAT(seen.reasons[0], Catch::Contains("ckpt-2/learner.cbor: expected 3") &&
                                  Catch::Contains("bytes, got 4398046511104"));
}

TEST_CASE("checkpoint: where all are damaged each is told, and none is not taken for a beginning") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  kept.write(of_step(2));
  fs::remove(folder.path / "ckpt-2" / "learner.cbor");
  put_text(folder.path / "ckpt-1" / "replay.cbor", "damaged");
  refusals seen;
  CHECK_THROWS_WITH(newest(kept, seen), Catch::Contains("ckpt-2/learner.cbor: No such file") &&
                                            Catch::Contains("ckpt-1/replay.cbor: expected 3"));
  CHECK_THROWS_AS(newest(kept, seen), checkpoint_damaged);
}

TEST_CASE("checkpoint: one that can't be read is no damaged one") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const auto place = kept.write(of_step(2));
  fs::remove(place / "replay.cbor");
  fs::create_symlink("replay.cbor", place / "replay.cbor");  // of itself
  refusals seen;
  CHECK_THROWS_AS(newest(kept, seen), std::system_error);
  CHECK(seen.folders.empty());
}

TEST_CASE("checkpoint: where the folder is none there may have been some") {
  temporary_folder folder;
  put_text(folder.path / "checkpoints", "a file");
  refusals seen;
  CHECK_THROWS_AS(newest(checkpoint_directory(folder.path / "checkpoints"), seen),
                  std::system_error);
  CHECK_FALSE(newest(checkpoint_directory(folder.path / "none"), seen));
}

/// Puts `manifest` in the place of a checkpoint's, and seals it.
void put_manifest(const fs::path& place, const std::string& manifest) {
  put_text(place / "manifest.json", manifest);
  put_text(place / "manifest.sha256", sha256(manifest) + "  manifest.json\n");
}

TEST_CASE("checkpoint: a manifest that names files outside of its folder is refused") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  const auto place = kept.write(of_step(1));
  const auto manifest = read_text(place / "manifest.json");
  const auto renamed = [&](const std::string& name) {
    auto text = manifest;
    return text.replace(text.find("learner.cbor"), std::strlen("learner.cbor"), name);
  };
  const auto bytes = of_step(1).files.at("learner.cbor");
  put_text(folder.path / "x", bytes);
  fs::create_directory(place / "in");
  put_text(place / "in" / "x", bytes);
  const auto absolute = (folder.path / "x").string();
  for (const std::string& name :
       std::vector<std::string>{"../x", "in/x", absolute, "", ".", "..", R"(learner.cbor\u0000)"}) {
    CAPTURE(name);
    put_manifest(place, renamed(name));
    CHECK_THROWS_WITH(kept.load(1), Catch::Contains("ckpt-1/manifest.json: expected the names of "
                                                    "files in its folder, got \"" +
                                                    name + '"'));
  }
  put_manifest(place, manifest);
  CHECK(kept.load(1).files == of_step(1).files);
}

TEST_CASE("checkpoint: an unknown format is not passed over") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const auto place = kept.write(of_step(2));
  auto manifest = read_text(place / "manifest.json");
  const std::string format = "\"format\": 3";
  put_manifest(place, manifest.replace(manifest.find(format), format.size(), "\"format\": 4"));
  refusals seen;
  CHECK_THROWS_AS(newest(kept, seen), checkpoint_mismatch);
  CHECK_THROWS_WITH(newest(kept, seen),
                    Catch::Contains("ckpt-2/manifest.json: expected format 3, got 4"));
  CHECK(seen.folders.empty());
}

TEST_CASE("checkpoint: a manifest of too many values within each other is refused") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  const auto place = kept.write(of_step(1));
  const auto deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  put_manifest(place, "{\"format\": " + deep + "}");
  CHECK_THROWS_WITH(kept.load(1),
                    Catch::Contains("expected at most 64 nested values, got more in ") &&
                        Catch::Contains("ckpt-1/manifest.json"));
}

TEST_CASE("checkpoint: a disk that fills up leaves those before whole, and room again works") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  {
    const file_size_limit full(2000);
    CHECK_THROWS_AS(kept.write(of_step(2)), std::system_error);
  }
  CHECK(count_entries(folder.path) == 1);
  refusals seen;
  CHECK(newest(kept, seen)->files == of_step(1).files);
  kept.write(of_step(2));
  CHECK(newest(kept, seen)->step == 2);
  CHECK(seen.folders.empty());
}

/// A file system of `bytes` on a folder, where this process may mount one.
class small_disk {
 public:
  small_disk(const fs::path& folder, int bytes) : folder_(folder) {
    const auto size = "size=" + std::to_string(bytes);
    mounted_ = ::mount("troupe_test", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!mounted_) WARN("skipped: no file system may be mounted here");
  }
  ~small_disk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool is_mounted() const { return mounted_; }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

constexpr int bytes_on_disk = 4 * 4096;  // of_step's: four files of a page each

TEST_CASE("checkpoint: where there is no room for as many as are kept, the oldest makes it") {
  for (const int room : {2, 3}) {
    temporary_folder folder;
    const small_disk disk(folder.path, room * bytes_on_disk);
    if (!disk.is_mounted()) return;
    const checkpoint_directory kept(folder.path);
    for (int step = 1; step <= 10; ++step) kept.write(of_step(step));
    const std::vector<std::int64_t> newest_ones{10, 9, 8};
    CHECK(kept.steps() == std::vector(newest_ones.begin(), newest_ones.begin() + room));
    refusals seen;
    CHECK(newest(kept, seen)->files == of_step(10).files);
    CHECK(seen.folders.empty());
  }
}

TEST_CASE("checkpoint: the newest whole one makes no room") {
  temporary_folder folder;
  const small_disk disk(folder.path, 2 * bytes_on_disk);
  if (!disk.is_mounted()) return;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  kept.write(of_step(2));
  put_text(folder.path / "ckpt-2" / "replay.cbor", "damaged");
  kept.write(of_step(3));
  CHECK(kept.steps() == std::vector<std::int64_t>{3, 1});
  CHECK_THROWS_WITH(kept.write(of_step(4, 3 * bytes_on_disk)),
                    Catch::Contains("ckpt-4: No space left on device"));
  CHECK(kept.steps() == std::vector<std::int64_t>{3});
  CHECK(kept.load(3).files == of_step(3).files);
}

TEST_CASE("checkpoint: what a crash left unfinished makes room before any checkpoint does") {
  temporary_folder folder;
  const small_disk disk(folder.path, 2 * bytes_on_disk);
  if (!disk.is_mounted()) return;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  fs::rename(kept.write(of_step(2)), folder.path / "ckpt-2.tmp");
  kept.write(of_step(3));
  CHECK(kept.steps() == std::vector<std::int64_t>{3, 1});
}

TEST_CASE("checkpoint: a folder that can't be written to is named") {
  temporary_folder folder;
  put_text(folder.path / "in_the_way", "a file");
  const checkpoint_directory kept(folder.path / "in_the_way" / "checkpoints");
  CHECK_THROWS_WITH(kept.write(of_step(1)), Catch::Contains("in_the_way"));
  CHECK_THROWS_AS(kept.write(of_step(1)), std::system_error);
}

TEST_CASE("checkpoint: going on from an older one replaces those that came after it") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path, 2);
  for (int step : {20, 30, 40, 50}) checkpoint_directory(folder.path, 4).write(of_step(step));
  put_text(folder.path / "ckpt-40" / "replay.cbor", "damaged");
  const auto abandoned = kept.whole_after(20);
  CHECK(abandoned == std::vector<std::int64_t>{50, 30});
  kept.write(of_step(25), abandoned);
  CHECK(kept.steps() == std::vector<std::int64_t>{40, 25, 20});
  refusals seen;
  CHECK(newest(kept, seen)->files == of_step(25).files);
}

TEST_CASE("checkpoint: a damaged one of a later step stays until its step is written") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path, 2);
  for (int step : {10, 20, 30}) kept.write(of_step(step));
  put_text(folder.path / "ckpt-30" / "replay.cbor", "damaged");
  kept.write(of_step(25), kept.whole_after(20));
  CHECK(kept.steps() == std::vector<std::int64_t>{30, 25, 20});
  kept.write(of_step(30));
  CHECK(kept.steps() == std::vector<std::int64_t>{30, 25});
  refusals seen;
  CHECK(newest(kept, seen)->files == of_step(30).files);
}

TEST_CASE("checkpoint: one that a crash left as the replaced one alone is found, and kept") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_step(1));
  const auto place = kept.write(of_step(2));
  fs::rename(place, place.string() + ".old");
  CHECK(kept.steps() == std::vector<std::int64_t>{2, 1});
  refusals seen;
  CHECK(newest(kept, seen)->files == of_step(2).files);
  kept.write(of_step(3));
  CHECK(kept.steps() == std::vector<std::int64_t>{3, 2, 1});
  CHECK(kept.load(2).files == of_step(2).files);
  CHECK(fs::exists(place));
}

/// Never returns: writes checkpoint after checkpoint, and says each step before it begins.
[[noreturn]] void write_for_ever(const fs::path& folder, std::int64_t from, int says) {
  const checkpoint_directory kept(folder);
  for (auto step = from;; ++step) {
    const auto next = of_step(step, 20'000);
    if (::write(says, "x", 1) != 1) ::_exit(1);
    kept.write(next);
  }
}

/// The microseconds that the shortest of some writes takes.
unsigned time_of_write() {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int step = 1; step <= 5; ++step) {
    const auto next = of_step(step, 20'000);
    const auto began = std::chrono::steady_clock::now();
    kept.write(next);
    shortest = std::min(shortest, std::chrono::steady_clock::now() - began);
  }
  return static_cast<unsigned>(
      std::chrono::duration_cast<std::chrono::microseconds>(shortest).count());
}

TEST_CASE("checkpoint: after each of 50 kills while one is written, one can be loaded") {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  std::mt19937 random(5);
  const auto a_write = time_of_write();
  int unfinished = 0;
  std::int64_t loaded_before = 0;
  for (int kill = 0; kill < 50; ++kill) {
    int says[2];
    REQUIRE(::pipe(says) == 0);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) write_for_ever(folder.path, loaded_before + 1, says[1]);
    ::close(says[1]);
    // Two have begun, so one is whole; then anywhere in the next.
    char heard[2];
    for (int begun = 0; begun < 2; ++begun) REQUIRE(::read(says[0], heard, 1) == 1);
    ::usleep(random() % (a_write + 1));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::close(says[0]);
    CHECK(WIFSIGNALED(status));

    for (const auto& entry : fs::directory_iterator(folder.path)) {
      unfinished += entry.path().extension() == ".tmp";
    }
    refusals seen;
    const auto loaded = newest(kept, seen);
    REQUIRE(loaded);
    CHECK(seen.folders.empty());
    CHECK(loaded->step > loaded_before);
    CHECK(loaded->files == of_step(loaded->step, 20'000).files);
    loaded_before = loaded->step;
  }
  CHECK(unfinished > 0);  // else no kill came in the middle
}

}  // namespace
}  // namespace troupe
