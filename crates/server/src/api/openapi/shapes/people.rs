//! People and their tokens.

use crate::api::openapi::shapes::{Shapes, flag, list, object, refer, text, time};

pub fn shapes() -> Shapes {
    let token = [
        ("name", refer("PersonName")),
        ("role", refer("PersonRole")),
        ("is_good", flag()),
        ("created_at", time()),
        ("created_by", refer("Actor")),
        ("expires_at?", time()),
        ("revoked?", object(&[("at", time()), ("by", refer("Actor"))])),
    ];
    let created: Vec<_> = [("token", text())].into_iter().chain(token.clone()).collect();
    vec![
        ("TokenList", object(&[("tokens", list(&refer("Token")))])),
        ("Token", object(&token)),
        ("CreatedToken", object(&created)),
    ]
}
