import type { ChainKey } from './domain/chain-key.ts';
import { auditVocabulary } from './domain/vocabulary.ts';
import { FailureError, temporarilyUnavailable } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { FaultReason } from './diagnosis.ts';
import { SealFile } from './seal-file.ts';
import { Verification, type Evidence } from './verification.ts';
import type { SharedRuns } from './shared-runs.ts';
import type { SegmentVerification } from './chain-segments.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import type { EventFamily } from '../../platform/kernel/event.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';

export interface VerifyDependencies {
  readonly config: { readonly dataDir: string };
  readonly chainKey: ChainKey;
  /** Threads that verify chains, if threads can read the event store. */
  readonly chainWalking: SegmentVerification | undefined;
  readonly verifications: SharedRuns<TenantId, AuditVerdict>;
  readonly store: EventStore;
  readonly projector: Projector;
  readonly families: readonly EventFamily[];
  reads(tenantId: TenantId): TenantReads;
}

export interface AuditVerdict {
  readonly valid: boolean;
  /** Entries for which table, log and seals agree. */
  readonly entriesChecked: number;
  readonly firstInvalidSequence: number | null;
  readonly reason: FaultReason | null;
  readonly verifiedAt: string;
}

/** How long a verification waits for entries of events that were appended just before it. */
const CATCH_UP_TIMEOUT_MS = 5_000;

/** `witness`: seals kept elsewhere, in addition to those of the data directory. */
export function evidenceOf(
  { store, reads, config, chainKey, chainWalking, families, projector }: VerifyDependencies,
  witness?: Pick<SealFile, 'sealsOf'>,
): Evidence {
  const file = new SealFile(config.dataDir);
  const words = auditVocabulary(families);
  return {
    store,
    reads,
    key: chainKey,
    words,
    verification: chainWalking,
    filed: (tenantId) =>
      witness
        ? [...file.sealsOf(tenantId), ...witness.sealsOf(tenantId)].toSorted(
            (one, other) => (one.sequence ?? 0) - (other.sequence ?? 0),
          )
        : file.sealsOf(tenantId),
    async projectedTo(position) {
      for (
        const deadline = Date.now() + CATCH_UP_TIMEOUT_MS;
        ;
        await new Promise((resolve) => setTimeout(resolve, 20))
      ) {
        const reached = (await projector.livePositions()).get('audit_log') ?? 0n;
        if (reached >= position || Date.now() > deadline) return reached;
      }
    },
  };
}

/** One verification of a chain runs at a time; concurrent callers get the same result. */
export const verifyTenant = (services: VerifyDependencies, tenantId: TenantId): Promise<AuditVerdict> =>
  services.verifications.run(tenantId, () => verifyChain(evidenceOf(services), tenantId));

/**
 * Recomputes a tenant's chain from the log, compares the table with it row by row, and compares both with every sealed
 * head. Reports the first fault.
 *
 * Throws `unavailable` if the only problem is that the read model has not processed all events yet.
 */
export async function verifyChain(evidence: Evidence, tenantId: TenantId): Promise<AuditVerdict> {
  // The quick pass assumes that the log's text is canonical. If it finds an anomaly, the strict pass decides.
  const quick = await new Verification(evidence, tenantId, true).run();
  const { fault, checked, behind } = quick.fault ? await new Verification(evidence, tenantId, false).run() : quick;
  if (!fault && behind) throw new FailureError(temporarilyUnavailable('audit_log_behind'));
  return {
    valid: fault === undefined,
    entriesChecked: fault ? fault.sequence - 1 : checked,
    firstInvalidSequence: fault?.sequence ?? null,
    reason: fault?.reason ?? null,
    verifiedAt: new Date().toISOString(),
  };
}
