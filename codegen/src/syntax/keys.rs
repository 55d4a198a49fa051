//! All keys of the spec language.

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// A whole file with one definition.
    File,
    /// `[struct]` and `[union]`.
    Aggregate,
    /// `[enum]`, `[flags]` and `[constants]`.
    Values,
    /// `[[member]]`, and an entry of `struct` or `union`.
    Member,
    /// An entry of `constants`.
    Constant,
    /// An entry of `errata`.
    Erratum,
    /// A whole `windows.toml`.
    Axis,
    /// `[[release]]`.
    Release,
    /// An entry of `revisions`.
    Revision,
    /// An entry of `releases`.
    SharedRelease,
    /// `[[update]]`.
    Update,
    /// A whole `scalars.toml`.
    Scalars,
    /// An entry of `[scalar]`.
    Scalar,
    /// A whole file of global variables.
    Globals,
    /// `[global.NAME]`.
    Global,
    /// A whole file of an event class.
    Events,
    /// `[class]`.
    Class,
    /// `[[event]]`.
    Event,
    /// An entry of `fields`.
    Field,
    /// An entry of `errata` of an event.
    EventErratum,
    /// `by` and `about` of an event.
    Party,
    /// A whole file of providers.
    Providers,
    /// `[[provider]]`.
    Provider,
    /// An entry of `events` of a provider.
    ProviderEvent,
}

/// A key of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The form of its value.
    pub form: ValueForm,
}

/// The form of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// One value for all targets.
    Plain,
    /// A value of the declaration that can differ between targets.
    Piecewise,
    /// An assertion that can differ between targets: the computed value is verified against it.
    Assertion,
    /// One table.
    Table(TableKind),
    /// A list of tables.
    Tables(TableKind),
    /// Tables by user-defined names.
    Named(TableKind),
    /// Piecewise values by user-defined names.
    NamedPiecewise,
}

impl TableKind {
    /// The keys, in the order in which they are written.
    pub const fn keys(self) -> &'static [Key] {
        match self {
            Self::File => FILE,
            Self::Aggregate => AGGREGATE,
            Self::Values => VALUES,
            Self::Member => MEMBER,
            Self::Constant => CONSTANT,
            Self::Erratum => ERRATUM,
            Self::Axis => AXIS,
            Self::Release => RELEASE,
            Self::Revision => REVISION,
            Self::SharedRelease => SHARED_RELEASE,
            Self::Update => UPDATE,
            Self::Scalars => SCALARS,
            Self::Scalar => SCALAR,
            Self::Globals => GLOBALS,
            Self::Global => GLOBAL,
            Self::Events => EVENTS,
            Self::Class => CLASS,
            Self::Event => EVENT,
            Self::Field => FIELD,
            Self::EventErratum => EVENT_ERRATUM,
            Self::Party => PARTY,
            Self::Providers => PROVIDERS,
            Self::Provider => PROVIDER,
            Self::ProviderEvent => PROVIDER_EVENT,
        }
    }
}

impl ValueForm {
    /// Whether the value can differ between targets.
    pub fn is_piecewise(self) -> bool {
        matches!(self, Self::Piecewise | Self::Assertion | Self::NamedPiecewise)
    }
}

/// The key with this name, if this kind of table has one.
pub fn key(kind: TableKind, name: &str) -> Option<&'static Key> {
    kind.keys().iter().find(|key| key.name == name)
}

const fn plain(name: &'static str) -> Key {
    Key { name, form: ValueForm::Plain }
}

const fn piecewise(name: &'static str) -> Key {
    Key { name, form: ValueForm::Piecewise }
}

const fn assertion(name: &'static str) -> Key {
    Key { name, form: ValueForm::Assertion }
}

const fn tables(name: &'static str, kind: TableKind) -> Key {
    Key { name, form: ValueForm::Tables(kind) }
}

const fn table(name: &'static str, kind: TableKind) -> Key {
    Key { name, form: ValueForm::Table(kind) }
}

const FILE: &[Key] = &[
    table("struct", TableKind::Aggregate),
    table("union", TableKind::Aggregate),
    table("enum", TableKind::Values),
    table("flags", TableKind::Values),
    table("constants", TableKind::Values),
    tables("member", TableKind::Member),
];

const AGGREGATE: &[Key] = &[
    plain("name"),
    plain("in"),
    assertion("size"),
    piecewise("align"),
    piecewise("pack"),
    piecewise("source"),
    piecewise("unverifiable"),
    plain("feature"),
    plain("doc"),
    tables("errata", TableKind::Erratum),
    tables("members", TableKind::Member),
];

const VALUES: &[Key] = &[
    plain("name"),
    plain("type"),
    plain("in"),
    piecewise("source"),
    piecewise("unverifiable"),
    plain("doc"),
    tables("errata", TableKind::Erratum),
    tables("constants", TableKind::Constant),
];

const MEMBER: &[Key] = &[
    plain("name"),
    piecewise("type"),
    piecewise("bits"),
    plain("in"),
    piecewise("align"),
    assertion("offset"),
    assertion("mask"),
    plain("values"),
    plain("leads_to"),
    piecewise("source"),
    plain("unknown"),
    plain("doc"),
    tables("errata", TableKind::Erratum),
    tables("struct", TableKind::Member),
    tables("union", TableKind::Member),
    tables("members", TableKind::Member),
];

const CONSTANT: &[Key] = &[
    plain("name"),
    piecewise("value"),
    plain("in"),
    plain("guid"),
    piecewise("source"),
    plain("doc"),
    tables("errata", TableKind::Erratum),
];

const ERRATUM: &[Key] = &[plain("what"), plain("in"), plain("document"), plain("actual"), plain("evidence"), plain("note")];

const AXIS: &[Key] = &[
    plain("extends"),
    plain("architectures"),
    plain("ranges"),
    plain("documented_range"),
    tables("release", TableKind::Release),
    tables("update", TableKind::Update),
];

const RELEASE: &[Key] = &[
    plain("labels"),
    plain("name"),
    plain("architectures"),
    plain("unverifiable"),
    tables("revisions", TableKind::Revision),
    plain("build"),
    plain("module"),
    tables("releases", TableKind::SharedRelease),
];

const REVISION: &[Key] = &[
    plain("build"),
    plain("module"),
    plain("service_pack"),
    plain("architectures"),
    tables("releases", TableKind::SharedRelease),
];

const SHARED_RELEASE: &[Key] = &[plain("build"), plain("labels"), plain("name")];

const UPDATE: &[Key] = &[plain("name"), plain("revisions"), plain("without"), plain("architectures"), plain("doc")];

const SCALARS: &[Key] = &[
    Key { name: "scalar", form: ValueForm::Named(TableKind::Scalar) },
    Key { name: "typedef", form: ValueForm::NamedPiecewise },
];

const SCALAR: &[Key] = &[plain("size"), plain("signed"), plain("c")];

const GLOBALS: &[Key] = &[Key { name: "global", form: ValueForm::Named(TableKind::Global) }];

const GLOBAL: &[Key] = &[plain("in"), piecewise("type"), piecewise("source"), plain("doc")];

const EVENTS: &[Key] = &[table("class", TableKind::Class), tables("event", TableKind::Event)];

const CLASS: &[Key] = &[plain("name"), plain("group"), plain("guid"), plain("source"), plain("doc")];

const EVENT: &[Key] = &[
    plain("types"),
    plain("version"),
    plain("versions"),
    plain("groups"),
    table("by", TableKind::Party),
    table("about", TableKind::Party),
    plain("unsettled"),
    plain("doc"),
    tables("fields", TableKind::Field),
    tables("errata", TableKind::EventErratum),
];

const FIELD: &[Key] = &[
    plain("name"),
    plain("type"),
    plain("count"),
    plain("length"),
    plain("out"),
    plain("values"),
    plain("version"),
    plain("pointer"),
    plain("optional"),
    plain("unsettled"),
    plain("doc"),
    tables("fields", TableKind::Field),
];

const PARTY: &[Key] = &[plain("process"), plain("thread")];

const PROVIDERS: &[Key] = &[tables("provider", TableKind::Provider)];

const PROVIDER: &[Key] =
    &[plain("name"), plain("guid"), plain("source"), plain("doc"), tables("events", TableKind::ProviderEvent)];

const PROVIDER_EVENT: &[Key] = &[plain("ids"), plain("version"), table("by", TableKind::Party), table("about", TableKind::Party)];

const EVENT_ERRATUM: &[Key] =
    &[plain("field"), plain("source"), plain("version"), plain("states"), plain("actual"), plain("doc")];
