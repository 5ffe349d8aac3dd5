// The functions of fmt that its headers only declare. Compiling them here, once, makes the other
// sources build about twice as fast as fmt's header-only mode. The program still does not need
// fmt's shared library, the only one that Debian packages.
#include <fmt/format-inl.h>

namespace fmt::detail {

template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
#if FMT_VERSION < 110000
template void vformat_to<char>(buffer<char>&, string_view, format_args, locale_ref);
#endif

}  // namespace fmt::detail
