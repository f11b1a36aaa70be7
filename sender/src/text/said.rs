use std::{fmt, sync::Arc};

use domain::Day;
use minijinja::value::{Object, Value};

use super::{Values, words::grouped};

/// What templates ask for of a user, made when one does: most texts use one or two of the four. `Debug` leaves the name out.
pub(super) struct Said {
    name: Value,
    steps: u32,
    day: Day,
}

impl Said {
    /// The root of a template's variables.
    pub(super) fn of(values: Values<'_>) -> Value {
        let Values { name, steps, day } = values;
        Value::from_object(Self { name: name.into(), steps, day })
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Said").field("steps", &self.steps).field("day", &self.day).finish_non_exhaustive()
    }
}

impl Object for Said {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        Some(match key {
            "steps" => self.steps.into(),
            "steps_grouped" => grouped(self.steps).into(),
            "name" => self.name.clone(),
            "day" => self.day.to_string().into(),
            _ => return None,
        })
    }
}
