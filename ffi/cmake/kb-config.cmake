# find_package(kb): the targets kb::kb (shared) and kb::static of an installed libkb.
#
#     find_package(kb 0.1 REQUIRED)
#     target_link_libraries(program PRIVATE kb::kb)
#
# Installed to <prefix>/share/cmake/kb; all paths follow from there, so the prefix can be moved.

get_filename_component(_kb_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_kb_folders lib lib64)
if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND _kb_folders "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()

# Sets `result` to the path of a file of this installation, or to NOTFOUND. Not cached: another prefix may come.
function(_kb_find result)
    set(${result} NOTFOUND PARENT_SCOPE)
    foreach(folder IN LISTS _kb_folders ITEMS bin)
        foreach(name IN LISTS ARGN)
            if(EXISTS "${_kb_prefix}/${folder}/${name}")
                set(${result} "${_kb_prefix}/${folder}/${name}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
endfunction()

if(WIN32)
    _kb_find(_kb_shared kb.dll)
    _kb_find(_kb_import kb.dll.lib libkb.dll.a)
    _kb_find(_kb_static kb.lib libkb.a)
elseif(APPLE)
    _kb_find(_kb_shared libkb.dylib)
    _kb_find(_kb_static libkb.a)
else()
    _kb_find(_kb_shared libkb.so)
    _kb_find(_kb_static libkb.a)
endif()

if(_kb_shared AND NOT TARGET kb::kb)
    add_library(kb::kb SHARED IMPORTED)
    set_target_properties(kb::kb PROPERTIES
        IMPORTED_LOCATION "${_kb_shared}"
        INTERFACE_INCLUDE_DIRECTORIES "${_kb_prefix}/include")
    if(_kb_import)
        set_target_properties(kb::kb PROPERTIES IMPORTED_IMPLIB "${_kb_import}")
    endif()
endif()

if(_kb_static AND NOT TARGET kb::static)
    add_library(kb::static STATIC IMPORTED)
    # What the Rust standard library needs: rustc --print native-static-libs. macOS and Windows were not tried.
    if(WIN32)
        set(_kb_system kernel32 ntdll userenv ws2_32 dbghelp)
    elseif(APPLE)
        set(_kb_system iconv)
    else()
        set(_kb_system gcc_s util rt pthread m dl)
    endif()
    set_target_properties(kb::static PROPERTIES
        IMPORTED_LOCATION "${_kb_static}"
        INTERFACE_INCLUDE_DIRECTORIES "${_kb_prefix}/include"
        INTERFACE_LINK_LIBRARIES "${_kb_system}")
endif()

set(kb_FOUND FALSE)
if(TARGET kb::kb OR TARGET kb::static)
    set(kb_FOUND TRUE)
else()
    set(kb_NOT_FOUND_MESSAGE "no libkb below ${_kb_prefix}")
endif()
