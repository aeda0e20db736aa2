//! The tree of a YAML document, for serde to read: in its order, with what is written twice still there twice.

use baton_taskfile::Value;
use baton_taskfile::yaml::{YamlKind, YamlNode};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Said where a value does not fit; drafts take anything, so nobody hears it from a recipe.
type Error = serde::de::value::Error;

pub struct Decoded<'a>(pub &'a YamlNode);

impl<'de> Deserializer<'de> for Decoded<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match (&self.0.kind, self.0.value()) {
            (YamlKind::List(items), _) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Decoded))),
            (YamlKind::Map(pairs), _) => visitor.visit_map(MapDeserializer::new(
                pairs.iter().map(|(key, value)| (key.key(), Decoded(value))),
            )),
            (YamlKind::Scalar { .. }, Value::Nil) => visitor.visit_unit(),
            (YamlKind::Scalar { .. }, Value::Bool(value)) => visitor.visit_bool(value),
            (YamlKind::Scalar { .. }, Value::Int(value)) => visitor.visit_i64(value),
            (YamlKind::Scalar { .. }, Value::Float(value)) => visitor.visit_f64(value),
            (YamlKind::Scalar { text, .. }, _) => visitor.visit_str(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Decoded<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
