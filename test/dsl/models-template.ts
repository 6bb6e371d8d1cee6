import { createHash } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { auditLog } from '../../projections/audit/audit-log.ts';
import { readModels } from '../../projections/index.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { reactions } from '../../src/contexts/reactions.ts';
import { families } from '../../src/contexts/families.ts';
import { PostgresEventStore } from '../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { Freshness } from '../../src/platform/projector/freshness.ts';
import { Checkpoints } from '../../src/platform/projector/checkpoints.ts';
import { prepareReaction } from '../../src/platform/projector/reaction-preparation.ts';
import { ReactionState } from '../../src/platform/projector/reaction-state.ts';
import { Projector } from '../../src/platform/projector/projector.ts';
import { LogTrust } from '../../src/platform/eventstore/log-trust.ts';
import { newLogger } from '../../src/platform/observability/logger.ts';
import { administer, freshDatabase } from './database.ts';

const LOCK = 4202699;
const models = [...readModels, auditLog(Buffer.alloc(32), families)];
/** A file that declares more models or reactions than others has its own template. */
const NAME = `castellan_models_${createHash('sha256')
  .update([...models, ...reactions].map(({ name, version }) => `${name} ${version}`).join())
  .digest('hex')
  .slice(0, 8)}`;

let made: Promise<string> | undefined;

/**
 * A template with an empty table for every read model, and a checkpoint for every reaction, which an application creates
 * at its first start: created once per run, by the first worker that needs it.
 */
export const modelsTemplate = (): Promise<string> => (made ??= make());

async function make(): Promise<string> {
  const client = new pg.Client({ ...inject('postgres'), database: 'postgres' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [NAME]);
    if (rowCount === 0) await administer(inject('postgres'), `alter database ${await withModels()} rename to ${NAME}`);
    return NAME;
  } finally {
    await client.end();
  }
}

async function withModels(): Promise<string> {
  const { config, name } = await freshDatabase();
  const log = newLogger('silent');
  const database = openDatabase(config, log);
  const parts = {
    pool: database.projector,
    store: new PostgresEventStore(database.store, config),
    models,
    freshness: new Freshness(),
    log,
    alone: false,
  };
  // Creating tables needs neither codec nor subscription.
  await new Projector({
    ...parts,
    codec: undefined as never,
    subscription: undefined as never,
    trust: new LogTrust(),
  }).prepare();
  const checkpoints = new Checkpoints(database.projector, 'template');
  const beginning = { checkpoints, subscription: { head: 0n }, log };
  for (const reaction of reactions) await prepareReaction(reaction, new ReactionState(reaction), beginning);
  await database.close();
  return name;
}
