// A lesson as one screen, and the list of all lessons.
#pragma once

#include "attnviz/document/lessons/lesson.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Title, sentences, the figure unless it is drawn elsewhere, the table, what is to be seen, and
/// the commands that go on, in lines of at most options.columns (at least 20 are assumed).
Page lesson_page(const Lesson& lesson, const TerminalOptions& options, bool with_figure = true);

/// Name, what is taught, and what is drawn, of each.
Page lessons_page(const TerminalOptions& options);

}  // namespace attnviz
