import type { Command, Option } from 'commander';
import { leavesOf, nameOf, type CommandLine } from './operator-command.ts';
import { castellanProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

const INTRODUCTION = `# Command line

\`castellan\` operates an installation. In a checkout, start it with \`npm run castellan --\`, for example
\`npm run --silent castellan -- audit verify --json\`. Commands read the same environment variables as the service. They work beside
a running service and without one.

This page is generated: \`node --import tsx scripts/command-line-reference.ts\`.

## Exit codes

| Code | \`outcome\` | Meaning |
|---|---|---|
| 0 | \`fine\` | The command did what was asked, and found nothing wrong |
| 1 | \`finding\` | It looked and found something wrong: a broken audit chain, a row that differs from the log, an expired license |
| 2 | \`usage\` | Wrong usage: an unknown option, name or value, a missing setting, a state that does not allow it, no consent. Nothing was done |
| 3 | \`unavailable\` | It could not check, or not finish: the database is unreachable, a file cannot be read, the output was closed or could not be written, there is no installation |

So a nightly \`audit verify\` tells tampering (1) from an outage (3). Errors are one sentence on standard error. Only a
defect of Castellan prints a stack.

## JSON

With \`--json\`, every command prints one document on standard output and nothing else, and so do \`help\`, \`--help\` and
\`--version\`. Logs and questions go to standard error.

\`\`\`json
{"command":"audit verify","outcome":"fine","exitCode":0,"result":{"chains":[],"damagedHeadLines":0}}
{"command":"audit verify","outcome":"unavailable","exitCode":3,"error":"the database cannot be reached (…)"}
\`\`\`

Either \`result\` or \`error\` is there. Positions are text, because they may exceed what a JSON number holds exactly. New
members may be added. \`audit export\` and \`audit proof\` print one record per line; with \`--json\`, the document follows as the last line, and
its absence means that the export is not complete.

## Commands that only look

These write nothing to log and tables, whatever state they are in, and neither does \`--dry-run\`: {LOOKING}.

## Consent

A command with \`--yes\` asks before it does something that somebody may regret. The question appears on a terminal. Without
one the command ends with exit code 2, unless \`--yes\` is given. \`--dry-run\` shows what would happen.

## Output

Without a terminal, output has no colours, no progress bar and no line breaks to fit the width. \`NO_COLOR\` turns colours
off on a terminal too. \`LOG_LEVEL\` (default \`warn\`) sets what commands log on standard error.
`;

/** The text of docs/reference/command-line.md. */
export function commandLineReference(): string {
  const cli: CommandLine = {
    terminal: processTerminal(),
    withApplication: () => Promise.reject(new Error('the reference runs nothing')),
    effects: new Map(),
    effect: 'looks',
    isOutputClosed: () => false,
    exitCode: 0,
  };
  const program = castellanProgram(cli);
  const sections = program.commands.map((noun) =>
    [`## ${noun.name()}`, `${noun.description()}.`, ...leavesOf(noun).map((leaf) => sectionOf(leaf, noun))].join(
      '\n\n',
    ),
  );
  const looking = leavesOf(program).filter((leaf) => cli.effects.get(leaf) === 'looks');
  const introduction = INTRODUCTION.replace('{LOOKING}', looking.map((leaf) => `\`${nameOf(leaf)}\``).join(', '));
  return `${[introduction.trimEnd(), ...sections].join('\n\n')}\n`;
}

function sectionOf(leaf: Command, noun: Command): string {
  const usage = [
    'castellan',
    nameOf(leaf),
    ...leaf.registeredArguments.map(argumentOf),
    ...leaf.options.flatMap(required),
  ];
  const rows = leaf.options.filter(({ long }) => long !== '--json').map(rowOf);
  return [
    ...(leaf === noun ? [] : [`### ${nameOf(leaf)}`, `${leaf.description()}.`]),
    ['```sh', usage.join(' '), '```'].join('\n'),
    ...(rows.length === 0 ? [] : [['| Option | Meaning |', '|---|---|', ...rows].join('\n')]),
  ].join('\n\n');
}

const argumentOf = (argument: Command['registeredArguments'][number]): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const required = ({ mandatory, flags }: Option): string[] => (mandatory ? [flags] : []);

function rowOf({ flags, description, mandatory, defaultValue, argChoices }: Option): string {
  const remarks = [
    mandatory && 'required',
    argChoices && `one of ${argChoices.join(', ')}`,
    defaultValue !== undefined && `default ${String(defaultValue)}`,
  ].filter(Boolean);
  const meaning = remarks.length > 0 ? `${description} (${remarks.join('; ')})` : description;
  return `| \`${flags.replaceAll('|', '\\|')}\` | ${meaning.replaceAll('|', '\\|')} |`;
}
