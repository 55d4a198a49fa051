//! Fields of events as Python objects, with the names and values of `etw etl events --format json`. No JSON text is written.

use etw_layouts_etl::Clock;
use etw_layouts_etl::payload::{Fields, Step, Value};
use etw_layouts_etl::text::fields::{Members, name};
use etw_layouts_etl::text::put;
use etw_layouts_etl::text::values::Json;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// The fields by name; if decoding stops early, the fields before that.
pub fn to_dict<'py>(py: Python<'py>, fields: &Fields<'_>, clock: &Clock) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let mut levels = vec![Level::Structure(all.clone(), Members::default())];
    for step in fields.steps().map_while(Result::ok) {
        let Some(level) = levels.last_mut() else { break };
        match &step {
            Step::Value(value) => level.add(py, &step, &object(py, value, clock)?)?,
            Step::Array(..) => {
                let list = PyList::empty(py);
                level.add(py, &step, list.as_any())?;
                levels.push(Level::Array(list));
            }
            Step::Structure(_) => {
                let dict = PyDict::new(py);
                level.add(py, &step, dict.as_any())?;
                levels.push(Level::Structure(dict, Members::default()));
            }
            Step::End => {
                levels.pop();
            }
        }
    }
    Ok(all)
}

/// An open array or structure.
#[expect(clippy::large_enum_variant, reason = "few are open at a time, and a box would need an allocation for each event")]
enum Level<'py, 'a> {
    Array(Bound<'py, PyList>),
    Structure(Bound<'py, PyDict>, Members<'a>),
}

impl<'py, 'a> Level<'py, 'a> {
    /// Adds the object of a step.
    fn add(&mut self, py: Python<'py>, step: &Step<'a>, object: &Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            Self::Array(list) => list.append(object),
            Self::Structure(dict, members) => {
                let name = name(step).unwrap_or_default();
                match members.add(name) {
                    None => dict.set_item(PyString::intern(py, name), object),
                    Some(other) => dict.set_item(other, object),
                }
            }
        }
    }
}

fn object<'py>(py: Python<'py>, value: &Value<'_>, clock: &Clock) -> PyResult<Bound<'py, PyAny>> {
    Ok(match Json::from_value(value, Some(clock)) {
        Json::Unsigned(number) => number.into_pyobject(py)?.into_any(),
        Json::Signed(number) => number.into_pyobject(py)?.into_any(),
        // Parse the decimal text, to get the same number as from JSON.
        Json::Float(number) => format!("{number:?}").parse::<f64>().unwrap_or(number.into()).into_pyobject(py)?.into_any(),
        Json::Double(number) => number.into_pyobject(py)?.into_any(),
        Json::Boolean(is) => is.into_pyobject(py)?.to_owned().into_any(),
        Json::Text(text) => text.chars().collect::<String>().into_pyobject(py)?.into_any(),
        Json::Hexadecimal(number) => {
            let mut digits = Vec::with_capacity(18);
            put::hexadecimal(&mut digits, number);
            PyString::from_bytes(py, &digits)?.into_any()
        }
        Json::Time(time) => time.rfc3339().to_string().into_pyobject(py)?.into_any(),
        Json::Named(data, name) => format!("{data} {name}").into_pyobject(py)?.into_any(),
        Json::Shown(value) => value.to_string().into_pyobject(py)?.into_any(),
    })
}
