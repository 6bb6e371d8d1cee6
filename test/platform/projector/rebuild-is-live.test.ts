import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../../src/platform/database/transaction.ts';
import type { AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { Projection, tableShapeOf } from '../../../src/platform/projector/projection.ts';
import { rebuildInto } from '../../../src/platform/projector/rebuild.ts';
import { createTable } from '../../../src/platform/projector/table.ts';
import { caughtUp, eventually, openProjectorApplication, type ProjectorApplication } from './projector-application.ts';
import { entries, history, ledgerEvents, placed, pureFold, volumes } from './ledger.ts';

const models: readonly AnyReadModel[] = [entries, volumes];

describe('a table matches its history', () => {
  let application: ProjectorApplication;
  beforeAll(async () => {
    application = await openProjectorApplication([ledgerEvents]);
    for (const model of models)
      await application.database.projector.query(
        `${createTable(tableShapeOf({ ...model, name: `paged_${model.name}` }), `paged_${model.name}_v1`)}`,
      );
  });
  afterAll(() => application.close());

  it('whatever the size of the batches, the rows in memory between them, and the batches that fail at first', async () => {
    const plan = fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 12 }), then: fc.constantFrom('keep', 'forget', 'fail') }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(history(60), plan, fc.boolean(), async (happenings, batches, empty) => {
        const events = happenings.map((one, index) => placed(one, index + 1));
        await application.sql('truncate paged_entries_v1, paged_volumes_v1');
        for (const model of models) {
          const projection = new Projection({ ...model, name: `paged_${model.name}` }, 1, { empty });
          for (let from = 0, turn = 0; from < events.length; turn += 1) {
            const { size, then } = batches[turn % batches.length]!;
            const batch = events.slice(from, from + size).filter(({ type }) => projection.wants(type));
            if (then === 'fail') await failing(application, projection, batch);
            await transaction(application.database.projector, (client) => projection.apply(client, batch));
            projection.committed();
            if (then === 'forget') projection.forget();
            from += size;
          }
          expect(await application.rowsOf(`paged_${model.name}_v1`)).toEqual(pureFold(model, events));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('both live and rebuilt afterwards', async () => {
    const projector = application.projector(models);
    await projector.start();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(history(40), fc.integer({ min: 1, max: 9 }), async (happenings, size) => {
        for (let from = 0; from < happenings.length; from += size) {
          const group = happenings.slice(from, from + size);
          await Promise.all(
            group.map(({ tenantId, event }, at) => application.happen(`ledger-${tenantId}.${at}`, [event], tenantId)),
          );
        }
        const head = await application.store.head();
        await eventually('the lanes have caught up', caughtUp(projector, head));
        const events = await application.everything();
        round += 1;
        for (const model of models) {
          const expected = pureFold(model, events);
          expect(await application.rowsOf(model.name)).toEqual(expected);
          await rebuildInto(application.parts(), model, `round_${round}`, {});
          expect(await application.rowsOf(`round_${round}.${model.name}`)).toEqual(expected);
        }
      }),
      { numRuns: 6 },
    );
  });
});

/** A batch that is folded and written, and then rolled back by the database. */
async function failing(
  application: ProjectorApplication,
  projection: Projection,
  batch: Parameters<Projection['apply']>[1],
): Promise<void> {
  const refused = transaction(application.database.projector, async (client) => {
    await projection.apply(client, batch);
    await client.query('select 1 / 0');
  });
  await expect(refused).rejects.toThrow('division by zero');
  projection.forget();
}
