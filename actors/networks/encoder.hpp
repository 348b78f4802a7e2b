#pragma once
// The networks that users register, as far as acting, initial weights and files need them.
// actors/gradients/own_network.hpp has what the function of one needs.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/kernels/activation.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

class variable;
struct parameter_block;

/// The rule of a parameter's first values.
enum class initial_values {
  /// As the weight of a hidden layer of [rows] inputs. The option ortho_init says whether such a
  /// weight is an orthogonal matrix or is uniform within 1 / sqrt(rows), as that of a
  /// torch.nn.Linear.
  weight,
  /// As the bias of such a layer: zeros, or uniform as its weight.
  bias,
  zeros,
  ones,
};

/// A parameter of an encoder, as its function has named it.
struct encoder_parameter {
  std::string name;  ///< The name, such as "gate.weight".
  int rows = 0;
  int columns = 0;
  initial_values initial = initial_values::weight;
  /// The inputs of the layer whose bias this is; otherwise the number of rows.
  int inputs = 0;
  bool is_layer = false;   ///< It is the weight of a layer, which files have as [columns, rows].
  std::size_t offset = 0;  ///< Its first number in the encoder's part of a block.

  std::size_t count() const { return static_cast<std::size_t>(rows) * columns; }
  bool operator==(const encoder_parameter&) const = default;
};

/// One encoder's work memory for acting. It belongs to one thread.
class encoder_pass {
 public:
  virtual ~encoder_pass() = default;
  /// Returns the features [rows, F] of x [rows, D]. They are valid until the next call.
  virtual const float* features_of(const float* parameters, const float* x, int rows) = 0;
};

/// A registered network for observations of D numbers. It has no state: each call gets the
/// parameters as a flat block of parameter_count() floats.
class encoder {
 public:
  encoder(std::string name, int inputs) : name_(std::move(name)), inputs_(inputs) {}
  virtual ~encoder() = default;

  const std::string& name() const { return name_; }
  int inputs() const { return inputs_; }      ///< D
  int features() const { return features_; }  ///< F
  const std::vector<encoder_parameter>& parameters() const { return parameters_; }
  std::size_t parameter_count() const;
  /// Returns why Troupe's kernels can't compute its gradient; empty if they can.
  const std::string& obstacle() const { return obstacle_; }

  /// Writes the first values of all parameters.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// Computes the features [rows, F] of x [rows, D] on x's graph. The parameters begin at the
  /// block's number `first`.
  virtual variable features_of(variable x, const parameter_block& block,
                               std::size_t first) const = 0;
  virtual std::unique_ptr<encoder_pass> make_pass() const = 0;

 protected:
  /// Says what the function of the encoder has asked for.
  void declare(int features, std::vector<encoder_parameter> parameters, std::string obstacle);

 private:
  std::string name_;
  int inputs_;
  int features_ = 0;
  std::vector<encoder_parameter> parameters_;
  std::string obstacle_;
};

/// Gives the function of an encoder its parameters by name. A call states a parameter's name, its
/// shape and its first values, and returns it, so they are stated once. In files each name stands
/// behind "encoder.".
class network_parameters {
 public:
  virtual ~network_parameters() = default;

  /// Returns a matrix [rows, columns]. Files have it as [rows, columns], or as [columns] if it is
  /// one row.
  virtual variable parameter(std::string_view name, int rows, int columns,
                             initial_values initial = initial_values::weight) = 0;
  /// Returns activation(x W + b) [rows, outputs], as torch.nn.Linear. The parameters are
  /// NAME.weight and NAME.bias.
  virtual variable dense(std::string_view name, const variable& x, int outputs,
                         activation kind = activation::linear) = 0;
  /// Returns x with each row normalised, scaled and shifted, as torch.nn.LayerNorm, behind an
  /// activation. The parameters are NAME.weight and NAME.bias.
  virtual variable layer_norm(std::string_view name, const variable& x,
                              activation kind = activation::linear) = 0;
};

/// Returns the features [rows, F] of observations x [rows, D] by the operations of x's graph
/// (actors/gradients/graph.hpp). Acting, learning and loading call it with any number of rows, on
/// both engines and from several threads at once. So it must ask for the same parameters in the
/// same order in each call, for one D, and the features of a row must not depend on the other rows.
using encoder_function = std::function<variable(network_parameters& parameters, const variable& x)>;

/// Registers an encoder under a name, which policy.encoder, model files and checkpoints have.
/// Throws std::invalid_argument if the name is empty or taken, or is that of a plug-in. Any thread
/// may call this function and the others of this header. own_network.cpp of actors/gradients has
/// them.
void register_encoder(std::string name, encoder_function function);

/// Returns the encoder of that name for observations of D numbers: one that is registered, or that
/// of a plug-in. Throws std::invalid_argument that names it and the known ones for a name that is
/// not registered, plugin_error for a plug-in that can't be loaded, and std::invalid_argument if
/// its function asks for two parameters of one name or for one without numbers, or does not return
/// one row of features for each row of x.
std::shared_ptr<const encoder> make_encoder(const std::string& name, int inputs);

/// Returns the registered names, sorted.
std::vector<std::string> known_encoders();

}  // namespace troupe
