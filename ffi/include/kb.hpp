// kb.hpp - libkb for C++17, in this header alone.
//
//     kb::file file("notes.kb");
//     for (const kb::hit& hit : file.search("why does the sea rise"))
//         std::cout << hit.document << ":" << hit.first_line << "\n";
//
// Owners (file, writer, the lists) close what they own when they are destroyed, and can be moved, not copied. What fails
// throws kb::error. Texts are std::string_view of UTF-8: those of an item live as long as the list that it came from, so
// keep the list. Numbers, enums and threads are those of kb.h. License: MIT OR Apache-2.0.

#ifndef KB_HPP
#define KB_HPP

// C has a type `kb`, which would be in the way of the namespace `kb`: here it is `kb_file`.
#ifdef KB_H
#error "include kb.hpp instead of kb.h, or before it"
#endif
#define kb kb_file
#include "kb.h"
#undef kb

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kb {

// What a failed call throws. what() is the message.
class error : public std::runtime_error {
public:
    error(kb_status status, std::string code, const std::string& message, std::string hint)
        : std::runtime_error(message), status_(status), code_(std::move(code)), hint_(std::move(hint)) {}
    kb_status status() const noexcept { return status_; }
    // The stable name of the status: "DOCUMENT_NOT_FOUND".
    const std::string& code() const noexcept { return code_; }
    // What to do about it; empty where the message says it.
    const std::string& hint() const noexcept { return hint_; }

private:
    kb_status status_;
    std::string code_, hint_;
};

// Called about 20 times a second during a long call: false cancels it. What it throws leaves the call.
using progress_function = std::function<bool(const kb_progress&)>;

namespace detail {

inline std::string_view view(kb_str text) noexcept { return {text.ptr ? text.ptr : "", text.len}; }
// An empty text is not "none": its pointer must not be NULL.
inline kb_str str(std::string_view text) noexcept { return {text.data() ? text.data() : "", text.size()}; }
// For arguments where an empty text is "none".
inline kb_str optional(std::string_view text) noexcept {
    return text.empty() ? kb_str{nullptr, 0} : str(text);
}

// A struct whose other fields are zeros.
template <class T> T make() noexcept {
    T value{};
    value.struct_size = sizeof(T);
    return value;
}

// The error of one call. Its destructor frees the object, also where a copy of its texts throws.
class outcome {
public:
    outcome() = default;
    outcome(const outcome&) = delete;
    ~outcome() { kb_error_free(&raw_); }
    operator kb_error**() noexcept { return &raw_; }
    void check(kb_status status) const {
        if (status == KB_OK) return;
        throw error(status, std::string(view(kb_error_code(raw_))), std::string(view(kb_error_message(raw_))),
                    std::string(view(kb_error_hint(raw_))));
    }

private:
    kb_error* raw_ = nullptr;
};

template <class Call> void checked(Call&& call) {
    outcome err;
    err.check(call(static_cast<kb_error**>(err)));
}

// The result of a call, and its error.
template <class Result, class Call> Result made(Call&& call) {
    Result result;
    checked([&](auto err) { return call(result.address(), err); });
    return result;
}

template <class T, void (*Free)(T**)> class owner {
public:
    owner() = default;
    owner(owner&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    owner& operator=(owner&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
    ~owner() { Free(&raw_); }
    T* get() const noexcept { return raw_; }
    T** address() noexcept { return &raw_; }

private:
    T* raw_ = nullptr;
};

inline void close_file(kb_file** file) noexcept { kb_close(file, nullptr); }
inline void close_writer(kb_writer** writer) noexcept { kb_writer_close(writer, nullptr); }
using owned_text = owner<kb_text, kb_text_free>;
inline std::string copy(const owned_text& from) { return std::string(view(kb_text_str(from.get()))); }

// Hands calls from C to a progress_function. An exception may not pass through C: it waits until the call has returned.
class listener {
public:
    explicit listener(const progress_function& function) : function_(function) {}
    kb_progress_fn callback() const noexcept { return function_ ? &listener::call : nullptr; }
    void* data() noexcept { return this; }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    static int32_t call(const kb_progress* progress, void* data) {
        auto& self = *static_cast<listener*>(data);
        try {
            return self.function_(*progress) ? 0 : 1;
        } catch (...) {
            self.thrown_ = std::current_exception();
            return 1;
        }
    }
    const progress_function& function_;
    std::exception_ptr thrown_;
};

template <class Call> void checked(listener& listener, Call&& call) {
    outcome err;
    const kb_status status = call(static_cast<kb_error**>(err));
    listener.rethrow();
    err.check(status);
}

// Texts as C takes them: an array and its length.
class strs {
public:
    explicit strs(const std::vector<std::string_view>& texts) {
        raw_.reserve(texts.size());
        for (std::string_view text : texts) raw_.push_back(str(text));
    }
    const kb_str* data() const noexcept { return raw_.data(); }
    std::size_t size() const noexcept { return raw_.size(); }

private:
    std::vector<kb_str> raw_;
};

// The same, where no texts and an empty list of texts are different: no texts are NULL.
class optional_strs {
public:
    explicit optional_strs(const std::optional<std::vector<std::string_view>>& texts)
        : is_given_(texts.has_value()), texts_(texts.value_or(std::vector<std::string_view>{})) {}
    const kb_str* data() const noexcept { return !is_given_ ? nullptr : texts_.size() > 0 ? texts_.data() : &none_; }
    std::size_t size() const noexcept { return texts_.size(); }

private:
    bool is_given_;
    strs texts_;
    kb_str none_{};
};

template <class T> std::vector<std::string_view> views(const T* texts, std::size_t len) {
    std::vector<std::string_view> result;
    result.reserve(len);
    for (std::size_t i = 0; i < len; i++) result.push_back(view(texts[i]));
    return result;
}

} // namespace detail

struct hit {
    std::string_view document, handle, title, section, section_number, text, before, after, symbol, hierarchy, language;
    float score = 0;
    std::uint32_t first_line = 0, last_line = 0, start_byte = 0, end_byte = 0;
    // The best whole lines of `text`, up to four.
    std::string_view snippet;
    // All that C has, with the same lifetime.
    kb_hit raw{};

    using raw_type = kb_hit;
    explicit hit(const kb_hit& from)
        : document(detail::view(from.document)), handle(detail::view(from.handle)), title(detail::view(from.title)),
          section(detail::view(from.section)), section_number(detail::view(from.section_number)),
          text(detail::view(from.text)), before(detail::view(from.before)), after(detail::view(from.after)),
          symbol(detail::view(from.symbol)), hierarchy(detail::view(from.hierarchy)),
          language(detail::view(from.language)), score(from.score), first_line(from.first_line),
          last_line(from.last_line), start_byte(from.start_byte), end_byte(from.end_byte),
          snippet(text.substr(from.snippet.start, from.snippet.end - from.snippet.start)), raw(from) {}
};

struct document {
    std::string_view path, title, handle, file_type, language;
    std::uint32_t lines = 0, chunks = 0;
    std::uint64_t size_bytes = 0;
    std::int64_t modified_ms = 0;
    std::vector<std::string_view> tags;
    kb_document raw{};

    using raw_type = kb_document;
    explicit document(const kb_document& from)
        : path(detail::view(from.path)), title(detail::view(from.title)), handle(detail::view(from.handle)),
          file_type(detail::view(from.file_type)), language(detail::view(from.language)), lines(from.lines),
          chunks(from.chunks), size_bytes(from.size_bytes), modified_ms(from.modified_ms),
          tags(detail::views(from.tags, from.tags_len)), raw(from) {}
};

struct section {
    std::string_view number, title, symbol;
    std::uint32_t level = 0, first_line = 0, last_line = 0;
    kb_section raw{};

    using raw_type = kb_section;
    explicit section(const kb_section& from)
        : number(detail::view(from.number)), title(detail::view(from.title)), symbol(detail::view(from.symbol)),
          level(from.level), first_line(from.first_line), last_line(from.last_line), raw(from) {}
};

struct part {
    std::string_view name;
    std::uint32_t number = 0, first_line = 0, last_line = 0;
    kb_part raw{};

    using raw_type = kb_part;
    explicit part(const kb_part& from)
        : name(detail::view(from.name)), number(from.number), first_line(from.first_line), last_line(from.last_line),
          raw(from) {}
};

struct symbol {
    std::string_view document, language, name, hierarchy, signature;
    std::uint32_t kind = 0, first_line = 0, last_line = 0;
    kb_symbol raw{};

    using raw_type = kb_symbol;
    explicit symbol(const kb_symbol& from)
        : document(detail::view(from.document)), language(detail::view(from.language)), name(detail::view(from.name)),
          hierarchy(detail::view(from.hierarchy)), signature(detail::view(from.signature)), kind(from.kind),
          first_line(from.first_line), last_line(from.last_line), raw(from) {}
};

// Items of a result, which owns their texts.
template <class Item, class List, std::size_t (*Len)(const List*),
          kb_status (*Get)(const List*, std::size_t, typename Item::raw_type*, kb_error**), void (*Free)(List**)>
class list {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Item;
        iterator(const list* of, std::size_t index) : of_(of), index_(index) {}
        Item operator*() const { return (*of_)[index_]; }
        iterator& operator++() { return ++index_, *this; }
        bool operator==(const iterator& other) const { return index_ == other.index_; }
        bool operator!=(const iterator& other) const { return index_ != other.index_; }

    private:
        const list* of_;
        std::size_t index_;
    };

    std::size_t size() const noexcept { return Len(owned_.get()); }
    bool empty() const noexcept { return size() == 0; }
    // Throws where there is no such item.
    Item operator[](std::size_t index) const {
        auto raw = detail::make<typename Item::raw_type>();
        detail::checked([&](auto err) { return Get(owned_.get(), index, &raw, err); });
        return Item(raw);
    }
    iterator begin() const { return {this, 0}; }
    iterator end() const { return {this, size()}; }
    const List* get() const noexcept { return owned_.get(); }
    // For calls of kb.h: where they put a new list.
    List** address() noexcept { return owned_.address(); }

private:
    detail::owner<List, Free> owned_;
};

using document_list = list<document, kb_documents, kb_documents_len, kb_documents_get, kb_documents_free>;
using section_list = list<section, kb_sections, kb_sections_len, kb_sections_get, kb_sections_free>;
using part_list = list<part, kb_parts, kb_parts_len, kb_parts_get, kb_parts_free>;

class hit_list : public list<hit, kb_hits, kb_hits_len, kb_hits_get, kb_hits_free> {
public:
    kb_hits_summary about() const {
        auto summary = detail::make<kb_hits_summary>();
        detail::checked([&](auto err) { return kb_hits_about(get(), &summary, err); });
        return summary;
    }
    // `cursor` of the next page; empty: the result ends here.
    std::string_view next() const { return detail::view(about().next); }
    std::vector<std::string_view> warnings() const {
        const kb_hits_summary summary = about();
        return detail::views(summary.warnings, summary.warnings_len);
    }
};

class symbol_list : public list<symbol, kb_symbols, kb_symbols_len, kb_symbols_get, kb_symbols_free> {
public:
    std::uint64_t total() const noexcept { return kb_symbols_total(get()); }
    std::string_view next() const noexcept { return detail::view(kb_symbols_next(get())); }
};

// Their fields are those of kb.h; zeros and empty texts are the defaults.
struct search_options {
    std::uint32_t k = 0;
    kb_mode mode = KB_MODE_HYBRID;
    kb_scope scope = KB_SCOPE_CHUNKS;
    kb_sort sort = KB_SORT_SCORE;
    float min_score = 0;
    std::uint32_t context_before = 0, context_after = 0, max_lines = 0, max_tokens = 0;
    bool plain = false, no_join = false, smart_context = false;
    std::uint32_t classes = 0, symbol_kinds = 0;
    std::int64_t modified_since_ms = 0;
    std::vector<std::string_view> paths{}, folders{}, types{}, languages{}, tags{}, symbol_names{};
    std::string_view cursor{};
    progress_function progress{};
};
struct symbols_options {
    std::uint32_t kinds = 0, max_tokens = 0, k = 0;
    std::string_view name{}, uses{}, used_by{};
    std::vector<std::string_view> languages{}, paths{};
    std::string_view cursor{};
};
struct writer_options {
    kb_writer_mode mode = KB_WRITER_MODE_OPEN_OR_CREATE;
    std::uint32_t lock_timeout_ms = 0;
    std::string_view worker{};
    bool in_process = false;
};
struct new_document {
    std::string_view path;
    // UTF-8, or the bytes of a file.
    std::string_view data;
    // Null (the default): the first heading or the name. "" is an empty title.
    std::string_view title{};
    std::vector<std::string_view> tags{};
    std::vector<std::pair<std::string_view, std::string_view>> metadata{};
    std::int64_t modified_ms = 0;
    bool replace = false, include_secrets = false;
    progress_function progress{};
};
struct index_options {
    std::uint32_t threads = 0;
    kb_codec vectors = KB_CODEC_DEFAULT;
    std::uint64_t max_file_bytes = 0;
    bool rebuild = false, force_hash = false, prune = false;
    std::int32_t include_secrets = 0, trigrams = 0;
    std::string_view root{};
    // 1: yes; -1: no; 0: as the file says for the folder.
    std::int32_t hidden = 0, follow = 0;
    // Patterns as in .gitignore. Nothing: as the file says for the folder. An empty vector: every file.
    std::optional<std::vector<std::string_view>> include{}, exclude{};
    progress_function progress{};
};
struct seal_options {
    std::string_view output{};
    kb_codec vectors = KB_CODEC_DEFAULT;
    bool replace = false;
    progress_function progress{};
};

struct info {
    std::string uuid, format, model, content_root;
    bool is_model_available = false, is_sealed = false;
    std::uint32_t dim = 0;
    std::uint64_t documents = 0, chunks = 0, text_bytes = 0, file_bytes = 0, commits = 0;
    std::int64_t created_ms = 0, updated_ms = 0;
};

struct report {
    std::uint64_t documents = 0, chunks = 0, added = 0, updated = 0, removed = 0, unchanged = 0, skipped = 0;
    std::uint64_t bytes_before = 0, bytes_after = 0;
    // `json`: all of it, with every document that changed and every file that was left out.
    std::string content_root, json;
};

namespace detail {

// One JSON request. `progress` may be empty.
inline std::string call(const kb_file* file, kb_writer* writer, std::string_view request,
                        const progress_function& progress) {
    owned_text answer;
    listener told(progress);
    checked(told, [&](auto err) {
        return kb_call(file, writer, str(request), told.callback(), told.data(), answer.address(), err);
    });
    return copy(answer);
}

inline report read(const kb_report* from) {
    auto raw = make<kb_report_view>();
    checked([&](auto err) { return kb_report_get(from, &raw, err); });
    return {raw.documents, raw.chunks, raw.added, raw.updated, raw.removed, raw.unchanged, raw.skipped, raw.bytes_before,
            raw.bytes_after, std::string(view(raw.content_root)), std::string(view(kb_report_json(from)))};
}

} // namespace detail

// A file that is open for reading. Any number of threads may use one.
class file {
public:
    explicit file(std::string_view path) {
        detail::checked([&](auto err) { return kb_open(detail::str(path), owned_.address(), err); });
    }
    // The bytes of a file in memory; they are copied.
    file(const void* data, std::size_t len) {
        detail::checked([&](auto err) {
            return kb_open_bytes(static_cast<const std::uint8_t*>(data), len, owned_.address(), err);
        });
    }
    const kb_file* get() const noexcept { return owned_.get(); }
    hit_list search(std::string_view query, const search_options& from = {}) const {
        const detail::strs paths(from.paths), folders(from.folders), types(from.types), languages(from.languages),
            tags(from.tags), symbol_names(from.symbol_names);
        detail::listener told(from.progress);
        auto options = detail::make<kb_search_options>();
        options.k = from.k, options.min_score = from.min_score;
        options.mode = from.mode, options.scope = from.scope, options.sort = from.sort;
        options.context_before = from.context_before, options.context_after = from.context_after;
        options.max_lines = from.max_lines, options.max_tokens = from.max_tokens;
        options.plain = from.plain, options.no_join = from.no_join, options.smart_context = from.smart_context;
        options.classes = from.classes, options.symbol_kinds = from.symbol_kinds;
        options.modified_since_ms = from.modified_since_ms;
        options.paths = paths.data(), options.paths_len = paths.size();
        options.folders = folders.data(), options.folders_len = folders.size();
        options.types = types.data(), options.types_len = types.size();
        options.languages = languages.data(), options.languages_len = languages.size();
        options.tags = tags.data(), options.tags_len = tags.size();
        options.symbol_names = symbol_names.data(), options.symbol_names_len = symbol_names.size();
        options.cursor = detail::optional(from.cursor);
        options.progress = told.callback(), options.progress_data = told.data();
        hit_list result;
        detail::checked(told, [&](auto err) {
            return kb_search(get(), detail::str(query), &options, result.address(), err);
        });
        return result;
    }

    // One document, by path, handle, title or the end of its path.
    document_list find(std::string_view name) const {
        return detail::made<document_list>(
            [&](auto out, auto err) { return kb_find_document(get(), detail::str(name), out, err); });
    }
    // At most `limit` (0: 10000) documents behind the path `after`; an empty list is the end.
    document_list documents(std::string_view after = {}, std::size_t limit = 0) const {
        return detail::made<document_list>(
            [&](auto out, auto err) { return kb_list_documents(get(), detail::optional(after), limit, out, err); });
    }
    section_list outline(std::string_view document) const {
        return detail::made<section_list>(
            [&](auto out, auto err) { return kb_get_outline(get(), detail::str(document), out, err); });
    }
    part_list parts(std::string_view document) const {
        return detail::made<part_list>(
            [&](auto out, auto err) { return kb_get_parts(get(), detail::str(document), out, err); });
    }
    symbol_list symbols(const symbols_options& from = {}) const {
        const detail::strs languages(from.languages), paths(from.paths);
        auto options = detail::make<kb_symbols_options>();
        options.kinds = from.kinds, options.max_tokens = from.max_tokens, options.k = from.k;
        options.name = detail::optional(from.name);
        options.uses = detail::optional(from.uses);
        options.used_by = detail::optional(from.used_by);
        options.languages = languages.data(), options.languages_len = languages.size();
        options.paths = paths.data(), options.paths_len = paths.size();
        options.cursor = detail::optional(from.cursor);
        return detail::made<symbol_list>([&](auto out, auto err) { return kb_find_symbols(get(), &options, out, err); });
    }
    // Lines from 1, both included; 0 and 0: all.
    std::string text(std::string_view document, std::uint32_t first_line = 0, std::uint32_t last_line = 0) const {
        return detail::copy(detail::made<detail::owned_text>([&](auto out, auto err) {
            return kb_get_text(get(), detail::str(document), first_line, last_line, out, err);
        }));
    }
    std::string section_text(std::string_view document, std::string_view section) const {
        return detail::copy(detail::made<detail::owned_text>([&](auto out, auto err) {
            return kb_get_section_text(get(), detail::str(document), detail::str(section), out, err);
        }));
    }
    kb::info info() const {
        using owner = detail::owner<kb_info, kb_info_free>;
        const owner owned = detail::made<owner>([&](auto out, auto err) { return kb_get_info(get(), out, err); });
        auto raw = detail::make<kb_info_view>();
        detail::checked([&](auto err) { return kb_info_get(owned.get(), &raw, err); });
        const auto text = [](kb_str from) { return std::string(detail::view(from)); };
        return {text(raw.uuid),  text(raw.format), text(raw.model), text(raw.content_root), raw.is_model_available != 0,
                raw.is_sealed != 0, raw.dim,       raw.documents,   raw.chunks,             raw.text_bytes,
                raw.file_bytes,  raw.commits,      raw.created_ms,  raw.updated_ms};
    }
    // What is wrong with the file, as sentences; none: it is good.
    std::vector<std::string> verify(bool deep = false, const progress_function& progress = {}) const {
        detail::owner<kb_problems, kb_problems_free> problems;
        detail::listener told(progress);
        auto options = detail::make<kb_verify_options>();
        options.deep = deep;
        options.progress = told.callback(), options.progress_data = told.data();
        detail::checked(told, [&](auto err) { return kb_verify(get(), &options, problems.address(), err); });
        std::vector<std::string> result;
        for (std::size_t i = 0; i < kb_problems_len(problems.get()); i++)
            result.emplace_back(detail::view(kb_problems_get(problems.get(), i)));
        return result;
    }

private:
    detail::owner<kb_file, detail::close_file> owned_;
};

// A file that is open for writing, by one thread at a time. What is not committed is lost when it is destroyed.
class writer {
public:
    explicit writer(std::string_view path, const writer_options& from = {}) {
        auto options = detail::make<kb_writer_options>();
        options.mode = from.mode, options.lock_timeout_ms = from.lock_timeout_ms;
        options.worker = detail::optional(from.worker), options.in_process = from.in_process;
        detail::checked([&](auto err) { return kb_writer_open(detail::str(path), &options, owned_.address(), err); });
    }
    kb_writer* get() const noexcept { return owned_.get(); }
    // Documents that the next commit changes.
    std::size_t pending() const noexcept { return kb_writer_pending(get()); }

    void add(const new_document& from) {
        const detail::strs tags(from.tags);
        std::vector<kb_pair> metadata;
        for (const auto& [key, value] : from.metadata) metadata.push_back({detail::str(key), detail::str(value)});
        detail::listener told(from.progress);
        auto document = detail::make<kb_new_document>();
        document.path = detail::str(from.path);
        document.data = from.data.data() ? from.data.data() : "";
        document.data_len = from.data.size();
        document.title = {from.title.data(), from.title.size()};
        document.tags = tags.data(), document.tags_len = tags.size();
        document.metadata = metadata.data(), document.metadata_len = metadata.size();
        document.modified_ms = from.modified_ms;
        document.replace = from.replace, document.include_secrets = from.include_secrets;
        document.progress = told.callback(), document.progress_data = told.data();
        detail::checked(told, [&](auto err) { return kb_writer_add(get(), &document, err); });
    }
    void remove(std::string_view name) {
        detail::checked([&](auto err) { return kb_writer_remove(get(), detail::str(name), err); });
    }
    void tag(std::string_view name, const std::vector<std::string_view>& add,
             const std::vector<std::string_view>& remove = {}) {
        const detail::strs more(add), less(remove);
        detail::checked([&](auto err) {
            return kb_writer_tag(get(), detail::str(name), more.data(), more.size(), less.data(), less.size(), err);
        });
    }
    // Where it throws, the changes since the last commit are gone.
    void commit(const progress_function& progress = {}) {
        detail::listener told(progress);
        detail::checked(told, [&](auto err) { return kb_writer_commit(get(), told.callback(), told.data(), err); });
    }
    void rollback() {
        detail::checked([&](auto err) { return kb_writer_rollback(get(), err); });
    }
    // Reads folders and files, and commits.
    report index(const std::vector<std::string_view>& paths, const index_options& from = {}) {
        const detail::strs sources(paths);
        detail::listener told(from.progress);
        auto options = detail::make<kb_index_options>();
        options.threads = from.threads, options.vectors = from.vectors, options.max_file_bytes = from.max_file_bytes;
        options.rebuild = from.rebuild, options.force_hash = from.force_hash, options.prune = from.prune;
        options.include_secrets = from.include_secrets, options.trigrams = from.trigrams;
        options.root = detail::optional(from.root);
        const detail::optional_strs include(from.include), exclude(from.exclude);
        options.hidden = from.hidden, options.follow = from.follow;
        options.include = include.data(), options.include_len = include.size();
        options.exclude = exclude.data(), options.exclude_len = exclude.size();
        options.progress = told.callback(), options.progress_data = told.data();
        detail::owner<kb_report, kb_report_free> result;
        detail::checked(told, [&](auto err) {
            return kb_writer_index(get(), sources.data(), sources.size(), &options, result.address(), err);
        });
        return detail::read(result.get());
    }
    // Writes the smallest form of the file, the one to ship.
    report seal(const seal_options& from = {}) {
        detail::listener told(from.progress);
        auto options = detail::make<kb_seal_options>();
        options.output = detail::optional(from.output);
        options.vectors = from.vectors, options.replace = from.replace;
        options.progress = told.callback(), options.progress_data = told.data();
        detail::owner<kb_report, kb_report_free> result;
        detail::checked(told, [&](auto err) { return kb_writer_seal(get(), &options, result.address(), err); });
        return detail::read(result.get());
    }

private:
    detail::owner<kb_writer, detail::close_writer> owned_;
};

// Requests that are JSON objects, answered with one: {"call": "help"} lists them. For calls that read:
inline std::string call(const file& file, std::string_view request, const progress_function& progress = {}) {
    return detail::call(file.get(), nullptr, request, progress);
}
// For calls that write:
inline std::string call(writer& writer, std::string_view request, const progress_function& progress = {}) {
    return detail::call(nullptr, writer.get(), request, progress);
}

} // namespace kb

#endif // KB_HPP
