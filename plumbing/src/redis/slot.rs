/// How many slots a Redis cluster has.
pub(super) const SLOTS: u16 = 16_384;

/// The slot of a key, as a Redis cluster computes it: CRC16 (XMODEM: polynomial 0x1021, nothing reflected, start 0)
/// modulo 16,384 of the hash tag, the part between the first `{` and the first `}` after it; of the whole key where
/// there is no such part or it is empty. Source: the Redis cluster specification, "Key distribution model".
pub fn redis_slot(key: &[u8]) -> u16 {
    crc16(tag(key)) % SLOTS
}

fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else { return key };
    let after = &key[open + 1..];
    match after.iter().position(|byte| *byte == b'}') {
        None | Some(0) => key,
        Some(close) => &after[..close],
    }
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| (crc << 8) ^ STEPS[usize::from((crc >> 8) ^ u16::from(*byte))])
}

/// What one byte makes of the sum.
const STEPS: [u16; 256] = {
    let mut steps = [0; 256];
    let mut byte = 0_u16;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        steps[byte as usize] = crc;
        byte += 1;
    }
    steps
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_of_the_specification() {
        // the check value that the specification gives
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(redis_slot(b"foo"), 12_182);
        assert_eq!(redis_slot(b""), 0);
    }

    #[test]
    fn only_the_first_tag_counts() {
        let same = |a: &str, b: &str| redis_slot(a.as_bytes()) == redis_slot(b.as_bytes());
        assert!(same("a:{user1000}.following", "{user1000}.followers"));
        assert!(same("foo{bar}{zap}", "bar"));
        assert!(same("foo{{bar}}zap", "{bar"));
        assert_eq!(redis_slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % SLOTS);
        assert_eq!(redis_slot(b"foo{bar"), crc16(b"foo{bar") % SLOTS);
    }
}
