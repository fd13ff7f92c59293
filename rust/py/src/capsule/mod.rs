//! Reads the capsules of Arrow's `PyCapsule` interface and imports the structures that they point at.
//!
//! The C data interface consists of pointers, and the producer promises what is behind them. `checks` checks what can
//! be checked before Arrow follows them. The rest stays a promise of the producer: each pointer leads to what it says,
//! with as many bytes, until the structure is released, and no other copy of the structure is released too.
//!
//! All unsafe code of the binding is in this folder: here and in `pointers`.

#![expect(unsafe_code, reason = "the C data interface is read through its producer's pointers")]

mod checks;
mod pointers;
mod pyarrow;

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::ByteArrayType;
use arrow_array::{ArrayRef, GenericByteArray, Int32Array, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use checks::{check_array, check_bytes, check_schema};
use pointers::number;

pub(crate) use pyarrow::{import_pyarrow, int32_to_pyarrow};

/// One array and its type, moved out of its capsule as the interface requires: for others the capsule now counts as
/// released.
pub(crate) fn import_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<(ArrayRef, Field)> {
    let schema = pointed::<FFI_ArrowSchema>(schema, c"arrow_schema")?;
    let array = pointed::<FFI_ArrowArray>(array, c"arrow_array")?;
    // SAFETY: capsules of these names hold these structures, and no Python runs below that could change them.
    let (schema, array_pointer) = unsafe { (schema.as_ref(), array.as_ref()) };
    let field = field_of(schema)?;
    check_array(array_pointer, schema).map_err(|wrong| refused(&format!("its array {wrong}")))?;
    // SAFETY: as above, and `array_pointer` is not used again.
    let moved = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    Ok((imported(moved, field.data_type())?, field))
}

/// The arrays of a stream and their type.
pub(crate) fn import_stream(stream: &Bound<'_, PyCapsule>) -> PyResult<(Vec<ArrayRef>, Field)> {
    let stream = pointed::<FFI_ArrowArrayStream>(stream, c"arrow_array_stream")?;
    // SAFETY: a capsule of this name holds this structure. Moved out, it is released at the end of this function.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    if stream.release.is_none() {
        return Err(refused("its stream is released: a stream can be read only once"));
    }
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(refused("its stream lacks a callback, get_schema or get_next"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and both structures live until the call is over.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    if code != 0 {
        return Err(failed(&mut stream, "schema", code));
    }
    let field = field_of(&schema)?;
    // No array is imported before the last one has arrived. While all are alive, two arrays with the same owner are one
    // array that was given twice.
    let mut arrays: Vec<FFI_ArrowArray> = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as for the schema.
        let code = unsafe { get_next(&raw mut stream, &raw mut array) };
        if code != 0 {
            return Err(failed(&mut stream, "next array", code));
        }
        if array.is_released() {
            break;
        }
        if arrays.iter().any(|earlier| is_copy(earlier, &array)) {
            // Only the first copy may release it.
            mem::forget(array);
            return Err(refused("its stream gave the same array twice"));
        }
        check_array(&array, &schema).map_err(|wrong| refused(&format!("an array of its stream {wrong}")))?;
        arrays.push(array);
    }
    let imported: PyResult<_> = arrays.into_iter().map(|array| imported(array, field.data_type())).collect();
    Ok((imported?, field))
}

/// The structure that a capsule with this name points at.
fn pointed<S>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<NonNull<S>> {
    let pointer: NonNull<S> = capsule
        .pointer_checked(Some(name))
        .map_err(|_| refused(&format!("it gives no capsule with the name {}", name.to_string_lossy())))?
        .cast();
    if pointer.is_aligned() { Ok(pointer) } else { Err(refused("its capsule's pointer is not aligned")) }
}

fn field_of(schema: &FFI_ArrowSchema) -> PyResult<Field> {
    check_schema(schema).map_err(|wrong| refused(&format!("its schema {wrong}")))?;
    Field::try_from(schema).map_err(|error| unsupported(&error))
}

/// An array that pyarrow exported as text or binary with offsets, without a schema; nearly every column of keys has one of
/// these types. It is the same array as `imported` gives, with far fewer instructions: a call that comes once a batch finds none of them
/// in a cache.
fn bytes_of<T: ByteArrayType>(array: FFI_ArrowArray) -> PyResult<ArrayRef> {
    let width = size_of::<T::Offset>();
    check_bytes(&array, width).map_err(|wrong| refused(&format!("its array {wrong}")))?;
    let (rows, offset) = (array.len(), array.offset());
    let place = |buffer| NonNull::new(array.buffer(buffer).cast_mut());
    let (Some(offsets), Some(data)) = (place(1), place(2)) else {
        return imported(array, &T::DATA_TYPE);
    };
    if rows == 0 || !offsets.cast::<T::Offset>().is_aligned() {
        return imported(array, &T::DATA_TYPE);
    }
    let (bits, nulls) = (place(0), array.null_count_opt());
    let ends = offset + rows;
    let bytes = usize::try_from(number(&array, 1, width, ends)).unwrap_or(0);
    let owner = Arc::new(array);
    // SAFETY: by the interface, and checked as far as possible, the buffers have this length while their owner lives.
    let buffer = |start, length| unsafe { Buffer::from_custom_allocation(start, length, owner.clone()) };
    let offsets = ScalarBuffer::new(buffer(offsets, (ends + 1) * width), offset, rows + 1);
    let nulls = bits.filter(|_| nulls != Some(0)).map(|bits| {
        let bits = BooleanBuffer::new(buffer(bits, ends.div_ceil(8)), offset, rows);
        match nulls {
            // SAFETY: the interface promises it, and Arrow's own import relies on it too.
            Some(nulls) => unsafe { NullBuffer::new_unchecked(bits, nulls) },
            None => NullBuffer::new(bits),
        }
    });
    // SAFETY: as in Arrow's own import, which does not check the data behind the offsets either; the core checks each
    // key.
    let keys = unsafe {
        let offsets = OffsetBuffer::new_unchecked(offsets);
        GenericByteArray::<T>::new_unchecked(
            offsets,
            buffer(data, bytes),
            nulls.filter(|it| it.null_count() > 0),
        )
    };
    Ok(Arc::new(keys))
}

/// The structure for an array of ints: the same as Arrow's own export makes, with fewer instructions for the same
/// reason.
fn exported(array: Int32Array) -> FFI_ArrowArray {
    let (_, values, nulls) = array.into_parts();
    let bits = nulls.as_ref().map(|nulls| nulls.inner().sliced());
    let start = bits.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast());
    let mut array = FFI_ArrowArray::empty();
    array.length = count(values.len());
    array.null_count = count(nulls.map_or(0, |nulls| nulls.null_count()));
    array.n_buffers = 2;
    let owned = Ints { buffers: [start, values.as_ptr().cast()], _values: values, _bits: bits };
    let owned = Box::into_raw(Box::new(owned));
    // The buffers are the first field of the owner.
    array.buffers = owned.cast();
    array.private_data = owned.cast();
    array.release = Some(release_ints);
    array
}

/// The memory that an exported array of ints owns.
#[repr(C)]
struct Ints {
    buffers: [*const c_void; 2],
    _values: ScalarBuffer<i32>,
    _bits: Option<Buffer>,
}

unsafe extern "C" fn release_ints(array: *mut FFI_ArrowArray) {
    // SAFETY: by the interface it is called once, with a structure that `exported` made, wherever that was moved to.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Ints>()));
        (*array).release = None;
    }
}

/// A number of rows for the interface. No array in memory has more rows than its type can count.
fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

fn imported(array: FFI_ArrowArray, data_type: &DataType) -> PyResult<ArrayRef> {
    // SAFETY: this function owns the array, it is not released, and the checks found what its type requires.
    let data = unsafe { from_ffi_and_data_type(array, data_type.clone()) };
    Ok(make_array(data.map_err(|error| unsupported(&error))?))
}

/// Whether two live arrays share one owner: they are copies of one structure, and each copy would release it.
fn is_copy(one: &FFI_ArrowArray, other: &FFI_ArrowArray) -> bool {
    !one.private_data.is_null() && one.private_data == other.private_data && one.buffers == other.buffers
}

/// The stream's own error message.
fn failed(stream: &mut FFI_ArrowArrayStream, what: &str, code: i32) -> PyErr {
    // SAFETY: the stream is not released. The pointer is null, or a text that lives until the next call of the stream.
    let error_text = stream
        .get_last_error
        .map(|error_text| unsafe { error_text(stream) })
        .filter(|error_text| !error_text.is_null());
    // SAFETY: as above.
    let error_text =
        error_text.map(|error_text| unsafe { CStr::from_ptr(error_text) }.to_string_lossy().into_owned());
    let error_text = error_text.map_or_else(String::new, |error_text| format!(": {error_text}"));
    refused(&format!("its stream gives no {what} (error {code}){error_text}"))
}

fn refused(sentence: &str) -> PyErr {
    PyTypeError::new_err(sentence.to_owned())
}

fn unsupported(error: &ArrowError) -> PyErr {
    refused(&error.to_string())
}
