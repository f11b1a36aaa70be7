//! What ours is compared with: loops that do nothing but move the same bytes over the same libraries.

mod broker;
mod push;

pub(crate) use self::{
    broker::{Message, drain, publish},
    push::{Prepared, push},
};
