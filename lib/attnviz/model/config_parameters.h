// Names of parameters that configs of language models have.
#pragma once

#include <string_view>

namespace attnviz {

/// Whether some config class of transformers, of a model of texts, or of the code that models of
/// its families are published with, has a parameter of this name: what it says may change what is
/// computed. Other keys of a config.json are notes of whoever wrote it.
///
/// Source  github.com/huggingface/transformers, src/transformers/models/*/configuration_*.py and
///         configuration_utils.py, 4.0 to 5.3, without what only pictures, sound, training and
///         generation have.
bool is_config_parameter(std::string_view name);

/// The same of names in rope_scaling and rope_parameters, modeling_rope_utils.py.
bool is_rope_parameter(std::string_view name);

}  // namespace attnviz
