use std::fmt;

use nimbus_inbox_core::config::{FilePath, HumanDuration, Secret};
use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::{Keys, Kind};

/// A type deeper than this contains itself.
const DEPTH: usize = 8;

/// The keys that `T` knows: it is deserialized from nothing, once for each, until it says what it
/// asks for.
///
/// A type that doesn't ask for a struct, as with `#[serde(flatten)]`, leaves its keys open.
pub(in crate::config) fn keys_of<T: for<'de> Deserialize<'de>>() -> Keys {
    match kind_at::<T>(&mut Vec::new()) {
        Kind::Table(keys) => keys,
        _ => {
            let mut keys = Keys::default();
            keys.leave_open();
            keys
        }
    }
}

/// What `T` asks for at `place`, a path of keys; those of maps and lists are empty.
fn kind_at<T: for<'de> Deserialize<'de>>(place: &mut Vec<&'static str>) -> Kind {
    if place.len() > DEPTH {
        return Kind::Any;
    }
    let mut asked = Asked::Value(Kind::Any);
    let probe = Probe {
        place,
        asked: &mut asked,
    };
    // Always an error, as there is no value; what counts is what was asked for.
    let _ = T::deserialize(probe);
    let mut inner = |name| {
        place.push(name);
        let kind = kind_at::<T>(place);
        place.pop();
        kind
    };
    match asked {
        Asked::Value(kind) => kind,
        Asked::Struct(names) => {
            let keys = names.iter().map(|name| ((*name).to_owned(), inner(name)));
            Kind::Table(Keys::new(keys))
        }
        Asked::Enum(names) => {
            let choices = names.iter().map(|name| (*name, inner(name)));
            Kind::Choice(choices.collect())
        }
        Asked::Map => Kind::Map(Box::new(inner(""))),
        Asked::List => Kind::List(Box::new(inner(""))),
    }
}

enum Asked {
    Value(Kind),
    Struct(&'static [&'static str]),
    Enum(&'static [&'static str]),
    Map,
    List,
}

struct Probe<'a> {
    place: &'a [&'static str],
    asked: &'a mut Asked,
}

impl Probe<'_> {
    fn found(self, asked: Asked) -> NothingThere {
        if self.place.is_empty() {
            *self.asked = asked;
        }
        NothingThere
    }
}

#[derive(Debug)]
struct NothingThere;

impl fmt::Display for NothingThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for NothingThere {}

impl Error for NothingThere {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

macro_rules! scalars {
    ($($method:ident)* => $kind:expr) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NothingThere> {
            Err(self.found(Asked::Value($kind)))
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = NothingThere;

    scalars!(deserialize_bool => Kind::Boolean);
    scalars!(
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        => Kind::Integer
    );
    scalars!(deserialize_f32 deserialize_f64 => Kind::Number);
    scalars!(deserialize_char deserialize_str deserialize_string => Kind::Text);
    scalars!(
        deserialize_any deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier deserialize_ignored_any
        => Kind::Any
    );

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NothingThere> {
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, NothingThere> {
        Err(self.found(Asked::Value(Kind::Any)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        let kind = match name {
            HumanDuration::NAME => Kind::Duration,
            FilePath::NAME => Kind::Path,
            Secret::NAME => Kind::Secret,
            _ => return visitor.visit_newtype_struct(self),
        };
        Err(self.found(Asked::Value(kind)))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NothingThere> {
        match self.place.split_first() {
            None => Err(self.found(Asked::List)),
            Some((_, rest)) => visitor.visit_seq(Element(Probe {
                place: rest,
                asked: self.asked,
            })),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NothingThere> {
        match self.place.split_first() {
            None => Err(self.found(Asked::Map)),
            Some((name, rest)) => visitor.visit_map(Entry {
                name,
                value: Some(Probe {
                    place: rest,
                    asked: self.asked,
                }),
            }),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        if self.place.is_empty() {
            return Err(self.found(Asked::Struct(names)));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        match self.place.split_first() {
            None => Err(self.found(Asked::Enum(names))),
            Some((name, rest)) => visitor.visit_enum(Choice {
                name,
                value: Probe {
                    place: rest,
                    asked: self.asked,
                },
            }),
        }
    }
}

/// One variant of an enum.
struct Choice<'a> {
    name: &'static str,
    value: Probe<'a>,
}

impl<'de, 'a> EnumAccess<'de> for Choice<'a> {
    type Error = NothingThere;
    type Variant = Probe<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Probe<'a>), NothingThere> {
        let name: StrDeserializer<'_, NothingThere> = StrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self.value))
    }
}

impl<'de> VariantAccess<'de> for Probe<'_> {
    type Error = NothingThere;

    fn unit_variant(self) -> Result<(), NothingThere> {
        Err(self.found(Asked::Value(Kind::Unit)))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, NothingThere> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        self.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NothingThere> {
        self.deserialize_struct("", names, visitor)
    }
}

/// A map with one entry.
struct Entry<'a> {
    name: &'static str,
    value: Option<Probe<'a>>,
}

impl<'de> MapAccess<'de> for Entry<'_> {
    type Error = NothingThere;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, NothingThere> {
        let name: StrDeserializer<'_, NothingThere> = StrDeserializer::new(self.name);
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, NothingThere> {
        seed.deserialize(self.value.take().ok_or(NothingThere)?)
    }
}

/// A list with one element.
struct Element<'a>(Probe<'a>);

impl<'de> SeqAccess<'de> for Element<'_> {
    type Error = NothingThere;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NothingThere> {
        let probe = Probe {
            place: self.0.place,
            asked: self.0.asked,
        };
        seed.deserialize(probe).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Inner {
        path: FilePath,
        password: Option<Secret>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its shape counts")]
    enum Level {
        Low,
        High,
        Exactly(u8),
        Between { least: u8, most: u8 },
    }

    #[derive(Deserialize)]
    #[serde(default)]
    struct Outer {
        on: bool,
        count: Option<NonZeroU32>,
        share: f64,
        name: String,
        wait: HumanDuration,
        level: Level,
        inner: Inner,
        named: BTreeMap<String, Inner>,
        list: Vec<Inner>,
        again: Option<Box<Outer>>,
    }

    impl Default for Outer {
        fn default() -> Self {
            unreachable!("no field can be read")
        }
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, String>,
    }

    /// SUB-32: what a settings type takes is known from the type alone, secrets included.
    #[test]
    fn a_type_tells_its_keys() {
        let keys = keys_of::<Outer>();
        let inner = Kind::Table(Keys::new([
            ("path".to_owned(), Kind::Path),
            ("password".to_owned(), Kind::Secret),
        ]));
        let level = Kind::Choice(vec![
            ("low", Kind::Unit),
            ("high", Kind::Unit),
            ("exactly", Kind::Integer),
            (
                "between",
                Kind::Table(Keys::new([
                    ("least".to_owned(), Kind::Integer),
                    ("most".to_owned(), Kind::Integer),
                ])),
            ),
        ]);
        for (name, kind) in [
            ("on", Kind::Boolean),
            ("count", Kind::Integer),
            ("share", Kind::Number),
            ("name", Kind::Text),
            ("wait", Kind::Duration),
            ("level", level),
            ("inner", inner.clone()),
            ("named", Kind::Map(Box::new(inner.clone()))),
            ("list", Kind::List(Box::new(inner))),
        ] {
            assert_eq!(keys.get(name), Some(&kind), "{name}");
        }
        assert_eq!(keys.names().count(), 10);
        assert!(keys_of::<Flat>().is_open());
    }
}
