//! `kb bench`.

use crate::support::Folder;

#[test]
fn bench_shows_every_mode_and_its_steps() {
    let folder = Folder::indexed();
    let told = folder.kb("bench harbour.kb -n 5").expect(0);
    assert!(told.stdout.starts_with("harbour.kb  "), "{told:#?}");
    for word in [
        "hybrid",
        "semantic",
        "keyword",
        "    plan ",
        "GB/s",
        "5 drawn",
    ] {
        assert!(told.stdout.contains(word), "{word}: {told:#?}");
    }
    assert_eq!(told.stderr, "");
}

#[test]
fn bench_as_json_has_the_same_figures_for_programs() {
    let folder = Folder::indexed();
    let told = folder
        .kb("bench --json -n 3 --mode keyword --mode hybrid")
        .expect(0)
        .json_lines();
    let [object] = told.as_slice() else {
        panic!("{told:#?}")
    };
    assert_eq!(object["file"], "harbour.kb");
    assert_eq!(
        (&object["queries"], &object["drawn_from_file"]),
        (&3.into(), &true.into())
    );
    let modes = object["modes"].as_array().unwrap();
    let names: Vec<_> = modes
        .iter()
        .map(|mode| mode["mode"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["hybrid", "keyword"]);
    for mode in modes {
        assert!(mode["p50_us"].as_f64() > Some(0.0), "{mode}");
        assert!(mode["p95_us"].as_f64() >= mode["p50_us"].as_f64(), "{mode}");
        assert!(!mode["steps"].as_array().unwrap().is_empty(), "{mode}");
    }
    let vectors = &object["vectors"];
    assert!(vectors["bytes"].as_u64() > Some(0), "{vectors}");
    assert!(
        vectors["scan_bytes_per_second"].as_f64() > Some(0.0),
        "{vectors}"
    );
    if cfg!(target_os = "linux") {
        assert!(
            object["process"]["private_bytes"].as_u64() > Some(0),
            "{object}"
        );
    }
}

#[test]
fn bench_asks_the_lines_of_a_file() {
    let folder = Folder::indexed();
    folder.write(
        "asked.txt",
        "# of the harbour\nfog horn\n\nhigh water\ntides\n",
    );
    let bench = |number: &str| {
        let told = folder
            .kb([
                "bench",
                "--queries",
                "asked.txt",
                "--json",
                "-n",
                number,
                "--mode",
                "keyword",
            ])
            .expect(0)
            .json_lines();
        assert_eq!(told[0]["drawn_from_file"], false);
        told[0]["queries"].clone()
    };
    assert_eq!((bench("100"), bench("2")), (3.into(), 2.into()));
}

#[test]
fn bench_of_a_file_without_text_says_so() {
    let folder = Folder::empty();
    std::fs::create_dir(folder.join("nothing")).unwrap();
    folder.write("nothing/empty.txt", "");
    folder.kb("index nothing").expect(0);
    let told = folder.kb("bench nothing.kb").expect(1);
    told.stderr_has("nothing to measure");
    assert_eq!(told.stdout, "");
    folder.write("digits/one.txt", "1 2 3\n");
    folder.kb("index digits").expect(0);
    let told = folder.kb("bench digits.kb").expect(1);
    told.stderr_has("--queries");
    folder.write("asked.txt", "two\n");
    folder.kb("bench digits.kb --queries asked.txt").expect(0);
}

#[test]
fn bench_refuses_what_it_cannot_measure() {
    let folder = Folder::indexed();
    folder.write("blank.txt", "\n# nothing\n");
    folder.write("bytes.txt", b"\xff\xfe");
    for (arguments, code) in [
        (["harbour.kb", "-n", "0"], "USAGE"),
        (["harbour.kb", "-n", "many"], "USAGE"),
        (["harbour.kb", "-k", "0"], "USAGE"),
        (["harbour.kb", "--mode", "guess"], "USAGE"),
        (["harbour.kb", "--queries", "blank.txt"], "USAGE"),
        (["harbour.kb", "--queries", "bytes.txt"], "IO"),
        (["harbour.kb", "--queries", "gone.txt"], "IO"),
        (["gone.kb", "-n", "1"], "PATH_NOT_FOUND"),
        (["blank.txt", "-n", "1"], "NOT_A_KB"),
    ] {
        let [file, flag, value] = arguments;
        let told = folder.kb(["bench", file, flag, value, "--json"]).expect(2);
        assert_eq!(told.error_code(), code, "{arguments:?}: {told:#?}");
        assert_eq!(told.stdout, "");
    }
}

#[test]
#[cfg(unix)]
fn bench_needs_no_right_to_write_and_leaves_the_file_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::indexed();
    let file = folder.join("harbour.kb");
    let before = std::fs::read(&file).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    folder.kb("bench harbour.kb -n 2").expect(0);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

#[test]
fn a_recall_can_be_asked_for_and_is_shown() {
    let folder = Folder::indexed();
    for share in ["0.2", "2", "-1", "many"] {
        let told = folder
            .kb(["index", "harbour", &format!("--min-recall={share}")])
            .expect(2);
        let refused = "expected a recall from 0.5 to 1, such as 0.95, or 0 for no requirement";
        told.stderr_has(refused);
    }
    folder.kb("index harbour --min-recall 0.5").expect(0);
    let told = folder.kb("info harbour.kb --json").expect(0);
    let info = &told.json_lines()[0];
    let measured = &info["unquantised_recall"];
    assert_eq!(measured["wanted"], 0.5, "{info}");
    assert!(measured["recall"].as_f64() >= Some(0.5), "{info}");
    assert_eq!(measured["new_chunks"], 0, "{info}");
    assert_eq!(info["listed_segments"], 0);
    let taken_back = ["index", "harbour", "--min-recall", "0"];
    folder.kb(taken_back).expect(0);
    let told = folder.kb("info harbour.kb --json").expect(0);
    assert!(told.json_lines()[0]["unquantised_recall"].is_null());
}

#[test]
fn a_seal_that_misses_the_recall_says_so() {
    let folder = Folder::empty();
    let words = [
        "harbour", "moon", "pump", "ledger", "orchard", "valve", "glacier",
    ];
    for file in 0..8 {
        let sections = (0..100).map(|at| {
            let number: usize = (file * 100 + at) * 7919;
            let word = |step: usize| words[number / step % words.len()];
            let line = format!("{} {} {} {number} ", word(1), word(13), word(171));
            format!("# Part {number}\n\n{}\n\n", line.repeat(30))
        });
        folder.write(format!("harbour/{file}.md"), sections.collect::<String>());
    }
    // What signed bytes allow may be less than all: said then, too.
    let told = folder.kb("index harbour --min-recall 1 --json");
    let missed = &told.json_lines()[0]["missed_recall"];
    told.expect(if missed.is_null() { 0 } else { 1 });
    let seal = ["seal", "harbour.kb", "-o", "small.kb", "--vectors", "i4"];
    let told = folder.kb(seal).expect(1);
    told.stderr_has("below the required 1");
    told.stderr_has("i4 vectors are not precise enough");
    told.stdout_has("content root");
    let told = folder.kb("seal small.kb --json").expect(1);
    let missed = told.json_lines()[0]["missed_recall"].as_f64().unwrap();
    assert!((0.5..1.0).contains(&missed), "{told:#?}");
}
