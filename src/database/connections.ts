import { POOL_SIZES } from './database.ts';

/** All lanes of jobs share one pool: a connection that listens for each, and these. */
export const JOB_CONNECTIONS = 4;

/** What a process of any role opens at most while it serves, by the login that it uses; in `docs/operations.md` for who sizes a server. */
export const MOST_CONNECTIONS = {
  owner: POOL_SIZES.owner,
  // One more listens for what other processes append.
  store: POOL_SIZES.store + 1,
  service: POOL_SIZES.service + JOB_CONNECTIONS + 1,
  projector: POOL_SIZES.projector,
  reads: POOL_SIZES.reads,
} as const;
