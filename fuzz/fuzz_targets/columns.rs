//! Columns as another library may hand them over, broken ones too. Either the hashes equal the scalar definition's, or the
//! first row without a key is named; nothing is read beyond the data.
#![no_main]

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use libfuzzer_sys::fuzz_target;
use partwright_core::columnar;
use partwright_core::hashing::{Client, Partitions, murmur2, partition_for_key};
use partwright_core::Error;

fuzz_target!(|input: (Vec<u8>, Vec<u8>, Vec<bool>, u32, u8, u8)| {
    let (data, steps, valid, n, first, width) = input;
    let rows = steps.len();
    let nulls = (!valid.is_empty())
        .then(|| (0..rows).map(|row| valid[row % valid.len()]).collect::<NullBuffer>());
    // Mostly rising, sometimes not: a step of 250 or more goes back.
    let mut offsets = vec![i32::from(first)];
    for step in steps {
        let last = offsets[offsets.len() - 1];
        offsets.push(last.wrapping_add(if step >= 250 { 249 - i32::from(step) } else { i32::from(step) / 4 }));
    }
    let Ok(n) = Partitions::new(i64::from(n >> 1)) else { return };
    let buffer = Buffer::from_vec(data.clone());
    let large: Vec<i64> = offsets.iter().copied().map(i64::from).collect();
    let views: Vec<u128> = offsets
        .windows(2)
        .map(|pair| {
            let length = pair[1].wrapping_sub(pair[0]);
            let mut view = [0xee; 16];
            view[..4].copy_from_slice(&length.to_le_bytes());
            if !(0..=12).contains(&length) {
                view[8..12].copy_from_slice(&0_i32.to_le_bytes());
                view[12..].copy_from_slice(&pair[0].to_le_bytes());
            } else if let Some(key) = piece(&data, pair) {
                view[4..4 + key.len()].copy_from_slice(key);
            }
            u128::from_le_bytes(view)
        })
        .collect();
    // SAFETY: they are as wrong as another library may make them; only our own reader, which checks, sees them.
    let columns: [ArrayRef; 3] = unsafe {
        let small = OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets.clone()));
        let large = OffsetBuffer::new_unchecked(ScalarBuffer::from(large));
        [
            Arc::new(BinaryArray::new_unchecked(small, buffer.clone(), nulls.clone())),
            Arc::new(LargeBinaryArray::new_unchecked(large, buffer.clone(), nulls.clone())),
            Arc::new(BinaryViewArray::new_unchecked(ScalarBuffer::from(views), [buffer.clone()], nulls.clone())),
        ]
    };
    let keys: Vec<Option<&[u8]>> = offsets.windows(2).map(|pair| piece(&data, pair)).collect();
    for (place, column) in columns.iter().enumerate() {
        // A short view carries its own bytes, whatever the data is.
        let own = |row: usize| place == 2 && (0..=12).contains(&offsets[row + 1].wrapping_sub(offsets[row]));
        if (0..rows).any(|row| own(row) && keys[row].is_none()) {
            let _ = columnar::murmur2(column, None);
            continue;
        }
        same(column, &keys, n);
        let from = usize::from(first) % (rows + 1);
        same(&column.slice(from, rows - from), &keys[from..], n);
    }
    let width = usize::from(width % 70) + 1;
    if let Ok(size) = i32::try_from(width)
        && let Ok(column) = FixedSizeBinaryArray::try_new(size, buffer.slice_with_length(0, data.len() / width * width), None)
    {
        let keys: Vec<_> = data.chunks_exact(width).map(Some).collect();
        same(&column, &keys, n);
    }
});

fn piece<'a>(data: &'a [u8], pair: &[i32]) -> Option<&'a [u8]> {
    data.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?)
}

fn same(column: &dyn Array, keys: &[Option<&[u8]>], n: Partitions) {
    let broken = (0..column.len()).find(|row| column.is_valid(*row) && keys[*row].is_none());
    let hashes = columnar::murmur2(column, None);
    let partitions = columnar::partition_for_key(column, n, Client::JAVA, None);
    if let Some(row) = broken {
        assert_eq!(hashes, Err(Error::Malformed { row }));
        assert_eq!(partitions, Err(Error::Malformed { row }));
        return;
    }
    let (Ok(hashes), Ok(partitions)) = (hashes, partitions) else { panic!("a column in order was refused") };
    for (row, key) in keys.iter().enumerate() {
        let key = key.filter(|_| column.is_valid(row));
        assert_eq!(hashes.is_valid(row).then(|| hashes.value(row)), key.map(murmur2));
        assert_eq!(
            partitions.is_valid(row).then(|| partitions.value(row)),
            key.map(|key| partition_for_key(key, n))
        );
    }
}
