//! One entry of `allow`: a host, a host and a port, or all hosts below a domain.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Ports that an entry without a port means.
const WEB_PORTS: [u16; 2] = [443, 80];
const NAME_LEN_MAX: usize = 253;

/// `api.example.org`, `*.example.org`, `git.internal:8443`, `10.0.0.7:5000` or `localhost:11434`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    host: HostName,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostName {
    Exact(String),
    /// Any name below it, at any depth; not the domain itself.
    Below(String),
    Address(IpAddr),
}

/// How an allowed host may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPermission {
    /// At public addresses only.
    Public,
    /// At any address: the person named the address or the port, and so a place of their own.
    Anywhere,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a host: {reason}")]
pub struct InvalidHost {
    pub text: String,
    pub reason: &'static str,
}

impl HostPattern {
    /// Whether it lets `host` at `port` through. `host` is a name or an address as [`parse_host`] gives it.
    pub fn permits(&self, host: &RequestedHost, port: u16) -> Option<HostPermission> {
        let is_port = match self.port {
            Some(own) => own == port,
            None => WEB_PORTS.contains(&port),
        };
        if !is_port {
            return None;
        }
        match (&self.host, host) {
            (HostName::Address(own), RequestedHost::Address(given)) => {
                (own == given).then_some(HostPermission::Anywhere)
            }
            (HostName::Exact(own), RequestedHost::Name(given)) => (own == given).then_some(self.reach(given)),
            (HostName::Below(domain), RequestedHost::Name(given)) => {
                let is_below = given.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'));
                is_below.then_some(HostPermission::Public)
            }
            (HostName::Address(_), RequestedHost::Name(_))
            | (HostName::Exact(_) | HostName::Below(_), RequestedHost::Address(_)) => None,
        }
    }

    fn reach(&self, name: &str) -> HostPermission {
        if self.port.is_some() || name == "localhost" {
            HostPermission::Anywhere
        } else {
            HostPermission::Public
        }
    }
}

/// The host of a request, normalised. Addresses are only what is written as one in the usual way: `127.1`, `0x7f000001` and
/// `2130706433` are refused, because what they mean depends on who reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedHost {
    /// Lower case, without a final dot.
    Name(String),
    Address(IpAddr),
}

/// Reads the host of a request.
pub fn parse_host(text: &str) -> Result<RequestedHost, InvalidHost> {
    let invalid = |reason| InvalidHost { text: text.to_owned(), reason };
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(RequestedHost::Address(address));
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if name.is_empty() || name.len() > NAME_LEN_MAX {
        return Err(invalid("it is empty or too long"));
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if !name.split('.').all(is_label) {
        return Err(invalid("it has characters that no host name has"));
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if is_number {
        return Err(invalid("an address is written as four decimal numbers"));
    }
    Ok(RequestedHost::Name(name))
}

/// Whether an address belongs to this machine or a private network.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.is_documentation()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && v4.octets()[2] == 0)
                || (a == 198 && (b == 18 || b == 19))
                || a >= 240
        }
        IpAddr::V6(v6) => {
            let segments = v6.segments();
            // Addresses that stand for a version 4 one: mapped, compatible, translated (NAT64) and 6to4.
            let embedded = |high: u16, low: u16| {
                let [a, b] = high.to_be_bytes();
                let [c, d] = low.to_be_bytes();
                is_private(IpAddr::from([a, b, c, d]))
            };
            let is_embedded = segments[..5] == [0; 5] && (segments[5] == 0xffff || segments[5] == 0)
                || segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || (segments[0] & 0xfe00) == 0xfc00
                || (segments[0] & 0xffc0) == 0xfe80
                || (is_embedded && embedded(segments[6], segments[7]))
                || (segments[0] == 0x2002 && embedded(segments[1], segments[2]))
        }
    }
}

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = |reason| InvalidHost { text: text.to_owned(), reason };
        let (host, port) = split_port(text).ok_or_else(|| invalid("its port is not a number"))?;
        let host = match host.strip_prefix("*.") {
            Some(domain) => match parse_host(domain)? {
                RequestedHost::Name(name) => HostName::Below(name),
                RequestedHost::Address(_) => return Err(invalid("an address has no hosts below it")),
            },
            None => match parse_host(host)? {
                RequestedHost::Name(name) => HostName::Exact(name),
                RequestedHost::Address(address) => HostName::Address(address),
            },
        };
        Ok(Self { host, port })
    }
}

/// `host:port`, `[::1]:port`, `host`. None when the port is not one.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() || text.ends_with(']') {
        return Some((text, None));
    }
    match text.rsplit_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((text, None)),
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostName::Exact(name) => f.write_str(name)?,
            HostName::Below(name) => write!(f, "*.{name}")?,
            HostName::Address(IpAddr::V6(address)) if self.port.is_some() => write!(f, "[{address}]")?,
            HostName::Address(address) => write!(f, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(pattern: &str, host: &str, port: u16) -> Option<HostPermission> {
        pattern.parse::<HostPattern>().unwrap().permits(&parse_host(host).unwrap(), port)
    }

    #[test]
    fn a_pattern_lets_through_what_it_names_and_nothing_else() {
        let public = Some(HostPermission::Public);
        assert_eq!(permits("api.example.org", "API.example.org.", 443), public);
        assert_eq!(permits("api.example.org", "api.example.org", 80), public);
        assert_eq!(permits("api.example.org", "api.example.org", 22), None);
        assert_eq!(permits("api.example.org", "evil-api.example.org", 443), None);
        assert_eq!(permits("*.example.org", "a.b.example.org", 443), public);
        assert_eq!(permits("*.example.org", "example.org", 443), None);
        assert_eq!(permits("*.example.org", "badexample.org", 443), None);
        assert_eq!(permits("*.example.org", "example.org.evil.net", 443), None);
        assert_eq!(permits("git.internal:8443", "git.internal", 8443), Some(HostPermission::Anywhere));
        assert_eq!(permits("git.internal:8443", "git.internal", 443), None);
        assert_eq!(permits("10.0.0.7:5000", "10.0.0.7", 5000), Some(HostPermission::Anywhere));
        assert_eq!(permits("10.0.0.7:5000", "10.0.0.8", 5000), None);
        assert_eq!(permits("[::1]:99", "[::1]", 99), Some(HostPermission::Anywhere));
    }

    #[test]
    fn other_ways_to_write_an_address_are_not_hosts() {
        for trick in [
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "1.2.3",
            "a b",
            "",
            ".",
            "a..b",
            "-a",
            "a/b",
            "a%00",
        ] {
            assert!(parse_host(trick).is_err(), "{trick}");
        }
        assert_eq!(parse_host("[::1]").unwrap(), RequestedHost::Address("::1".parse().unwrap()));
    }

    #[test]
    fn private_addresses_are_known_in_every_form() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "::1",
            "::",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn a_pattern_reads_as_it_was_written() {
        for text in ["api.example.org", "*.example.org:8443", "10.0.0.7", "[::1]:99", "localhost:11434"] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
        assert!("*".parse::<HostPattern>().is_err());
        assert!("*.1.2.3.4".parse::<HostPattern>().is_err());
        assert!("host:http".parse::<HostPattern>().is_err());
    }
}
