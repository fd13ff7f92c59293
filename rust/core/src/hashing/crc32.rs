//! zlib's CRC-32 (ISO-HDLC), which librdkafka and the Go clients call consistent.

const POLYNOMIAL: u32 = 0xedb8_8320;
const WORD: usize = 8;

/// What a byte adds to the checksum when `i` more bytes follow it in its word, by `i` and by the byte.
const TABLES: &[[u32; 256]; WORD] = &tables();

#[expect(clippy::cast_possible_truncation, reason = "256 bytes and 8 places fit into whatever they become")]
const fn tables() -> [[u32; 256]; WORD] {
    let mut tables = [[0; 256]; WORD];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ (POLYNOMIAL * (sum & 1));
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut follow = 1;
    while follow < WORD {
        let mut byte = 0;
        while byte < 256 {
            let sum = tables[follow - 1][byte];
            tables[follow][byte] = (sum >> 8) ^ tables[0][(sum & 0xff) as usize];
            byte += 1;
        }
        follow += 1;
    }
    tables
}

/// The CRC-32 of zlib, Java's `java.util.zip.CRC32` and Go's `crc32.ChecksumIEEE`; librdkafka's `rd_crc32`.
///
/// ```
/// use partwright_core::hashing::crc32;
/// assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
/// assert_eq!(crc32(b""), 0);
/// ```
#[inline]
pub fn crc32(key: &[u8]) -> u32 {
    let mut sum = !0;
    let (words, tail) = key.as_chunks::<WORD>();
    for word in words {
        let low = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) ^ sum;
        let [a, b, c, d] = low.to_le_bytes();
        sum = TABLES[7][usize::from(a)]
            ^ TABLES[6][usize::from(b)]
            ^ TABLES[5][usize::from(c)]
            ^ TABLES[4][usize::from(d)]
            ^ TABLES[3][usize::from(word[4])]
            ^ TABLES[2][usize::from(word[5])]
            ^ TABLES[1][usize::from(word[6])]
            ^ TABLES[0][usize::from(word[7])];
    }
    for byte in tail {
        let [low, ..] = sum.to_le_bytes();
        sum = (sum >> 8) ^ TABLES[0][usize::from(low ^ byte)];
    }
    !sum
}
