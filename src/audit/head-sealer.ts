import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { sealAuditHead } from '../../commands/audit/seal-audit-head.ts';
import { auditHead, auditHeadStream, sealHead, type SealedHead } from '../domain/audit/sealed-head.ts';
import { system } from '../kernel/actor.ts';
import { isFailure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { sealFile } from './seals.ts';

const EVERY_MS = 60_000;

interface Head {
  tenant_id: TenantId;
  sequence: number;
  hash: string;
  position: string;
}

const HEADS = `
  select h.tenant_id, h.sequence, h.hash, l.position::text
    from audit_log h
    join lateral (select position from audit_log e where e.tenant_id = h.tenant_id and e.position > 0 order by e.position desc limit 1) l on true
   where h.position = 0`;

/**
 * Seals the head of every chain that has moved, once a minute and when the service stops: in the log, and in a file beside
 * both databases. From then on nobody without the key can change what came before, not even in log and table alike.
 */
export class HeadSealer {
  readonly #services: Services;
  readonly #sealed = new Map<TenantId, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(services: Services) {
    this.#services = services;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sealAll(), EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.sealAll();
  }

  sealAll(): Promise<void> {
    this.#running = this.#running.then(() => this.#seal()).catch((error: unknown) => {
      this.#services.log.error({ reason: (error as Error).message }, 'audit heads could not be sealed');
    });
    return this.#running;
  }

  async #seal(): Promise<void> {
    const { rows } = await this.#services.database.projector.query<Head>(HEADS);
    const made: (SealedHead & { tenantId: TenantId })[] = [];
    for (const head of rows) {
      if (this.#sealed.get(head.tenant_id) === head.sequence) continue;
      const seal = await this.#sealOne(head);
      if (seal) made.push({ tenantId: head.tenant_id, ...seal });
      this.#sealed.set(head.tenant_id, head.sequence);
    }
    if (made.length > 0) this.#write(made);
  }

  /** Undefined when this head, or a later one, is sealed already. */
  async #sealOne({ tenant_id: tenantId, sequence, hash, position }: Head): Promise<SealedHead | undefined> {
    const { loader, executor, config } = this.#services;
    const { state: before } = await loader.loadTail(auditHead, auditHeadStream(tenantId), 1);
    if (before.sequence >= sequence) return undefined;
    const seal = sealHead(config.auditKey, tenantId, { sequence, hash }, BigInt(position), before);
    const outcome = await executor.execute(sealAuditHead, seal, { tenantId, actor: system('audit-head-sealer') });
    return isFailure(outcome) || outcome.events.length === 0 ? undefined : seal;
  }

  #write(seals: readonly object[]): void {
    const { dataDir } = this.#services.config;
    mkdirSync(dataDir, { recursive: true });
    const file = openSync(sealFile(dataDir), 'a', 0o600);
    try {
      writeSync(file, seals.map((seal) => `${JSON.stringify(seal)}\n`).join(''));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
