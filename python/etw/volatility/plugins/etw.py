"""Event Tracing for Windows in memory: sessions, providers, registrations, consumers, variables, buffers and findings.

The plugins read the physical layer of Volatility. The package ``etw`` finds the kernel in it and has the layouts, so no symbols are needed.
"""

import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from volatility3.framework import exceptions, interfaces, renderers
from volatility3.framework.configuration import requirements
from volatility3.framework.renderers import format_hints

from etw import Error, _etw

log = logging.getLogger(__name__)

Row = tuple[Any, ...]

PAGE = 0x1000

SOURCES = {
    "file": "the symbols of --symbols",
    "facts": "the built-in facts of its PDB",
    "build": "a built-in table by build",
    "search": "a search in the image of the kernel",
}
"""The sources of the addresses of variables."""


class _Plugin(interfaces.plugins.PluginInterface):
    """Reads ETW's state in memory."""

    _required_framework_version = (2, 28, 0)
    _version = (1, 0, 0)
    COLUMNS: list[tuple[str, type]] = []

    @classmethod
    def get_requirements(cls) -> list[interfaces.configuration.RequirementInterface]:
        return [
            requirements.TranslationLayerRequirement(name="primary", description="Memory of a Windows system"),
            requirements.StringRequirement(
                name="build",
                description="Build of the kernel, such as 10.0.19041.1415, if its PDB is not that of an examined build",
                optional=True,
            ),
            requirements.StringRequirement(
                name="symbols",
                description="Symbols of the kernel, as a PDB or an ISF table, if the addresses of its variables are not built in",
                optional=True,
            ),
        ]

    def run(self) -> renderers.TreeGrid:
        return renderers.TreeGrid(self.COLUMNS, ((0, row) for row in self.rows()))

    def rows(self) -> Iterator[Row]:
        raise NotImplementedError

    def physical(self) -> interfaces.layers.DataLayerInterface:
        """The layer of physical memory."""
        layer = self.context.layers[self.config["primary"]]
        # A layer of virtual memory names the layer below it.
        return self.context.layers[layer.config["memory_layer"]] if "memory_layer" in layer.config else layer

    def command(self, *words: str) -> list[dict[str, Any]]:
        """The lines of a command on crash dumps, with this memory as the dump."""
        layer = self.physical()
        if isinstance(layer, interfaces.layers.TranslationLayerInterface):
            found = layer.mapping(0, layer.maximum_address + 1, ignore_errors=True)
            ranges = [(address, size) for address, size, _, _, _ in found]
        else:
            ranges = [(0, layer.maximum_address + 1)]

        def read(address: int, size: int) -> bytes | None:
            """The bytes before the first missing page."""
            end = min(address + size, layer.maximum_address + 1)
            try:
                return layer.read(address, end - address)
            except exceptions.InvalidAddressException:
                # The address in the exception can be that of a layer below.
                found = bytearray()
                while address < end:
                    size = min(PAGE - address % PAGE, end - address)
                    try:
                        found += layer.read(address, size)
                    except exceptions.InvalidAddressException:
                        break
                    address += size
                return bytes(found)

        options = [f"--{name}={self.config[name]}" for name in ("build", "symbols") if self.config.get(name)]
        with tempfile.SpooledTemporaryFile(max_size=16 << 20) as file:
            try:
                notes = _etw.memory([*words, "--format", "json", *options, "memory"], read, ranges, file)
            except Error as error:
                # Of the exceptions of Volatility, its program prints the text of these.
                text = str(error).replace("give its build", "give its build with --build")
                if "could not be saved" in text and not self.config.get("symbols"):
                    text += ": the rates of their clocks are variables of the kernel; give its symbols with --symbols"
                raise (exceptions.LayerException(layer.name, text) if "no kernel found" in text else exceptions.SymbolSpaceError(text)) from None
            for note in notes:
                log.warning("%s", note.get("note") or note.get("error") or note.get("message") or note)
            file.seek(0)
            return [json.loads(line) for line in file]

    def info(self) -> dict[str, Any]:
        """Everything in memory. Warns about findings."""
        [info] = self.command("info", "--details")
        kernel = info["kernel"]
        if kernel["symbols_source"] == "search":
            log.warning("PspHostSiloGlobals was found by a search in the image of the kernel; times need other variables: see --symbols")
        elif kernel["symbols_source"] == "none":
            log.warning("no addresses of variables, so sessions and providers are not found: %s", kernel["symbols_note"])
        if info["diagnostics_total"]:
            log.warning("%s findings and diagnostics: the plugin etw.Findings lists them", info["diagnostics_total"])
        return info


def _text(value: object) -> Any:
    return renderers.NotAvailableValue() if value is None else str(value)


def _number(value: int | None) -> Any:
    return renderers.NotAvailableValue() if value is None else value


def _address(value: str | None) -> Any:
    return renderers.NotAvailableValue() if value is None else format_hints.Hex(int(value, 16))


class Sessions(_Plugin):
    """Lists the sessions of Event Tracing for Windows."""

    COLUMNS = [("ID", int), ("Name", str), ("Mode", str), ("Clock", str), ("BufferSize", int), ("Buffers", int), ("Empty", int), ("Events", int),
               ("First", str), ("Last", str)]

    def rows(self) -> Iterator[Row]:
        for one in self.info()["sessions"]:
            yield (one["logger_id"], one["session"], one["mode_names"], _text(one["clock_name"]), one["buffer_size"], one["buffers"],
                   one["empty_buffers"], one["events"], _text(one.get("first_time_utc")), _text(one.get("last_time_utc")))


class Providers(_Plugin):
    """Lists the providers, and the sessions that enabled them."""

    COLUMNS = [("Address", format_hints.Hex), ("GUID", str), ("Kind", str), ("Session", int), ("Level", int), ("Any", format_hints.Hex),
               ("All", format_hints.Hex), ("Registrations", int)]

    def rows(self) -> Iterator[Row]:
        for one in self.info()["providers"]:
            for by in one["enabled"] or [{}]:
                yield (_address(one["address"]), _text(one["guid"]), one["kind"], _number(by.get("logger_id")), _number(by.get("level")),
                       _address(by.get("any")), _address(by.get("all")), len(one["registrations"]))


class Registrations(_Plugin):
    """Lists the registrations of providers, with the modules of their callbacks."""

    COLUMNS = [("Address", format_hints.Hex), ("GUID", str), ("Name", str), ("Process", format_hints.Hex), ("Callback", format_hints.Hex),
               ("Module", str), ("Flags", str)]

    def rows(self) -> Iterator[Row]:
        for provider in self.info()["providers"]:
            # The registrations of a group are those of its providers.
            for one in provider["registrations"] if provider["kind"] != "Group" else []:
                module = one["module"] or ("no module" if one["callback"] else None)
                yield (_address(one["address"]), _text(provider["guid"]), _text(one["name"]), _address(one["process_address"] or one["owner"]),
                       _address(one["callback"]), _text(module), " ".join(one["flags"]))


class Consumers(_Plugin):
    """Lists the consumers of sessions in real time."""

    COLUMNS = [("Address", format_hints.Hex), ("Session", int), ("Process", format_hints.Hex), ("PID", int), ("BuffersLost", int)]

    def rows(self) -> Iterator[Row]:
        for one in self.info()["consumers"]:
            yield (_address(one["address"]), _number(one["logger_id"]), _address(one["process_address"]), _number(one["process"]),
                   _number(one["buffers_lost"]))


class Globals(_Plugin):
    """Lists the kernel: its build, the variables from which ETW's state is found, and the confidence of each layout."""

    COLUMNS = [("Name", str), ("Address", format_hints.Hex), ("Description", str)]

    def rows(self) -> Iterator[Row]:
        kernel = self.info()["kernel"]
        yield ("kernel", _address(kernel["base"]), f"build {kernel['build']}, known by {kernel['build_source']}")
        for name, address in kernel["globals"].items():
            # A search finds one variable; any others are from a table by build.
            is_other = kernel["symbols_source"] == "search" and name != "PspHostSiloGlobals"
            yield (name, _address(address), f"variable, from {SOURCES['build' if is_other else kernel['symbols_source']]}")
        for one in kernel["layouts"]:
            yield (one["structure"], renderers.NotApplicableValue(), f"{one['confidence']}: {one['evidence']}")


class Findings(_Plugin):
    """Lists suspected tampering and inconsistencies of ETW's structures."""

    COLUMNS = [("Weight", str), ("Kind", str), ("Structure", str), ("Member", str), ("Address", format_hints.Hex), ("Message", str)]

    def rows(self) -> Iterator[Row]:
        for one in self.info()["diagnostics"]:
            yield (_text(one.get("weight")), one["kind"], _text(one.get("structure")), _text(one.get("member")), _address(one.get("address")),
                   one["message"])


class Buffers(_Plugin):
    """Saves the buffers of each session as a trace file (.etl)."""

    COLUMNS = [("ID", int), ("Name", str), ("Buffers", int), ("Events", int), ("File", str)]

    @classmethod
    def get_requirements(cls) -> list[interfaces.configuration.RequirementInterface]:
        return [
            *super().get_requirements(),
            requirements.BooleanRequirement(
                name="free", description="Also save free buffers, whose events were already written by the session", default=False, optional=True
            ),
        ]

    def rows(self) -> Iterator[Row]:
        with tempfile.TemporaryDirectory() as folder:
            options = ["--free"] if self.config.get("free") else []
            for one in self.command("save", "--output", folder, *options):
                path = Path(one["output"])
                with self.open(path.name) as file:
                    file.write(path.read_bytes())
                yield (one["logger_id"], one["session"], one["buffers"], one["events"], file.preferred_filename)
