use proptest::prelude::*;

use super::*;

fn written(rows: &[u32], frequencies: &[u32]) -> (Vec<u8>, BlockShape) {
    let mut distances = [0; BLOCK_POSTINGS];
    let mut less_one = [0; BLOCK_POSTINGS];
    let mut next = 0;
    for i in 0..BLOCK_POSTINGS {
        distances[i] = rows[i] - next;
        next = rows[i] + 1;
        less_one[i] = frequencies[i] - 1;
    }
    let mut bytes = Vec::new();
    let shape = put_block(&mut bytes, &distances, &less_one);
    (bytes, shape)
}

fn read(bytes: &[u8], shape: BlockShape, last_row: u32) -> Result<(Block, Block)> {
    let (mut rows, mut frequencies) = ([0; BLOCK_POSTINGS], [0; BLOCK_POSTINGS]);
    let packed = read_rows(bytes, shape, 0, last_row, &mut rows)?;
    packed.read(&mut frequencies)?;
    for (at, frequency) in frequencies.iter().enumerate() {
        assert_eq!(packed.one(at)?, *frequency, "{at} of {shape:?}");
    }
    Ok((rows, frequencies))
}

#[test]
fn numbers_of_every_width_read_back() {
    for width in 0..=MAX_WIDTH {
        let numbers: Block =
            std::array::from_fn(|i| (i as u32).wrapping_mul(0x9e37_79b9) >> 8 & ((1 << width) - 1));
        let mut bytes = Vec::new();
        pack(&mut bytes, &numbers, width);
        assert_eq!(bytes.len(), width as usize * 16);
        let mut back = [7; BLOCK_POSTINGS];
        assert!(unpack(&bytes, width as u8, &mut back));
        assert_eq!(back, numbers);
        assert!(width == 0 || !unpack(&bytes[1..], width as u8, &mut back));
    }
    assert!(!unpack(
        &[0; 4096],
        MAX_WIDTH as u8 + 1,
        &mut [0; BLOCK_POSTINGS]
    ));
}

#[test]
fn a_few_wide_numbers_do_not_widen_the_block() {
    let mut rows: Vec<u32> = (0..128).collect();
    rows.iter_mut().skip(60).for_each(|row| *row += 1_000_000);
    rows[127] = MAX_NUMBER - 1;
    let mut frequencies = vec![1; 128];
    frequencies[3] = MAX_NUMBER;
    let (bytes, shape) = written(&rows, &frequencies);
    assert_eq!((shape.row_width, shape.frequency_width), (0, 0));
    assert!(bytes.len() < 16, "{}", bytes.len());
    let (back, back_frequencies) = read(&bytes, shape, MAX_NUMBER - 1).unwrap();
    assert_eq!(
        (&back[..], &back_frequencies[..]),
        (&rows[..], &frequencies[..])
    );
}

#[test]
fn a_block_that_does_not_end_at_its_last_row_is_refused() {
    let rows: Vec<u32> = (0..128).map(|i| i * 3).collect();
    let (bytes, shape) = written(&rows, &[1; 128]);
    assert!(read(&bytes, shape, 381).is_ok());
    for last_row in [0, 380, 382, u32::MAX] {
        assert_eq!(read(&bytes, shape, last_row).unwrap_err().code(), "DAMAGED");
    }
}

#[test]
fn varints_read_back_and_refuse_more_than_64_bits() {
    for number in [0, 1, 127, 128, 1 << 35, u64::MAX] {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, number);
        let mut rest = bytes.as_slice();
        assert_eq!(take_varint(&mut rest).unwrap(), number);
        assert!(rest.is_empty());
        assert!(take_varint(&mut &bytes[..bytes.len() - 1]).is_err());
    }
    assert!(take_varint(&mut [0xff; 11].as_slice()).is_err());
    assert!(take_varint(&mut [&[0xff; 9][..], &[2]].concat().as_slice()).is_err());
}

#[test]
fn an_impact_is_rounded_down_by_less_than_one_percent() {
    for impact in [0.0, 1e-6, 0.25, 0.3333, 1.0, 17.9, 70_000.0] {
        let kept = decode_impact(encode_impact(impact));
        assert!(
            kept <= impact && kept >= impact * 0.992,
            "{impact} became {kept}"
        );
    }
}

fn ascending() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(
        prop_oneof![8 => 0..4u32, 3 => 0..300u32, 1 => 0..100_000u32],
        BLOCK_POSTINGS,
    )
    .prop_map(|distances| {
        let mut next = 0;
        distances
            .iter()
            .map(|distance| {
                next += distance + 1;
                next - 1
            })
            .collect()
    })
}

fn frequencies() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(
        prop_oneof![9 => 1..4u32, 1 => 1..=MAX_NUMBER],
        BLOCK_POSTINGS,
    )
}

proptest! {
    #[test]
    fn rows_are_the_running_sums_of_distances(
        distances in prop::array::uniform32(0u32..1 << 24), first in 0u32..1 << 24,
    ) {
        let mut rows: Block = std::array::from_fn(|i| distances[i % 32].rotate_left(i as u32) & 0xff_ffff);
        let mut next = first;
        let expected: Vec<u32> = rows.iter().map(|distance| {
            let row = next + distance;
            next = row + 1;
            row
        }).collect();
        prop_assert_eq!(rows_of_distances(first, &mut rows), next);
        prop_assert_eq!(&rows[..], &expected[..]);
    }

    #[test]
    fn blocks_read_back(rows in ascending(), frequencies in frequencies()) {
        let (bytes, shape) = written(&rows, &frequencies);
        prop_assert_eq!(bytes.len(), shape.len_bytes());
        let (back, back_frequencies) = read(&bytes, shape, rows[127]).unwrap();
        prop_assert_eq!(&back[..], &rows[..]);
        prop_assert_eq!(&back_frequencies[..], &frequencies[..]);
    }

    #[test]
    fn changed_bytes_give_an_error_or_ascending_rows(
        rows in ascending(),
        frequencies in frequencies(),
        at in 0..4096usize,
        value in any::<u8>(),
        shape in any::<(u8, u8, u8)>(),
        keep_shape in any::<bool>(),
    ) {
        let (mut bytes, good) = written(&rows, &frequencies);
        if !bytes.is_empty() {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let (row_width, frequency_width, exception_bytes) = shape;
        let shape = if keep_shape { good } else {
            BlockShape { row_width, frequency_width, exception_bytes }
        };
        if let Ok((rows, frequencies)) = read(&bytes, shape, rows[127]) {
            prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(frequencies.iter().all(|f| (1..=MAX_NUMBER).contains(f)));
        }
    }
}
