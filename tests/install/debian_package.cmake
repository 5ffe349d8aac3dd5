# `cpack -G DEB` makes a package whose program runs from wherever it is unpacked.
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)

find_program(dpkg_deb dpkg-deb)
find_program(dpkg_shlibdeps dpkg-shlibdeps)
find_program(file_program file)
if(NOT dpkg_deb OR NOT dpkg_shlibdeps OR NOT file_program)
  message("SKIPPED: the Debian package needs dpkg-deb, dpkg-shlibdeps and file")
  return()
endif()

get_filename_component(cmake_folder ${CMAKE_COMMAND} DIRECTORY)
run(ignored ${cmake_folder}/cpack -G DEB -B ${WORK_DIR} --config ${BINARY_DIR}/CPackConfig.cmake)
file(GLOB packages ${WORK_DIR}/attnviz_*.deb)
list(LENGTH packages n_packages)
if(NOT n_packages EQUAL 1)
  message(FATAL_ERROR "expected one package, found: ${packages}")
endif()

run(package ${dpkg_deb} --field ${packages} Package)
expect_match("${package}" "^attnviz\n$" "Package")
run(depends ${dpkg_deb} --field ${packages} Depends)
expect_match("${depends}" "libc6 " "Depends")

run(ignored ${dpkg_deb} --extract ${packages} ${WORK_DIR}/unpacked)
foreach(file IN ITEMS bin/attnviz share/doc/attnviz/copyright share/man/man1/attnviz.1.gz
        share/bash-completion/completions/attnviz share/zsh/vendor-completions/_attnviz
        share/fish/vendor_completions.d/attnviz.fish)
  if(NOT EXISTS ${WORK_DIR}/unpacked/usr/${file})
    message(FATAL_ERROR "the package has no /usr/${file}")
  endif()
endforeach()
if(EXISTS ${WORK_DIR}/unpacked/usr/include)
  message(FATAL_ERROR "the program's package holds the library's headers")
endif()
run(output ${WORK_DIR}/unpacked/usr/bin/attnviz show --random "The cat sat")
expect_match("${output}" "The.*cat.*sat" "the packaged program's output")
