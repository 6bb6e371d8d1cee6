import {
  countLinkedPeople,
  linkedAmongUsers,
  linkedByExternalId,
  linkedPeopleAfter,
} from '../../../queries/employees/linked-people.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { JobFailed } from '../../platform/jobs/job.ts';
import { employeeEmailClaim } from '../employees/domain/employee.ts';
import type { SyncCounts } from './domain/events.ts';
import { planned, REPEATED_EMAIL, type LinkedPerson, type PlannedAction } from './domain/plan.ts';
import { NOTHING_SYNCED } from './domain/sync-counts.ts';
import { DirectoryFailed, type DirectoryPerson } from './domain/directory-reader.ts';
import type { DecidedPerson, Staging, StagedStep } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

const PAGE = 1_000;
/** Entries that repeat an e-mail: more of them are a mistake of the directory, or an attack. */
const MAX_REPEATED = 10_000;
const FRESH_MS = 30_000;

const COUNTED: Readonly<Record<PlannedAction, keyof SyncCounts>> = {
  create: 'created',
  link: 'linked',
  change: 'changed',
  deactivate: 'deactivated',
  keep: 'unchanged',
  ignore: 'unchanged',
  refuse: 'refused',
};

export interface Plan {
  readonly counts: SyncCounts;
  readonly linkedPeople: number;
}

/** Directories are compared with read models: these must show all that was written before. */
export async function awaitReadModels({ freshness, head }: SyncPorts): Promise<void> {
  if (!(await freshness.waitFor(['employees', 'provisioned_people', 'groups'], await head(), FRESH_MS)))
    throw new JobFailed('the read models are behind the log');
}

/**
 * The people of a page of whom the source has said the same before, and those whom nobody knows, by external id. Most
 * pages list nobody else. Whether an e-mail is repeated is known at the end of the list.
 */
export async function decidedPeople(
  ports: SyncPorts,
  run: SyncRun,
  people: readonly DirectoryPerson[],
): Promise<ReadonlyMap<string, DecidedPerson>> {
  const linked = await linkedAmong(ports, run, people);
  const namesakes = await namesakesAmong(ports, run, people, linked);
  const decided = new Map<string, DecidedPerson>();
  for (const listed of people) {
    const { externalId } = listed;
    const step = planned({ listed, linked: linked.get(externalId), namesake: namesakes.get(externalId) });
    if (step.action === 'create')
      decided.set(externalId, { action: 'create', userId: derivedId('directory person', run.syncId, externalId) });
    else if (step.action === 'keep' && step.userId !== null)
      decided.set(externalId, { action: 'keep', userId: step.userId });
  }
  return decided;
}

async function linkedAmong(
  { reads }: SyncPorts,
  { tenantId, source }: SyncRun,
  people: readonly DirectoryPerson[],
): Promise<ReadonlyMap<string, LinkedPerson>> {
  const externalIds = people.map(({ externalId }) => externalId);
  const linked = orThrow(await linkedByExternalId(reads(tenantId), { source, externalIds }));
  return new Map(linked.map((one) => [one.externalId!, one]));
}

/** The employees who have the e-mails of active people whom the source has not linked, by external id. */
async function namesakesAmong(
  { executor, accountDigest }: SyncPorts,
  { tenantId }: SyncRun,
  people: readonly DirectoryPerson[],
  linked: ReadonlyMap<string, LinkedPerson>,
): Promise<ReadonlyMap<string, string>> {
  const others = people.filter(
    ({ externalId, email, isActive }) => isActive && email !== null && !linked.has(externalId),
  );
  if (others.length === 0) return new Map();
  const claims = others.map(({ email }) => employeeEmailClaim(accountDigest(email!)));
  const holders = await executor.claimHolders(tenantId, claims);
  return new Map(
    others.flatMap(({ externalId }, at) => {
      const holder = holders[at];
      return holder === undefined ? [] : [[externalId, streamSubject(holder)] as const];
    }),
  );
}

/**
 * Compares what was read with the people of the source, a page at a time, and writes down what follows for each. Those
 * who stay as they are, and those who are new, were recognized while they were read.
 */
export async function planSync(ports: SyncPorts, run: SyncRun, staging: Staging): Promise<Plan> {
  const counts: Record<keyof SyncCounts, number> = { ...NOTHING_SYNCED };
  const count = (steps: readonly StagedStep[]) => {
    for (const { action } of steps) counts[COUNTED[action]] += 1;
  };
  const totals = await staging.totals();
  const { people: listed, kept, created, undecided } = totals;
  const repeated = kept === listed ? new Set<string>() : await repeatedEmails(staging);
  const refused = repeated.size > 0 ? await staging.refuseCreations([...repeated], REPEATED_EMAIL) : 0;
  Object.assign(counts, { people: listed, unchanged: kept, created: created - refused, refused });
  for (let after = ''; undecided > 0;) {
    run.signal.throwIfAborted();
    const people = await staging.undecidedAfter(after, PAGE);
    if (people.length === 0) break;
    after = people.at(-1)!.externalId;
    const steps = await stepsFor(ports, run, staging, people, repeated);
    count(steps);
    await staging.plan(steps, counts);
  }
  const { linked } = undecided === 0 ? totals : await staging.totals();
  return { counts, linkedPeople: await planMissing(ports, run, staging, linked, counts, count) };
}

async function repeatedEmails(staging: Staging): Promise<ReadonlySet<string>> {
  const repeated = await staging.repeatedEmails(MAX_REPEATED + 1);
  if (repeated.size > MAX_REPEATED)
    throw new DirectoryFailed('too many entries have the e-mail of another one', { isLasting: true });
  return repeated;
}

/**
 * Plans for the people whom the directory no longer lists. `listedLinked`: how many it lists that the source had linked.
 * Returns how many active people the source had.
 */
async function planMissing(
  ports: SyncPorts,
  run: SyncRun,
  staging: Staging,
  listedLinked: number,
  counts: SyncCounts,
  count: (steps: readonly StagedStep[]) => void,
): Promise<number> {
  const reads = ports.reads(run.tenantId);
  const { identified, active } = orThrow(await countLinkedPeople(reads, { source: run.source }));
  // An external id is linked once, so nobody is missing if as many are listed as are linked.
  if (listedLinked === identified) return active;
  let linkedPeople = 0;
  for (let after: string | undefined; ;) {
    run.signal.throwIfAborted();
    const linked = orThrow(await linkedPeopleAfter(reads, { source: run.source, after, limit: PAGE }));
    if (linked.length === 0) break;
    after = linked.at(-1)!.userId;
    linkedPeople += linked.filter(({ isActive }) => isActive).length;
    const listed = await staging.listedAmong(linked.map(({ externalId }) => externalId ?? ''));
    // A person with a new entry was not removed: the link moves to it.
    const movedOn = await staging.linkedAnewAmong(linked.map(({ userId }) => userId));
    const steps = linked
      .filter(({ userId, externalId }) => externalId !== null && !listed.has(externalId) && !movedOn.has(userId))
      .map((person) => ({
        externalId: person.externalId!,
        ...planned({ listed: undefined, linked: person, namesake: undefined }),
      }));
    count(steps);
    if (steps.length > 0) await staging.plan(steps, counts);
  }
  return linkedPeople;
}

/** Two look-ups for a page: the people whom the source has linked, and the employees with the e-mails of the others. */
async function stepsFor(
  ports: SyncPorts,
  run: SyncRun,
  staging: Staging,
  people: readonly DirectoryPerson[],
  repeated: ReadonlySet<string>,
): Promise<StagedStep[]> {
  const linked = await linkedAmong(ports, run, people);
  const namesakes = await namesakesAmong(ports, run, people, linked);
  // An employee whom the source has linked through an entry that is still listed belongs to that entry.
  const { source } = run;
  const userIds = [...namesakes.values()];
  const owned = orThrow(await linkedAmongUsers(ports.reads(run.tenantId), { source, userIds }));
  const stillListed = await staging.listedAmong(owned.flatMap(({ externalId }) => externalId ?? []));
  const taken = new Set(
    owned.filter(({ externalId }) => externalId !== null && stillListed.has(externalId)).map(({ userId }) => userId),
  );
  const isEmailTaken = (externalId: string) => repeated.has(externalId) || taken.has(namesakes.get(externalId) ?? '');
  return people.map((listed) => ({
    externalId: listed.externalId,
    email: listed.email === null ? (linked.get(listed.externalId)?.email ?? null) : null,
    ...planned({
      listed,
      linked: linked.get(listed.externalId),
      namesake: namesakes.get(listed.externalId),
      isEmailTaken: isEmailTaken(listed.externalId),
    }),
  }));
}
