use std::fmt;
use std::str::FromStr;

use anyhow::Context;

use crate::action::Candidate;
use crate::run::Choose;

/// The choices of one schedule, the undisturbed course after the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule(pub(crate) Vec<u8>);

impl Choose for &Schedule {
    fn choose(&mut self, choice: usize, _: &[Candidate]) -> usize {
        self.0.get(choice).copied().unwrap_or(0).into()
    }
}

/// As the places of the choices that disturb: `3=1,7=2`.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disturbing = self.0.iter().enumerate().filter(|(_, choice)| **choice > 0);
        for (number, (place, choice)) in disturbing.enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{place}={choice}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut choices = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (place, choice) = part
                .split_once('=')
                .with_context(|| format!("{part:?} is not of the form 3=1"))?;
            let place: usize = place.trim().parse()?;
            anyhow::ensure!(place < 10_000, "no schedule has {place} choices");
            if choices.len() <= place {
                choices.resize(place + 1, 0);
            }
            choices[place] = choice.trim().parse()?;
        }
        Ok(Self(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_reads_as_it_is_written() {
        let schedule = Schedule(vec![0, 0, 2, 0, 1]);
        assert_eq!(schedule.to_string(), "2=2,4=1");
        assert_eq!("2=2,4=1".parse::<Schedule>().unwrap(), schedule);
        assert_eq!("".parse::<Schedule>().unwrap(), Schedule::default());
        assert!("2".parse::<Schedule>().is_err());
    }
}
