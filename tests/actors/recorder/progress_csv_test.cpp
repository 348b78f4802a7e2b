#include "actors/recorder/progress_csv.hpp"

#include <cmath>
#include <system_error>

#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using troupe::progress_csv;

TEST_CASE("progress_csv: columns are sorted, later ones follow on the right", "[recorder]") {
  temporary_folder folder;
  const auto path = folder.path / "progress.csv";
  progress_csv csv(path);
  csv.write({{"time/total_timesteps", 2048}, {"rollout/ep_rew_mean", 22.5}});
  CHECK(read_text(path) ==
        "rollout/ep_rew_mean,time/total_timesteps\n"
        "22.5,2048\n");
  csv.write({{"time/total_timesteps", 4096}, {"train/loss", 0.1}, {"eval/mean_reward", -1}});
  CHECK(read_text(path) ==
        "rollout/ep_rew_mean,time/total_timesteps,eval/mean_reward,train/loss\n"
        "22.5,2048,,\n"
        ",4096,-1,0.1\n");
  csv.write({{"rollout/ep_rew_mean", 30}});
  CHECK(read_text(path) ==
        "rollout/ep_rew_mean,time/total_timesteps,eval/mean_reward,train/loss\n"
        "22.5,2048,,\n"
        ",4096,-1,0.1\n"
        "30,,,\n");
  CHECK(count_entries(folder.path) == 1);
}

TEST_CASE("progress_csv: numbers read back the same", "[recorder]") {
  temporary_folder folder;
  progress_csv csv(folder.path / "progress.csv");
  for (const double value : {0.1 + 0.2, 1e-300, -1.7976931348623157e308, 100352.0}) {
    csv.write({{"x", value}});
    const auto text = read_text(folder.path / "progress.csv");
    CHECK(std::stod(text.substr(text.rfind('\n', text.size() - 2) + 1)) == value);
  }
  csv.write({{"x", std::nan("")}});
  csv.write({{"x", -INFINITY}});
  CHECK_THAT(read_text(folder.path / "progress.csv"), Catch::EndsWith("\nnan\n-inf\n"));
}

TEST_CASE("progress_csv: a key with separators is quoted", "[recorder]") {
  temporary_folder folder;
  progress_csv csv(folder.path / "progress.csv");
  csv.write({{"a,b", 1}, {"say \"hi\"", 2}, {"two\nlines", 3}});
  csv.write({{"z", 4}});  // rewrites the file with a header that has a line break in it
  CHECK(read_text(folder.path / "progress.csv") ==
        "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",z\n"
        "1,2,3,\n"
        ",,,4\n");
}

TEST_CASE("progress_csv: a full disk loses whole rows only", "[recorder]") {
  temporary_folder folder;
  const auto path = folder.path / "progress.csv";
  progress_csv csv(path);
  csv.write({{"a", 1}});
  {
    file_size_limit limit(6);
    CHECK_THROWS_AS(csv.write({{"a", 123456}}), std::system_error);
    CHECK_THROWS_AS(csv.write({{"a", 1}, {"new_key", 2}}), std::system_error);
  }
  CHECK(read_text(path) == "a\n1\n");
  CHECK(count_entries(folder.path) == 1);
  csv.write({{"a", 2}, {"b", 3}});
  CHECK(read_text(path) == "a,b\n1,\n2,3\n");
}

}  // namespace
