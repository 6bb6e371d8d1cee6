import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { identifyInstallation } from '../../../commands/installation/identify-installation.ts';
import { installationEvents, installationStream, LOG_FORMAT, type KeyFingerprints } from './domain/identity.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../platform/kernel/ids.ts';
import type { InstallationFacts, RecordedIdentity } from './mismatch.ts';

const IDENTIFIED = installationEvents.definitions.InstallationIdentified;
/** Stands for a first event that this version cannot read. */
const ILLEGIBLE: RecordedIdentity = {
  installationId: 'unknown',
  format: LOG_FORMAT,
  keys: { audit: '', account: '', claim: '', credentialSalt: '' },
};

const INSERT = 'insert into installation (id, format, keys) values ($1, $2, $3) on conflict do nothing';
const SELECT = 'select id, format, keys, in_log from installation';
const SEEN = 'update installation set in_log = true where id = $1 and not in_log';

type Executes = Pick<Executor<CommandPorts>, 'execute'>;

/** The identity of this installation: the first event of its own stream, and a row in the table `installation`. */
export class InstallationIdentity {
  readonly #pool: pg.Pool;
  readonly #store: Pick<EventStore, 'readStream'>;
  readonly keys: KeyFingerprints;

  constructor(pool: pg.Pool, store: Pick<EventStore, 'readStream'>, keys: KeyFingerprints) {
    this.#pool = pool;
    this.#store = store;
    this.keys = keys;
  }

  async inLog(): Promise<RecordedIdentity | undefined> {
    const [first] = await this.#store.readStream(installationStream(), { limit: 1 });
    if (!first) return undefined;
    const read = first.type === 'InstallationIdentified' ? IDENTIFIED.schema.safeParse(first.data) : undefined;
    return read?.success ? read.data : ILLEGIBLE;
  }

  async inTables(): Promise<InstallationFacts['tables']['identity']> {
    const { rows } = await this.#pool.query<{ id: string; format: number; keys: KeyFingerprints; in_log: boolean }>({
      name: 'installation',
      text: SELECT,
    });
    const [row] = rows;
    return row && { installationId: row.id, format: row.format, keys: row.keys, inLog: row.in_log };
  }

  /**
   * Writes the identity where it is missing. If several processes start at once, the first identity wins.
   *
   * Call it only when log and tables are known to match: a new installation, one from before identities existed, or a
   * log that was accepted. Returns false if nothing was missing.
   */
  async adopt(executor: Executes): Promise<boolean> {
    const known = await this.inTables();
    if (known?.inLog) return false;
    const inLog = await this.inLog();
    await this.#pool.query(INSERT, [inLog?.installationId ?? randomUUID(), LOG_FORMAT, JSON.stringify(this.keys)]);
    const { installationId } = (await this.inTables())!;
    const identity = { installationId, format: LOG_FORMAT, keys: this.keys };
    orThrow(
      await executor.execute(identifyInstallation, identity, { tenantId: INSTALLATION, actor: system('castellan') }),
    );
    if ((await this.inLog())?.installationId === installationId) await this.#pool.query(SEEN, [installationId]);
    return true;
  }
}
