import { changeProvisionedEmployee } from '../../../commands/employees/change-provisioned-employee.ts';
import { provisionEmployee, provisionNewcomer } from '../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import { FailureError, isFailure, type Failure } from '../../platform/kernel/failure.ts';
import type { ProvisionedPerson } from '../employees/domain/provisioning.ts';
import type { SyncCounts } from './domain/events.ts';
import type { DirectoryPerson } from './domain/directory-reader.ts';
import type { StagedPerson, Staging } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

/**
 * People of a page run at the same time: their look-ups, keys and appends share round trips. While one page is written,
 * the next one is decided.
 */
const PAGE = 512;
const PAGES_AT_ONCE = 2;

/** Carries out what the plan left open. Every person is one command, and a repeated command changes nothing. */
export async function applyPlan(ports: SyncPorts, run: SyncRun, staging: Staging, counts: SyncCounts): Promise<void> {
  let applied = 0;
  let after = '';
  let pages = Promise.resolve<readonly StagedPerson[]>([]);
  const nextPage = () =>
    (pages = pages.then(async () => {
      const page = await staging.openAfter(after, PAGE);
      after = page.at(-1)?.externalId ?? after;
      return page;
    }));
  await inParallel(PAGES_AT_ONCE, Array.from({ length: PAGES_AT_ONCE }), async () => {
    for (let page = await nextPage(); page.length > 0; page = await nextPage()) {
      run.signal.throwIfAborted();
      const outcomes: { externalId: string; userId: string | null; refusal: string | null }[] = [];
      await inParallel(PAGE, page, async (step) => {
        outcomes.push({ externalId: step.externalId, ...(await carryOut(ports, run, step)) });
      });
      applied += page.length;
      await staging.settle(outcomes, { ...counts, applied });
    }
  });
  // What follows is planned for people who have ids now.
  if (applied > 0) await staging.analyze();
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
