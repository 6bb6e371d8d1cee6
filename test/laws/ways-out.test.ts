import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Who may call the guard directly, because the operator sets the address. All others use `destinationFetch`. */
const SET_BY_THE_OPERATOR = [
  'src/app/compose/background.ts',
  'src/contexts/notifications/push/open-push-services.ts',
  'src/contexts/threat-intel/open-providers.ts',
  'src/platform/objects/open-objects.ts',
];
const GUARDS = ['src/platform/outbound/destinations.ts', 'src/platform/outbound/guarded-fetch.ts'];

const sources = ['src', 'commands', 'queries', 'projections'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

it('addresses that administrators choose are called through the one way out', () => {
  const callers = sources.filter((path) => /\bguardedFetch\(/.test(readFileSync(path, 'utf8')));
  expect(callers.sort()).toEqual([...SET_BY_THE_OPERATOR, ...GUARDS].sort());
});

it('downloads of what a document of the operator names use the same way out', () => {
  const callers = sources.filter((path) => /\bguardedDownload\(/.test(readFileSync(path, 'utf8')));
  expect(callers.sort()).toEqual([
    'src/platform/outbound/destinations.ts',
    'src/platform/outbound/guarded-download.ts',
  ]);
});

it('other protocols use the same way out', () => {
  const callers = sources.filter((path) => /\bguardedConnect\b/.test(readFileSync(path, 'utf8')));
  expect(callers.sort()).toEqual([
    'src/platform/outbound/destinations.ts',
    'src/platform/outbound/guarded-connection.ts',
  ]);
  const datagrams = sources.filter((path) => /\bguardedDatagrams\b/.test(readFileSync(path, 'utf8')));
  expect(datagrams.sort()).toEqual([
    'src/platform/outbound/destinations.ts',
    'src/platform/outbound/guarded-datagrams.ts',
  ]);
});
