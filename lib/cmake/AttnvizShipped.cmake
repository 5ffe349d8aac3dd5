# What is shipped is hardened, and the same bytes wherever it was built: attnviz_shipped(attnviz_cli).
# Its flags never reach a consumer of the library.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# Sanitizers and coverage bring runtimes of their own: these write files at the end, and trace.
set(ATTNVIZ_IS_INSTRUMENTED OFF)
if(CMAKE_CXX_FLAGS MATCHES "sanitize|coverage")
  set(ATTNVIZ_IS_INSTRUMENTED ON)
endif()

function(attnviz_shipped target)
  # Hidden: then code that may lie anywhere costs nothing.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    return()
  endif()
  # The last that fits is taken: build folders often lie in the source's.
  target_compile_options(${target} PRIVATE
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
  if(ATTNVIZ_IS_INSTRUMENTED OR CMAKE_CXX_FLAGS MATCHES "-O0")
    return()
  endif()
  # From GCC 12 on sizes that are known only at run time are checked, too.
  set(fortify 3)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    set(fortify 2)
  endif()
  set(flags -fstack-protector-strong -fstack-clash-protection
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    list(APPEND flags -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    list(APPEND flags -mbranch-protection=standard)
  endif()
  set(is_optimized "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
  target_compile_options(${target} PRIVATE "$<${is_optimized}:${flags}>")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE
      "$<${is_optimized}:LINKER:-z,relro,-z,now,-z,noexecstack>")
  endif()
endfunction()
