use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer};

use super::text;

/// A duration in words: `5s`, `250ms`, `1h 30m`, `7 days`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanDuration(pub Duration);

impl HumanDuration {
    /// The name under which it asks a deserializer for its text.
    pub const NAME: &'static str = "nimbus::HumanDuration";
}

/// Why a text is no [`HumanDuration`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseDurationError(());

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is not repeated: it may have been meant for another key, which is secret.
        f.write_str("it is no duration such as \"5s\", \"250ms\", \"1h 30m\" or \"7 days\"")
    }
}

impl std::error::Error for ParseDurationError {}

impl FromStr for HumanDuration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let duration = humantime::parse_duration(text).map_err(|_| ParseDurationError(()))?;
        Ok(Self(duration))
    }
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl From<Duration> for HumanDuration {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<HumanDuration> for Duration {
    fn from(duration: HumanDuration) -> Self {
        duration.0
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer, Self::NAME, "a duration", |text| {
            text.parse().map_err(|e: ParseDurationError| e.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        let parsed: Result<HumanDuration, _> = text.parse();
        parsed.ok().map(|duration| duration.0.as_secs())
    }

    /// SUB-32: durations are read as people write them; a number alone has no unit, and nothing
    /// overflows.
    #[test]
    fn durations_are_written_in_words() {
        assert_eq!(seconds("5s"), Some(5));
        assert_eq!(seconds("7 days"), Some(7 * 86_400));
        assert_eq!(seconds("1h 30m"), Some(5_400));
        for wrong in [
            "",
            " ",
            "5",
            "-5s",
            "five",
            "5 parsecs",
            "99999999999999 years",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong:?}");
        }
        let longest = HumanDuration(Duration::new(90_061, 5_000_000));
        assert_eq!(longest.to_string(), "1day 1h 1m 1s 5ms");
        assert_eq!(longest.to_string().parse(), Ok(longest));
    }

    /// SUB-32: an error never repeats the text, which may have been meant for a secret key.
    #[test]
    fn an_error_does_not_repeat_the_text() {
        let error = "hunter2".parse::<HumanDuration>().unwrap_err();
        assert!(!format!("{error}{error:?}").contains("hunter2"));
        let error = serde_json::from_str::<HumanDuration>("\"hunter2\"").unwrap_err();
        assert!(!format!("{error}{error:?}").contains("hunter2"));
        let half: HumanDuration = serde_json::from_str("\"500ms\"").unwrap();
        assert_eq!(Duration::from(half), Duration::from_millis(500));
    }
}
