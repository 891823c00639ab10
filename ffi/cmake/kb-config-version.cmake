# Which versions this libkb can stand for: before 1.0 those of its minor version, from then on those of its major version.
# The version is that of the installed header.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/kb.h" _kb_line REGEX "^#define KB_VERSION \"")
string(REGEX REPLACE ".*\"([0-9.]+).*\".*" "\\1" PACKAGE_VERSION "${_kb_line}")

set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
string(REGEX MATCH "^0\\.[0-9]+|^[0-9]+" _kb_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^0\\.[0-9]+|^[0-9]+" _kb_asked "${PACKAGE_FIND_VERSION}")
if(_kb_series STREQUAL _kb_asked AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
if(NOT PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
