#include "actors/video/video_file.hpp"

#include <stdlib.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "actors/video/colour_palette.hpp"
#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/actors/video/read_gif.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::read_gif;

constexpr canvas::colour grey{200, 200, 200}, red{220, 20, 60};

/// A grey picture with a red square of 4 x 4 pixels whose corner is (x, y).
std::vector<std::uint8_t> square_at(const video_format& format, int x, int y) {
  std::vector<std::uint8_t> rgb;
  for (int row = 0; row < format.height; ++row) {
    for (int column = 0; column < format.width; ++column) {
      const bool inside = row >= y && row < y + 4 && column >= x && column < x + 4;
      const auto colour = inside ? red : grey;
      rgb.insert(rgb.end(), {colour.red, colour.green, colour.blue});
    }
  }
  return rgb;
}

/// Numbers that look random, the same ones in every run.
std::vector<std::uint8_t> noise(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) {
    seed = seed * 1'664'525 + 1'013'904'223;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return bytes;
}

/// Gives a variable of the environment another value while it lives.
class changed_variable {
 public:
  changed_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~changed_variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

bool has_ffmpeg() { return ::system("ffmpeg -version >/dev/null 2>&1") == 0; }

/// What a command prints.
std::string output_of(const std::string& command) {
  std::string text;
  auto* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 256> block;
  while (std::fgets(block.data(), block.size(), pipe)) text += block.data();
  ::pclose(pipe);
  return text;
}

/// Makes a program of this name in a folder that is then the whole PATH.
std::string folder_of_program(const temporary_folder& folder, const std::string& script) {
  const auto path = folder.path / "ffmpeg";
  std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return folder.path.string();
}

TEST_CASE("gif_file: a viewer sees every picture, in time, again and again") {
  const temporary_folder folder;
  const auto path = folder.path / "square.gif";
  const video_format format{.width = 31, .height = 17, .fps = 30};
  const auto file = open_video(path, format);
  for (int i = 0; i < 6; ++i) file->add(square_at(format, 3 * i, 2 * i));
  CHECK_FALSE(std::filesystem::exists(path));
  file->finish();
  CHECK(count_entries(folder.path) == 1);

  const auto shown = read_gif(path);
  CHECK(shown.width == 31);
  CHECK(shown.height == 17);
  CHECK(shown.repeats);
  REQUIRE(shown.pictures.size() == 6);
  CHECK(shown.delays == std::vector{3, 4, 3, 3, 4, 3});  // 30 pictures a second
  for (std::size_t i = 0; i < 6; ++i) {
    const int x = 3 * static_cast<int>(i), y = 2 * static_cast<int>(i);
    CHECK(shown.at(i, x, y) == red);
    CHECK(shown.at(i, x + 3, y + 3) == red);
    CHECK(shown.at(i, x + 4, y) == grey);
    if (i > 0) CHECK(shown.at(i, x - 3, y - 2) == grey);  // where the square was before
  }
}

TEST_CASE("gif_file: only the rectangle that changes is stored") {
  const temporary_folder folder;
  const video_format format{.width = 200, .height = 100, .fps = 10};
  const auto file = open_video(folder.path / "still.gif", format);
  file->add(square_at(format, 20, 20));
  file->add(square_at(format, 21, 20));
  file->add(square_at(format, 21, 20));
  file->finish();
  const auto shown = read_gif(folder.path / "still.gif");
  CHECK(shown.stored == std::vector<std::size_t>{200 * 100, 5 * 4, 1});
  CHECK(shown.pictures[1] == shown.pictures[2]);
}

TEST_CASE("gif_file: no picture is shorter than browsers show it") {
  const temporary_folder folder;
  const video_format format{.width = 8, .height = 8, .fps = 60};
  const auto file = open_video(folder.path / "fast.gif", format);
  for (int i = 0; i < 3; ++i) file->add(square_at(format, i, i));
  file->finish();
  CHECK(read_gif(folder.path / "fast.gif").delays == std::vector{2, 2, 2});
}

TEST_CASE("gif_file: many colours become 255 that come near") {
  const temporary_folder folder;
  const video_format format{.width = 256, .height = 64, .fps = 10};
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 256; ++x)
      for (const int value : {x, 4 * y, 255 - x}) rgb.push_back(static_cast<std::uint8_t>(value));
  const auto file = open_video(folder.path / "sky.gif", format);
  file->add(rgb);
  file->finish();
  const auto shown = read_gif(folder.path / "sky.gif");
  double error = 0;
  for (std::size_t i = 0; i < shown.pictures[0].size(); ++i)
    error += std::abs(int{shown.pictures[0][i].red} - int{rgb[3 * i]});
  CHECK(error / static_cast<double>(shown.pictures[0].size()) < 8);
}

TEST_CASE("colour_palette: few colours are kept as they are") {
  const std::vector<canvas::colour> pixels{grey, red, grey, {0, 0, 0}, red, grey};
  const colour_palette palette(pixels, 255);
  CHECK(palette.colours().size() == 3);
  for (const auto& pixel : pixels) CHECK(palette.colours()[palette.index_of(pixel)] == pixel);
  const colour_palette one(pixels, 1);
  CHECK(one.colours() == std::vector<canvas::colour>{{173, 107, 120}});  // the mean
  CHECK(colour_palette({}, 255).colours().empty());
}

TEST_CASE("video_file: a name without .gif or .mp4 is refused") {
  CHECK_THROWS_WITH(check_video_name("run.avi"),
                    "video: expected a file that ends in .gif or .mp4, got run.avi");
  CHECK_THROWS_WITH(open_video("video", {.width = 4, .height = 4}),
                    "video: expected a file that ends in .gif or .mp4, got video");
}

TEST_CASE("video_file: a folder that isn't there is named before any picture") {
  for (const auto* name : {"/nowhere/a.gif", "/nowhere/a.mp4"})
    CHECK_THROWS_WITH(open_video(name, {.width = 4, .height = 4}),
                      Catch::Contains("/nowhere/a.") && Catch::Contains("No such file"));
}

TEST_CASE("video_file: one that is not finished leaves nothing, and the old file as it was") {
  const temporary_folder folder;
  const video_format format{.width = 8, .height = 8};
  for (const auto* name : {"old.gif", "old.mp4"}) {
    if (std::string(name) == "old.mp4" && !has_ffmpeg()) continue;
    std::ofstream(folder.path / name) << "old";
    {
      const auto file = open_video(folder.path / name, format);
      file->add(square_at(format, 0, 0));
    }
    CHECK(read_text(folder.path / name) == "old");
    std::filesystem::remove(folder.path / name);
    CHECK(count_entries(folder.path) == 0);
  }
}

TEST_CASE("gif_file: a full disk is told with the file's name, and nothing stays") {
  const temporary_folder folder;
  const video_format format{.width = 64, .height = 64};
  {
    const auto file = open_video(folder.path / "full.gif", format);
    const file_size_limit limit(1000);
    CHECK_THROWS_WITH(file->add(noise(64 * 64 * 3, 1)), Catch::Contains("full.gif"));
  }
  CHECK(count_entries(folder.path) == 0);
}

TEST_CASE("ffmpeg_file: an MP4 has the pictures in their time, also in odd sizes") {
  if (!has_ffmpeg()) return;
  const temporary_folder folder;
  const auto path = folder.path / "a b:c.mp4";
  const video_format format{.width = 61, .height = 47, .fps = 12.5};
  const auto file = open_video(path, format);
  for (int i = 0; i < 25; ++i) file->add(square_at(format, i, i));
  file->finish();
  CHECK(count_entries(folder.path) == 1);
  CHECK(output_of("ffprobe -v error -count_frames -select_streams v -of csv=p=0 -show_entries "
                  "stream=width,height,pix_fmt,r_frame_rate,nb_read_frames 'file:" +
                  path.string() + "'") == "62,48,yuv420p,25/2,25\n");
}

TEST_CASE("ffmpeg_file: without ffmpeg the error names it and the other way") {
  const temporary_folder folder;
  const changed_variable path("PATH", folder.path.string());
  CHECK_THROWS_WITH(open_video(folder.path / "a.mp4", {.width = 4, .height = 4}),
                    Catch::Contains("expected the program ffmpeg on the PATH") &&
                        Catch::Contains("apt-get install ffmpeg") && Catch::Contains(".gif"));
  CHECK(count_entries(folder.path) == 0);
}

TEST_CASE("ffmpeg_file: what ffmpeg says when it ends early is in the error") {
  const temporary_folder programs, folder;
  const auto script = folder_of_program(programs, "echo 'Unknown encoder' >&2; exit 3");
  const changed_variable path("PATH", script);
  const video_format format{.width = 400, .height = 400};
  {
    const auto file = open_video(folder.path / "a.mp4", format);
    const auto add_many = [&] {
      for (int i = 0; i < 100; ++i) file->add(square_at(format, i, i));
    };
    CHECK_THROWS_WITH(add_many(), Catch::Contains("a.mp4: ffmpeg ended with exit code 3") &&
                                      Catch::Contains("Unknown encoder"));
  }
  CHECK(count_entries(folder.path) == 0);
}

TEST_CASE("ffmpeg_file: an error at the end is told, and nothing stays") {
  const temporary_folder programs, folder;
  const auto script = folder_of_program(
      programs, "while read -r line; do :; done; echo 'No space left on device' >&2; exit 1");
  const changed_variable path("PATH", script);
  {
    const auto file = open_video(folder.path / "a.mp4", {.width = 4, .height = 4});
    CHECK_THROWS_WITH(file->finish(), Catch::Contains("a.mp4: ffmpeg ended with exit code 1") &&
                                          Catch::Contains("No space left on device"));
  }
  CHECK(count_entries(folder.path) == 0);
}

}  // namespace
}  // namespace troupe
