/** What a process of the service does; `all` does everything. */
export type ProcessRole = 'all' | 'api' | 'projector' | 'worker';

/** The most connections that one process opens to PostgreSQL, by purpose. */
export interface Connections {
  /** Migrations and keys at startup, then none; operators' commands. */
  readonly owner: number;
  readonly store: number;
  readonly service: number;
  readonly projector: number;
  readonly reads: number;
  /** LISTEN, for appends of other processes. */
  readonly feed: number;
  /** Locks of records that are named or deleted (`reference-locks.ts`); none while nobody does either. */
  readonly locks: number;
  /**
   * The tables of jobs; with Redis, the outbox in front of it. In a process that works, each lane of jobs keeps one to
   * listen, and all lanes share the rest.
   */
  readonly jobs: number;
}

/** A process that does not project needs few projector connections; one that serves no requests needs few for reads. */
const BY_ROLE: Readonly<Record<ProcessRole, Connections>> = {
  all: { owner: 2, store: 5, service: 8, projector: 6, reads: 10, feed: 1, locks: 3, jobs: 6 },
  api: { owner: 2, store: 5, service: 8, projector: 2, reads: 10, feed: 1, locks: 3, jobs: 2 },
  projector: { owner: 2, store: 4, service: 3, projector: 6, reads: 3, feed: 1, locks: 1, jobs: 5 },
  worker: { owner: 2, store: 3, service: 3, projector: 3, reads: 3, feed: 1, locks: 1, jobs: 5 },
};

/** Connections of the outbox: one transfers jobs, one stores jobs that Redis did not accept. */
export const OUTBOX_CONNECTIONS = 2;

export const connectionsOf = (role: ProcessRole, { redis }: { readonly redis: boolean }): Connections => ({
  ...BY_ROLE[role],
  ...(redis ? { jobs: OUTBOX_CONNECTIONS } : {}),
});

export const totalConnections = (connections: Connections): number =>
  Object.values(connections).reduce((sum: number, count: number) => sum + count, 0);
