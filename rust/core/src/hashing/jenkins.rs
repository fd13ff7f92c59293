//! Bob Jenkins' hashes: lookup2 in Erlang's `phash2`, and lookup3 in Azure's Event Hubs.

use super::blocks::{filled, low_bits};

const GOLDEN_RATIO: u32 = 0x9e37_79b9;

/// `erlang:phash2/2` of a binary, before the remainder by the range: all 32 bits (OTP 17 to 27). `phash2/1` keeps the
/// low 27.
///
/// ```
/// use partwright_core::hashing::phash2;
/// assert_eq!(phash2(b"order-1001"), 1_532_050_235);
/// assert_eq!(phash2(b"order-1001") % (1 << 27), 55_655_227);
/// ```
pub fn phash2(key: &[u8]) -> u32 {
    let mut state = [GOLDEN_RATIO, GOLDEN_RATIO, GOLDEN_RATIO.wrapping_mul(13)];
    if key.is_empty() {
        return state[2];
    }
    let (blocks, tail) = key.as_chunks::<12>();
    for block in blocks {
        state = mixed2(added(state, words(block)));
    }
    let mut last = words(&filled(tail));
    // The last word's lowest byte is the length.
    last[2] = (last[2] << 8).wrapping_add(low_bits(key.len()));
    mixed2(added(state, last))[2]
}

fn mixed2([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for (first, second, third) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> first);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << second);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> third);
    }
    [a, b, c]
}

/// The `short` that `PartitionResolver` of azure-messaging-eventhubs 5.21.5 makes of lookup3.
///
/// Bytes of a broken word are signed there, as Java's are.
///
/// ```
/// use partwright_core::hashing::event_hubs;
/// assert_eq!(event_hubs(b"order-1001"), 20202);
/// assert_eq!(event_hubs(b""), 0);
/// ```
#[expect(clippy::cast_possible_truncation, reason = "the client itself casts it to a short")]
pub fn event_hubs(key: &[u8]) -> i16 {
    let start = 0xdead_beef_u32.wrapping_add(low_bits(key.len()));
    let mut state = [start; 3];
    let mut left = key;
    while left.len() > 12 {
        let (block, after) = left.split_at(12);
        state = mixed3(added(state, signed_words(block)));
        left = after;
    }
    if !left.is_empty() {
        state = finished3(added(state, signed_words(left)));
    }
    (state[2] ^ state[1]) as i16
}

fn mixed3([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

fn finished3([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for (first, second, third) in [(14, 11, 25), (16, 4, 14)] {
        c = (c ^ b).wrapping_sub(b.rotate_left(first));
        a = (a ^ c).wrapping_sub(c.rotate_left(second));
        b = (b ^ a).wrapping_sub(a.rotate_left(third));
    }
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    [a, b, c]
}

fn added(state: [u32; 3], words: [u32; 3]) -> [u32; 3] {
    [0, 1, 2].map(|place| state[place].wrapping_add(words[place]))
}

fn words(block: &[u8; 12]) -> [u32; 3] {
    let (words, _) = block.as_chunks::<4>();
    [words[0], words[1], words[2]].map(u32::from_le_bytes)
}

/// At most twelve bytes as three words; whole ones as they are.
fn signed_words(bytes: &[u8]) -> [u32; 3] {
    let mut words = [0_u32; 3];
    for (word, four) in words.iter_mut().zip(bytes.chunks(4)) {
        *word = match four.try_into() {
            Ok(four) => u32::from_le_bytes(four),
            Err(_) => four.iter().enumerate().fold(0, |word, (place, byte)| {
                word.wrapping_add(i32::from(byte.cast_signed()).cast_unsigned() << (8 * place))
            }),
        };
    }
    words
}
