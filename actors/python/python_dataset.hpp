#pragma once
// Items of a dataset from Python: a generator function, or a list, of dictionaries.
//
//   def problems(seed):                                       # `seed` may be left out
//       draw = random.Random(seed)
//       while True:
//           a, b = draw.randrange(100), draw.randrange(100)
//           yield {"prompt": f"{a} + {b} =", "answer": str(a + b)}
//
// The generator lives in a Python process of its own (python_worker.hpp).

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/data/dataset.hpp"
#include "actors/python/python_worker.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {

struct python_dataset_options {
  /// The function, or a list, such as "my_tasks:problems" for `problems` of the module my_tasks,
  /// which is found on PYTHONPATH or in the working directory.
  std::string function;
  /// Decides the argument `seed` of a function that has one. It gets another number in each epoch.
  std::uint64_t seed = 0;
  /// The number of epochs after which `next` throws dataset_exhausted; 0 means no limit.
  std::int64_t epochs = 0;
  double timeout = 60;  ///< The seconds that the next item may take. Then the process is ended.
  /// The interpreter, the limit of memory, and start_timeout, the limit of the imports and of
  /// skipping the items that were given before a checkpoint.
  python_options python = {};
};

namespace detail {

/// The items as JSON. They are fetched in batches, and the place counts those that were given.
class python_items {
 public:
  struct place {
    std::int64_t epoch = 0;
    std::uint64_t position = 0;  ///< The number of items of this epoch that were given.
  };

  /// Throws std::invalid_argument if `epochs` is negative. The process starts at the first item.
  explicit python_items(python_dataset_options options);
  python_items(python_items&&) noexcept = default;
  python_items& operator=(python_items&&) noexcept = default;
  ~python_items();

  /// The next item, a JSON object.
  std::string next();
  const place& at() const { return at_; }
  void go_to(const place& at);
  /// Throws python_error that names the item that was given last.
  [[noreturn]] void refuse_last(const std::string& why) const;
  [[noreturn]] void refuse_all() const;

 private:
  void fetch();
  nlohmann::json fetch_once();
  void open();

  python_dataset_options options_;
  place at_;
  std::unique_ptr<python_worker> worker_;
  bool is_open_ = false;  ///< True if the process has a generator at this place.
  bool ended_ = false;    ///< True if no item of the epoch follows those in `fetched_`.
  std::deque<std::string> fetched_;
};

}  // namespace detail

/// The role that gives the items of a generator, in its order. When the generator ends, the
/// function is called anew, for the next epoch. A call may wait for the process, so the role is for
/// placement::thread. A process that has ended, or was ended because it did not answer in time, is
/// replaced once at the same item: the function must give the same items for the same seed.
///
///   auto data = co_await sys.serve<python_dataset<question>>(
///       {.name = "dataset", .placement = placement::thread},
///       python_dataset_options{.function = "my_tasks:problems"}, to_question);
template <class Item>
class python_dataset {
 public:
  /// Makes an item of an object and its text, in which keys have their order. Returns nullopt for
  /// an item that is to be left out, and throws for one that is wrong.
  using maker =
      std::function<std::optional<Item>(const nlohmann::json& object, std::string_view text)>;

  /// Throws std::invalid_argument if `epochs` is negative.
  python_dataset(python_dataset_options options, maker to_item)
      : items_(std::move(options)), to_item_(std::move(to_item)) {}
  /// The same for items that need the object alone.
  python_dataset(python_dataset_options options,
                 std::function<std::optional<Item>(const nlohmann::json& object)> to_item)
      : python_dataset(
            std::move(options),
            maker([to_item = std::move(to_item)](const nlohmann::json& object, std::string_view) {
              return to_item(object);
            })) {}

  /// Returns the next item. Throws python_error with Python's traceback, for an item that is wrong
  /// and for a generator without items, python_ended, and dataset_exhausted.
  Item next() {
    const auto first_epoch = items_.at().epoch;
    while (items_.at().epoch <= first_epoch + 1) {
      if (auto item = made(items_.next())) return *std::move(item);
    }
    items_.refuse_all();
  }

  /// The epoch of the item that was given last, from 0.
  std::int64_t epoch() const { return items_.at().epoch; }

  /// Returns the number of epochs and items that were given, for checkpoints.
  std::string save() const { return state_bytes(items_.at()); }
  /// Goes on after the items that had been given at `save`: the generator begins anew with the same
  /// seed, and these items are skipped. Throws state_error.
  void restore(std::string bytes) { items_.go_to(state_of<detail::python_items::place>(bytes)); }

 private:
  std::optional<Item> made(const std::string& text) {
    try {
      return to_item_(parse_json(text, "item"), text);
    } catch (const std::exception& error) {
      items_.refuse_last(error.what());
    }
  }

  detail::python_items items_;
  maker to_item_;
};

}  // namespace troupe
