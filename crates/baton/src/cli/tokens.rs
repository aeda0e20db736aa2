//! `baton token`, as people type it.

use std::str::FromStr;

use baton_core::person_role::PersonRole;
use baton_core::text::PersonName;
use baton_core::time::Timestamp;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token for a person; it is shown once
    #[command(
        after_help = "viewer reads; responder also answers questions, replies and chats; operator may do \
                      everything.\n\nExamples:\n  baton token create ada --role responder\n  baton token create \
                      ci --role viewer --expires 90d"
    )]
    Create {
        /// Who it is for; what they do is recorded under this name
        name: PersonName,
        /// What they may do: viewer, responder or operator
        #[arg(long)]
        role: PersonRole,
        /// When it ends: after a time such as 12h, 30d or 8w, or at a moment such as 2027-01-31T00:00:00Z
        /// [default: when it is revoked]
        #[arg(long, value_name = "WHEN")]
        expires: Option<TokenExpiry>,
    },
    /// List who has a token, as what, and until when
    #[command(after_help = "Examples:\n  baton token list")]
    List,
    /// Take a person's token back, at once and for good
    #[command(after_help = "Examples:\n  baton token revoke ada")]
    Revoke {
        /// Whose it is
        name: PersonName,
    },
}

/// When a token ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenExpiry {
    AfterMs(i64),
    At(Timestamp),
}

const UNITS_MS: [(char, i64); 4] =
    [('m', 60_000), ('h', 3_600_000), ('d', 24 * 3_600_000), ('w', 7 * 24 * 3_600_000)];

impl TokenExpiry {
    pub fn at(self, now: Timestamp) -> Timestamp {
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
            "it is neither a time such as 12h, 30d or 8w nor a moment such as 2027-01-31T00:00:00Z".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_span_or_a_moment() {
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
