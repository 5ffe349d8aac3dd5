// The cache of Hugging Face's tools: the files of each repository in snapshots.
#pragma once

#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. Names are `[owner/]name`: the
/// newest snapshot, when it holds a config.json; `[owner/]name[:TAG]`: a GGUF file of it. hf.co/
/// and huggingface.co/ may stand in front.
std::vector<Store> hugging_face_stores();

}  // namespace attnviz::app
