// Fields of documents through the C++ header: given, changed, asked for by conditions, refused.
//
//     fields --temp FOLDER
#include "kb.hpp"

#include <cstring>
#include <iostream>
#include <string>

static int failed = 0;

static void check(bool is_true, const char* what) {
    if (is_true) return;
    std::cout << "FAILED: " << what << "\n";
    ++failed;
}
#define CHECK(condition) check((condition), #condition)

static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

static void fields_are_given_changed_and_found(const std::string& path) {
    kb::writer_options options;
    options.mode = KB_WRITER_MODE_CREATE;
    options.in_process = true;
    kb::writer writer(path, options);
    kb::new_document note;
    note.path = "tides.md";
    note.data = "The moon pulls the sea.";
    note.metadata = {{"author", "Kim"}, {"year", "2016"}};
    writer.add(note);
    kb::call(writer, R"({"call":"add","path":"moon.md","text":"The moon.","metadata":{"year":2020,"draft":true}})");
    writer.commit();
    CHECK(has(kb::call(kb::file(path), R"({"call":"documents","where":"author = 'kim' and year < 2020"})"), "tides.md"));
    const std::string changed = kb::call(writer, R"({"call":"meta","document":"tides.md","set":{"year":2024,"author":null}})");
    CHECK(has(changed, "\"year\":\"2024\"") && !has(changed, "Kim"));
    writer.commit();

    const kb::file file(path);
    const auto search = [&](const std::string& where) {
        return kb::call(file, R"({"call":"search","query":"moon","where":")" + where + "\"}");
    };
    const std::string late = search("year > 2021");
    CHECK(has(late, "tides.md") && !has(late, "moon.md"));
    const std::string drafts = search("draft and not missing(year)");
    CHECK(has(drafts, "moon.md") && !has(drafts, "tides.md"));
    const std::string listed = kb::call(file, R"({"call":"documents","where":"year >= 2020","recursive":true})");
    CHECK(has(listed, "tides.md") && has(listed, "moon.md"));
    CHECK(has(kb::call(file, R"({"call":"fields"})"), "year"));
    try {
        search("yaer > 2021");
        CHECK(!"a field that no document has is refused");
    } catch (const kb::error& error) {
        CHECK(error.code() == "INVALID_ARGUMENT" && has(error.what(), "year"));
    }
}

int main(int argc, char** argv) {
    std::string folder = ".";
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], "--temp") == 0) folder = argv[i + 1];
    const std::string path = folder + "/fields-cpp.kb";
    std::remove(path.c_str());
    try {
        fields_are_given_changed_and_found(path);
    } catch (const kb::error& error) {
        std::cout << error.code() << ": " << error.what() << "\n";
        ++failed;
    }
    std::remove(path.c_str());
    std::cout << "test result: " << (failed ? "FAILED" : "ok") << ". " << (failed ? 0 : 1) << " passed; " << (failed ? 1 : 0)
              << " failed; 0 ignored\n";
    return failed ? 1 : 0;
}
