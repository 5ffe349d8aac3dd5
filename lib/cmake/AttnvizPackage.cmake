# `cpack -G DEB`: a Debian package of the program alone. The library is for `cmake --install`.
set(CPACK_PACKAGE_NAME attnviz)
set(CPACK_PACKAGE_VENDOR "The attnviz authors")
set(CPACK_PACKAGE_CONTACT "The attnviz authors <maintainers@attnviz.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows what attention does, from a terminal")
set(CPACK_PACKAGE_DESCRIPTION
"Text in, attention pattern out: as a grid in the terminal, as a heatmap in a PNG
file, as JSON or as a NumPy array. Runs multi-head attention on the CPU with random
weights or with weights written as JSON. One native program, ready in milliseconds.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)

set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Opened when a picture needs them, and done without where they are missing.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libharfbuzz0b (>= 4.0), libfontconfig1")
include(CPack)
