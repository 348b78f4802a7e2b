#include "actors/python/python_dataset.hpp"

#include <fmt/format.h>

#include "runtime/base/log.hpp"
#include "runtime/service/stop_token.hpp"

namespace troupe::detail {
namespace {

constexpr int items_at_once = 64;

/// The argument `seed` in an epoch. NumPy's and Python's generators take it.
std::uint64_t seed_in(std::uint64_t seed, std::int64_t epoch) {
  return derived_seed(seed, "items", {static_cast<std::uint64_t>(epoch)}) & 0x7fffffff;
}

}  // namespace

python_items::python_items(python_dataset_options options) : options_(std::move(options)) {
  if (options_.epochs < 0)
    throw std::invalid_argument(
        fmt::format("dataset: epochs: expected a number >= 0, got {}", options_.epochs));
}

python_items::~python_items() = default;

nlohmann::json python_items::next() {
  const auto require_epoch = [this] {
    if (options_.epochs > 0 && at_.epoch >= options_.epochs)
      throw dataset_exhausted(fmt::format("dataset: all {} epochs of {} have been given",
                                          options_.epochs, options_.function));
  };
  require_epoch();
  while (fetched_.empty()) {
    if (ended_) {
      if (at_.position == 0)
        throw python_error(fmt::format(
            "{}: expected at least one item in epoch {}, got none; a generator object can be gone "
            "through only once, so name a function that returns one",
            options_.function, at_.epoch));
      at_ = {.epoch = at_.epoch + 1, .position = 0};
      is_open_ = ended_ = false;
      require_epoch();
    }
    fetch();
  }
  const auto text = std::move(fetched_.front());
  fetched_.pop_front();
  ++at_.position;
  return nlohmann::json::parse(text);
}

/// Fetches the next items. A process that ends is replaced once.
void python_items::fetch() {
  nlohmann::json answer;
  try {
    answer = fetch_once();
  } catch (const python_ended& error) {
    if (system_stop_token().stop_requested()) throw;
    log::warn(
        "a generator's process is replaced, and the items that it has given are skipped",
        {{"function", options_.function}, {"skipped", at_.position}, {"error", error.what()}});
    answer = fetch_once();
  }
  for (const auto& item : answer.at("items")) fetched_.push_back(item.get<std::string>());
  ended_ = answer.at("ended").get<bool>();
}

nlohmann::json python_items::fetch_once() {
  if (!worker_ || !worker_->is_running()) {
    is_open_ = false;
    worker_ = std::make_unique<python_worker>(options_.python, options_.function);
  }
  if (!is_open_) open();
  return worker_->call({{"do", "next_items"}, {"count", items_at_once}},
                       {options_.timeout, "python.prompt_timeout"},
                       fmt::format("the item after {}", at_.position));
}

void python_items::open() {
  worker_->call({{"do", "open_items"},
                 {"name", options_.function},
                 {"seed", seed_in(options_.seed, at_.epoch)},
                 {"skip", at_.position}},
                {options_.python.start_timeout, "python.start_timeout"},
                "the import and the start of its generator");
  is_open_ = true;
}

void python_items::go_to(const place& at) {
  at_ = at;
  fetched_.clear();
  is_open_ = ended_ = false;
}

void python_items::refuse_last(const std::string& why) const {
  throw python_error(fmt::format("{}: item {}: {}", options_.function, at_.position - 1, why));
}

void python_items::refuse_all() const {
  throw python_error(options_.function +
                     ": expected an item that is not left out, got none in a whole epoch");
}

}  // namespace troupe::detail
