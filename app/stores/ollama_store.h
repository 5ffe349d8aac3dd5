// Ollama's store: manifests by name, which name blobs by their digests.
#pragma once

#include <filesystem>
#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// $OLLAMA_MODELS; else the user's own store, then that of the system's service.
///
/// A name is `[[host/]namespace/]model[:tag]`; what is not said is registry.ollama.ai, library and
/// latest. Its file is the layer of the manifest that holds a model. Errors: kMalformed for a
/// manifest that is none, kIo for a blob that is not there, kUnsupported for models without GGUF.
std::vector<Store> ollama_stores();

}  // namespace attnviz::app
