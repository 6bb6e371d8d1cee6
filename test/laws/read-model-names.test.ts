import { describe, expect, it } from 'vitest';
import { auditLog } from '../../projections/audit/audit-log.ts';
import { readModels } from '../../projections/index.ts';
import { acknowledgeAlert } from '../../commands/alerts/acknowledge-alert.ts';
import type { AnyCommand } from '../../src/platform/kernel/command.ts';
import type { ReadModelName } from '../../src/platform/kernel/read-model-name.ts';
import { families } from '../../src/contexts/families.ts';
import { readModelNames } from '../../src/contexts/read-model-names.ts';
import { resourceModels } from '../../src/contexts/resources.ts';
import type { Freshness } from '../../src/platform/projector/freshness.ts';

/** Never called: `npm run check` fails if a marked line compiles. */
export function doesNotCompile(freshness: Freshness): void {
  // @ts-expect-error a command that freshens a misspelled model
  const command: AnyCommand = { ...acknowledgeAlert, freshens: ['alrets'] };
  // @ts-expect-error a caller that waits for a misspelled model
  void freshness.waitFor(['alrets'], 0n);
  // @ts-expect-error a string that may be anything
  const name: ReadModelName = String(command.name);
  void name;
}

describe('the list of read models', () => {
  const maintained = [...readModels, auditLog(Buffer.alloc(32), families)];

  it('names every model that is not derived from a resource, and nothing else', () => {
    const own = maintained.filter((model) => !resourceModels.includes(model)).map(({ name }) => name);
    expect([...readModelNames].toSorted()).toEqual(own.toSorted());
  });

  it('names each model once, including resources', () => {
    const names = maintained.map(({ name }) => name);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });
});
