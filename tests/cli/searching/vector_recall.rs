//! The recall of imported vectors after quantisation.

use super::vectors::npy;
use crate::support::Folder;

#[test]
fn the_recall_of_a_column_is_that_of_the_imported_numbers() {
    let folder = Folder::empty();
    let lines: String = (0..400)
        .map(|n| format!("# Part {n}\n\n{}\n\n", format!("word{n} ").repeat(120)))
        .collect();
    folder.write("long/parts.md", lines);
    folder.kb("index long -o long.kb").expect(0);
    let chunks = folder.kb("get * -f long.kb --format chunks --json");
    let count = chunks.expect(0).json_lines().len();
    assert!(count >= 200, "{count}");
    let mut state = 7u64;
    let mut number = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut rows = |first: f32| -> Vec<Vec<f32>> {
        let row = |_| {
            (0..32)
                .map(|at| number() * if at == 0 { first } else { 1.0 })
                .collect()
        };
        (0..count).map(row).collect()
    };
    let (even, uneven) = (rows(1.0), rows(20.0));
    folder.write("even.npy", npy(&even));
    folder.write("uneven.npy", npy(&uneven));
    let import = |name: &str, codec: &str| {
        let file = format!("{name}.npy");
        folder.kb([
            "import", "vectors", "long.kb", &file, "--name", name, "--codec", codec,
        ])
    };
    let fine = import("even", "i8").expect(0);
    assert!(!fine.stderr.contains("10 nearest"), "{}", fine.stderr);
    let lossy = import("uneven", "i4").expect(0);
    lossy.stderr_has("of the 10 nearest vectors");
    let columns = folder.kb("vectors long.kb --json").expect(0).json_lines();
    let recall = |at: usize| columns[at]["recall"]["recall"].as_f64().unwrap();
    assert!(recall(1) > 0.9 && recall(2) < 0.7, "{columns:#?}");
}
