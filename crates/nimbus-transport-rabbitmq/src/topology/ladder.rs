//! The ladder of delay queues for scheduled sends.
//!
//! A queue's messages expire only at its head, so each queue has one delay, twice that of the one
//! below. The words of a routing key are the bits of the delay: at each rung a message waits or
//! is passed on at once, and below the last it goes to the endpoint that the next word stands for,
//! where the remaining words name the partition.

use std::time::Duration;

use super::endpoint::{dead_lettering, exchange};
use super::{Argument, Declaration, EndpointNames, Topology};

/// The delay of the lowest rung.
const UNIT: Duration = Duration::from_millis(100);

/// How many rungs there are. Together they delay by 29 hours; what is due later climbs again.
const RUNGS: u32 = 20;

const LONGEST: u64 = (1 << RUNGS) - 1;

/// The names of the ladder, which all endpoints of a prefix share.
#[derive(Debug, Clone)]
pub(crate) struct Ladder {
    prefix: String,
}

/// Where a delay begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) exchange: String,
    pub(crate) routing_key: String,
}

impl Ladder {
    pub(crate) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// How to delay a message for an endpoint by that much, or by as much as the ladder can;
    /// `None` when there is nothing to wait for.
    pub(crate) fn step(
        &self,
        delay: Duration,
        endpoint: &EndpointNames,
        partition_key: &str,
    ) -> Option<Step> {
        if delay.is_zero() {
            return None;
        }
        let units = delay.as_millis().div_ceil(UNIT.as_millis());
        let units = u64::try_from(units).unwrap_or(LONGEST).min(LONGEST);
        let bits = (0..RUNGS).rev().map(|rung| match units >> rung & 1 {
            1 => "1.",
            _ => "0.",
        });
        Some(Step {
            exchange: self.rung(units.ilog2()),
            routing_key: format!(
                "{}{}.{partition_key}",
                bits.collect::<String>(),
                endpoint.word()
            ),
        })
    }

    /// Exchange and queue of one rung.
    fn rung(&self, number: u32) -> String {
        format!("{}delay.{number:02}", self.prefix)
    }

    fn end(&self) -> String {
        format!("{}delay.end", self.prefix)
    }

    fn below(&self, number: u32) -> String {
        number
            .checked_sub(1)
            .map_or_else(|| self.end(), |below| self.rung(below))
    }

    /// The way from the end of the ladder to an endpoint.
    pub(crate) fn way_to(&self, endpoint: &EndpointNames) -> Declaration {
        Declaration::ExchangeBinding {
            exchange: self.end(),
            destination: endpoint.ingress().to_owned(),
            pattern: format!("{}{}.#", any(RUNGS), endpoint.word()),
        }
    }
}

/// What the ladder needs.
pub(crate) fn ladder(ladder: &Ladder) -> Topology {
    let mut declared = vec![exchange(&ladder.end(), "topic", None)];
    for number in 0..RUNGS {
        let (rung, below) = (ladder.rung(number), ladder.below(number));
        let above = any(RUNGS - 1 - number);
        let delay = i64::try_from(UNIT.as_millis()).unwrap_or(i64::MAX) << number;
        let mut arguments = vec![("x-message-ttl", Argument::Number(delay))];
        arguments.extend(dead_lettering(&below));
        declared.extend([
            exchange(&rung, "topic", None),
            Declaration::Queue {
                name: rung.clone(),
                arguments,
            },
            Declaration::QueueBinding {
                exchange: rung.clone(),
                queue: rung.clone(),
                pattern: format!("{above}1.#"),
            },
            Declaration::ExchangeBinding {
                exchange: rung,
                destination: below,
                pattern: format!("{above}0.#"),
            },
        ]);
    }
    Topology(declared)
}

/// That many words, whatever they are.
fn any(words: u32) -> String {
    (0..words).map(|_| "*.").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(delay: Duration) -> (String, u64) {
        let step = Ladder::new("t.")
            .step(delay, &EndpointNames::new("t.", "Billing"), "1.0")
            .expect("there is something to wait for");
        let bits = step.routing_key.split('.').take(RUNGS as usize);
        let units = bits.fold(0, |units, bit| units * 2 + u64::from(bit == "1"));
        (step.exchange, units)
    }

    /// SUB-33: a delay is never shorter than asked, and longer by less than a unit; what the
    /// ladder is too short for takes all of it.
    #[test]
    fn a_delay_is_rounded_up() {
        let millis = Duration::from_millis;
        assert_eq!(key(millis(1)), ("t.delay.00".to_owned(), 1));
        assert_eq!(key(millis(100)), ("t.delay.00".to_owned(), 1));
        assert_eq!(key(millis(101)), ("t.delay.01".to_owned(), 2));
        assert_eq!(key(Duration::from_secs(60)).1, 600);
        assert_eq!(key(Duration::MAX), ("t.delay.19".to_owned(), LONGEST));
        let endpoint = EndpointNames::new("t.", "Billing");
        assert_eq!(
            Ladder::new("t.").step(Duration::ZERO, &endpoint, "1.0"),
            None
        );
    }
}
