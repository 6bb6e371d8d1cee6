import type { WithClaimHolders } from '../../../../../commands/ports.ts';
import { findByExternalId } from '../../../../../queries/enrollment/find-by-external-id.ts';
import {
  employee,
  employeeEmailClaim,
  employeeStream,
  isEmployed,
} from '../../../../contexts/employees/domain/employee.ts';
import { sidClaim, upnClaim } from '../../../../contexts/employees/domain/provisioning.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { streamSubject } from '../../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';

export interface SyncedUserDependencies {
  readonly loader: Pick<AggregateLoader, 'load'>;
  readonly ports: WithClaimHolders;
  accountDigest(email: string): string;
  vitalReads(tenantId: TenantId): TenantReads;
}

interface AgentUser {
  readonly upn: string;
  readonly sid: string | null;
}

/**
 * Finds the active person whom a SCIM client or a directory source maintains (F242). The UPN is that of a directory, or
 * else the e-mail. The SID is that of a directory, or else the external id at a SCIM client. Names and identifiers come
 * from claims, so a person who was linked a moment ago is found. If UPN and SID mean two people, the result is
 * undefined.
 */
export async function syncedUser(
  { loader, ports, accountDigest, vitalReads }: SyncedUserDependencies,
  tenantId: TenantId,
  { upn, sid }: AgentUser,
): Promise<string | undefined> {
  const claims = [upnClaim(upn), employeeEmailClaim(accountDigest(upn)), ...(sid === null ? [] : [sidClaim(sid)])];
  const [byUpn, byEmail, bySid] = (await ports.claimHolders(tenantId, claims)).map(
    (holder) => holder && streamSubject(holder),
  );
  const named = byUpn ?? byEmail;
  const identified = bySid ?? (sid === null ? undefined : await findByExternalId(vitalReads(tenantId), sid));
  if (named !== undefined && identified !== undefined && named !== identified) return undefined;
  const userId = named ?? identified;
  if (userId === undefined) return undefined;
  const user = await loader.load(employee, employeeStream(tenantId, userId));
  return isEmployed(user) && user.links.length > 0 ? userId : undefined;
}
