#include "actors/llm/tokenizer/bpe.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "actors/llm/tokenizer/byte_alphabet.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

std::uint64_t pair_key(token_id left, token_id right) {
  return std::uint64_t(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

std::string in_quotes(std::string_view text) { return '"' + detail::printable(text, 60) + '"'; }

/// A token of the piece and the indices of its neighbours, which are -1 at the ends.
struct symbol {
  token_id id;
  int before, after;
};

/// A merge that was possible when it was added to the queue.
struct candidate {
  std::int32_t rank;
  int at;  // the index of the left symbol
  token_id left, right, whole;

  bool operator>(const candidate& other) const {
    return std::tie(rank, at) > std::tie(other.rank, other.at);
  }
};

}  // namespace

bpe::bpe(const std::vector<std::string>& tokens,
         const std::vector<std::pair<std::string, std::string>>& merges, bool ignore_merges) {
  std::unordered_map<std::string_view, token_id> ids;
  ids.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    const auto id = static_cast<token_id>(i);
    if (!ids.emplace(tokens[i], id).second)
      throw std::invalid_argument("expected each token once, got " + in_quotes(tokens[i]) +
                                  " twice");
    if (!ignore_merges) continue;
    if (auto bytes = bytes_of_letters(tokens[i])) whole_.emplace(std::move(*bytes), id);
  }
  for (int b = 0; b < 256; ++b) {
    const auto at = ids.find(letter_of_byte(static_cast<unsigned char>(b)));
    byte_ids_[static_cast<std::size_t>(b)] = at == ids.end() ? -1 : at->second;
  }
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const auto id_of = [&](const std::string& text) {
      const auto at = ids.find(text);
      if (at == ids.end())
        throw std::invalid_argument("merge " + std::to_string(rank) + ": expected a token, got " +
                                    in_quotes(text));
      return at->second;
    };
    const auto whole = id_of(left + right);
    merges_.insert_or_assign(pair_key(id_of(left), id_of(right)),
                             merge{static_cast<std::int32_t>(rank), whole});
  }
}

const bpe::merge* bpe::find(token_id left, token_id right) const {
  const auto at = merges_.find(pair_key(left, right));
  return at == merges_.end() ? nullptr : &at->second;
}

void bpe::encode(std::string_view piece, std::vector<token_id>& ids) const {
  if (!whole_.empty()) {
    if (const auto at = whole_.find(std::string(piece)); at != whole_.end()) {
      ids.push_back(at->second);
      return;
    }
  }
  std::vector<symbol> symbols;
  symbols.reserve(piece.size());
  for (const char c : piece) {
    const auto id = byte_ids_[static_cast<unsigned char>(c)];
    if (id < 0) continue;
    const auto at = static_cast<int>(symbols.size());
    symbols.push_back({id, at - 1, at + 1});
  }
  if (symbols.empty()) return;
  symbols.back().after = -1;

  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
  const auto enter = [&](int at) {
    if (at < 0 || symbols[std::size_t(at)].after < 0) return;
    const auto left = symbols[std::size_t(at)].id;
    const auto right = symbols[std::size_t(symbols[std::size_t(at)].after)].id;
    if (const auto* found = find(left, right)) {
      queue.push({found->rank, at, left, right, found->whole});
    }
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) enter(static_cast<int>(i));
  while (!queue.empty()) {
    const auto next = queue.top();
    queue.pop();
    auto& left = symbols[std::size_t(next.at)];
    if (left.id != next.left || left.after < 0) continue;  // one of the two has been merged since
    auto& right = symbols[std::size_t(left.after)];
    if (right.id != next.right) continue;
    left.id = next.whole;
    left.after = right.after;
    right.id = -1;
    if (left.after >= 0) symbols[std::size_t(left.after)].before = next.at;
    enter(left.before);
    enter(next.at);
  }
  for (int at = 0; at >= 0; at = symbols[std::size_t(at)].after) {
    ids.push_back(symbols[std::size_t(at)].id);
  }
}

}  // namespace troupe::llm
