import type { Command } from 'commander';

/** The help of a command, for programs: its subcommands, or its arguments and options. */
export const helpOf = (command: Command): object => ({
  description: command.description(),
  commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
  arguments: command.registeredArguments.map((each) => ({
    name: each.name(),
    description: each.description,
    isRequired: each.required,
  })),
  options: command.options.map(({ flags, description, mandatory, argChoices, defaultValue }) => ({
    flags,
    description,
    isRequired: mandatory,
    choices: argChoices ?? null,
    default: defaultValue === undefined ? null : String(defaultValue),
  })),
});
