// Searches a .kb file, shows the outline of a document, adds one:
//     search FILE.kb search QUERY
//     search FILE.kb outline DOCUMENT
//     search FILE.kb add PATH TEXT
// Build: c++ -std=c++17 search.cpp -I../include -L../../target/release -lkb -Wl,-rpath,../../target/release -o search
#include "kb.hpp"

#include <cstdio>
#include <iostream>

static int search(const char* path, std::string_view query) {
    const kb::file file(path);
    kb::search_options options;
    options.k = 5;
    options.max_lines = 4; // a snippet: the best lines of each passage
    // The list owns the texts of its hits, so it has a name.
    const kb::hit_list hits = file.search(query, options);
    for (const kb::hit& hit : hits) {
        char score[16];
        std::snprintf(score, sizeof score, "%.2f", hit.score);
        std::cout << hit.document << ":" << hit.first_line << "-" << hit.last_line << "  " << score << "\n"
                  << hit.text << "\n";
    }
    return hits.empty() ? 1 : 0;
}

static int outline(const char* path, std::string_view document) {
    const kb::file file(path);
    const kb::section_list sections = file.outline(document);
    for (const kb::section& section : sections)
        std::cout << section.number << " " << section.title << "  " << section.first_line << "-" << section.last_line
                  << "\n";
    return sections.empty() ? 1 : 0;
}

static int add(const char* path, std::string_view document, std::string_view text) {
    kb::writer writer(path);
    kb::new_document added;
    added.path = document;
    added.data = text;
    writer.add(added);
    writer.commit(); // before this nobody sees it
    return 0;
}

int main(int argc, char** argv) try {
    const std::string_view verb = argc > 2 ? argv[2] : "";
    if (verb == "search" && argc == 4) return search(argv[1], argv[3]);
    if (verb == "outline" && argc == 4) return outline(argv[1], argv[3]);
    if (verb == "add" && argc == 5) return add(argv[1], argv[3], argv[4]);
    std::cerr << "usage: " << argv[0] << " FILE.kb search QUERY | outline DOCUMENT | add PATH TEXT\n";
    return 2;
} catch (const kb::error& error) {
    std::cerr << "error: " << error.what() << "\n";
    if (!error.hint().empty()) std::cerr << "hint: " << error.hint() << "\n";
    return 2;
}
