import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Word {
  readonly word: string;
  readonly says: string;
}

/** A place in a command line behind which the same words may follow. */
interface Place {
  /** The words that lead there, such as `junban dlq replay`. */
  readonly path: string;
  readonly commands: readonly Word[];
  /** What its first argument may be, where that is a closed list. */
  readonly choices: readonly Word[];
  readonly options: readonly (Word & { readonly takesValue: boolean })[];
}

/** A script that completes the program's commands and options, read from the program itself. */
export function completionFor(shell: Shell, program: Command): string {
  const places = placesOf(program, program.name());
  switch (shell) {
    case "bash":
      return bash(places);
    case "zsh":
      return zsh(places);
    case "fish":
      return fish(places);
  }
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const options = help
    .visibleOptions(command)
    .flatMap(({ long, description, required, optional }) =>
      long === undefined || long === null
        ? []
        : [{ word: long, says: description, takesValue: required || optional }],
    );
  const [argument] = command.registeredArguments;
  const place: Place = {
    path,
    commands: help.visibleCommands(command).map((one) => ({ word: one.name(), says: one.description() })),
    choices: (argument?.argChoices ?? []).map((word) => ({ word, says: argument?.description ?? "" })),
    options,
  };
  return [place, ...command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`))];
}

function wordsOf({ commands, choices, options }: Place): readonly Word[] {
  return [...commands, ...choices, ...options];
}

/** Walks the words typed so far: a word that is a subcommand leads on, an option's value leads nowhere. */
function caseOfPaths(places: readonly Place[]): string {
  return places
    .slice(1)
    .map(({ path }) => quoted(path))
    .join("|");
}

function caseOfValues(places: readonly Place[]): string {
  return places
    .flatMap(({ path, options }) =>
      options.filter(({ takesValue }) => takesValue).map(({ word }) => quoted(`${path} ${word}`)),
    )
    .join("|");
}

function bash(places: readonly Place[]): string {
  return `# Completion of junban for bash: eval "$(junban completion bash)"
_junban() {
  local place=junban words='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place \${COMP_WORDS[index]}" in
      ${caseOfPaths(places)}) place="$place \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
    ${caseOfValues(places)}) return ;;
  esac
  case "$place" in
${places
  .map(
    (place) =>
      `    ${quoted(place.path)}) words=${quoted(
        wordsOf(place)
          .map(({ word }) => word)
          .join(" "),
      )} ;;`,
  )
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _junban junban
`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef junban
# Completion of junban for zsh: eval "$(junban completion zsh)", behind compinit
_junban() {
  local place=junban word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${caseOfPaths(places)}) place="$place $word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
    (${caseOfValues(places)}) _files; return ;;
  esac
  case "$place" in
${places
  .map(
    (place) =>
      `    (${quoted(place.path)}) offered=(${wordsOf(place)
        .map(({ word, says }) => quoted(`${word}:${says}`))
        .join(" ")}) ;;`,
  )
  .join("\n")}
  esac
  _describe 'junban' offered || _files
}
compdef _junban junban
`;
}

function fish(places: readonly Place[]): string {
  const offered = places.flatMap((place) => {
    const at = `-n ${quoted(`test (__junban_place) = ${JSON.stringify(place.path)}`)}`;
    return [
      ...[...place.commands, ...place.choices].map(
        ({ word, says }) => `complete -c junban ${at} -a ${quoted(word)} -d ${quoted(says)}`,
      ),
      ...place.options.map(
        ({ word, says, takesValue }) =>
          `complete -c junban ${at} -l ${quoted(word.replace(/^--/u, ""))}${takesValue ? " -r" : ""} -d ${quoted(says)}`,
      ),
    ];
  });
  return `# Completion of junban for fish: junban completion fish | source
function __junban_place
  set -l place junban
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${places
        .slice(1)
        .map(({ path }) => quoted(path))
        .join(" ")}
        set place "$place $word"
    end
  end
  echo $place
end
complete -c junban -n 'test (__junban_place) != "junban publish"' -f
${offered.join("\n")}
`;
}

/** As one word for each of the three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
