import type { Position } from '../../platform/kernel/event.ts';
import {
  FailureError,
  orThrow,
  refuseNamed,
  temporarilyUnavailable,
  type NamingRecord,
} from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ReferenceLocks } from '../../platform/kernel/reference-locks.ts';
import type { FreshnessDependencies } from './read-your-writes.ts';

export interface DeleteUnnamedDependencies extends FreshnessDependencies {
  readonly referenceLocks: ReferenceLocks;
  head(): Promise<Position>;
}

interface Deletion {
  readonly tenantId: TenantId;
  readonly id: string;
  /** The records that name it, from the read models. */
  naming(): Promise<readonly NamingRecord[]>;
  remove(): Promise<unknown>;
}

/** Milliseconds that a deletion waits for the read models to know what was decided before it. */
const KNOWN_MS = 3_000;

/**
 * Deletes a record unless others name it (OP-438). Nobody begins to name it meanwhile, and the read models are up to date
 * when they are asked: what another administrator made in the same moment counts (OP-591).
 */
export async function deleteUnnamed(
  { referenceLocks, freshness, mainModels, head }: DeleteUnnamedDependencies,
  { tenantId, id, naming, remove }: Deletion,
): Promise<void> {
  await referenceLocks.deleting(tenantId, id, async () => {
    if (!(await freshness.waitFor(mainModels, await head(), KNOWN_MS)))
      throw new FailureError(temporarilyUnavailable());
    orThrow(refuseNamed(await naming()));
    await remove();
  });
}
