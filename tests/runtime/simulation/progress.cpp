#include "tests/runtime/simulation/progress.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/base/regular_file.hpp"

namespace troupe::simulation {

namespace {

nlohmann::json described(const game& of) {
  return {{"build", of.build}, {"faults", of.faults}, {"workload", of.workload}, {"from", of.from}};
}

}  // namespace

progress read_progress(const std::filesystem::path& file, const game& of) {
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto text = detail::read_regular_file(file, 1 << 20, detail::file_kinds::regular_linked);
    const auto kept = nlohmann::json::parse(text);
    if (kept.at("game") != described(of)) return {};
    return {.played = kept.at("played").get<std::uint64_t>(),
            .ends = kept.at("ends").get<std::map<std::string, std::uint64_t>>()};
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(file.string() +
                             ": expected a file that simulate --keep has written: " + e.what());
  }
}

void write_progress(const std::filesystem::path& file, const game& of, const progress& what) {
  auto fresh = file;
  fresh += ".new";
  std::ofstream out(fresh);
  out << nlohmann::json{{"game", described(of)}, {"played", what.played}, {"ends", what.ends}}
      << '\n';
  out.close();
  if (!out) throw std::runtime_error("cannot write " + fresh.string());
  std::filesystem::rename(fresh, file);
}

}  // namespace troupe::simulation
