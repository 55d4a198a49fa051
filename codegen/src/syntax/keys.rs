//! All keys of the spec language.

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
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
    /// `[[version]]`.
    Version,
    /// An entry of `kernels`.
    Kernel,
    /// `[[group]]`.
    Group,
    /// `[[update]]`.
    Update,
    /// `[[release]]`.
    Release,
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
    pub holds: Holds,
}

/// The form of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One value for all targets.
    Plain,
    /// A value of the declaration that can differ between targets.
    Piecewise,
    /// An assertion that can differ between targets: the computed value is verified against it.
    Assertion,
    /// One table.
    Table(Sort),
    /// A list of tables.
    Tables(Sort),
    /// Tables by user-defined names.
    Named(Sort),
    /// Piecewise values by user-defined names.
    NamedPiecewise,
}

impl Sort {
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
            Self::Version => VERSION,
            Self::Kernel => KERNEL,
            Self::Group => GROUP,
            Self::Update => UPDATE,
            Self::Release => RELEASE,
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

impl Holds {
    /// Whether the value can differ between targets.
    pub fn is_piecewise(self) -> bool {
        matches!(self, Self::Piecewise | Self::Assertion | Self::NamedPiecewise)
    }
}

/// The key with this name, if this kind of table has one.
pub fn key(sort: Sort, name: &str) -> Option<&'static Key> {
    sort.keys().iter().find(|key| key.name == name)
}

const fn plain(name: &'static str) -> Key {
    Key { name, holds: Holds::Plain }
}

const fn piecewise(name: &'static str) -> Key {
    Key { name, holds: Holds::Piecewise }
}

const fn assertion(name: &'static str) -> Key {
    Key { name, holds: Holds::Assertion }
}

const fn tables(name: &'static str, sort: Sort) -> Key {
    Key { name, holds: Holds::Tables(sort) }
}

const fn table(name: &'static str, sort: Sort) -> Key {
    Key { name, holds: Holds::Table(sort) }
}

const FILE: &[Key] = &[
    table("struct", Sort::Aggregate),
    table("union", Sort::Aggregate),
    table("enum", Sort::Values),
    table("flags", Sort::Values),
    table("constants", Sort::Values),
    tables("member", Sort::Member),
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
    tables("errata", Sort::Erratum),
    tables("members", Sort::Member),
];

const VALUES: &[Key] = &[
    plain("name"),
    plain("type"),
    plain("in"),
    piecewise("source"),
    piecewise("unverifiable"),
    plain("doc"),
    tables("errata", Sort::Erratum),
    tables("constants", Sort::Constant),
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
    tables("errata", Sort::Erratum),
    tables("struct", Sort::Member),
    tables("union", Sort::Member),
    tables("members", Sort::Member),
];

const CONSTANT: &[Key] = &[
    plain("name"),
    piecewise("value"),
    plain("in"),
    plain("guid"),
    piecewise("source"),
    plain("doc"),
    tables("errata", Sort::Erratum),
];

const ERRATUM: &[Key] = &[plain("what"), plain("in"), plain("document"), plain("actual"), plain("witness"), plain("note")];

const AXIS: &[Key] = &[
    plain("extends"),
    plain("architectures"),
    plain("follows"),
    plain("documents"),
    tables("version", Sort::Version),
    tables("group", Sort::Group),
    tables("update", Sort::Update),
    tables("release", Sort::Release),
];

const VERSION: &[Key] =
    &[plain("label"), plain("release"), plain("architectures"), plain("unverifiable"), tables("kernels", Sort::Kernel)];

const KERNEL: &[Key] = &[plain("build"), plain("module"), plain("service_pack"), plain("architectures"), plain("same")];

const GROUP: &[Key] = &[plain("label"), plain("of"), plain("build"), plain("release")];

const UPDATE: &[Key] = &[plain("name"), plain("kernels"), plain("without"), plain("architectures"), plain("doc")];

const RELEASE: &[Key] = &[plain("build"), plain("label"), plain("release"), plain("module"), plain("same")];

const SCALARS: &[Key] =
    &[Key { name: "scalar", holds: Holds::Named(Sort::Scalar) }, Key { name: "typedef", holds: Holds::NamedPiecewise }];

const SCALAR: &[Key] = &[plain("size"), plain("signed"), plain("c")];

const GLOBALS: &[Key] = &[Key { name: "global", holds: Holds::Named(Sort::Global) }];

const GLOBAL: &[Key] = &[plain("in"), piecewise("type"), piecewise("source"), plain("doc")];

const EVENTS: &[Key] = &[table("class", Sort::Class), tables("event", Sort::Event)];

const CLASS: &[Key] = &[plain("name"), plain("group"), plain("guid"), plain("source"), plain("doc")];

const EVENT: &[Key] = &[
    plain("types"),
    plain("version"),
    plain("versions"),
    plain("groups"),
    table("by", Sort::Party),
    table("about", Sort::Party),
    plain("unsettled"),
    plain("doc"),
    tables("fields", Sort::Field),
    tables("errata", Sort::EventErratum),
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
    tables("fields", Sort::Field),
];

const PARTY: &[Key] = &[plain("process"), plain("thread")];

const PROVIDERS: &[Key] = &[tables("provider", Sort::Provider)];

const PROVIDER: &[Key] = &[plain("name"), plain("guid"), plain("source"), plain("doc"), tables("events", Sort::ProviderEvent)];

const PROVIDER_EVENT: &[Key] = &[plain("ids"), plain("version"), table("by", Sort::Party), table("about", Sort::Party)];

const EVENT_ERRATUM: &[Key] =
    &[plain("field"), plain("source"), plain("version"), plain("states"), plain("actual"), plain("doc")];
