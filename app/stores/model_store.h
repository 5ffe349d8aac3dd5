// Models by name, in the places where other programs keep what they download.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// In the order in which names are looked for: Ollama, LM Studio, llama.cpp, Hugging Face.
std::vector<Store> model_stores();

/// `given` when it is there, or looks like a file, or is no name; a folder of GGUF files without
/// safetensors stands for the only one, or for Q4_K_M. Otherwise what the first store that has a
/// model of that name says. Nothing is ever downloaded.
///
/// Throws what the store throws, and Error{kIo} that says where it looked, which names are similar,
/// and which commands download the model.
std::filesystem::path find_model(const std::filesystem::path& given);

/// "~/.ollama/models": with the home folder written short.
std::string short_path(const std::filesystem::path& path);

}  // namespace attnviz::app
