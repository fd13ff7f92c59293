//! What stands behind the pointers of the C data interface's structures.

use std::ffi::{CStr, c_char};
use std::str::Utf8Error;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

/// More of a field's metadata than anybody writes: Arrow makes room for as many before it reads the first.
const MOST_METADATA: i32 = 1 << 16;

/// A schema's format and its name, each `None` where its pointer is null; an error where one is not UTF-8.
pub(super) fn texts_of(schema: &FFI_ArrowSchema) -> Result<[Option<&str>; 2], Utf8Error> {
    let text = |pointer: *const c_char| {
        // SAFETY: the interface's texts end in a zero byte and live as long as their schema, which is borrowed.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_str()).transpose()
    };
    Ok([text(schema.format)?, text(schema.name)?])
}

/// What is below a schema; `None` where a pointer is null, or there are fewer than none.
pub(super) fn children_of_schema(schema: &FFI_ArrowSchema) -> Option<Vec<&FFI_ArrowSchema>> {
    // SAFETY: what a schema points at lives as long as itself, which is borrowed.
    unsafe { children(schema.children, schema.n_children) }
}

/// What is below an array; `None` where a pointer is null, or there are fewer than none.
pub(super) fn children_of_array(array: &FFI_ArrowArray) -> Option<Vec<&FFI_ArrowArray>> {
    // SAFETY: what an array points at lives as long as itself, which is borrowed.
    unsafe { children(array.children, array.n_children) }
}

/// # Safety
/// `pointers` is null or leads to so many pointers, each null or to what lives for `'a`.
unsafe fn children<'a, S>(pointers: *mut *mut S, count: i64) -> Option<Vec<&'a S>> {
    let count = usize::try_from(count).ok().filter(|count| *count == 0 || !pointers.is_null())?;
    // SAFETY: the caller's word.
    (0..count).map(|place| unsafe { pointers.add(place).read_unaligned().as_ref() }).collect()
}

/// A whole number of a buffer that is not null: of the offsets of 4 or 8 bytes, or of the lengths of a view's buffers.
pub(super) fn number(array: &FFI_ArrowArray, buffer: usize, bytes: usize, place: usize) -> i64 {
    let start = array.buffer(buffer);
    // SAFETY: the buffer has a number at each place up to the one behind the last row, aligned or not.
    unsafe {
        match bytes {
            4 => i32::from_ne_bytes(start.add(place * 4).cast::<[u8; 4]>().read()).into(),
            _ => i64::from_ne_bytes(start.add(place * 8).cast::<[u8; 8]>().read()),
        }
    }
}

/// Whether a schema's metadata are lengths and texts that Arrow can read.
pub(super) fn has_readable_metadata(schema: &FFI_ArrowSchema) -> bool {
    if schema.metadata.is_null() {
        return true;
    }
    let mut at = schema.metadata;
    let mut next = |skipped: usize| {
        // SAFETY: where one length ends, what it counts begins, and then the next one; the first counts the pairs.
        unsafe {
            at = at.add(skipped);
            let length = i32::from_ne_bytes(at.cast::<[u8; 4]>().read());
            at = at.add(size_of::<i32>());
            length
        }
    };
    let pairs = next(0);
    let mut skipped = Some(0);
    (0..=MOST_METADATA).contains(&pairs)
        && (0..pairs * 2).all(|_| {
            skipped = skipped.and_then(|skipped| usize::try_from(next(skipped)).ok());
            skipped.is_some()
        })
}
