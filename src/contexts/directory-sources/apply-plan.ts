import {
  amendProvisionedEmployee,
  changeProvisionedEmployee,
} from '../../../commands/employees/change-provisioned-employee.ts';
import {
  provisionEmployee,
  provisionNewcomer,
  type ProvisionEmployee,
} from '../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import { FailureError, isFailure, type Failure } from '../../platform/kernel/failure.ts';
import type { EmployeeLink, ProvisionedPerson } from '../employees/domain/provisioning.ts';
import type { SyncCounts } from './domain/events.ts';
import type { DirectoryPerson } from './domain/directory-reader.ts';
import { PagesInOrder } from './pages-in-order.ts';
import type { StagedPerson, Staging } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

/**
 * People of a page run at the same time: their look-ups, keys and appends share round trips. While one page is written,
 * the next one is decided.
 */
const PAGE = 512;
const PAGES_AT_ONCE = 2;
/** People of a page who are changed, linked or deactivated at the same time. */
const CHANGES_AT_ONCE = PAGE;

/** Carries out what the plan left open. Every person is one command, and a repeated command changes nothing. */
export async function applyPlan(ports: SyncPorts, run: SyncRun, staging: Staging, counts: SyncCounts): Promise<void> {
  if (counts.created + counts.linked + counts.changed + counts.deactivated === 0) return;
  let applied = 0;
  const pages = new PagesInOrder(await staging.carriedOutTo(), async (after) => {
    const items = await staging.openAfter(after, PAGE);
    return { items, end: items.at(-1)?.externalId ?? after };
  });
  await pages.work(
    PAGES_AT_ONCE,
    async (steps) => {
      run.signal.throwIfAborted();
      const refusals = await carryOut(ports, run, steps);
      if (refusals.length > 0) await staging.refuse(refusals);
      applied += steps.length;
    },
    () => staging.settle(pages.reached, { ...counts, applied }),
  );
}

/** Returns the people who were refused, and those whom an earlier attempt was refused, but not this one. */
async function carryOut(ports: SyncPorts, run: SyncRun, steps: readonly StagedPerson[]): Promise<StepOutcome[]> {
  const creations = steps.filter(isCreation);
  const changes = steps.filter((step) => !isCreation(step));
  const outcomes = [...(await createAll(ports, run, creations)), ...(await changeAll(ports, run, changes))];
  const refusedBefore = new Set(steps.flatMap(({ externalId, refusal }) => (refusal === null ? [] : [externalId])));
  return outcomes.filter(({ externalId, refusal }) => refusal !== null || refusedBefore.has(externalId));
}

interface StepOutcome {
  readonly externalId: string;
  readonly refusal: string | null;
}

const isCreation = ({ action, person }: StagedPerson): boolean => action === 'create' && person !== null;

async function createAll(
  { executor }: SyncPorts,
  run: SyncRun,
  steps: readonly StagedPerson[],
): Promise<StepOutcome[]> {
  if (steps.length === 0) return [];
  const inputs = steps.map((step) => provisioningOf(run, step));
  const outcomes = await executor.executeAll(provisionNewcomer, inputs, run.execution);
  return steps.map((step, at) => outcomeOf(step, failureOf(outcomes[at]!)));
}

async function changeAll(ports: SyncPorts, run: SyncRun, steps: readonly StagedPerson[]): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  await inParallel(CHANGES_AT_ONCE, steps, async (step) => {
    outcomes.push(outcomeOf(step, await change(ports, run, step)));
  });
  return outcomes;
}

const userIdOf = ({ syncId }: SyncRun, { userId, externalId }: StagedPerson): string =>
  userId ?? derivedId('directory person', syncId, externalId);

const provisioningOf = (run: SyncRun, step: StagedPerson): ProvisionEmployee => ({
  userId: userIdOf(run, step),
  source: run.source,
  person: provisionedOf(step.person!),
  ifLinked: 'update',
});

function outcomeOf({ externalId, action }: StagedPerson, failure: Failure | undefined): StepOutcome {
  // The store is away: the attempt ends, and the next one continues here.
  if (failure?.kind === 'unavailable' && failure.retryAfterSeconds !== undefined) throw new FailureError(failure);
  const gone = failure?.kind === 'notFound' && action !== 'create';
  return { externalId, refusal: failure && !gone ? refusalOf(failure) : null };
}

const failureOf = (outcome: object): Failure | undefined => (isFailure(outcome) ? outcome : undefined);

async function change({ executor }: SyncPorts, run: SyncRun, step: StagedPerson): Promise<Failure | undefined> {
  const { source, execution } = run;
  const userId = userIdOf(run, step);
  const { person, action } = step;
  if (person === null)
    return failureOf(await executor.execute(unprovisionEmployee, { userId, source, how: 'deactivate' }, execution));
  if (action === 'link')
    return failureOf(await executor.execute(provisionEmployee, provisioningOf(run, step), execution));
  const changed = await executor.execute(
    changeProvisionedEmployee,
    { userId, source, person: provisionedOf(person) },
    execution,
  );
  if (!isFailure(changed) || person.isActive || changed.kind !== 'conflict') return failureOf(changed);
  // A departure waits for no name: what else the directory says of them is refused, and tried again each time.
  const left = await executor.execute(amendProvisionedEmployee, { userId, source, personFrom: departed }, execution);
  return failureOf(left) ?? changed;
}

/** What the source said before, of somebody who has left since. */
const departed = ({ source: _source, version: _version, ...said }: EmployeeLink): ProvisionedPerson => ({
  ...said,
  profile: null,
  isActive: false,
});

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
