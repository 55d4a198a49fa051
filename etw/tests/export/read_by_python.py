"""Reads exports with the tools that they are intended for, and compares the results with the expected contents.

    python3 read_by_python.py FORMAT FOLDER

For each file of the folder there is a NAME.expected: a line for each structure with its size, and below it a line for each member with its
offset, bit position and bit width. For a table with symbols there is a NAME.symbols: name, GUID and age of the PDB, and a line for each
symbol with its address. For definitions of cstruct there is a NAME.constants: a line for each constant with its enumeration or `#define`,
name and value. Prints how much was compared, or that the package is not installed.
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys

count = {"files": 0, "structures": 0, "offsets": 0}
wrong = []


def expected(path):
    """The structures of a file: size, and offset, bit and bits by member."""
    structures = {}
    for line in path.with_suffix(".expected").read_text().splitlines():
        words = line.split()
        if line.startswith(" "):
            members[words[0]] = tuple(map(int, words[1:]))
        else:
            members = {}
            structures[words[0]] = (int(words[1]), members)
    return structures


def compare(path, name, ours, theirs):
    count["structures"] += 1
    count["offsets"] += len(ours[1])
    if ours != theirs:
        differ = {member for member in {*ours[1], *theirs[1]} if ours[1].get(member) != theirs[1].get(member)}
        lines = [f"{member}: {ours[1].get(member)} {theirs[1].get(member)}" for member in sorted(differ)[:5]]
        wrong.append(f"{path.name} {name}: {ours[0]} {theirs[0]} bytes; {lines}")


def isf(paths):
    import jsonschema  # Without jsonschema, volatility3 accepts any table.
    from volatility3 import schemas
    from volatility3.framework import contexts
    from volatility3.framework.symbols import intermed

    for path in paths:
        document = json.loads(path.read_text())
        if not schemas.validate(document, use_cache=False):
            wrong.append(f"{path.name}: not of the schema")
        context = contexts.Context()
        table = intermed.IntermediateSymbolTable(context, "path", "nt", path.resolve().as_uri(), validate=True)
        context.symbol_space.append(table)
        for name, ours in expected(path).items():
            template = context.symbol_space.get_type(f"nt!_{name}")
            members = {}
            for member in template.vol.members:
                offset, inner = template.vol.members[member]
                bits = ()
                if "start_bit" in inner.vol:
                    bits = (inner.vol.start_bit, inner.vol.end_bit - inner.vol.start_bit)
                members[member] = (offset, *bits)
            compare(path, name, ours, (template.size, members))
        symbols, pdb = {}, None
        if path.with_suffix(".symbols").exists():
            first, *lines = path.with_suffix(".symbols").read_text().splitlines()
            symbols = {name: int(at, 16) for name, at in map(str.split, lines)}
            pdb = first.split()
        theirs = {name: table.get_symbol(name).address for name in table.symbols}
        if theirs != symbols:
            wrong.append(f"{path.name}: symbols {theirs}, not {symbols}")
        if pdb is None:
            if "windows" in document["metadata"]:
                wrong.append(f"{path.name}: names a PDB")
        elif [table.metadata.pdb_guid, table.metadata.pdb_age] != [pdb[1], int(pdb[2])] or pdb[0] != "ntkrnlmp.pdb":
            wrong.append(f"{path.name}: {table.metadata.pdb_guid}-{table.metadata.pdb_age}, not of {pdb}")
        if "EtwpHostSiloState" in theirs:
            state = table.get_symbol("EtwpHostSiloState").type
            if state.vol.subtype.vol.type_name != "nt!_ETW_SILODRIVERSTATE":
                wrong.append(f"{path.name}: EtwpHostSiloState is no pointer to _ETW_SILODRIVERSTATE, but {state.vol.subtype.vol}")
        count["symbols"] = count.get("symbols", 0) + len(theirs)


def cstruct(paths):
    import dissect.cstruct

    def members(structure, base, found):
        offset = position = 0
        for field in structure.__fields__:
            # Members of a union are at its start. Bits after the first of their unit have no offset.
            if field.offset is not None or not field.bits:
                offset, position = field.offset or 0, 0
            bits = (position, field.bits) if field.bits else ()
            position += field.bits or 0
            if field.name is None:
                members(field.type, base + offset, found)
            elif field.name.startswith("unnamed"):
                members(field.type.type, base + offset, found)
            elif not field.name.startswith("padding"):
                found[field.name] = (base + offset, *bits)
        return found

    for path in paths:
        pointer = "uint32" if path.stem.endswith("x86") else "uint64"
        loaded = dissect.cstruct.cstruct(pointer=pointer)
        loaded.loadfile(path)
        constants = {"#define": {}}
        for line in path.with_suffix(".constants").read_text().splitlines():
            of, name, value = line.split()
            constants.setdefault(of, {})[name] = int(value)
        count["constants"] = count.get("constants", 0) + sum(map(len, constants.values()))
        for of, ours in constants.items():
            theirs = loaded.consts if of == "#define" else {n: m.value for n, m in getattr(loaded, of).__members__.items()}
            if ours != theirs:
                differ = [f"{n}: {ours.get(n)} {theirs.get(n)}" for n in {*ours, *theirs} if ours.get(n) != theirs.get(n)]
                wrong.append(f"{path.name} {of}: {sorted(differ)[:5]}")
        for name, ours in expected(path).items():
            structure = getattr(loaded, name)
            structure(bytes(len(structure)))
            compare(path, name, ours, (len(structure), members(structure, 0, {})))


def c(paths):
    from pycparser import c_ast, c_parser

    for path in paths:
        text = subprocess.run(["clang", "-E", "-P", "-x", "c", path], check=True, capture_output=True, text=True).stdout
        tree = c_parser.CParser().parse(text, path.name)
        found = {}
        for node in tree.ext:
            for tag in [node.type, getattr(node.type, "type", None)]:
                if isinstance(tag, (c_ast.Struct, c_ast.Union)) and tag.decls:
                    found[tag.name] = tag
        for name, ours in expected(path).items():
            count["structures"] += 1
            if f"_{name}" not in found:
                wrong.append(f"{path.name}: no {name}")


def schema(paths):
    import jsonschema

    for path in paths:
        rules, text = json.loads(path.with_suffix(".schema").read_text()), path.read_bytes()
        jsonschema.Draft202012Validator.check_schema(rules)
        document = json.loads(text)
        if "ETW_LAYOUTS_ALL" not in os.environ:
            # The validator is slow.
            del document["builds"][50:]
            document["structures"] = document["structures"][::8]
        for error in jsonschema.Draft202012Validator(rules).iter_errors(document):
            wrong.append(f"{path.name}: {error.json_path}: {error.message:.200}")
        count["structures"] += len(document["structures"])
        count["offsets"] += sum(len(l["members"]) for s in document["structures"] for l in s["layouts"])
        size = len(gzip.compress(text))
        print(f"{len(text)} bytes, {size} compressed by gzip")
        if size > 3_000_000:
            wrong.append(f"{path.name}: {size} bytes compressed")


form, folder = sys.argv[1:]
paths = sorted(path for path in pathlib.Path(folder).iterdir() if path.suffix in [".h", ".json"])
{"isf": isf, "cstruct": cstruct, "c": c, "schema": schema}[form](paths)
count["files"] = len(paths)
print("\n".join(wrong[:20]))
print(f"{form}: " + ", ".join(f"{number} {what}" for what, number in count.items()) + f", {len(wrong)} wrong")
sys.exit(bool(wrong) or not paths)
