#include "actors/replay/sum_tree.hpp"

#include <algorithm>
#include <bit>

namespace troupe {

void sum_tree::set(std::size_t place, double weight) {
  if (place >= leaves()) grow(std::bit_ceil(place + 1));
  auto node = leaves() + place;
  nodes_[node] = weight;
  for (node /= 2; node > 0; node /= 2) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
}

double sum_tree::weight(std::size_t place) const {
  return place < leaves() ? nodes_[leaves() + place] : 0;
}

double sum_tree::total() const { return nodes_.empty() ? 0 : nodes_[1]; }

std::size_t sum_tree::find(double point) const {
  std::size_t node = 1;
  while (node < leaves()) {
    const auto left = nodes_[2 * node];
    // Rounding can push a point past the last weight. It then belongs to the last place.
    if (point < left || nodes_[2 * node + 1] == 0) {
      node = 2 * node;
    } else {
      point -= left;
      node = 2 * node + 1;
    }
  }
  return node - leaves();
}

void sum_tree::grow(std::size_t leaves) {
  std::vector<double> nodes(2 * leaves);
  std::copy(nodes_.end() - static_cast<std::ptrdiff_t>(nodes_.size() / 2), nodes_.end(),
            nodes.begin() + static_cast<std::ptrdiff_t>(leaves));
  for (auto node = leaves - 1; node > 0; --node) {
    nodes[node] = nodes[2 * node] + nodes[2 * node + 1];
  }
  nodes_ = std::move(nodes);
}

}  // namespace troupe
