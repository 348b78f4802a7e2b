// Files of models and tokenisers, mutilated by a seeded mutator. Each is read or refused with
// llm_file_error; what is read is used. TROUPE_FUZZ_BYTES: how many bytes are mutilated; ./dev
// fuzz-llm takes a million.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

const fs::path fixtures = testing::source_path("tests/fixtures/llm");

std::uint64_t bytes_to_mutilate() {
  const char* asked = std::getenv("TROUPE_FUZZ_BYTES");
  return asked ? std::strtoull(asked, nullptr, 10) : 20000;
}

/// Changes some bytes of a file; those at its begin, where lengths and names stand, more often.
class mutilator {
 public:
  explicit mutilator(std::uint64_t seed) : random_(seed) {}

  /// How many bytes it changed, added or took away (a cut counts one).
  std::size_t mutilate(std::string& bytes) {
    std::size_t changed = 0;
    for (std::size_t faults = 1 + draw(4); faults > 0 && !bytes.empty(); --faults) {
      changed += mutilate_once(bytes);
    }
    return changed;
  }

 private:
  std::size_t draw(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::size_t place(const std::string& bytes) {
    return draw(draw(3) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 2048));
  }

  std::size_t mutilate_once(std::string& bytes) {
    const auto at = place(bytes);
    const std::size_t length = std::min<std::size_t>(1 + draw(8), bytes.size() - at);
    switch (draw(7)) {
      case 0:
        bytes[at] = static_cast<char>(random_());
        return 1;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << draw(8));
        return 1;
      case 2:
        std::fill_n(bytes.begin() + std::ptrdiff_t(at), length, draw(2) ? '\xff' : '\0');
        return length;
      case 3:
        bytes.erase(at, length);
        return length;
      case 4:
        bytes.insert(at, bytes.substr(place(bytes), length));
        return length;
      case 5:
        bytes.replace(at, length, std::to_string(random_() >> draw(64)));
        return length;
      default:
        if (draw(4) == 0) bytes.resize(at);
        return 1;
    }
  }

  std::mt19937_64 random_;
};

/// Reads a file's mutilated copies until enough bytes were; `use` reads one, and throws what it
/// may.
template <class Use>
void fuzz(const fs::path& original, const char* name, std::uint64_t seed, Use use) {
  const temporary_folder folder;
  const auto whole = read_text(original);
  mutilator mutilate(seed);
  std::uint64_t changed = 0;
  std::size_t refused = 0, files = 0;
  for (; changed < bytes_to_mutilate() / 6; ++files) {
    auto bytes = whole;
    changed += mutilate.mutilate(bytes);
    const auto path = folder.path / name;
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      use(path);
    } catch (const llm_file_error& e) {
      ++refused;
      if (std::string(e.what()).find(path.string()) == std::string::npos) FAIL(e.what());
    }
  }
  CAPTURE(files);
  CHECK(refused > files / 10);  // or what is mutilated isn't read
}

void read_all(const tensor_view& view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  copy_floats(view, values);
}

TEST_CASE("mutilated: safetensors") {
  fuzz(fixtures / "models/qwen3/model.safetensors", "m.safetensors", 1, [](const fs::path& path) {
    for (const auto& [name, view] : read_safetensors(path).tensors) read_all(view);
  });
}

TEST_CASE("mutilated: GGUF with quantised tensors") {
  fuzz(fixtures / "quantised.gguf", "m.gguf", 2, [](const fs::path& path) {
    const gguf_file file(path);
    for (const auto& [name, view] : file.tensors()) read_all(view);
  });
}

TEST_CASE("mutilated: GGUF with a tokenizer") {
  fuzz(fixtures / "tokenizer.gguf", "m.gguf", 3, [](const fs::path& path) {
    const gguf_file file(path);
    const auto tokens = read_tokenizer(file);
    tokens.decode(tokens.encode("Hello w\u00f6rld, 12 <|im_end|>", {true, true}));
    read_chat_style(path);
  });
}

TEST_CASE("mutilated: tokenizer.json") {
  fuzz(fixtures / "tokenizers/qwen2/tokenizer.json", "tokenizer.json", 4, [](const fs::path& path) {
    const auto tokens = read_tokenizer(path);
    tokens.decode(tokens.encode("Hello w\u00f6rld, 12 <|im_end|>", {true, true}));
  });
}

TEST_CASE("mutilated: the shape in a GGUF file") {
  fuzz(fixtures / "models/llama.gguf", "m.gguf", 5,
       [](const fs::path& path) { rope_frequencies(read_model_config(gguf_file(path))); });
}

TEST_CASE("mutilated: config.json") {
  fuzz(fixtures / "models/llama/config.json", "config.json", 6,
       [](const fs::path& path) { rope_frequencies(read_model_config(path)); });
}

}  // namespace
}  // namespace troupe::llm
