//! Keys are read where they are: checked by address, and by what a call allocates.

#![cfg(feature = "arrow")]
#![expect(clippy::disallowed_types, reason = "a test counts allocations")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringViewBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, Int64Array,
    LargeBinaryArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_buffer::NullBuffer;
use partwright_core::columnar::{encode, key_column, murmur2, partition_for_key};
use partwright_core::hashing::{Client, KeyType, Partitions};

type Outcome = Result<(), Box<dyn Error>>;

/// The allocations of a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allocated {
    times: usize,
    bytes: usize,
}

thread_local! {
    /// One for each thread, so that tests may run in parallel.
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { times: 0, bytes: 0 }) };
}

/// The system's allocator, with counters. A vector that grows counts as a new one of its new size.
struct Counting;

impl Counting {
    fn count(bytes: usize) {
        // While a thread ends there is nothing to count with, nor anything to count.
        let _ = ALLOCATED.try_with(|allocated| {
            let Allocated { times, bytes: before } = allocated.get();
            allocated.set(Allocated { times: times + 1, bytes: before + bytes });
        });
    }
}

#[expect(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "the trait of an allocator is unsafe")]
// SAFETY: each call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count(size);
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `work`, and its allocations.
fn counted<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    let before = ALLOCATED.get();
    let result = work();
    let after = ALLOCATED.get();
    (result, Allocated { times: after.times - before.times, bytes: after.bytes - before.bytes })
}

/// Keys of 20 bytes, longer than a view holds; every 10th row is null.
fn keys(rows: usize) -> impl Iterator<Item = Option<String>> {
    (0..rows).map(|row| (row % 10 != 0).then(|| format!("key of one row {row:05}")[..20].to_owned()))
}

type Make = fn(usize) -> Result<ArrayRef, Box<dyn Error>>;

/// Enough for all keys of a view: each further buffer has one more address, of 24 bytes.
const BLOCK: u32 = 32 << 20;

/// Each layout that needs no encoding.
const LAYOUTS: &[(&str, Make)] = &[
    ("string", |rows| Ok(Arc::new(keys(rows).collect::<StringArray>()))),
    ("large_string", |rows| Ok(Arc::new(keys(rows).collect::<LargeStringArray>()))),
    ("string_view", |rows| {
        let mut views = StringViewBuilder::new().with_fixed_block_size(BLOCK);
        for key in keys(rows) {
            views.append_option(key);
        }
        Ok(Arc::new(views.finish()))
    }),
    ("binary", |rows| {
        let strings: StringArray = keys(rows).collect();
        Ok(Arc::new(BinaryArray::from(strings)))
    }),
    ("large_binary", |rows| {
        let strings: LargeStringArray = keys(rows).collect();
        Ok(Arc::new(LargeBinaryArray::from(strings)))
    }),
    ("binary_view", |rows| {
        let mut views = BinaryViewBuilder::new().with_fixed_block_size(BLOCK);
        for key in keys(rows) {
            views.append_option(key);
        }
        Ok(Arc::new(views.finish()))
    }),
    ("fixed_size_binary", |rows| {
        Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(keys(rows), 20)?))
    }),
];

/// The address of the buffer with the keys' bytes; a slice of a fixed width begins elsewhere.
fn data_address(column: &dyn Array) -> usize {
    let any = column.as_any();
    if let Some(fixed) = any.downcast_ref::<FixedSizeBinaryArray>() {
        return fixed.values().as_ptr().addr();
    }
    if let Some(views) = any.downcast_ref::<StringViewArray>() {
        return views.data_buffers()[0].as_ptr().addr();
    }
    if let Some(views) = any.downcast_ref::<BinaryViewArray>() {
        return views.data_buffers()[0].as_ptr().addr();
    }
    column.to_data().buffers()[1].as_ptr().addr()
}

#[test]
fn keys_are_read_at_the_address_of_the_columns_own_buffer() -> Outcome {
    for (name, make) in LAYOUTS {
        let column = make(1000)?;
        assert_eq!(key_column(&column, None)?.address(), Some(data_address(&column)), "{name}");
        let slice = column.slice(100, 500);
        assert_eq!(key_column(&slice, None)?.address(), Some(data_address(&slice)), "{name}, sliced");
        let base = data_address(&column);
        let moved = if *name == "fixed_size_binary" { 100 * 20 } else { 0 };
        assert_eq!(data_address(&slice), base + moved, "{name}: the slice is no copy to begin with");
    }
    Ok(())
}

#[test]
fn each_key_is_a_piece_of_the_columns_own_buffer() -> Outcome {
    for (name, make) in LAYOUTS {
        let column = make(1000)?;
        let (base, keys) = (data_address(&column), key_column(&column, None)?);
        let bytes = column.get_buffer_memory_size();
        for row in (0..1000).filter(|row| row % 10 != 0) {
            let address = keys.key(row)?.ok_or("a key")?.as_ptr().addr();
            assert!((base..base + bytes).contains(&address), "{name} row {row}");
        }
    }
    Ok(())
}

#[test]
fn keys_of_a_dictionary_are_read_from_its_values() -> Outcome {
    for (name, make) in LAYOUTS {
        let values = make(1000)?;
        let indices: PrimitiveArray<Int32Type> = (0..2000).map(|row| row % 1000).collect();
        let column = DictionaryArray::try_new(indices, values.clone())?;
        assert_eq!(key_column(&column, None)?.address(), Some(data_address(&values)), "{name}");
    }
    Ok(())
}

#[test]
fn numbers_have_no_key_bytes_in_place() -> Outcome {
    let column = Int64Array::from_iter_values(0..1000);
    let keys = key_column(&column, Some(KeyType::JavaLong))?;
    assert_ne!(keys.address(), Some(column.values().as_ptr().addr()));
    Ok(())
}

/// Arrow's notes about each buffer, in addition to its bytes.
const NOTE: usize = 56;

/// Placing and hashing 1,000 rows and 1,000,000 allocate what these buffers take, each of so many bytes a row, and the
/// `addresses` of a view's buffers, of 24 bytes: nothing else.
fn costs(name: &str, make: Make, key_type: Option<KeyType>, buffers: &[usize], addresses: usize) -> Outcome {
    let n = Partitions::new(12)?;
    for rows in [1_000, 1_000_000] {
        let column = make(rows)?;
        assert_eq!(column.len(), rows);
        let (placed, placing) = counted(|| partition_for_key(&column, n, Client::JAVA, key_type));
        let (hashed, hashing) = counted(|| murmur2(&column, key_type));
        assert_eq!((placed?.len(), hashed?.len()), (rows, rows));
        assert_eq!(placing, hashing, "{name}");
        let bytes: usize = buffers.iter().map(|width| width * rows + NOTE).sum();
        let times = 2 * buffers.len() + addresses;
        assert_eq!(placing, Allocated { times, bytes: bytes + 24 * addresses }, "{name}, {rows} rows");
    }
    Ok(())
}

#[test]
fn keys_in_place_cost_the_output_alone_4_bytes_a_row() -> Outcome {
    for (name, make) in LAYOUTS {
        costs(name, *make, None, &[4], usize::from(name.ends_with("view")))?;
    }
    costs("empty", |rows| Ok(Arc::new(StringArray::from(vec![""; rows]))), None, &[4], 0)
}

#[test]
fn a_slice_costs_what_its_rows_cost() -> Outcome {
    let column = LAYOUTS[0].1(100_000)?;
    let slice = column.slice(5_000, 10);
    let (placed, allocated) = counted(|| partition_for_key(&slice, Partitions::new(12)?, Client::JAVA, None));
    assert_eq!(placed?.len(), 10);
    assert!(allocated.bytes < 1024, "{allocated:?}");
    Ok(())
}

#[test]
fn a_number_costs_the_bytes_of_its_key_besides() -> Outcome {
    let numbers: Make = |rows| {
        let nulls: NullBuffer = (0..rows).map(|row| row % 10 != 0).collect();
        Ok(Arc::new(Int64Array::new((0_i64..).take(rows).collect(), Some(nulls))))
    };
    costs("java:long", numbers, Some(KeyType::JavaLong), &[4, 8], 0)?;
    // The other widths hold smaller numbers; the millionth row's is too large for a short.
    let small: Make = |rows| {
        Ok(Arc::new((0..rows).map(|row| i16::try_from(row % 1000).ok()).collect::<arrow_array::Int16Array>()))
    };
    costs("java:int", small, Some(KeyType::JavaInt), &[4, 4], 0)?;
    costs("java:short", small, Some(KeyType::JavaShort), &[4, 2], 0)
}

#[test]
fn key_bytes_of_text_and_binary_cost_nothing() -> Outcome {
    for (name, make) in LAYOUTS {
        let column = make(100_000)?;
        let (encoded, allocated) = counted(|| encode(&column, None));
        let encoded = encoded?;
        assert_eq!(data_address(&encoded), data_address(&column), "{name}");
        // One offset a row, where there were none.
        let offsets = if *name == "fixed_size_binary" { 4 * 100_001 } else { 0 };
        assert!(allocated.bytes < offsets + 1024, "{name}: {allocated:?}");
    }
    Ok(())
}

#[test]
fn a_dictionarys_value_is_hashed_once() -> Outcome {
    // 4 bytes a row for the result and a bit for its validity, since values are null too; for each value whether and
    // where it is used, and its hash.
    let (rows, distinct) = (1_000_000, 100);
    let values: ArrayRef = Arc::new(keys(distinct).collect::<StringArray>());
    let indices: PrimitiveArray<Int32Type> = (0..rows).map(|row| row % 100).collect();
    let column = DictionaryArray::try_new(indices, values)?;
    let (hashed, allocated) = counted(|| murmur2(&column, None));
    assert_eq!(hashed?.len(), 1_000_000);
    assert!(allocated.bytes < (4 * 8 + 1) * 1_000_000 / 8 + 64 * distinct + 4096, "{allocated:?}");
    assert!(allocated.times < 20, "{allocated:?}");
    Ok(())
}
