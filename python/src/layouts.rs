//! Layouts of structures by build.

use crate::error;
use etw_layouts::runtime::packed::{Member, Selection, Type};
use etw_layouts::{Arch, Build, LAYOUTS};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The names of all structures.
#[pyfunction]
pub fn structures() -> Vec<&'static str> {
    LAYOUTS.structures().map(|structure| structure.name).collect()
}

/// The layout of a structure at a build, as a dict; `None` if the build lacks the structure.
#[pyfunction]
pub fn layout<'py>(py: Python<'py>, name: &str, build: &str, arch: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let build: Build = build.parse().map_err(|_| invalid_build(py, build))?;
    let arch: Arch = arch
        .parse()
        .map_err(|_| error::invalid(py, None, &format!("unknown architecture `{arch}`; use \"x86\", \"x64\" or \"arm64\"")))?;
    let Some(structure) = LAYOUTS.structure(name) else { return Ok(None) };
    let Ok(selected) = structure.select(build, arch) else { return Ok(None) };
    let dict = PyDict::new(py);
    dict.set_item("name", name)?;
    let layout = selected.layout.layout();
    dict.set_item("size", layout.size)?;
    dict.set_item("align", layout.align)?;
    dict.set_item("confidence", selected.confidence.to_string())?;
    dict.set_item("is_sure", selected.confidence.is_sure())?;
    let members: PyResult<Vec<_>> = layout.members().map(|member| self::member(py, member, &selected)).collect();
    dict.set_item("members", members?)?;
    Ok(Some(dict))
}

fn invalid_build(py: Python<'_>, build: &str) -> PyErr {
    error::invalid(py, None, &format!("invalid build `{build}`; use a build such as \"10.0.19045.3570\""))
}

fn member<'py>(py: Python<'py>, member: Member<'_>, selected: &Selection<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", member.name)?;
    dict.set_item("offset", member.offset)?;
    dict.set_item("size", member.size)?;
    dict.set_item("type", member.c)?;
    dict.set_item("bits", member.bits)?;
    let structure = match member.ty {
        Type::Layout(layout) => Some(layout.name),
        _ => None,
    };
    dict.set_item("structure", structure)?;
    dict.set_item("is_sure", selected.is_sure_of_member(member.name))?;
    Ok(dict)
}
