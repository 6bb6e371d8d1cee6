import type { Command, Option } from 'commander';
import { leavesOf, nameOf, type CommandLine } from '../../src/app/cli/operator-command.ts';
import { castellanProgram } from '../../src/app/cli/program.ts';
import { testTerminal } from '../dsl/command-line.ts';

export const cli: CommandLine = {
  terminal: testTerminal(),
  withApplication: () => Promise.reject(new Error('the registry is only looked at')),
  effects: new Map(),
  effect: 'looks',
  isOutputClosed: () => false,
  exitCode: 0,
};

export const program = castellanProgram(cli);
/** Every command of the command line, by its words. */
export const leaves: ReadonlyMap<string, Command> = new Map(leavesOf(program).map((leaf) => [nameOf(leaf), leaf]));

/** An acceptable value for every option and argument that takes one. None of them names anything that exists. */
const VALUES: Readonly<Record<string, string>> = {
  '--client': 'Acme',
  '--tier': 'trial',
  '--max-users': '5',
  '--days': '5',
  '--tenant': 'nowhere',
  '--organization': 'nowhere',
  '--slug': 'nowhere',
  '--name': 'Acme',
  '--email': 'jo@acme.example',
  '--owner-email': 'jo@acme.example',
  '--license': 'not.a-license',
  '--base-url': 'https://castellan.example',
  '--domain': 'acme.example',
  '--person': 'jo@acme.example',
  '--as-of': '2026-11-01T00:00:00Z',
  '--into': 'case_42',
  '--stream': 'alert-nowhere',
  '--reason': 'because',
  '--heads': '/dev/null',
  '--limit': '5',
  '--to': 'esdb://127.0.0.1:1?tls=false',
  '--from': 'esdb://127.0.0.1:1?tls=false',
  '--devices': '1',
  '--signing-key': '/dev/null',
  name: 'alerts',
  tenant: 'nowhere',
  url: 'https://castellan.example',
};

/** Options that a command does not require, but that it is not useful without. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  'admin list': ['--tenant'],
  'audit export': ['--tenant'],
  'audit proof': ['--tenant'],
  'log copy': ['--to'],
  'restore accept-log': ['--reason'],
  'restore rebuild-from-log': ['--reason'],
};

export const valueOf = (name: string): string => {
  const value = VALUES[name];
  if (value === undefined)
    throw new Error(`add an acceptable value for ${name} to VALUES in test/laws/command-line.ts`);
  return value;
};

export const takesValue = ({ required, optional }: Option): boolean => required || optional;

/** Words that run a command: with all that it requires, and with what `given` replaces or adds. */
export function wordsOf(leaf: Command, given: Readonly<Record<string, string>> = {}): string[] {
  const names = [
    ...leaf.options.filter(({ mandatory }) => mandatory).map(({ long }) => long!),
    ...(ALSO[nameOf(leaf)] ?? []),
    ...Object.keys(given),
  ].filter((name) => name.startsWith('--'));
  const args = leaf.registeredArguments
    .filter((argument) => argument.required || argument.name() in given)
    .map((argument) => given[argument.name()] ?? valueOf(argument.name()));
  return [
    ...nameOf(leaf).split(' '),
    ...args,
    ...[...new Set(names)].flatMap((name) => [name, given[name] ?? valueOf(name)]),
  ];
}

/** Values that no name, address, number or file has. */
export const HOSTILE: readonly string[] = [
  '',
  '   ',
  '-1',
  '0',
  '1e9',
  'NaN',
  '99999999999999999999',
  '00000000-0000-0000-0000-00000000000',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  'a\0b',
  '\ud800',
  "'; drop table events; --",
  '../../no/such/shadow',
  'file:/nowhere/at/all',
  'env:NOT_SET',
  'http://[',
  'javascript:alert(1)',
  '__proto__',
  'x'.repeat(20_000),
];
