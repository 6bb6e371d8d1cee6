import { describe, expect, it } from 'vitest';
import { mismatchOf, type InstallationFacts } from '../../../src/contexts/installation/mismatch.ts';

const KEYS = { audit: 'a'.repeat(16), account: 'b'.repeat(16), claim: 'c'.repeat(16), credentialSalt: 'd'.repeat(16) };
const US = { installationId: '11111111-1111-4111-8111-111111111111', format: 1, keys: KEYS };
const THEM = {
  ...US,
  installationId: '22222222-2222-4222-8222-222222222222',
  keys: { ...KEYS, audit: 'e'.repeat(16) },
};

/** An idle installation, except for the changes of a case. */
const facts = ({
  log,
  tables,
  own,
  read,
}: {
  log?: Partial<InstallationFacts['log']>;
  tables?: Partial<InstallationFacts['tables']>;
  own?: InstallationFacts['own'];
  read?: bigint;
} = {}): InstallationFacts => ({
  own: own ?? KEYS,
  log: { identity: US, end: 100n, isUsed: true, ...log },
  tables: { identity: { ...US, inLog: true }, furthest: 90n, ...tables },
  read: read ?? 95n,
});

describe('log, tables and keys', () => {
  it.each<[string, InstallationFacts]>([
    ['that belong to one installation', facts()],
    [
      'of an installation that starts over on a server whose own records its checkpoints have passed',
      facts({
        log: { identity: undefined, end: 549n, isUsed: false },
        tables: { identity: { ...US, inLog: false }, furthest: 549n },
        read: 549n,
      }),
    ],
    [
      'of a new installation',
      facts({
        log: { identity: undefined, end: 0n, isUsed: false },
        tables: { identity: undefined, furthest: 0n },
        read: 0n,
      }),
    ],
    [
      'of a new installation beside other applications on the same server',
      facts({
        log: { identity: undefined, end: 700n, isUsed: false },
        tables: { identity: undefined, furthest: 0n },
        read: 0n,
      }),
    ],
    [
      'of an installation from before there were identities',
      facts({ log: { identity: undefined }, tables: { identity: undefined } }),
    ],
    [
      'of an installation whose identity did not come to the log',
      facts({ log: { identity: undefined }, tables: { identity: { ...US, inLog: false } } }),
    ],
    ['of an installation whose tables are from before the identity', facts({ tables: { identity: undefined } })],
  ])('%s match', (_, given) => {
    expect(mismatchOf(given)).toBeUndefined();
  });

  it.each<[string, InstallationFacts, string, RegExp]>([
    [
      'another installation wrote the log',
      facts({ log: { identity: THEM } }),
      'another_installation',
      /belongs to another installation, 2222.* 1111/,
    ],
    [
      'new tables with keys of their own are given a used log',
      facts({ log: { identity: THEM }, tables: { identity: undefined, furthest: 0n } }),
      'another_installation',
      /2222.*a new one/,
    ],
    [
      'the log has a newer format',
      facts({ log: { identity: { ...US, format: 2 } } }),
      'another_installation',
      /format 2/,
    ],
    [
      'the log is empty',
      facts({ log: { identity: undefined, end: 0n, isUsed: false }, read: 0n }),
      'empty_log',
      /empty.*have reached 90/,
    ],
    [
      'the log is empty, though it never held the identity, and checkpoints are beyond its end',
      facts({
        log: { identity: undefined, end: 50n, isUsed: false },
        tables: { identity: { ...US, inLog: false } },
        read: 0n,
      }),
      'empty_log',
      /empty.*have reached 90/,
    ],
    [
      'the log of tables from before identities is empty',
      facts({ log: { identity: undefined, end: 0n, isUsed: false }, tables: { identity: undefined }, read: 0n }),
      'empty_log',
      /empty/,
    ],
    [
      'checkpoints are beyond the end of the log',
      facts({ tables: { furthest: 101n } }),
      'log_older',
      /ends at position 100, but .* have reached 101/,
    ],
    [
      'this process has read beyond the end of the log',
      facts({ read: 101n }),
      'log_older',
      /a process has read it up to 101/,
    ],
    [
      'the log is from before its identity',
      facts({ log: { identity: undefined } }),
      'log_older',
      /before the event that identifies/,
    ],
    [
      'the tables are new, and the keys are those of the log',
      facts({ own: { ...KEYS, account: 'f'.repeat(16) }, tables: { identity: undefined, furthest: 0n } }),
      'empty_tables',
      /tables are empty.*1111/,
    ],
    [
      'the tables are new, and the log is from before identities',
      facts({ log: { identity: undefined }, tables: { identity: undefined, furthest: 0n } }),
      'empty_tables',
      /tables are empty/,
    ],
    ['digest keys differ', facts({ own: { ...KEYS, claim: 'f'.repeat(16) } }), 'keys_missing', /other keys.*claim/],
  ])('mismatch if %s', (_, given, kind, said) => {
    expect(mismatchOf(given)).toEqual({ kind, reason: expect.stringMatching(said) });
  });
});
