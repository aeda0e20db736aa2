//! The tree of a YAML document, for serde to read: in its order, with what is written twice still there twice.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::base::yaml::Node;

/// Said where a value does not fit; drafts take anything, so nobody hears it from a recipe.
type Error = serde::de::value::Error;

pub struct Decoded<'a>(pub &'a Node);

impl<'de> Deserializer<'de> for Decoded<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(*value),
            Node::Int(value) => visitor.visit_i64(*value),
            Node::Float(value) => visitor.visit_f64(*value),
            Node::Text(text) => visitor.visit_str(text),
            Node::List(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(|(_, node)| Decoded(node))))
            }
            Node::Map(entries) => visitor.visit_map(MapDeserializer::new(
                entries.iter().map(|entry| (entry.key.as_str(), Decoded(&entry.value))),
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Node::Null => visitor.visit_none(),
            Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Text(_) | Node::List(_) | Node::Map(_) => {
                visitor.visit_some(self)
            }
        }
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
