// The writers that the table of formats names; formats.h says what each is to do.
#pragma once

#include "outputs/formats/formats.h"

namespace attnviz::app {

void write_attention_png(const ShownAttention& shown, const Look& look, const ByteSink& sink);
void write_inspection_png(const ShownInspection& shown, const Look& look, const ByteSink& sink);
OverviewCells png_cells(const ShownAttention& shown, const Look& look);

void write_attention_text(const ShownAttention& shown, const Look& look, const ByteSink& sink);
void write_inspection_text(const ShownInspection& shown, const Look& look, const ByteSink& sink);
OverviewCells text_cells(const ShownAttention& shown, const Look& look);

/// A line for each document.
void write_attention_json(const ShownAttention& shown, const Look& look, const ByteSink& sink);
void write_inspection_json(const ShownInspection& shown, const Look& look, const ByteSink& sink);
RowFile begin_json_rows(const AttentionDocument& document, const ByteSink& sink);

/// Of the first document. Throws Error{kUsage} when its patterns are no rectangle of layers and
/// heads.
void write_attention_npy(const ShownAttention& shown, const Look& look, const ByteSink& sink);
void check_npy_rows(const AttentionDocument& document);
RowFile begin_npy_rows(const AttentionDocument& document, const ByteSink& sink);

}  // namespace attnviz::app
