
  const architectures = ["x64", "x86", "arm64"];
  const archOf = (text) => text.match(/-(x86|x64|arm64)$/i)?.[1].toLowerCase();

  // Resolves a label, number, revision, release or KB number to a target and to the index of its confidence data.
  function resolve({ names, same, branches, targets }, text, arch) {
    const name = text.trim().toLowerCase().replace(/-(x86|x64|arm64)$/, "").replace(/^kb +/, "kb");
    const short = name.replace(/^windows( 1[01])?( version)? (?=\S)/, "");
    const [, head, digits] = name.match(/^(.*\d{4,5})\.(\d+)$/) ?? [], exact = names[`${name}-${arch}`] ?? names[`${short}-${arch}`];
    const named = exact ?? names[`${head}-${arch}`];
    if (typeof named === "string") return { isAmbiguous: true, error: named };
    const [number, first] = named ?? [], revision = exact ? first : Number(digits), [other, begin] = same[number] ?? [];
    const branch = branches[`${revision >= begin ? other : number}-${arch}`];
    if (!branch) return { error: `unknown build ${text.trim()} for ${arch}; write a label, a build and revision, or a KB number` };
    const point = Math.max(0, branch.from.findLastIndex((from) => from <= revision)), index = branch.target[point], target = targets[index];
    const isOwn = target.number === number && target.revision === revision;
    return { index, target, isOwn, arch, at: branch.at, point, name: isOwn ? target.name : `${number}.${revision}-${arch}` };
  }

  // The confidence as a sentence, whether the layout of the row is that of the build, the targets of the other layouts that it can be, and the target
  // whose layout is selected, if it is not the row.
  const standing = ({ sentences, columns }, own, { at, point }) => sentences[columns[own[at]]?.[point]] ?? ["the structure does not exist", true, [], null];
  const confidence = (confidences, type, side) => standing(confidences, type.columns, side)[0];
  // The side with the target whose layout is selected for a type.
  const selected = ({ targets }, confidences, type, side) => {
    const index = side.error ? null : standing(confidences, type.columns, side)[3];
    return index === null ? side : { ...side, index, target: targets[index], isOwn: false };
  };
  // The names that an error offers instead of the first one.
  const quoted = (error) => (error.match(/`[^`]+`/g) ?? []).slice(1).map((name) => name.slice(1, -1));
  // An error, with a button for each name that is possible instead.
  const question = (place, error, input) => {
    const names = quoted(error), arch = archOf(input.value);
    const choose = (name) => { input.value = name + (arch ? "-" + arch : ""); input.form.requestSubmit(); };
    place.replaceChildren(error, ...names.flatMap((name) => [" ", make("button", { type: "button", onclick: () => choose(name) }, name)]));
  };
