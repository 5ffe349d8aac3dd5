#include "attnviz/library/pictures.h"

#include <utility>

#include "attnviz/picture/figure_file.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/terminal/views.h"

namespace attnviz {

Picture::Picture(const LanguageModel& model, const TokenizedText& text,
                 const AttentionRequest& request, PatternStore patterns) {
  const auto kept = std::make_shared<const PatternStore>(std::move(patterns));
  auto document =
      std::make_shared<AttentionDocument>(attention_document(*model.model, text, request, *kept));
  document->storage = kept;
  document_ = std::move(document);
}

Picture::Picture(std::shared_ptr<const AttentionDocument> document)
    : document_(std::move(document)) {}

Picture Picture::read(std::string_view bytes, std::string_view name) {
  return Picture(std::make_shared<const AttentionDocument>(
      std::move(read_attention(bytes, name, {}).front().document)));
}

std::string Picture::json() const {
  std::string out;
  write_attention_json(*document_, [&out](std::string_view bytes) { out += bytes; });
  return out;
}

std::string Picture::text(const TerminalOptions& options) const {
  return to_ansi(heatmap_page(attention_heatmap(*document_), options), options.color);
}

std::string Picture::png() const {
  return render_figure(attention_heatmap(*document_), {}, attention_facts(*document_));
}

}  // namespace attnviz
