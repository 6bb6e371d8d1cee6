import { SealFile } from '../../audit/seal-file.ts';
import { sealsInLog, textOfSeal } from '../../audit/seals.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';

export interface LostHeadsDependencies {
  readonly config: { readonly dataDir: string };
  readonly store: Pick<EventStore, 'head' | 'readStream'>;
}

/**
 * Chains with sealed heads in the file that the log does not contain, or not like this, each with the highest such
 * sequence. Changes nothing.
 */
export async function lostHeads({ config, store }: LostHeadsDependencies): Promise<ReadonlyMap<TenantId, number>> {
  const file = new SealFile(config.dataDir);
  const lost = new Map<TenantId, number>();
  for (const owner of file.owners()) {
    const held = await textsInLog(store, owner);
    const sequences = file.sealsOf(owner).flatMap((seal) => (held.has(textOfSeal(seal)) ? [] : [seal.sequence ?? 0]));
    if (sequences.length > 0) lost.set(owner, Math.max(...sequences));
  }
  return lost;
}

/** Removes those heads from the file and returns them. */
export async function setAsideLostHeads(services: LostHeadsDependencies): Promise<ReadonlyMap<TenantId, number>> {
  const lost = await lostHeads(services);
  const file = new SealFile(services.config.dataDir);
  for (const owner of lost.keys()) {
    const held = await textsInLog(services.store, owner);
    file.setAside((seal) => seal.tenantId === owner && !held.has(textOfSeal(seal)));
  }
  return lost;
}

async function textsInLog(store: LostHeadsDependencies['store'], owner: TenantId): Promise<ReadonlySet<string>> {
  const texts = new Set<string>();
  for await (const seal of sealsInLog(store, owner, await store.head())) texts.add(textOfSeal(seal));
  return texts;
}
