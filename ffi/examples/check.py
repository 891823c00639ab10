#!/usr/bin/env python3
"""Compiles and runs every example whose toolchain is there, and compares its output with that of search.c.

    python3 ffi/examples/check.py LIBDIR KB_PROGRAM [--work DIR] [--prefix PREFIX]

LIBDIR has libkb.so and libkb.a; KB_PROGRAM is `kb`, whose answers must be the same. PREFIX is an installation by
`cargo cinstall`; without it one is put together in DIR, for the test of CMake. Nothing but koffi of npm is fetched; where
that fails its test is skipped, unless CI is set. The last line is that of `cargo test`; status 1: a test failed.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
INCLUDE = EXAMPLES.parent / "include"
QUERIES = ["how is Ctrl-C handled", "Gezeiten über dem Wattenmeer", "kb_error_free"]
NOTE = "# Gezeiten\n\nDer Mond zieht das Meer: Ebbe und Flut über dem Wattenmeer – zweimal am Tag.\n"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Skip(Exception):
    """Why a test cannot run here."""


class Failure(Exception):
    """What is wrong."""


def need(program):
    path = shutil.which(program)
    if path is None:
        raise Skip(f"{program} is not installed")
    return path


def run(command, expect=(0,), **options):
    """Runs a program; its status must be one of `expect`."""
    command = [str(it) for it in command]
    options.setdefault("timeout", 300)
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", **options)
    if done.returncode not in expect:
        raise Failure(f"{' '.join(command)}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def equal(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}\n--- got\n{got}\n--- wanted\n{wanted}")


def complaints(done):
    """What a program says of an error, without warnings of its runtime."""
    return [it for it in done.stderr.splitlines() if it.startswith(("error:", "hint:"))]


class Check:
    def __init__(self, libdir, kb, work, prefix):
        self.libdir, self.kb, self.work, self.prefix = libdir, kb, work, prefix
        self.shared = libdir / "libkb.so"
        self.file = work / "examples.kb"
        # Not a .kb: its error has a hint. And a file that is not there.
        self.wrong = [EXAMPLES / "search.c", work / "missing.kb"]
        self.link = [f"-L{libdir}", "-lkb", f"-Wl,-rpath,{libdir}"]

    def compiled(self, source, output, *flags, compiler=None, link=None, expect=(0,)):
        compiler = compiler or ("c++" if source.endswith("cpp") else "cc")
        output = self.work / output
        language = ["-std=c++17"] if source.endswith("cpp") else ["-std=c99"]
        # Strict about the examples and kb.hpp. INIT macros of kb.h leave fields out on purpose.
        strict = [*STRICT, "-Wno-missing-field-initializers"]
        command = [need(compiler), *language, *strict, *flags, EXAMPLES / source, f"-I{INCLUDE}"]
        done = run([*command, *(link or self.link), "-o", output], expect)
        return output if done.returncode == 0 else None

    def same(self, *command, **options):
        """`command` with FILE and QUERY prints what search.c prints, and says the same of errors."""
        for query in QUERIES:
            equal(query, run([*command, self.file, query], **options).stdout, self.answers[query])
        for file in self.wrong:
            done = run([*command, file, "sea"], expect=(2,), **options)
            equal(f"stderr for {file}", complaints(done), self.errors[file])

    # The first three give what the others are compared with.

    def index_c(self):
        sources = self.work / "sources"
        sources.mkdir()
        for path in EXAMPLES.iterdir():
            if path.is_file() and path.name != "check.py":
                shutil.copy(path, sources)
        (sources / "gezeiten.md").write_text(NOTE, encoding="utf-8")
        program = self.compiled("index.c", "index")
        done = run([program, sources, self.file])
        count = len(list(sources.iterdir()))
        if f"{count} documents" not in done.stdout or f"added {count}, updated 0" not in done.stdout:
            raise Failure(f"{count} files indexed:\n{done.stdout}")
        run([self.kb, "verify", self.file, "--deep"])

    def search_c(self):
        program = self.compiled("search.c", "search")
        self.answers = {query: run([program, self.file, query]).stdout for query in QUERIES}
        self.errors = {file: complaints(run([program, file, "sea"], expect=(2,))) for file in self.wrong}
        for query, answer in self.answers.items():
            command = [self.kb, "search", "-f", self.file, "-k", "5", "--lines", "4", "--json", query]
            hits = [json.loads(line) for line in run(command).stdout.splitlines()]
            wanted = [
                f"{it['document']}:{it['start_line']}-{it['end_line']}  {it['score']:.2f}\n{it['text']}\n"
                for it in hits
                if "document" in it
            ]
            equal(query, answer, "".join(wanted))
        if len(self.errors[self.wrong[0]]) != 2:
            raise Failure(f"no error with a hint: {self.errors}")

    def minimal_c(self):
        program = self.compiled("minimal.c", "minimal")
        lines = run([program, self.file, QUERIES[0]]).stdout.splitlines()
        if not lines or not all(":" in line for line in lines):
            raise Failure("\n".join(lines))
        if not run([program, self.wrong[1], "sea"], expect=(1,)).stderr.startswith("error: "):
            raise Failure("no error")

    def cancel_index_c(self):
        folder = self.work / "many"
        folder.mkdir()
        for i in range(400):
            text = "\n\n".join(f"Sentence {i} {j} tells of wind and water." for j in range(400))
            (folder / f"{i}.txt").write_text(text)
        output = self.work / "many.kb"
        command = [str(self.work / "index"), str(folder), str(output)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stderr.read(1)  # it has begun
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        equal("status", process.returncode, 130)
        equal("a file was left", output.exists(), False)

    def static_c(self):
        libraries = [self.libdir / "libkb.a", "-lpthread", "-ldl", "-lm"]
        self.same(self.compiled("search.c", "search-static", link=libraries))

    def sanitized(self):
        """Address and leak sanitizer: the examples free everything."""
        flags = ["-fsanitize=address,undefined", "-g"]
        if self.compiled("search.c", "search-asan", *flags, expect=(0, 1)) is None:
            raise Skip("the compiler has no address sanitizer")
        cpp = self.compiled("search.cpp", "search-cpp-asan", *flags)
        index = self.compiled("index.c", "index-asan", *flags)
        run([index, self.work / "sources", self.work / "asan.kb"])
        self.same(self.work / "search-asan")
        run([cpp, self.work / "asan.kb", "add", "notes/sea.md", "# Sea\n\nThe moon pulls the sea."])
        run([cpp, self.work / "asan.kb", "add", "notes/sea.md", "Again."], expect=(2,))
        run([cpp, self.work / "asan.kb", "search", "moon"])

    def search_cpp(self):
        program = self.compiled("search.cpp", "search-cpp", "-Wshadow", "-Wconversion")
        wrapper = self.work / "search-cpp.sh"  # FILE QUERY -> FILE search QUERY
        wrapper.write_text(f'#!/bin/sh\nexec "{program}" "$1" search "$2"\n')
        wrapper.chmod(0o755)
        self.same(wrapper)
        file = self.work / "written.kb"
        run([program, file, "add", "notes/sea.md", "# Sea\n\nThe moon pulls the sea."])
        equal("outline", run([program, file, "outline", "notes/sea.md"]).stdout, "1 Sea  1-3\n")
        twice = complaints(run([program, file, "add", "notes/sea.md", "Again."], expect=(2,)))
        equal("error and hint", len(twice), 2)

    def search_py(self):
        self.same(sys.executable, EXAMPLES / "search.py", self.shared)

    def search_mjs(self):
        node, npm = need("node"), need("npm")
        folder = self.work / "node"
        folder.mkdir()
        for name in ("package.json", "search.mjs"):
            shutil.copy(EXAMPLES / name, folder)
        try:
            run([npm, "install", "--no-audit", "--no-fund"], cwd=folder)
        except (Failure, subprocess.TimeoutExpired) as failed:
            if os.environ.get("CI"):
                raise Failure(str(failed)) from None
            raise Skip("npm could not install koffi") from None
        self.same(node, folder / "search.mjs", self.shared)

    def main_go(self):
        go = need("go")
        program = self.work / "search-go"
        more = {"CGO_LDFLAGS": " ".join(self.link), "GOCACHE": str(self.work / "go-cache"), "GOPROXY": "off"}
        run([go, "build", "-o", program, "."], cwd=EXAMPLES / "go", env={**os.environ, **more})
        self.same(program, env={**os.environ, "GODEBUG": "cgocheck=2"})

    def search_java(self):
        java = need("java")
        version = run([java, "-XshowSettings:properties", "-version"]).stderr
        if "java.specification.version = 17\n" not in version:
            raise Skip("Search.java needs Java 17, whose API is in incubation")
        need("javac")
        flags = ["--add-modules", "jdk.incubator.foreign"]
        folder = self.work / "java"
        run(["javac", *flags, "-d", folder, EXAMPLES / "Search.java"])
        native = ["--enable-native-access=ALL-UNNAMED", "-cp", folder]
        self.same(java, *flags, *native, "Search", self.shared)

    def search_cs(self):
        mcs, mono = need("mcs"), need("mono")
        program = self.work / "Search.exe"
        run([mcs, "-warnaserror", f"-out:{program}", EXAMPLES / "Search.cs"])
        self.same(mono, program, env={**os.environ, "LD_LIBRARY_PATH": str(self.libdir)})

    def cmake(self):
        cmake = need("cmake")
        prefix = self.prefix
        if prefix is None:  # as `cargo cinstall` makes it
            prefix = self.work / "prefix"
            shutil.copytree(INCLUDE, prefix / "include")
            shutil.copytree(EXAMPLES.parent / "cmake", prefix / "share/cmake/kb")
            (prefix / "lib").mkdir()
            for name in ("libkb.so", "libkb.a"):
                (prefix / "lib" / name).symlink_to(self.libdir / name)
        build = self.work / "cmake"
        run([cmake, "-S", EXAMPLES / "cmake", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"])
        run([cmake, "--build", build])
        self.same(build / "search")
        self.same(build / "search_static")

    def pkg_config(self):
        if self.prefix is None:
            raise Skip("no --prefix of an installation is given")
        tool = need("pkg-config")
        folder = next(self.prefix.glob("lib*/**/kb.pc")).parent
        env = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        flags = run([tool, "--cflags", "--libs", "kb"], env=env).stdout.split()
        program = self.work / "search-pc"
        run([need("cc"), EXAMPLES / "search.c", *flags, f"-Wl,-rpath,{folder.parent}", "-o", program])
        self.same(program)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libdir", type=Path, help="folder with libkb.so and libkb.a")
    parser.add_argument("kb", type=Path, help="the program kb")
    parser.add_argument("--work", type=Path, help="folder for what is built; emptied; default: a temporary one")
    parser.add_argument("--prefix", type=Path, help="an installation by cargo cinstall")
    arguments = parser.parse_args()
    # Texts are UTF-8 whatever the locale of the caller is.
    os.environ["LC_ALL"] = "C.UTF-8"

    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.work or Path(temporary)).resolve() / "ffi-examples"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        prefix = arguments.prefix and arguments.prefix.resolve()
        check = Check(arguments.libdir.resolve(), arguments.kb.resolve(), work, prefix)
        return report(check)


def report(check):
    tests = [
        ("index.c", check.index_c),
        ("search.c", check.search_c),
        ("minimal.c", check.minimal_c),
        ("index.c_cancelled", check.cancel_index_c),
        ("search.c_static", check.static_c),
        ("address_sanitizer", check.sanitized),
        ("search.cpp", check.search_cpp),
        ("search.py", check.search_py),
        ("search.mjs", check.search_mjs),
        ("main.go", check.main_go),
        ("Search.java", check.search_java),
        ("Search.cs", check.search_cs),
        ("cmake", check.cmake),
        ("pkg-config", check.pkg_config),
    ]
    passed, failed, skipped = 0, 0, 0
    for number, (name, test) in enumerate(tests):
        print(f"test {name} ... ", end="", flush=True)
        try:
            test()
            passed += 1
            print("ok", flush=True)
        except Skip as reason:
            skipped += 1
            print(f"skipped, {reason}", flush=True)
        except Exception as reason:  # a crash of one test is a failure of it, not the end of the others
            failed += 1
            print(f"FAILED\n{type(reason).__name__}: {reason}", flush=True)
            if number < 2:
                break  # there is nothing to compare the others with
    word = "FAILED" if failed else "ok"
    print(f"\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
