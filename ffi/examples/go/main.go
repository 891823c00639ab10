// Searches a .kb file with cgo: search FILE.kb QUERY
//
// Build: CGO_LDFLAGS="-L/where/libkb/is" go build -o search
// (A folder of its own, because cgo compiles every C file that lies beside main.go.)
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../include
#cgo LDFLAGS: -lkb
#include <stdlib.h>
#include "kb.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Error is what a failed call says.
type Error struct {
	Code, Message, Hint string
}

func (e *Error) Error() string { return e.Message }

// failure copies an error of C and frees it; nil for none.
func failure(err *C.kb_error) error {
	if err == nil {
		return nil
	}
	defer C.kb_error_free(&err)
	return &Error{text(C.kb_error_code(err)), text(C.kb_error_message(err)), text(C.kb_error_hint(err))}
}

// text copies bytes that C owns.
func text(s C.kb_str) string { return C.GoStringN(s.ptr, C.int(s.len)) }

// argument makes a text for C; done frees it. A kb_str may not point into Go memory, which cgo does not pin inside structs.
func argument(s string) (str C.kb_str, done func()) {
	str.ptr, str.len = C.CString(s), C.size_t(len(s))
	return str, func() { C.free(unsafe.Pointer(str.ptr)) }
}

// File is an open .kb file. Any number of goroutines may use one; Close it after the last call.
type File struct{ file *C.kb }

// Hit is a passage that matches.
type Hit struct {
	Document            string
	FirstLine, LastLine int
	Score               float32
	Text                string
}

func Open(path string) (*File, error) {
	str, done := argument(path)
	defer done()
	var file *C.kb
	var err *C.kb_error
	C.kb_open(str, &file, &err)
	if err != nil {
		return nil, failure(err)
	}
	return &File{file}, nil
}

func (f *File) Close() error {
	var err *C.kb_error
	C.kb_close(&f.file, &err)
	return failure(err)
}

// Search returns the k best hits, with the best lines of each.
func (f *File) Search(query string, k, maxLines int) ([]Hit, error) {
	str, done := argument(query)
	defer done()
	options := C.kb_search_options{k: C.uint32_t(k), max_lines: C.uint32_t(maxLines)}
	options.struct_size = C.size_t(unsafe.Sizeof(options))
	var hits *C.kb_hits
	var err *C.kb_error
	C.kb_search(f.file, str, &options, &hits, &err)
	if err != nil {
		return nil, failure(err)
	}
	defer C.kb_hits_free(&hits)
	found := make([]Hit, C.kb_hits_len(hits))
	for i := range found {
		var hit C.kb_hit
		hit.struct_size = C.size_t(unsafe.Sizeof(hit))
		C.kb_hits_get(hits, C.size_t(i), &hit, nil)
		found[i] = Hit{text(hit.document), int(hit.first_line), int(hit.last_line), float32(hit.score), text(hit.text)}
	}
	return found, nil
}

// Call answers any request of kb_call; {"call": "help"} lists them.
func (f *File) Call(request map[string]any, answer any) error {
	bytes, failed := json.Marshal(request)
	if failed != nil {
		return failed
	}
	str, done := argument(string(bytes))
	defer done()
	var out *C.kb_text
	var err *C.kb_error
	C.kb_call(f.file, nil, str, nil, nil, &out, &err)
	if err != nil {
		return failure(err)
	}
	defer C.kb_text_free(&out)
	return json.Unmarshal([]byte(text(C.kb_text_str(out))), answer)
}

func run(path, query string) (status int, err error) {
	file, err := Open(path)
	if err != nil {
		return 2, err
	}
	defer file.Close()
	var info struct{ Documents int }
	if err := file.Call(map[string]any{"call": "info"}, &info); err != nil {
		return 2, err
	}
	fmt.Fprintln(os.Stderr, info.Documents, "documents")
	hits, err := file.Search(query, 5, 4)
	if err != nil {
		return 2, err
	}
	if len(hits) == 0 {
		return 1, nil
	}
	for _, hit := range hits {
		fmt.Printf("%s:%d-%d  %.2f\n%s\n", hit.Document, hit.FirstLine, hit.LastLine, hit.Score, hit.Text)
	}
	return 0, nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: search FILE.kb QUERY")
		os.Exit(2)
	}
	status, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		var failed *Error
		if errors.As(err, &failed) && failed.Hint != "" {
			fmt.Fprintln(os.Stderr, "hint:", failed.Hint)
		}
	}
	os.Exit(status)
}
