import type pg from 'pg';
import { FairLimiter } from '../fairness/fair-limiter.ts';

/** How long a caller waits for a connection (`connectionTimeoutMillis` of the pools). */
export const CHECKOUT_MS = 5_000;
const WAITING = 4_000;
const WAITING_PER_KEY = 1_000;

/** A share of a pool, but at least one connection, so that the work can be done at all. */
const part = (max: number, share: number): number => Math.max(1, Math.floor(max * share));
const sizeOf = (pool: pg.Pool): number => pool.options.max;

const limiter = (what: string, atOnce: number, perKey: number) =>
  new FairLimiter({
    what,
    atOnce,
    perKey,
    waiting: WAITING,
    waitingPerKey: WAITING_PER_KEY,
    waitMs: CHECKOUT_MS,
    isShort: true,
  });

/**
 * The read pool. Lists, figures and searches of administrators use at most 6 of 10 connections, one tenant 4. Reads
 * for sign-in and devices use at most 3 others. The rest is for look-ups by key, which take no share: they are short,
 * and share connections.
 */
export const readShares = (pool: pg.Pool): { readonly ordinary: FairLimiter; readonly vital: FairLimiter } => ({
  ordinary: limiter('reads', part(sizeOf(pool), 0.6), part(sizeOf(pool), 0.4)),
  vital: limiter('vital reads', part(sizeOf(pool), 0.3), part(sizeOf(pool), 0.2)),
});

/** The service's own tables (secrets, tokens, idempotent responses): one tenant uses at most 5 of 8 connections. */
export const serviceShares = (pool: pg.Pool): FairLimiter => limiter('service', sizeOf(pool), part(sizeOf(pool), 0.7));

/** Locks of records: a tenant that deletes or names many takes one connection at a time. */
export const lockShares = (pool: pg.Pool): FairLimiter =>
  limiter('record locks', sizeOf(pool), part(sizeOf(pool), 0.4));

/** Reads of streams: at most 3 of 5 connections, one tenant 2. The others are for appends, which use two at a time. */
export const storeShares = (pool: pg.Pool): FairLimiter =>
  limiter('event store', part(sizeOf(pool), 0.6), part(sizeOf(pool), 0.4));
