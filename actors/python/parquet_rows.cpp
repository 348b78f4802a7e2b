#include "actors/python/parquet_rows.hpp"

#include <nlohmann/json.hpp>

#include "actors/python/python_worker.hpp"

namespace troupe {

void for_each_parquet_row(const std::filesystem::path& path, const python_options& python,
                          const std::function<void(const parquet_row&)>& take) {
  python_worker worker(python, path.string());
  worker.call({{"do", "open_table"}, {"path", std::filesystem::absolute(path).string()}},
              {python.start_timeout, "python.start_timeout"},
              "the import of pyarrow and the opening of the file");
  parquet_row row;
  for (bool ended = false; !ended;) {
    const auto answer =
        worker.call({{"do", "next_rows"}}, {python.step_timeout}, "the reading of its rows");
    for (const auto& each : answer.at("rows")) {
      ++row.number;
      row.text = each.value("text", "");
      row.refusal = each.value("refusal", "");
      take(row);
    }
    ended = answer.at("ended").get<bool>();
  }
}

}  // namespace troupe
