// Folders of GGUF files: LM Studio's and llama.cpp's.
#pragma once

#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// ~/.lmstudio/models and, of older versions, ~/.cache/lm-studio/models:
/// publisher/repository/files. Names are `publisher/repository[:TAG]`, as choose_gguf() takes them.
std::vector<Store> lm_studio_stores();

/// $LLAMA_CACHE, else llama.cpp in cache_home(): `owner_repository_file.gguf` in one folder. Names
/// are `owner/repository[:TAG]` of repositories that have a manifest there, or a file's without its
/// extension.
std::vector<Store> llama_cpp_stores();

}  // namespace attnviz::app
