// HarfBuzz, loaded when a text first needs it: the program starts and works without it.
#pragma once

#include <harfbuzz/hb-ot.h>
#include <harfbuzz/hb.h>

namespace attnviz {

// Since HarfBuzz 7, font_get_glyph_shape is called draw_glyph, and both names work.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// The functions in use, with their types from HarfBuzz's headers.
struct HarfBuzz {
#define ATTNVIZ_HARFBUZZ_FUNCTIONS(use)                                                         \
  use(blob_create) use(blob_destroy) use(blob_get_data) use(blob_get_length)                    \
      use(buffer_add_codepoints) use(buffer_create) use(buffer_destroy)                         \
          use(buffer_get_glyph_infos) use(buffer_get_glyph_positions)                           \
              use(buffer_guess_segment_properties) use(buffer_set_direction)                    \
                  use(draw_funcs_create) use(draw_funcs_destroy)                                \
                      use(draw_funcs_set_close_path_func) use(draw_funcs_set_cubic_to_func)     \
                          use(draw_funcs_set_line_to_func) use(draw_funcs_set_move_to_func)     \
                              use(draw_funcs_set_quadratic_to_func) use(face_count)             \
                                  use(face_create) use(face_destroy) use(face_get_glyph_count)  \
                                      use(face_get_upem) use(font_create) use(font_destroy)     \
                                          use(font_get_glyph_extents) use(font_get_glyph_shape) \
                                              use(font_get_nominal_glyph)                       \
                                                  use(ot_color_glyph_reference_png)             \
                                                      use(ot_color_has_png) use(shape)
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define ATTNVIZ_HARFBUZZ_MEMBER(name) decltype(&hb_##name) name;
  ATTNVIZ_HARFBUZZ_FUNCTIONS(ATTNVIZ_HARFBUZZ_MEMBER)
#undef ATTNVIZ_HARFBUZZ_MEMBER
};

#pragma GCC diagnostic pop

/// Null when the system has no HarfBuzz, or one without these functions (older than 4.0). Throws
/// Error{kIo} when HarfBuzz is installed but cannot be loaded.
const HarfBuzz* harfbuzz();

}  // namespace attnviz
