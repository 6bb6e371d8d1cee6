import { changeProvisionedEmployee } from '../../../commands/employees/change-provisioned-employee.ts';
import { provisionEmployee, provisionNewcomer } from '../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { derivedId } from '../../platform/execution/executor.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import { FailureError, isFailure, type Failure } from '../../platform/kernel/failure.ts';
import type { ProvisionedPerson } from '../employees/domain/provisioning.ts';
import type { SyncCounts } from './domain/events.ts';
import type { DirectoryPerson } from './domain/directory-reader.ts';
import type { StagedPerson, Staging } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

/**
 * Commands at the same time. The event store appends what many of them decide in one transaction, so more at a time is
 * faster until a page is one transaction.
 */
const AT_ONCE = 256;
const PAGE = 1_024;

/** Carries out what the plan left open. Every person is one command, and a repeated command changes nothing. */
export async function applyPlan(ports: SyncPorts, run: SyncRun, staging: Staging, counts: SyncCounts): Promise<void> {
  let applied = 0;
  for (let after = ''; ;) {
    run.signal.throwIfAborted();
    const page = await staging.openAfter(after, PAGE);
    if (page.length === 0) return;
    after = page.at(-1)!.externalId;
    const outcomes: { externalId: string; userId: string | null; refusal: string | null }[] = [];
    await inParallel(AT_ONCE, page, async (step) => {
      outcomes.push({ externalId: step.externalId, ...(await carryOut(ports, run, step)) });
    });
    applied += page.length;
    await staging.settle(outcomes, { ...counts, applied });
  }
}

async function carryOut(ports: SyncPorts, run: SyncRun, step: StagedPerson) {
  const userId = step.userId ?? derivedId('directory person', run.syncId, step.externalId);
  const failure = await decided(ports, run, step, userId);
  // The store is away: the attempt ends, and the next one continues here.
  if (failure?.kind === 'unavailable' && failure.retryAfterSeconds !== undefined) throw new FailureError(failure);
  const gone = failure?.kind === 'notFound' && step.action !== 'create';
  return failure && !gone ? { userId: null, refusal: refusalOf(failure) } : { userId, refusal: null };
}

async function decided(
  { executor }: SyncPorts,
  { source, execution }: SyncRun,
  { person, action }: StagedPerson,
  userId: string,
): Promise<Failure | undefined> {
  const failureOf = (outcome: object): Failure | undefined => (isFailure(outcome) ? outcome : undefined);
  if (person === null)
    return failureOf(await executor.execute(unprovisionEmployee, { userId, source, how: 'deactivate' }, execution));
  if (action === 'create' || action === 'link')
    return failureOf(
      await executor.execute(
        action === 'create' ? provisionNewcomer : provisionEmployee,
        { userId, source, person: provisionedOf(person), ifLinked: 'update' },
        execution,
      ),
    );
  return failureOf(
    await executor.execute(changeProvisionedEmployee, { userId, source, person: provisionedOf(person) }, execution),
  );
}

/** The plan gave everybody an e-mail for whom something is to be done. */
const provisionedOf = (person: DirectoryPerson): ProvisionedPerson => ({
  userName: person.userName,
  externalId: person.externalId,
  email: person.email!,
  displayName: person.displayName,
  department: person.department,
  jobTitle: person.jobTitle,
  isActive: person.isActive,
  upn: person.upn,
  sid: person.sid,
  profile: null,
});

/** In fixed words, with the fields that another person has. */
const refusalOf = ({ message, fields = [] }: Failure): string =>
  [message, ...fields.map(({ field }) => field)].join(': ').slice(0, 200);
