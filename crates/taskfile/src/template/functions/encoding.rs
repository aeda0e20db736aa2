//! Base64, base32 and checksums.

use sha1::Digest as _;

use super::super::val::{Result, Val};
use super::ParamType::Str;
use super::{Function, FunctionContext, fixed, text};
use crate::go::escape::hex;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("b64enc", &[Str], |_, args| Ok(Val::text(BASE64.encode(text(args, 0).as_bytes())))),
    fixed("b64dec", &[Str], |_, args| decode_to_text(&BASE64, text(args, 0))),
    fixed("b32enc", &[Str], |_, args| Ok(Val::text(BASE32.encode(text(args, 0).as_bytes())))),
    fixed("b32dec", &[Str], |_, args| decode_to_text(&BASE32, text(args, 0))),
    fixed("sha1sum", &[Str], |_, args| Ok(Val::text(hex(&sha1::Sha1::digest(text(args, 0)))))),
    fixed("sha256sum", &[Str], |_, args| Ok(Val::text(hex(&sha2::Sha256::digest(text(args, 0)))))),
    fixed("adler32sum", &[Str], adler32),
];

fn adler32(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in text(args, 0).bytes() {
        low = (low + u32::from(byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    Ok(Val::text(format!("{}", (high << 16) | low)))
}

/// An encoding with `bits` bits per letter, padded with `=` to whole groups.
struct Alphabet {
    name: &'static str,
    letters: &'static [u8],
    bits: u32,
    group: usize,
}

const BASE64: Alphabet = Alphabet {
    name: "base64",
    letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    bits: 6,
    group: 4,
};

const BASE32: Alphabet =
    Alphabet { name: "base32", letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bits: 5, group: 8 };

impl Alphabet {
    fn encode(&self, bytes: &[u8]) -> String {
        let mut out = String::new();
        let (mut buffer, mut held) = (0_u32, 0);
        let mask = (1 << self.bits) - 1;
        let letter = |index: u32| self.letters.get(index as usize).map_or('=', |letter| char::from(*letter));
        for byte in bytes {
            buffer = (buffer << 8) | u32::from(*byte);
            held += 8;
            while held >= self.bits {
                held -= self.bits;
                out.push(letter((buffer >> held) & mask));
            }
            buffer &= (1 << held) - 1;
        }
        if held > 0 {
            out.push(letter((buffer << (self.bits - held)) & mask));
        }
        while !out.len().is_multiple_of(self.group) {
            out.push('=');
        }
        out
    }

    /// The decoded bytes, or the position of the error. Newlines are skipped, as in Go.
    fn decode(&self, whole: &str) -> Result<Vec<u8>, usize> {
        let letters: Vec<(usize, u8)> =
            whole.bytes().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n')).collect();
        let used = letters.iter().rposition(|(_, byte)| *byte != b'=').map_or(0, |last| last + 1);
        let padding = letters.len() - used;
        let mut out = Vec::new();
        let (mut buffer, mut held) = (0_u32, 0);
        for (place, byte) in &letters[..used] {
            let index = self.letters.iter().position(|letter| letter == byte).ok_or(*place)?;
            buffer = (buffer << self.bits) | u32::try_from(index).map_err(|_| *place)?;
            held += self.bits;
            if held >= 8 {
                held -= 8;
                out.push(u8::try_from((buffer >> held) & 0xFF).map_err(|_| *place)?);
            }
            buffer &= (1 << held) - 1;
        }
        let left_over = used % self.group;
        let impossible = matches!((self.group, left_over), (4, 1) | (8, 1 | 3 | 6));
        if impossible || !letters.len().is_multiple_of(self.group) || padding >= self.group {
            // Go reports the start of the incomplete group.
            return Err(letters.get(used - left_over).map_or(whole.len(), |(place, _)| *place));
        }
        Ok(out)
    }
}

/// sprig returns the error message as the result.
fn decode_to_text(alphabet: &Alphabet, whole: &str) -> Result<Val> {
    Ok(Val::text(match alphabet.decode(whole) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(place) => format!("illegal {} data at input byte {place}", alphabet.name),
    }))
}
