//! SHA-256, for the checksums that pin an included file.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
fn round_constants() -> [u32; 64] {
    let mut constants = [0; 64];
    for (slot, prime) in constants.iter_mut().zip(primes()) {
        *slot = root_fraction(prime, 3);
    }
    constants
}

fn primes() -> impl Iterator<Item = u64> {
    (2_u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// The first 32 bits after the point of a root, by exact integer search.
fn root_fraction(n: u64, degree: u32) -> u32 {
    let target = u128::from(n) << (32 * degree).min(96);
    let power = |x: u128| (1..degree).fold(x, |p, _| p.saturating_mul(x));
    let (mut low, mut high) = (0_u128, 1_u128 << 40);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if power(middle) <= target { low = middle } else { high = middle }
    }
    u32::try_from(low & u128::from(u32::MAX)).unwrap_or(0)
}

/// The sum in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let constants = round_constants();
    let mut state = [0_u32; 8];
    for (slot, prime) in state.iter_mut().zip(primes()) {
        *slot = root_fraction(prime, 2);
    }
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    state.iter().fold(String::with_capacity(64), |text, word| text + &format!("{word:08x}"))
}

#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |w, b| (w << 8) | u32::from(*b));
    }
    for i in 16..64 {
        let small0 = words[i - 15].rotate_right(7) ^ words[i - 15].rotate_right(18) ^ (words[i - 15] >> 3);
        let small1 = words[i - 2].rotate_right(17) ^ words[i - 2].rotate_right(19) ^ (words[i - 2] >> 10);
        words[i] = words[i - 16].wrapping_add(small0).wrapping_add(words[i - 7]).wrapping_add(small1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(big1).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = big0.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (slot, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *slot = slot.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::sha256_hex;

    #[test]
    fn known_sums() {
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_hex(&[b'a'; 1000]), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    }
}
