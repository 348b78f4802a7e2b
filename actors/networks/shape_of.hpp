#pragma once
// The network shape of an environment.

#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// Returns the shape of the network for an environment: its inputs are the flattened observation
/// and its outputs fit the action space. An observation is an image if it is a Box of bytes 0 ..
/// 255 with two dimensions or more, laid out as image_layout_of says. A `body` of cnn makes images
/// of other boxes with two dimensions or more, too, and one of multi_input those of the parts that
/// are bytes or have three dimensions or more. Throws std::invalid_argument, which names the
/// environment and its action space, if no network gives such actions: those with a text, and those
/// without numbers.
network_shape shape_of(const env_spec& spec, network_body body = network_body::automatic);

/// Returns a sentence for each box that may be meant as an image, or as a board, and gets no
/// convolutions from a body of `automatic`.
std::vector<std::string> image_notes(const env_spec& spec, network_body body);
/// Returns a sentence if an agent sees an image, of which algorithms for several agents know
/// nothing.
std::vector<std::string> agent_image_notes(const env_spec& spec);

}  // namespace troupe
