//! Deserializes from a YAML tree. Keeps the order and duplicate keys.

use baton_taskfile::Value;
use baton_taskfile::yaml::{YamlKind, YamlNode};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Does not occur for recipes, because drafts accept any value.
type Error = serde::de::value::Error;

pub(super) struct YamlDeserializer<'a>(pub &'a YamlNode);

impl<'de> Deserializer<'de> for YamlDeserializer<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match (&self.0.kind, self.0.value()) {
            (YamlKind::List(items), _) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(YamlDeserializer)))
            }
            (YamlKind::Map(pairs), _) => visitor.visit_map(MapDeserializer::new(
                pairs.iter().map(|(key, value)| (key.key(), YamlDeserializer(value))),
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

impl IntoDeserializer<'_, Error> for YamlDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
