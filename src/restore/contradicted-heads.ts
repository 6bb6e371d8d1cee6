import { SealFile, type FiledSeal } from '../audit/seal-file.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

const HASHES = 'select sequence, hash from audit_log where tenant_id = $1 and position > 0 and sequence = any($2)';

/** Takes heads out of the file beside the databases that the audit log, rebuilt from the log, contradicts. Returns the furthest of each chain. */
export async function setAsideContradictedHeads({ config, database }: Pick<Services, 'config' | 'database'>): Promise<ReadonlyMap<TenantId, number>> {
  const file = new SealFile(config.dataDir);
  const dropped = new Map<TenantId, number>();
  for (const owner of file.owners()) {
    const seals = file.sealsOf(owner);
    const { rows } = await database.projector.query<{ sequence: number; hash: string }>(HASHES, [owner, seals.map(({ sequence }) => sequence)]);
    const hashes = new Map(rows.map(({ sequence, hash }) => [Number(sequence), hash]));
    const isContradicted = ({ tenantId, sequence, hash }: FiledSeal) => tenantId === owner && hashes.get(sequence) !== hash;
    const gone = file.setAside(isContradicted).map(({ sequence }) => sequence);
    if (gone.length > 0) dropped.set(owner, Math.max(...gone));
  }
  return dropped;
}
