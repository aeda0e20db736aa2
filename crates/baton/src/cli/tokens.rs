//! `baton token`

use std::str::FromStr;

use baton_core::base::text::PersonName;
use baton_core::base::time::Timestamp;
use baton_core::people::role::PersonRole;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token for a person; it is printed once
    #[command(
        after_help = "A viewer reads; a responder also answers questions, replies and chats; an operator may do \
                      everything.\n\nExamples:\n  baton token create ada --role responder\n  baton token create \
                      ci --role viewer --expires 90d"
    )]
    Create {
        /// Name of the person, recorded with everything they do
        name: PersonName,
        /// viewer, responder or operator
        #[arg(long)]
        role: PersonRole,
        /// Expiry: a duration such as 12h, 30d or 8w, or a time such as 2027-01-31T00:00:00Z [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<TokenExpiry>,
    },
    /// List tokens with name, role and expiry
    #[command(after_help = "Examples:\n  baton token list")]
    List,
    /// Revoke a token
    #[command(after_help = "Examples:\n  baton token revoke ada")]
    Revoke {
        /// Name of the person
        name: PersonName,
    },
}

/// When a token expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenExpiry {
    AfterMs(i64),
    At(Timestamp),
}

const UNITS_MS: [(char, i64); 4] =
    [('m', 60_000), ('h', 3_600_000), ('d', 24 * 3_600_000), ('w', 7 * 24 * 3_600_000)];

impl TokenExpiry {
    pub(crate) fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::AfterMs(ms) => now.plus_ms(ms),
            Self::At(moment) => moment,
        }
    }
}

impl FromStr for TokenExpiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(moment) = text.parse() {
            return Ok(Self::At(moment));
        }
        let span = UNITS_MS.iter().find_map(|(unit, ms)| {
            let count: u32 = text.strip_suffix(*unit)?.parse().ok()?;
            i64::from(count).checked_mul(*ms)
        });
        span.filter(|ms| *ms > 0).map(Self::AfterMs).ok_or_else(|| {
            "expected a duration such as 12h, 30d or 8w, or a time such as 2027-01-31T00:00:00Z".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_duration_or_a_time() {
        let now = Timestamp::from_ms(1_000);
        let ends = |text: &str| text.parse::<TokenExpiry>().map(|expiry| expiry.at(now).ms());
        assert_eq!(ends("2h"), Ok(1_000 + 7_200_000));
        assert_eq!(ends("8w"), Ok(1_000 + 8 * 7 * 86_400_000));
        assert_eq!(ends("1970-01-01T00:01:00Z"), Ok(60_000));
        for bad in ["", "0d", "-1d", "d", "soon", "1y", "1.5h"] {
            assert!(ends(bad).is_err(), "{bad}");
        }
    }
}
