import type { ProvisionEmployee, Provisioned } from '../../../commands/employees/provision-employee.ts';
import type { WithAccountDigest, WithClaimHolders } from '../../../commands/ports.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { alreadyExists, FailureError } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { employeeEmailClaim } from './domain/employee.ts';
import {
  externalIdClaim,
  userNameClaim,
  type ProvisionedPerson,
  type ProvisioningSource,
} from './domain/provisioning.ts';

/** The employee whom this source means, read from the claims and therefore never behind. */
export interface FoundPerson {
  /** Whom this source has linked under this external id or userName. */
  readonly linked: string | undefined;
  /** By which of the two. */
  readonly linkedBy: 'externalId' | 'userName';
  /** Who has this e-mail, from whatever source. */
  readonly byEmail: string | undefined;
}

export async function findProvisioned(
  { claimHolders, accountDigest }: WithClaimHolders & WithAccountDigest,
  tenantId: TenantId,
  source: ProvisioningSource,
  { externalId, userName, email }: Pick<ProvisionedPerson, 'externalId' | 'userName' | 'email'>,
): Promise<FoundPerson> {
  const claims = [
    userNameClaim(source, userName),
    employeeEmailClaim(accountDigest(email)),
    ...(externalId === null ? [] : [externalIdClaim(source, externalId)]),
  ];
  const [named, addressed, identified] = (await claimHolders(tenantId, claims)).map(
    (holder) => holder && streamSubject(holder),
  );
  const linkedBy = identified !== undefined && identified !== named ? 'externalId' : 'userName';
  return { linked: identified ?? named, linkedBy, byEmail: addressed };
}

/** Between the look-up and the decision another request may take the name. A few repetitions settle it. */
const TRIES = 3;

/**
 * Finds the person and provisions them. `run` issues the command and throws its failure. `input.userId` is the id of a
 * new employee, used if nobody matches; `isNewcomer` says that no earlier run can have used it.
 *
 * A person whom the source has linked already is refused from the claims, which are never behind. Of many requests that
 * create the same person, the losers would otherwise read one stream, one after the other. `isRetryable`: the link may be
 * this request's own, from an earlier attempt, so the command has to decide.
 */
export async function provisionPerson(
  ports: WithClaimHolders & WithAccountDigest,
  tenantId: TenantId,
  input: ProvisionEmployee,
  run: (command: ProvisionEmployee, isNewcomer: boolean) => Promise<Provisioned>,
  { isRetryable = false }: { readonly isRetryable?: boolean } = {},
): Promise<Provisioned> {
  for (let attempt = 1; ; attempt += 1) {
    const { linked, linkedBy, byEmail } = await findProvisioned(ports, tenantId, input.source, input.person);
    const isRefused = linked !== undefined && input.ifLinked === 'refuse' && !isRetryable;
    if (isRefused) throw new FailureError(alreadyExists(linkedBy));
    const isNewcomer = linked === undefined && byEmail === undefined;
    try {
      return await run({ ...input, userId: linked ?? byEmail ?? input.userId }, isNewcomer && !isRetryable);
    } catch (error) {
      if (!isNewcomer || !isLostRace(error) || attempt === TRIES) throw error;
    }
  }
}

const isLostRace = (error: unknown): boolean =>
  error instanceof FailureError && error.failure.code === 'already_exists';
