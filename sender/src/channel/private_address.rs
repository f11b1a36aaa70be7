use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is outside the public internet: loopback, private, link-local, shared, reserved, documentation,
/// multicast and the like, after the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890).
/// An IPv6 address that stands for an IPv4 one is judged by that one.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => private_v4(v4),
        IpAddr::V6(v6) => match stands_for(v6) {
            Some(v4) => private_v4(v4),
            None => private_v6(v6),
        },
    }
}

/// Whether a host name means this machine without asking a resolver (RFC 6761, section 6.3).
pub(super) fn is_local_name(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Blocks that are not globally reachable, or not to be: network and length of the prefix.
const PRIVATE_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::new(255, 255, 255, 255), 32),
];

fn private_v4(address: Ipv4Addr) -> bool {
    PRIVATE_V4.iter().any(|(network, length)| (address.to_bits() ^ network.to_bits()) >> (32 - length) == 0)
}

/// Only 2000::/3 is given out; the blocks below lie in it and are for protocols, documentation and 6to4, which would
/// carry any IPv4 address past the list above.
const PRIVATE_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn private_v6(address: Ipv6Addr) -> bool {
    let within =
        |network: Ipv6Addr, length: u32| (address.to_bits() ^ network.to_bits()) >> (128 - length) == 0;
    !within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) || PRIVATE_V6.iter().any(|&(n, l)| within(n, l))
}

/// The IPv4 address that an IPv4-mapped one (::ffff:0:0/96) or one of the well-known NAT64 prefix (64:ff9b::/96,
/// RFC 6052: what a resolver of a network without IPv4 makes of every IPv4 host) leads to.
fn stands_for(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(text: &str) -> bool {
        is_private(text.parse().unwrap())
    }

    #[test]
    fn the_private_ranges_are_private_to_both_ends() {
        for text in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "5f00::1",
        ] {
            assert!(private(text), "{text}");
        }
    }

    #[test]
    fn their_neighbours_are_public() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "8.8.8.8",
            "2001:200::1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(!private(text), "{text}");
        }
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LocalHost", "localhost.", "a.localhost"] {
            assert!(is_local_name(host), "{host}");
        }
        assert!(!is_local_name("localhost.example.com") && !is_local_name("notlocalhost"));
    }
}
