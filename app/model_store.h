// Models by name, in the place where Hugging Face's tools keep what they download.
#pragma once

#include <filesystem>

namespace attnviz::app {

/// `given` when it is there, or looks like a file; otherwise the newest snapshot of the model of
/// that name ("gpt2", "EleutherAI/pythia-70m") in the Hugging Face cache: $HF_HUB_CACHE, or
/// $HF_HOME/hub, or ~/.cache/huggingface/hub. Nothing is ever downloaded.
///
/// Throws Error{kIo} that says where it looked, and which command downloads the model.
std::filesystem::path find_model(const std::filesystem::path& given);

}  // namespace attnviz::app
