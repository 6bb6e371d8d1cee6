import { describe, expect, it } from 'vitest';
import { ACME } from './audited-vault.ts';
import { COUNT, SEALS, sealedChain } from './sealed-chain.ts';

const chain = sealedChain();
const { sql, isNamed } = chain;

describe('tampering with seals', () => {
  const seal = (revision: number, change: string) =>
    sql(`update events set ${change} where type = 'AuditHeadSealed' and revision = $1`, [revision]);

  it.each(['sequence', 'hash', 'position', 'previous', 'mac'])('is found when %s of one is changed', async (field) => {
    const value = { sequence: '11', position: '"1"' }[field] ?? `"${'0'.repeat(64)}"`;
    await isNamed({
      how: field,
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () => seal(1, `data = jsonb_set(data::jsonb, '{${field}}', '${value}')::json`),
    });
  });

  it('is found when the type or the version of one is changed, which readers use', async () => {
    await isNamed({
      how: 'type',
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () => seal(1, `type = 'SomethingElse'`),
    });
    await isNamed({ how: 'version', n: SEALS[0]! + 1, reason: 'seal_changed', run: () => seal(1, 'version = 9') });
  });

  it('is found when one is removed, from the middle or from the end', async () => {
    const takeOut =
      (revision: number, close = false) =>
      async () => {
        await sql(`delete from events where type = 'AuditHeadSealed' and revision = $1`, [revision]);
        if (close)
          await sql(`update events set revision = revision - 1 where type = 'AuditHeadSealed' and revision > $1`, [
            revision,
          ]);
      };
    for (const close of [false, true])
      await isNamed({ how: 'the second', n: SEALS[0]! + 1, reason: 'seal_missing', run: takeOut(1, close) });
    await isNamed({ how: 'the last', n: SEALS[1]! + 1, reason: 'seal_missing', run: takeOut(2) });
  });

  it('is found when a line of the file is changed', () =>
    isNamed({
      how: 'file',
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () =>
        Promise.resolve(chain.application.filed.splice(1, 1, { ...chain.application.filed[1]!, hash: '0'.repeat(64) })),
    }));
});

describe('legitimate changes', () => {
  it('include a rebuild, which produces the same bytes', async () => {
    const before = await chain.application.rowsOf('audit_log');
    await chain.application.project();
    expect(await chain.application.rowsOf('audit_log')).toEqual(before);
  });

  it('include the erasure of a person, which does not change the chain', async () => {
    const before = await chain.application.rowsOf('audit_log');
    await chain.application.keys.destroy(ACME, 'cccccccc-0000-4000-8000-000000000001');
    await chain.application.project();
    expect(await chain.application.rowsOf('audit_log')).toEqual(before);
    expect(await chain.application.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
  });
});
