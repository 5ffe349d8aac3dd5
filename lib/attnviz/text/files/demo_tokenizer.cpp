#include "attnviz/text/files/demo_tokenizer.h"

#include "attnviz/core/demo_files.h"
#include "attnviz/text/files/load_tokenizer.h"

namespace attnviz {

std::unique_ptr<ModelTokenizer> demo_tokenizer() {
  return load_tokenizer(demo_file(kDemoTokenizer, "demo: tokenizer.json"),
                        demo_file(kDemoTokenizerConfig, "demo: tokenizer_config.json"));
}

}  // namespace attnviz
