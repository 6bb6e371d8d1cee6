import type { SyncCounts } from './domain/events.ts';
import type { PlannedAction } from './domain/plan.ts';
import {
  ADD_PEOPLE,
  CARRIED_OUT,
  KNOWN_EMAILS,
  PHASE,
  PLAN,
  PLANNED_GROUPS,
  READ_GROUPS,
  REFUSE,
  REFUSE_CREATIONS,
  REMOVE_PEOPLE,
  REPEATED_EMAILS,
} from './staging-sql.ts';
import { settleAll } from '../../platform/database/transaction.ts';
import { StagedGroups } from './staged-groups.ts';
import type { Progress } from './sync-hold.ts';
import type { DirectoryPerson } from './domain/directory-reader.ts';

export interface StagedPerson {
  readonly externalId: string;
  readonly person: DirectoryPerson | null;
  readonly action: PlannedAction | null;
  readonly userId: string | null;
  /** What an earlier attempt met. */
  readonly refusal: string | null;
}

/** What was decided about a listed person while the directory was read. */
export interface DecidedPerson {
  readonly action: PlannedAction;
  readonly userId: string;
}

export interface StagedStep {
  readonly externalId: string;
  readonly action: PlannedAction;
  readonly userId: string | null;
  readonly refusal: string | null;
  /** The e-mail of a person whom the directory lists without one. */
  readonly email?: string | null;
}

interface Totals {
  readonly people: number;
  readonly kept: number;
  readonly created: number;
  readonly undecided: number;
  readonly linked: number;
}

/** The tables in which one attempt works on one synchronization. */
export class Staging extends StagedGroups {
  /** Forgets what an earlier attempt has read, but not which deactivations were shown to the admin who confirmed them. */
  clear(keepsShown: boolean): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, 'delete from directory_sync_members where tenant_id = $1 and sync_id = $2');
      await this.query(
        client,
        `delete from directory_sync_people where tenant_id = $1 and sync_id = $2${keepsShown ? ' and not shown' : ''}`,
      );
      await this.query(
        client,
        `update directory_sync_people set action = null, person = null, listed = false, done = false, refusal = null where tenant_id = $1 and sync_id = $2`,
      );
      await this.query(client, CARRIED_OUT, ['']);
      await this.query(client, PLANNED_GROUPS, ['[]']);
      await this.query(client, READ_GROUPS, [null, null]);
      await this.query(client, PHASE, ['reading', '{}']);
    });
  }

  /** Marks the deactivations of a plan that is about to be shown for confirmation. */
  show(): Promise<void> {
    return this.write((client) =>
      this.query(
        client,
        `update directory_sync_people set shown = (action = 'deactivate') where tenant_id = $1 and sync_id = $2 and (shown or action = 'deactivate')`,
      ),
    );
  }

  /**
   * `decided` is what follows already, by external id; people who are kept are staged without their description. Returns
   * the external ids of those who were listed before.
   */
  async addPeople(
    people: readonly DirectoryPerson[],
    decided: ReadonlyMap<string, DecidedPerson>,
    total: number,
  ): Promise<ReadonlySet<string>> {
    const unique = [...new Map(people.map((one) => [one.externalId, one])).values()];
    const steps = unique.map(({ externalId }) => decided.get(externalId));
    let listedBefore: readonly { external_id: string }[] = [];
    await this.write(async (client) => {
      const added = this.query<{ external_id: string }>(client, ADD_PEOPLE, [
        unique.map(({ externalId }) => externalId),
        unique.map(({ memberKey }) => memberKey),
        unique.map(({ email, isActive }) => (isActive && email !== null ? email.toLowerCase() : null)),
        steps.map((step) => step?.action ?? null),
        steps.map((step) => step?.userId ?? null),
        unique.map((one, at) => (steps[at]?.action === 'keep' ? null : JSON.stringify(one))),
      ]);
      await settleAll([added, this.query(client, PHASE, ['reading', JSON.stringify({ people: total })])]);
      listedBefore = (await added).rows;
    });
    return new Set(listedBefore.map((row) => row.external_id));
  }

  /** What was said of these people before does not hold: the directory no longer has them. */
  removePeople(externalIds: readonly string[]): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, REMOVE_PEOPLE, [externalIds]);
    });
  }

  /** Lets the database plan for as many rows as there are. Without it everything works, more slowly. */
  async analyze(): Promise<void> {
    await this.pool.asSystem('select analyze_directory_syncs()').catch(() => undefined);
  }

  /**
   * Listed people, those who stay as they are, those who are new, those about whom nothing is decided yet, and those whom
   * the source had linked.
   */
  async totals(): Promise<Totals> {
    const { rows } = await this.statement<Totals>(
      `select count(*)::int as people, count(*) filter (where action = 'keep')::int as kept,
              count(*) filter (where action = 'create')::int as created,
              count(*) filter (where action is null)::int as undecided,
              count(*) filter (where action in ('keep', 'change', 'deactivate'))::int as linked
         from directory_sync_people where tenant_id = $1 and sync_id = $2 and listed`,
    );
    return rows[0]!;
  }

  /** Listed people about whom nothing was decided while they were read, after this external id, in its order. */
  async undecidedAfter(after: string, limit: number): Promise<readonly DirectoryPerson[]> {
    const { rows } = await this.statement<{ person: DirectoryPerson }>(
      `select person from directory_sync_people where tenant_id = $1 and sync_id = $2 and person is not null and action is null and external_id > $3
        order by external_id limit $4`,
      [after, limit],
    );
    return rows.map(({ person }) => person);
  }

  /** Which of these ids the directory lists. */
  async listedAmong(externalIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.statement<{ external_id: string }>(
      `select external_id from directory_sync_people where tenant_id = $1 and sync_id = $2 and listed and external_id = any($3)`,
      [externalIds],
    );
    return new Set(rows.map((row) => row.external_id));
  }

  /** Active people whose e-mail an earlier one has, too. */
  async repeatedEmails(limit: number): Promise<ReadonlySet<string>> {
    const { rows } = await this.statement<{ external_id: string }>(REPEATED_EMAILS, [limit]);
    return new Set(rows.map((row) => row.external_id));
  }

  /** These people would be created, but an earlier entry has their e-mail. Returns how many there are. */
  async refuseCreations(externalIds: readonly string[], refusal: string): Promise<number> {
    let refused = 0;
    await this.write(async (client) => {
      refused = (await this.query(client, REFUSE_CREATIONS, [externalIds, refusal])).rowCount ?? 0;
    });
    return refused;
  }

  /** Which of these employees the plan links to another entry of the directory. */
  async linkedAnewAmong(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.statement<{ user_id: string }>(
      `select user_id from directory_sync_people
        where tenant_id = $1 and sync_id = $2 and action = 'link' and user_id = any($3)`,
      [userIds],
    );
    return new Set(rows.map((row) => row.user_id));
  }

  plan(steps: readonly StagedStep[], progress: Progress): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, PLAN, [JSON.stringify(steps)]);
      const known = steps.filter(({ email }) => typeof email === 'string');
      if (known.length > 0) await this.query(client, KNOWN_EMAILS, [JSON.stringify(known)]);
      await this.query(client, PHASE, ['planning', JSON.stringify(progress)]);
    });
  }

  /** Deactivations that nobody was shown. */
  async unseenDeactivations(): Promise<number> {
    const { rows } = await this.statement<{ n: number }>(
      `select count(*)::int as n from directory_sync_people where tenant_id = $1 and sync_id = $2 and action = 'deactivate' and not shown`,
    );
    return rows[0]!.n;
  }

  /** How far an earlier attempt has carried out the plan: everybody up to this external id. */
  async carriedOutTo(): Promise<string> {
    const { rows } = await this.statement<{ to: string }>(
      'select carried_out_to as to from directory_sync_runs where tenant_id = $1 and sync_id = $2',
    );
    return rows[0]?.to ?? '';
  }

  /** People for whom something is left to do, after this external id, in its order. */
  async openAfter(after: string, limit: number): Promise<readonly StagedPerson[]> {
    const { rows } = await this.statement<StagedPerson>(
      `select external_id as "externalId", person, action, user_id as "userId", refusal from directory_sync_people
        where tenant_id = $1 and sync_id = $2 and action in ('create', 'link', 'change', 'deactivate') and not done and external_id > $3
        order by external_id limit $4`,
      [after, limit],
    );
    return rows;
  }

  /** People who were, or are no longer, refused. */
  refuse(people: readonly { readonly externalId: string; readonly refusal: string | null }[]): Promise<void> {
    return this.write((client) => this.query(client, REFUSE, [JSON.stringify(people)]));
  }

  /** Everybody up to an external id is carried out. */
  settle(carriedOutTo: string, progress: Progress): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, CARRIED_OUT, [carriedOutTo]);
      await this.query(client, PHASE, ['applying', JSON.stringify(progress)]);
    });
  }

  /**
   * Which of the planned numbers hold, now that the plan is carried out. Whoever was to be deactivated is, also if
   * another change was refused.
   */
  async carriedOut({ created, linked, changed }: SyncCounts): Promise<Partial<SyncCounts>> {
    const { rows } = await this.statement<{ action: PlannedAction; refused: number }>(
      `select action, count(*)::int as refused from directory_sync_people
        where tenant_id = $1 and sync_id = $2 and refusal is not null and action is not null group by action`,
    );
    const refused = (...actions: readonly PlannedAction[]) =>
      rows.filter(({ action }) => actions.includes(action)).reduce((sum, row) => sum + row.refused, 0);
    return {
      created: created - refused('create'),
      linked: linked - refused('link'),
      changed: changed - refused('change'),
      refused: refused('create', 'link', 'change', 'deactivate', 'refuse'),
    };
  }
}
