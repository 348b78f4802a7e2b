#include "actors/networks/plain_pickle.hpp"

#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace troupe {
namespace {

constexpr std::size_t longest_name = 1024;    // of a module, or of what is in it
constexpr std::size_t most_values = 1 << 18;  // 700 policies of three layers
// A text is as long as the pickle has bytes for it. A pickle of some bytes can ask for many copies.
constexpr std::size_t most_copied_bytes = std::size_t{256} << 20;
constexpr int deepest_tuple = 4;  // the arguments of a tensor and of its storage need two

struct mark {};
struct nothing {};  // an empty OrderedDict: the hooks that a tensor doesn't have
struct global {
  std::string name;  // the module and the name, separated by a space
};
struct storage {
  std::string key;
  std::int64_t size = 0;
};
struct value;
struct tuple {
  std::vector<value> values;
  int depth = 1;
};
using ints = std::vector<std::int64_t>;

struct value {
  std::variant<mark, nothing, bool, std::int64_t, double, std::string, ints, global, storage,
               pickled_tensor, tuple, plain_dictionary>
      is;
};

class reader {
 public:
  explicit reader(std::string_view pickle) : pickle_(pickle) {}

  plain_dictionary read() {
    while (!ended_) {
      begin_ = next_;
      execute(static_cast<unsigned char>(take(1)[0]));
    }
    if (next_ != pickle_.size()) refuse("ends before the bytes do");
    return pop<plain_dictionary>("a dictionary");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(fmt::format("pickle, byte {}: {}", begin_, what));
  }

  std::string_view take(std::size_t size) {
    if (size > pickle_.size() - next_) refuse("the bytes end within an operation");
    next_ += size;
    return pickle_.substr(next_ - size, size);
  }

  // Reads an unsigned number of `size` bytes; a number of eight bytes is signed.
  std::int64_t take_little_endian(std::size_t size) {
    std::uint64_t number = 0;
    const auto bytes = take(size);
    for (std::size_t i = size; i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return static_cast<std::int64_t>(number);
  }

  std::int64_t take_long() {
    const auto size = static_cast<std::size_t>(take_little_endian(1));
    if (size > 8) refuse(fmt::format("expected a number of at most 8 bytes, got {}", size));
    const auto number = take_little_endian(size);
    if (size == 0 || size == 8) return number;
    const int unused = 64 - 8 * static_cast<int>(size);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << unused) >> unused;
  }

  double take_double() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(bits);
  }

  std::string take_text() {
    return std::string(take(static_cast<std::size_t>(take_little_endian(4))));
  }

  std::string take_line() {
    const auto end = pickle_.substr(next_, longest_name).find('\n');
    if (end == std::string_view::npos) refuse("a name has no end");
    const std::string line(take(end));
    take(1);
    return line;
  }

  template <class T>
  void push(T item) {
    add({std::move(item)});
  }

  // Pushes a value. Every value ever made is counted, because a tuple of many values is only one on
  // the stack.
  void add(value item) {
    if (++made_ > most_values) refuse(fmt::format("makes more than {} values", most_values));
    stack_.push_back(std::move(item));
  }

  value pop() {
    if (stack_.empty()) refuse("needs a value, and there is none");
    auto top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }

  template <class T>
  T as(value&& item, const char* expected) const {
    if (auto* held = std::get_if<T>(&item.is)) return std::move(*held);
    refuse(fmt::format("expected {}", expected));
  }

  template <class T>
  T pop(const char* expected) {
    return as<T>(pop(), expected);
  }

  // Removes the last mark and the values since, and returns these values.
  std::vector<value> pop_to_mark() {
    std::size_t begin = stack_.size();
    while (begin > 0 && !std::holds_alternative<mark>(stack_[begin - 1].is)) --begin;
    if (begin == 0) refuse("needs a mark, and there is none");
    std::vector<value> values(std::make_move_iterator(stack_.begin() + begin),
                              std::make_move_iterator(stack_.end()));
    stack_.resize(begin - 1);
    return values;
  }

  void push_tuple(std::vector<value> values) {
    tuple made;
    for (const auto& each : values) {
      if (const auto* inner = std::get_if<tuple>(&each.is)) {
        made.depth = std::max(made.depth, inner->depth + 1);
      }
    }
    if (made.depth > deepest_tuple) refuse("tuples lie too deep in each other");
    made.values = std::move(values);
    push(std::move(made));
  }

  void push_tuple_of(std::size_t size) {
    std::vector<value> values(size);
    while (size > 0) values[--size] = pop();
    push_tuple(std::move(values));
  }

  void append_numbers() {
    auto numbers = pop_to_mark();
    auto list = pop<ints>("a list");
    for (auto& each : numbers) list.push_back(as<std::int64_t>(std::move(each), "a whole number"));
    push(std::move(list));
  }

  plain_value plain(value&& item) const {
    return std::visit(
        [&](auto&& held) -> plain_value {
          if constexpr (std::is_constructible_v<
                            plain_value, std::in_place_type_t<std::decay_t<decltype(held)>>>) {
            return std::move(held);
          } else {
            refuse("expected a number, a text, a list of whole numbers or a tensor");
          }
        },
        std::move(item.is));
  }

  void set_items() {
    auto items = pop_to_mark();
    auto dictionary = pop<plain_dictionary>("a dictionary");
    if (items.size() % 2 != 0) refuse("a key has no value");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      auto key = as<std::string>(std::move(items[i]), "a text as the key");
      const auto [at, added] = dictionary.emplace(key, plain(std::move(items[i + 1])));
      if (!added) refuse("the key " + key + " is there twice");
    }
    push(std::move(dictionary));
  }

  // Keeps the top value if it is a name, a text or a tensor's storage. Only such values repeat.
  // Other values are not kept, because a pickle could use them to multiply data.
  void remember(std::int64_t number) {
    if (stack_.empty()) refuse("remembers a value, and there is none");
    if (number >= static_cast<std::int64_t>(most_values)) refuse("remembers too many values");
    const auto& top = stack_.back();
    if (repeated_text(top)) remembered_[number] = copy(top);
  }

  // The text of a value that may repeat; null for other values.
  static const std::string* repeated_text(const value& item) {
    if (const auto* text = std::get_if<std::string>(&item.is)) return text;
    if (const auto* named = std::get_if<global>(&item.is)) return &named->name;
    if (const auto* kept = std::get_if<storage>(&item.is)) return &kept->key;
    return nullptr;
  }

  value copy(const value& item) {
    copied_bytes_ += repeated_text(item)->size();
    if (copied_bytes_ > most_copied_bytes) {
      refuse(fmt::format("copies more than {} bytes of texts", most_copied_bytes));
    }
    return item;
  }

  void recall(std::int64_t number) {
    const auto at = remembered_.find(number);
    if (at == remembered_.end()) refuse(fmt::format("recalls value {}, which is not kept", number));
    add(copy(at->second));
  }

  void push_storage() {
    auto told = pop<tuple>("a tuple").values;
    if (told.size() != 5) refuse("expected five words about a tensor's storage");
    const auto kind = as<std::string>(std::move(told[0]), "the word storage");
    const auto type = as<global>(std::move(told[1]), "a type of storage").name;
    if (kind != "storage" || type != "torch FloatStorage") {
      refuse("expected a storage of floats, got " + type);
    }
    push(storage{as<std::string>(std::move(told[2]), "the name of a record"),
                 as<std::int64_t>(std::move(told[4]), "a count of numbers")});
  }

  ints whole_numbers(value&& item) const {
    ints numbers;
    for (auto& each : as<tuple>(std::move(item), "a tuple").values) {
      numbers.push_back(as<std::int64_t>(std::move(each), "a whole number"));
    }
    return numbers;
  }

  void call() {
    auto arguments = pop<tuple>("a tuple").values;
    const auto name = pop<global>("a name").name;
    if (name == "torch.jit._pickle build_intlist" && arguments.size() == 1) {
      push(as<ints>(std::move(arguments[0]), "a list of whole numbers"));
    } else if (name == "torch.jit._pickle restore_type_tag" && arguments.size() == 2) {
      add(std::move(arguments[0]));  // the second one is the name of its type
    } else if (name == "torch._utils _rebuild_tensor_v2" && arguments.size() == 6) {
      auto from = as<storage>(std::move(arguments[0]), "a storage");
      push(pickled_tensor{std::move(from.key),
                          as<std::int64_t>(std::move(arguments[1]), "an offset"),
                          whole_numbers(std::move(arguments[2])),
                          whole_numbers(std::move(arguments[3])), from.size});
    } else if (name == "collections OrderedDict" && arguments.empty()) {
      push(nothing{});
    } else {
      refuse(fmt::format("calls {} with {} values, which a model's file has no need of", name,
                         arguments.size()));
    }
  }

  void execute(unsigned char operation) {
    switch (operation) {
      case 0x80:  // PROTO
        if (const auto protocol = take_little_endian(1); protocol != 2) {
          refuse(fmt::format("expected protocol 2, got {}", protocol));
        }
        return;
      case '(':
        return push(mark{});
      case '}':
        return push(plain_dictionary{});
      case ']':
        return push(ints{});
      case ')':
        return push_tuple({});
      case 0x85:
        return push_tuple_of(1);
      case 0x86:
        return push_tuple_of(2);
      case 0x87:
        return push_tuple_of(3);
      case 't':
        return push_tuple(pop_to_mark());
      case 'e':
        return append_numbers();
      case 'u':
        return set_items();
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 'K':
        return push(take_little_endian(1));
      case 'M':
        return push(take_little_endian(2));
      case 'J':
        return push(std::int64_t{static_cast<std::int32_t>(take_little_endian(4))});
      case 0x8a:
        return push(take_long());
      case 'G':
        return push(take_double());
      case 'X':
        return push(take_text());
      case 'c': {  // GLOBAL
        auto module = take_line();
        return push(global{std::move(module) + " " + take_line()});
      }
      case 'q':
        return remember(take_little_endian(1));
      case 'r':
        return remember(take_little_endian(4));
      case 'h':
        return recall(take_little_endian(1));
      case 'j':
        return recall(take_little_endian(4));
      case 'Q':
        return push_storage();  // BINPERSID
      case 'R':
        return call();  // REDUCE
      case '.':
        ended_ = true;
        return;
      default:
        refuse(fmt::format("operation {:#04x}, which a model's file has no need of", operation));
    }
  }

  std::string_view pickle_;
  std::size_t begin_ = 0;  // the offset of the current operation
  std::size_t next_ = 0;
  bool ended_ = false;
  std::vector<value> stack_;
  std::size_t made_ = 0;
  std::size_t copied_bytes_ = 0;
  std::map<std::int64_t, value> remembered_;
};

}  // namespace

plain_dictionary read_plain_pickle(std::string_view pickle) { return reader(pickle).read(); }

namespace {

class writer {
 public:
  void write(const std::string& text) {
    put('X');
    put_little_endian(text.size(), 4);
    bytes_ += text;
  }

  void write(std::int64_t number) {
    if (std::in_range<std::int32_t>(number)) {
      put('J');
      put_little_endian(static_cast<std::uint64_t>(number), 4);
    } else {
      put('\x8a');
      put(8);
      put_little_endian(static_cast<std::uint64_t>(number), 8);
    }
  }

  void write(bool truth) { put(truth ? '\x88' : '\x89'); }

  void write(double number) {
    put('G');
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int shift = 56; shift >= 0; shift -= 8) put(static_cast<char>(bits >> shift));
  }

  void write(const std::vector<std::int64_t>& numbers) {
    put(']');
    put('(');
    for (auto each : numbers) write(each);
    put('e');
  }

  void write(const pickled_tensor& tensor) {
    bytes_ += "ctorch._utils\n_rebuild_tensor_v2\n((";
    write(std::string("storage"));
    bytes_ += "ctorch\nFloatStorage\n";
    write(tensor.storage);
    write(std::string("cpu"));
    write(tensor.storage_size);
    bytes_ += "tQ";
    write(tensor.offset);
    write_tuple(tensor.sizes);
    write_tuple(tensor.strides);
    write(false);  // requires_grad
    bytes_ += "ccollections\nOrderedDict\n)RtR";
  }

  std::string write(const std::vector<std::pair<std::string, plain_value>>& dictionary) && {
    bytes_ = "\x80\x02}(";
    for (const auto& [key, value] : dictionary) {
      write(key);
      std::visit([this](const auto& held) { write(held); }, value);
    }
    bytes_ += "u.";
    return std::move(bytes_);
  }

 private:
  void put(char byte) { bytes_ += byte; }

  void put_little_endian(std::uint64_t number, int count) {
    for (int i = 0; i < count; ++i) put(static_cast<char>(number >> (8 * i)));
  }

  void write_tuple(const std::vector<std::int64_t>& numbers) {
    put('(');
    for (auto each : numbers) write(each);
    put('t');
  }

  std::string bytes_;
};

}  // namespace

std::string write_plain_pickle(const std::vector<std::pair<std::string, plain_value>>& dictionary) {
  return writer().write(dictionary);
}

}  // namespace troupe
