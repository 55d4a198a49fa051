
  const archOf = (text) => text.match(/-(x86|x64|arm64)$/i)?.[1].toLowerCase();

  // The target whose layouts a revision of a build has, by number: the last one not later, or the first.
  function row({ targets }, number, revision, arch) {
    const own = targets.map((_, index) => index).filter((index) => targets[index].arch === arch && targets[index].number === number);
    return own.filter((index) => targets[index].revision <= revision).at(-1) ?? own[0];
  }

  // A build by a label, a number, a revision or a KB number.
  function resolve(builds, text, arch) {
    const { targets, named, kbs, same, releases } = builds;
    const name = text.trim().toLowerCase().replace(/-(x86|x64|arm64)$/, "").replace(/^windows( 1[01])? /, "");
    const kb = name.match(/^kb *(\d+)$/)?.[1];
    if (kb) {
      const all = (kbs[kb] ?? []).map((build) => resolve(builds, build, arch));
      return all.find(({ error }) => !error) ?? { error: kbs[kb] ? `KB${kb} has no build for ${arch}` : `unknown update KB${kb}` };
    }
    const [, head, build, digits] = name.match(/^(\d+\.\d+\.)?(\d{4,5})(?:\.(\d+))?$/) ?? [];
    const full = build && (head ? head + build : Object.keys(releases).find((known) => known.endsWith("." + build)) ?? "10.0." + build);
    const known = named[`${name}-${arch}`] ?? named[`${full}-${arch}`];
    const of = (index, own, revision) => {
      const [number, first] = same[own] ?? [own, 0];
      return { index, arch, number, revision, first, name: own === targets[index].number && revision === targets[index].revision ? targets[index].name : `${own}.${revision}-${arch}` };
    };
    if (known && digits === undefined) return of(...known);
    if (digits !== undefined) {
      const index = row(builds, same[full]?.[0] ?? full, Number(digits), arch) ?? known?.[0];
      if (index !== undefined) return of(index, full, Number(digits));
    }
    const several = Object.keys(named).filter((key) => key.endsWith(`-${name}-${arch}`)).map((key) => key.slice(0, -arch.length - 1));
    if (several.length === 1) return of(...named[`${several[0]}-${arch}`]);
    const words = text.trim().toLowerCase().split(/\s+/), isNamed = ({ windows }) => words.every((word) => windows.toLowerCase().split(/[\s,]+/).includes(word));
    const released = targets.findIndex((target) => target.arch === arch && isNamed(target));
    if (!several.length && released >= 0 && digits === undefined) return of(released, targets[released].number, targets[released].revision);
    return { isAmbiguous: several.length > 1, error: several.length > 1 ? `ambiguous release ${text.trim()}; write ${several.join(" or ")}` : `unknown build ${text.trim()} for ${arch}; write a label, a build and revision, or a KB number` };
  }

  // The confidence in the layout of a structure at a build.
  function confidence(builds, type, { index, arch, number, revision, first }) {
    const target = builds.targets[index], own = type.sentences[type.sure[index]] ?? "the structure does not exist";
    if (target.number === number && target.revision === revision) return own;
    const kind = (set) => type.holds.includes(set) ? builds.witnesses[set] : builds.witnesses[set] === "i" ? "" : "lacks";
    const seen = (builds.seen[arch]?.[number] ?? []).map(([revision, set]) => [revision, kind(set)]);
    const here = seen.filter(([other]) => other === revision && revision >= first).map(([, kind]) => kind);
    if (here.includes("s")) return "verified (PDB)";
    if (here.includes("c")) return "verified (converted symbols)";
    if (here.includes("i")) return "partly verified (image)";
    const known = seen.filter(([, kind]) => kind === "s" || kind === "c").map(([revision]) => revision);
    const older = known.filter((other) => other < revision).at(-1), newer = known.find((other) => other > revision);
    const layout = (revision) => type.of[row(builds, number, revision, arch)];
    const differs = (revision) => layout(revision) !== type.of[index];
    const both = [older, newer].map((revision) => `${number}.${revision}`).join(" and ");
    if (here.includes("lacks") || older === undefined && newer === undefined) return own.startsWith("verified") ? `inferred from ${target.name}` : own;
    if (older !== undefined && newer !== undefined) {
      const same = !differs(older) && !differs(newer);
      return same ? `inferred: the examined builds ${both} have the same layout` : `uncertain: ${both}, the nearest examined builds, have different layouts`;
    }
    // An update that changed the layout later, here or on the way to the next build, may be in this one too.
    const after = builds.targets.filter((other, at) => other.arch === arch && at > index && (other.number !== number || other.revision > revision));
    const later = older === undefined ? undefined : [...after.filter((other) => other.number === number), after.find((other) => other.number !== number)]
      .find((other) => other && type.of[builds.targets.indexOf(other)] !== type.of[index]);
    if (later) return `uncertain: ${number}.${older} is the last examined update, and ${later.name} has another layout`;
    return older === undefined ? `inferred from ${number}.${newer}, the first examined update of this build` : `inferred from ${number}.${older}, the last examined update of this build`;
  }
