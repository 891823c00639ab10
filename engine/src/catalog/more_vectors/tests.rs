//! Files that lie about the vectors of other models.

use std::path::Path;

use kb_types::SegmentId;
use roaring::RoaringBitmap;

use crate::catalog::Catalog;
use crate::container::codec::encode_record;
use crate::container::column::{ColumnId, ExtentSink};
use crate::container::testing::fixture::identity;
use crate::container::{Container, ContainerWriter, Key, Transaction};
use crate::index::vector::{CODES, NORMS, ROWS, VectorRecord};
use crate::kb::{Kb, KbWriter};
use crate::metric::Metric;
use crate::progress::Progress;
use crate::search::Request;
use crate::store::segments::{MoreVectors, SegmentRecord};
use crate::store::tables;
use crate::store::vector_columns::{VectorColumnRecord, VectorColumns};
use crate::{NewVectors, VectorTarget, VerifyOptions};

const DIM: usize = 20;

/// Ten chunks of which all but one have a vector that is compared by distance.
fn honest(path: &Path) {
    let mut writer = KbWriter::open_or_create(path).unwrap();
    for number in 0..10 {
        let text = format!("Buoy {number}.");
        let name = format!("{number}.txt");
        writer.add_bytes(&name, text.as_bytes()).unwrap();
    }
    let vector = |number: u64| (0..DIM).map(move |at| ((number * 7 + at as u64) % 5) as f32 - 2.0);
    let mut rows = (0..9).map(|number| {
        let vector: Vec<f32> = vector(number).collect();
        Ok((VectorTarget::Document(format!("{number}.txt")), vector))
    });
    let options = NewVectors::new("m").metric(Metric::L2);
    writer
        .import_vectors(&options, &mut rows, &mut Progress::ignore)
        .unwrap();
}

/// What a file says of its only segment and column.
struct Told {
    segment: SegmentId,
    record: SegmentRecord,
    column: VectorColumnRecord,
}

impl Told {
    /// Changes the record of the segment.
    fn segment(mut self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut SegmentRecord)) {
        lie(&mut self.record);
        self.record.write(transaction, self.segment).unwrap();
    }

    /// Changes what the segment says of the column.
    fn more(self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut MoreVectors)) {
        self.segment(transaction, |record| lie(&mut record.more_vectors[0]));
    }

    /// Changes the record of the vector index.
    fn index(self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut VectorRecord)) {
        self.more(transaction, |more| {
            let mut record = VectorRecord::decode(&more.vector_index).unwrap();
            lie(&mut record);
            more.vector_index = record.encode().unwrap();
        });
    }

    /// Changes the rows that have a vector.
    fn present(self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut RoaringBitmap)) {
        self.more(transaction, |more| {
            let mut rows = RoaringBitmap::deserialize_from(&more.present[..]).unwrap();
            lie(&mut rows);
            more.present.clear();
            rows.serialize_into(&mut more.present).unwrap();
        });
    }

    /// Changes the row of the column in the table.
    fn column(self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut VectorColumnRecord)) {
        let mut column = self.column;
        lie(&mut column);
        let row = encode_record(1, &column).unwrap();
        transaction.put(tables::VECTORS, Key::U64(1), &row).unwrap();
    }

    /// Writes a column of the segment again.
    fn bytes(self, transaction: &mut Transaction<'_>, column: ColumnId, payload: &[u8]) {
        let column = ColumnId(256 + column.0);
        let segment = self.segment;
        let mut columns = self.record.columns.iter();
        let old = columns.find(|it| it.column == column.0).unwrap().clone();
        transaction.remove_column(segment, &old).unwrap();
        transaction
            .put_extent(segment, column, 0, 0, payload)
            .unwrap();
        self.segment(transaction, |record| {
            let mut columns = record.columns.iter_mut();
            let record = columns.find(|it| it.column == column.0).unwrap();
            record.payload_lens = vec![payload.len() as u32];
        });
    }
}

fn told(path: &Path) -> Told {
    let read = Container::open(path).unwrap().read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        Ok(Told {
            segment: catalog.segments[0].id,
            record: catalog.segments[0].records.segment.clone(),
            column: catalog.vector_columns.list[0].record.clone(),
        })
    });
    read.unwrap()
}

/// What opening, a search and a deep check of a file say that lies.
fn say(lie: impl FnOnce(Told, &mut Transaction<'_>)) -> [String; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    honest(&path);
    let told = told(&path);
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    lie(told, &mut transaction);
    transaction.commit().unwrap();
    writer.finish().unwrap();
    let kb = match Kb::open(&path) {
        Ok(kb) => kb,
        Err(error) => return [error.code().to_owned(), error.to_string(), String::new()],
    };
    let request = Request::new("").vector([0.5; DIM]).vector_column("m");
    let searched = kb.search(&request).err();
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).unwrap();
    // Whatever else reads the column must end, too.
    let _ = kb.vectors_of("m").map(|vectors| kb.vector_rows(&vectors));
    let _ = (kb.vector_columns(), kb.sizes());
    let mut writer = KbWriter::open(&path).unwrap();
    let sealed = crate::SealOptions::new().replace(true);
    let output = folder.path().join("b.kb");
    let _ = writer.seal(Some(&output), &sealed, &mut Progress::ignore);
    [
        String::new(),
        searched.map_or(String::new(), |error| error.to_string()),
        report.problems.join("\n"),
    ]
}

#[test]
fn an_honest_file_is_sound() {
    assert_eq!(say(|_, _| ()), ["", "", ""]);
}

#[test]
fn records_that_lie_are_refused_when_the_file_is_opened() {
    type Lie = fn(Told, &mut Transaction<'_>);
    let lies: [(&str, Lie); 24] = [
        ("DAMAGED names row 10", |told, transaction| {
            told.present(transaction, |rows| {
                rows.insert(10);
            });
        }),
        ("DAMAGED names row 4294967295", |told, transaction| {
            told.present(transaction, |rows| {
                rows.insert(u32::MAX);
            });
        }),
        ("DAMAGED has other rows", |told, transaction| {
            told.present(transaction, RoaringBitmap::clear);
        }),
        ("DAMAGED the bitmap of chunks", |told, transaction| {
            told.more(transaction, |more| more.present = vec![1, 2, 3]);
        }),
        ("DAMAGED is no column of the file", |told, transaction| {
            told.more(transaction, |more| more.number = 2);
        }),
        ("DAMAGED is no column of the file", |told, transaction| {
            told.more(transaction, |more| more.number = 0);
        }),
        ("DAMAGED is no column of the file", |told, transaction| {
            told.more(transaction, |more| more.number = u16::MAX);
        }),
        ("DAMAGED do not ascend", |told, transaction| {
            told.segment(transaction, |record| {
                let twice = record.more_vectors[0].clone();
                record.more_vectors.push(twice);
            });
        }),
        ("DAMAGED has other rows", |told, transaction| {
            told.index(transaction, |index| index.rows = 9);
        }),
        ("DAMAGED is another one", |told, transaction| {
            told.index(transaction, |index| index.dim = 21);
        }),
        ("DAMAGED is another one", |told, transaction| {
            told.index(transaction, |index| index.range *= 2.0);
        }),
        ("DAMAGED is another one", |told, transaction| {
            told.index(transaction, |index| {
                (index.codec, index.stride) = (2, 32);
            });
        }),
        ("DAMAGED contradict each other", |told, transaction| {
            told.index(transaction, |index| index.range = f32::NAN);
        }),
        ("FORMAT_UNSUPPORTED vector codec 9", |told, transaction| {
            told.index(transaction, |index| index.codec = 9);
        }),
        ("DAMAGED record of a vector index", |told, transaction| {
            told.more(transaction, |more| more.vector_index.truncate(4));
        }),
        ("DAMAGED is another one", |told, transaction| {
            told.column(transaction, |column| column.dim = 19);
        }),
        ("DAMAGED is another one", |told, transaction| {
            told.column(transaction, |column| column.range = 1.0);
        }),
        ("FORMAT_UNSUPPORTED metric 4", |told, transaction| {
            told.column(transaction, |column| column.metric = 4);
        }),
        ("FORMAT_UNSUPPORTED vector codec 7", |told, transaction| {
            told.column(transaction, |column| column.codec = 7);
        }),
        ("DAMAGED that none may be", |told, transaction| {
            told.column(transaction, |column| column.dim = 4097);
        }),
        ("DAMAGED a number that none may have", |_, transaction| {
            let row = transaction.get(tables::VECTORS, Key::U64(1)).unwrap();
            let key = Key::U64(127);
            transaction
                .put(tables::VECTORS, key, &row.unwrap())
                .unwrap();
        }),
        ("DAMAGED a number that none may have", |_, transaction| {
            let row = transaction.get(tables::VECTORS, Key::U64(1)).unwrap();
            let key = Key::U64((1 << 16) + 1);
            transaction
                .put(tables::VECTORS, key, &row.unwrap())
                .unwrap();
        }),
        ("DAMAGED has no row 0", |_, transaction| {
            VectorColumns::remove(transaction, 0).unwrap();
        }),
        ("DAMAGED is no column of the file", |_, transaction| {
            VectorColumns::remove(transaction, 1).unwrap();
        }),
    ];
    for (number, (expected, lie)) in lies.into_iter().enumerate() {
        let [code, error, _] = say(lie);
        let (expected_code, what) = expected.split_once(' ').unwrap();
        assert_eq!(code, expected_code, "{number}: {expected}");
        assert!(error.contains(what), "{number}: {expected}: {error}");
    }
}

#[test]
fn columns_that_lie_are_found_by_a_search_or_a_check() {
    let norms: Vec<u8> = (0..10u32)
        .flat_map(|row| if row < 9 { 40f32 } else { 0.0 }.to_le_bytes())
        .collect();
    let with_norm = |row: usize, norm: f32| {
        let mut norms = norms.clone();
        norms[row * 4..row * 4 + 4].copy_from_slice(&norm.to_le_bytes());
        norms
    };
    for (name, payload, is_searched, expected) in [
        ("short norms", norms[..36].to_vec(), true, "36 bytes"),
        (
            "long norms",
            [&norms[..], &[0; 4]].concat(),
            true,
            "44 bytes",
        ),
        (
            "norm of NaN",
            with_norm(3, f32::NAN),
            true,
            "row 3 has a squared",
        ),
        (
            "endless norm",
            with_norm(8, f32::INFINITY),
            true,
            "row 8 has a squared",
        ),
        (
            "norm below 0",
            with_norm(0, -1.0),
            true,
            "row 0 has a squared",
        ),
        (
            "norm of none",
            with_norm(9, 1.0),
            false,
            "row 9 has a vector, which",
        ),
    ] {
        let [code, searched, problems] =
            say(|told, transaction| told.bytes(transaction, NORMS, &payload));
        assert_eq!(code, "", "{name}");
        assert_eq!(!searched.is_empty(), is_searched, "{name}: {searched}");
        assert!(problems.contains(expected), "{name}: {problems}");
    }
    let [_, searched, problems] = say(|told, transaction| {
        told.bytes(transaction, ROWS, &[1; 64 * 9]);
    });
    assert!(searched.contains("has a column of 9"), "{searched}");
    assert!(problems.contains("has 576 bytes"), "{problems}");
    let [_, _, problems] = say(|told, transaction| {
        told.bytes(transaction, CODES, &[0; 512]);
    });
    assert!(problems.contains("are not their signs"), "{problems}");
}

#[test]
fn columns_that_are_missing_or_too_many_are_found() {
    for column in [ROWS, CODES, NORMS] {
        let [_, searched, problems] = say(|told, transaction| {
            let id = 256 + column.0;
            let mut columns = told.record.columns.iter();
            let old = columns.find(|it| it.column == id).unwrap().clone();
            transaction.remove_column(told.segment, &old).unwrap();
            told.segment(transaction, |record| {
                record.columns.retain(|it| it.column != id);
            });
        });
        assert!(searched.contains("has no column"), "{searched}");
        assert!(problems.contains("has no column"), "{problems}");
    }
    // Lengths where the metric knows none, and a column that nothing names.
    let [_, searched, problems] = say(|told, transaction| {
        told.column(transaction, |column| column.metric = 2);
    });
    assert_eq!(searched, "");
    assert!(
        problems.contains("column 300 is of no column"),
        "{problems}"
    );
    let [_, searched, problems] = say(|told, transaction| {
        let (column, segment) = (ColumnId(5 * 256 + 32), told.segment);
        transaction
            .put_extent(segment, column, 0, 0, &[0; 640])
            .unwrap();
        told.segment(transaction, |record| {
            record.columns.push(crate::container::column::ColumnRecord {
                column: column.0,
                width: 64,
                payload_lens: vec![640],
            });
        });
    });
    assert_eq!(searched, "");
    assert!(
        problems.contains("column 1312 is of no column"),
        "{problems}"
    );
}

#[test]
fn other_rows_in_the_same_extents_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    honest(&path);
    let kb = Kb::open(&path).unwrap();
    assert_eq!(kb.vector_columns().unwrap()[1].rows, 9);
    let told = told(&path);
    let mut writer = ContainerWriter::open(&path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    told.present(&mut transaction, |rows| {
        rows.remove(3);
    });
    transaction.commit().unwrap();
    assert_eq!(kb.vector_columns().unwrap()[1].rows, 8);
}
