import { sealAuditHead } from '../../../commands/audit/seal-audit-head.ts';
import type { ChainKey } from './domain/chain-key.ts';
import { GENESIS, type ChainHead } from './domain/entry.ts';
import { transaction } from '../../platform/database/transaction.ts';
import {
  auditHead,
  auditHeadStream,
  isGenuineSeal,
  sealHead,
  UNSEALED,
  type SealedHead,
} from './domain/sealed-head.ts';
import { auditVocabulary } from './domain/vocabulary.ts';
import { system } from '../../platform/kernel/actor.ts';
import { FailureError, isFailure } from '../../platform/kernel/failure.ts';
import { copiedUpTo } from '../installation/log-copy/switch.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { replayChain, type ChainSource } from './chain-replay.ts';
import { SealAlarms } from './seal-alarms.ts';
import { SealRounds, type SealRoundsOptions } from './seal-rounds.ts';
import { filedSealFault, type SealedLog } from './filed-seal-fault.ts';
import type { FiledSeal } from './filed-seals.ts';
import { damagedHeads, SealFile } from './seal-file.ts';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { EventFamily } from '../../platform/kernel/event.ts';

export interface HeadSealerDependencies {
  readonly config: { readonly dataDir: string };
  readonly chainKey: ChainKey;
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly families: readonly EventFamily[];
}

const HEADS = 'select tenant_id, sequence, hash from audit_log where position = 0';

interface Head extends ChainHead {
  readonly tenant_id: TenantId;
}

const isNewerThan = (found: ReadonlyMap<TenantId, number>, { tenant_id: tenantId, sequence }: Head): boolean =>
  found.get(tenantId) !== sequence;

/**
 * Seals the head of every chain that has moved, once a minute, sooner after a failure, and at shutdown what has moved since the start: in the log,
 * and in a file outside both databases. After that, earlier entries cannot be changed without the key, not even in log and table alike.
 *
 * Each head is recomputed from the log since the previous seal. A head that does not match is reported and never
 * sealed.
 */
export class HeadSealer {
  readonly #services: HeadSealerDependencies;
  readonly #source: ChainSource & SealedLog;
  readonly #file: SealFile;
  readonly #alarms: SealAlarms;
  /** Sequences that are sealed in both places. */
  readonly #sealed = new Map<TenantId, number>();
  /** Owners that only the file has are looked for once: while this process runs, no owner disappears from the log. */
  #hasComparedFile = false;
  /** The heads at the start; undefined if they could not be read. */
  #atStart: Promise<ReadonlyMap<TenantId, number> | undefined> = Promise.resolve(new Map());
  readonly #rounds: SealRounds;

  constructor(services: HeadSealerDependencies, alarms = new SealAlarms(), options: SealRoundsOptions = {}) {
    this.#services = services;
    this.#rounds = new SealRounds(
      () => this.#round(new Map()),
      (error, isRepeated) => this.#failed(error, isRepeated),
      options,
    );
    services.trust.onDoubt(() => {
      this.#sealed.clear();
      this.#hasComparedFile = false;
    });
    this.#alarms = alarms;
    this.#source = {
      store: services.store,
      key: services.chainKey,
      words: auditVocabulary(services.families),
    };
    this.#file = new SealFile(services.config.dataDir);
  }

  /** Compares the file at once: if log and tables went back together, it is what still tells. */
  start(): void {
    if (this.#rounds.isStarted) return;
    this.#rounds.start();
    this.#atStart = this.#heads().then(
      (heads) => new Map(heads.map((head) => [head.tenant_id, head.sequence])),
      () => undefined,
    );
    void this.#rounds.next(async () => {
      this.#reportDamage();
      if (this.#services.trust.holds) await this.#alarmOfMissing([], this.#file.byOwner());
    });
  }

  /**
   * Seals once more, so that everything this process did is covered by a seal. A process that did nothing seals nothing:
   * it was not there long enough to tell whether the log is the right one.
   */
  async stop(): Promise<void> {
    this.#rounds.stop();
    const found = await this.#atStart;
    const moved = found && (await this.#heads().catch(() => [])).filter((head) => isNewerThan(found, head));
    if (moved && moved.length > 0) await this.sealAll(found);
    await this.#rounds.next(async () => {});
  }

  /** Seals all heads, except those that were `found` and have not moved. */
  sealAll(found: ReadonlyMap<TenantId, number> = new Map()): Promise<void> {
    return this.#rounds.next(() => this.#round(found));
  }

  async #round(found: ReadonlyMap<TenantId, number>): Promise<void> {
    await this.#sealMoved(found);
    if (this.#services.trust.holds) this.#alarms.looked(Date.now());
  }

  #failed(error: unknown, isRepeated: boolean): void {
    this.#alarms.failed(error);
    if (!isRepeated) this.#services.log.error({ reason: (error as Error).message }, 'audit heads could not be sealed');
  }

  async #heads(): Promise<readonly Head[]> {
    return (await this.#services.database.projector.query<Head>(HEADS)).rows;
  }

  async #sealMoved(found: ReadonlyMap<TenantId, number>): Promise<void> {
    const { trust } = this.#services;
    if (!trust.holds) return;
    const { epoch } = trust;
    const rows = await this.#heads();
    const moved = rows.filter((head) => this.#sealed.get(head.tenant_id) !== head.sequence && isNewerThan(found, head));
    if (moved.length === 0 && this.#hasComparedFile) return;
    if (moved.length > 0) await this.#settleTables();
    const filed = this.#file.byOwner();
    if (!this.#hasComparedFile) await this.#alarmOfMissing(rows, filed);
    if (trust.epoch === epoch) this.#hasComparedFile = true;
    const seals: FiledSeal[] = [];
    for (const head of moved) {
      const tenantId = head.tenant_id;
      const seal = await this.#seal(head, filed.get(tenantId) ?? []);
      if (!seal) continue;
      this.#alarms.clear(tenantId);
      seals.push({ tenantId, ...seal });
    }
    // What a doubtful log said stays out of the file.
    if (!trust.holds || trust.epoch !== epoch) return;
    const fresh = seals.filter(({ tenantId, sequence }) => sequence > (filed.get(tenantId)?.at(-1)?.sequence ?? 0));
    if (fresh.length > 0) this.#file.append(fresh);
    for (const { tenantId, sequence } of seals) this.#sealed.set(tenantId, sequence);
    // Anyone who ships this log elsewhere has evidence that neither the databases nor the data directory can
    // contradict.
    for (const seal of fresh) this.#services.log.info(seal, 'audit head sealed');
  }

  /** Sealing goes on: what is added now is whole. */
  #reportDamage(): void {
    const damaged = this.#file.damagedLines();
    if (damaged > 0) this.#services.log.error(damagedHeads(damaged));
  }

  /**
   * A restored database from before an owner's first seal has no head for that owner, so the loop over heads would miss
   * it.
   */
  async #alarmOfMissing(heads: readonly Head[], filed: ReadonlyMap<TenantId, FiledSeal[]>): Promise<void> {
    const known = new Set(heads.map((head) => head.tenant_id));
    for (const [tenantId, seals] of filed) {
      if (known.has(tenantId)) continue;
      const { state: inLog } = await this.#services.loader.loadTail(auditHead, auditHeadStream(tenantId), 1);
      const fault = await filedSealFault(this.#source, tenantId, seals, inLog);
      if (fault !== undefined) this.#alarm(tenantId, fault);
    }
  }

  /**
   * Read models commit with `synchronous_commit = off`. Everything that a seal covers must be durable first. Otherwise,
   * after a crash, a log that is ahead of the tables would look like a restored older copy
   * (`installation/tables-check.ts`).
   */
  #settleTables(): Promise<unknown> {
    return transaction(this.#services.database.projector, async (client) => {
      await client.query('set local synchronous_commit = on');
      // A durable commit that writes something also flushes all commits before it.
      await client.query('update log_watch set position = position');
    });
  }

  /** The newest seal that is now in the log; undefined if the head must not be sealed. */
  async #seal(head: Head, filed: readonly FiledSeal[]): Promise<SealedHead | undefined> {
    const { loader, executor } = this.#services;
    const { key } = this.#source;
    const tenantId = head.tenant_id;
    const { state: before } = await loader.loadTail(auditHead, auditHeadStream(tenantId), 1);
    if (before !== UNSEALED && !isGenuineSeal(key, tenantId, before))
      return this.#alarm(tenantId, 'its newest seal is not genuine');
    // Once it has sealed a chain, earlier seals were compared.
    const uncompared = this.#sealed.has(tenantId) ? filed.slice(-1) : filed;
    const fault = await filedSealFault(this.#source, tenantId, uncompared, before);
    if (fault !== undefined) return this.#alarm(tenantId, fault);
    if (head.sequence <= before.sequence) return before;
    const position = await this.#positionOf(head, before);
    if (position === undefined) return this.#alarm(tenantId, 'log and audit table contradict each other');
    const seal = sealHead(key, tenantId, head, position, before);
    const outcome = await executor.execute(sealAuditHead, seal, { tenantId, actor: system('audit-head-sealer') });
    if (isFailure(outcome) && outcome.kind === 'unavailable') throw new FailureError(outcome);
    // Another process was faster. The next round sees the outcome.
    return isFailure(outcome) || outcome.events.length === 0 ? undefined : seal;
  }

  /** The position of the head's entry, if replaying the log from the previous seal arrives at the same hash. */
  async #positionOf({ tenant_id: tenantId, sequence, hash }: Head, before: SealedHead): Promise<bigint | undefined> {
    const from = await this.#after(tenantId, before);
    for await (const { entries } of replayChain(this.#source, tenantId, from, await this.#services.store.head())) {
      const sealed = entries.find((candidate) => candidate.sequence === before.sequence);
      if (sealed && sealed.hash !== before.hash) return undefined;
      const entry = entries.find((candidate) => candidate.sequence === sequence);
      if (entry) return entry.hash === hash ? entry.position : undefined;
    }
    return undefined;
  }

  /**
   * Where the chain continues after a seal. A seal that was copied from another log names a position of that log; then
   * the whole chain is read.
   */
  async #after(tenantId: TenantId, before: SealedHead): Promise<{ head: ChainHead; position: bigint }> {
    const { store, database } = this.#services;
    const copied = await copiedUpTo(database.projector);
    if (copied === undefined) return { head: before, position: BigInt(before.position) };
    const [seal] = await store.readStreamTail(auditHeadStream(tenantId), 1);
    return seal && seal.position <= copied
      ? { head: GENESIS, position: 0n }
      : { head: before, position: BigInt(before.position) };
  }

  #alarm(tenantId: TenantId, reason: string): undefined {
    this.#alarms.raise(tenantId, reason);
    this.#sealed.delete(tenantId);
    this.#services.log.fatal(
      { tenantId, reason },
      'an audit chain is invalid and is not sealed; run `audit verify` to find the entry',
    );
  }
}
