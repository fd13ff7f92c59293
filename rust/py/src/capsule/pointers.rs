//! Reads what the pointers in the structures of the C data interface lead to.

use std::ffi::{CStr, c_char};
use std::str::Utf8Error;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

/// More metadata pairs than any field has. The limit is needed, since Arrow allocates room for all before it reads the
/// first.
const MOST_METADATA: i32 = 1 << 16;

/// A schema's format and name: each is `None` if its pointer is null, and an error if it is not UTF-8.
pub(super) fn texts_of(schema: &FFI_ArrowSchema) -> Result<[Option<&str>; 2], Utf8Error> {
    let text = |pointer: *const c_char| {
        // SAFETY: the interface's texts end in a zero byte and live as long as their schema, which is borrowed.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_str()).transpose()
    };
    Ok([text(schema.format)?, text(schema.name)?])
}

/// The children of a schema; `None` if a pointer is null or their number is negative.
pub(super) fn children_of_schema(schema: &FFI_ArrowSchema) -> Option<Vec<&FFI_ArrowSchema>> {
    // SAFETY: a schema's children live as long as the schema, which is borrowed.
    unsafe { children(schema.children, schema.n_children) }
}

/// The children of an array; `None` if a pointer is null or their number is negative.
pub(super) fn children_of_array(array: &FFI_ArrowArray) -> Option<Vec<&FFI_ArrowArray>> {
    // SAFETY: an array's children live as long as the array, which is borrowed.
    unsafe { children(array.children, array.n_children) }
}

/// # Safety
/// `pointers` is null or leads to `count` pointers; each of them is null or leads to a structure that lives for `'a`.
unsafe fn children<'a, S>(pointers: *mut *mut S, count: i64) -> Option<Vec<&'a S>> {
    let count = usize::try_from(count).ok().filter(|count| *count == 0 || !pointers.is_null())?;
    // SAFETY: the caller promises it.
    (0..count).map(|place| unsafe { pointers.add(place).read_unaligned().as_ref() }).collect()
}

/// An integer from a buffer that is not null: an offset of 4 or 8 bytes, or the length of one of a view's buffers.
pub(super) fn number(array: &FFI_ArrowArray, buffer: usize, bytes: usize, place: usize) -> i64 {
    let start = array.buffer(buffer);
    // SAFETY: the buffer has a number at each place up to the one after the last row, aligned or not.
    unsafe {
        match bytes {
            4 => i32::from_ne_bytes(start.add(place * 4).cast::<[u8; 4]>().read()).into(),
            _ => i64::from_ne_bytes(start.add(place * 8).cast::<[u8; 8]>().read()),
        }
    }
}

/// Whether Arrow can read a schema's metadata, a sequence of lengths and texts.
pub(super) fn has_readable_metadata(schema: &FFI_ArrowSchema) -> bool {
    if schema.metadata.is_null() {
        return true;
    }
    let mut at = schema.metadata;
    let mut next = |skipped: usize| {
        // SAFETY: the first number counts the pairs. After that each length is followed by as many bytes, then comes
        // the next length.
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
