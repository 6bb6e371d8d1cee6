import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import { levelOfFailure, type LogTrust } from '../../../platform/eventstore/log-trust.ts';
import type { EventStore, StoredEvent } from '../../../platform/eventstore/port.ts';
import type { CatchUpSubscription } from '../../../platform/projector/catch-up-subscription.ts';
import type { Freshness } from '../../../platform/projector/freshness.ts';
import { logDestinationEvents } from '../domain/events.ts';
import { systemClock, type Clock } from './clock.ts';
import type { DestinationSinks } from './destination-sinks.ts';
import { ForwardingCheckpoints } from './forwarding-checkpoints.ts';
import { ForwardingLease, ForwardingLost, LEASE_SECONDS } from './forwarding-lease.ts';
import { RunningStreams, type StreamLag } from './running-streams.ts';

const PAGE = 500;
const IDLE_MS = 1_000;
const RENEW_MS = 2_000;
/** Destinations are compared with the read model at least this often. */
const REFRESH_MS = 30_000;
/** How long the read model may be behind an event about a destination. */
const FRESH_MS = 5_000;

export interface ForwarderPorts {
  readonly pool: pg.Pool;
  readonly store: EventStore;
  readonly subscription: CatchUpSubscription;
  readonly codec: EventCodec;
  readonly trust: LogTrust;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly sinks: Pick<DestinationSinks, 'open'>;
  readonly log: Logger;
  readonly clock?: Clock;
}

/**
 * Forwards the log to all destinations of the installation, in the one process that holds the lease. One reader follows
 * the log and wakes the streams of destinations that a new event concerns. Each destination has a stream of its own, so
 * a slow one delays no other.
 */
export class Forwarder {
  readonly #ports: ForwarderPorts;
  readonly #lease: ForwardingLease;
  readonly #stop = new AbortController();
  #streams: RunningStreams | undefined;
  #running: Promise<void> | undefined;

  constructor(ports: ForwarderPorts) {
    this.#ports = ports;
    this.#lease = new ForwardingLease(ports.pool, randomUUID());
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Lags of the destinations that this process forwards to; undefined while another process forwards. */
  get lags(): readonly StreamLag[] | undefined {
    return this.#streams?.lags;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { trust, log, clock = systemClock } = this.#ports;
    while (!signal.aborted) {
      try {
        await trust.assured();
        const { epoch: trusted } = trust;
        const epoch = await this.#lease.acquire();
        if (epoch !== undefined) await this.#lead(epoch, trusted);
      } catch (error) {
        if (!(error instanceof ForwardingLost) && !signal.aborted)
          log[levelOfFailure(error)]({ reason: (error as Error).message }, 'log forwarding failed and will retry');
      }
      await clock.sleep(IDLE_MS, signal);
    }
  }

  /** Forwards until the lease is lost, the log is doubted, or the process stops. */
  async #lead(epoch: bigint, trusted: number): Promise<void> {
    const { pool, trust, subscription, clock = systemClock } = this.#ports;
    const over = new AbortController();
    const unsubscribe = trust.onDoubt(() => over.abort());
    if (trust.epoch !== trusted) over.abort();
    const signal = AbortSignal.any([this.#stop.signal, over.signal]);
    const checkpoints = new ForwardingCheckpoints(pool, epoch);
    const streams = new RunningStreams({ ...this.#ports, clock, checkpoints }, subscription.head, () => over.abort());
    this.#streams = streams;
    const keeping = this.#keepLease(epoch, over);
    try {
      await this.#follow(streams, signal);
    } finally {
      // The lease is kept until the last records are confirmed, unless it is lost, or the log is in doubt.
      const inOrder = this.#stop.signal.aborted && !over.signal.aborted;
      this.#streams = undefined;
      await streams.stop({ inOrder });
      unsubscribe();
      over.abort();
      await keeping;
      await this.#lease.release(epoch).catch(() => undefined);
    }
  }

  async #follow(streams: RunningStreams, signal: AbortSignal): Promise<void> {
    const { subscription, clock = systemClock } = this.#ports;
    const isOurs = (type: string) => type in logDestinationEvents.definitions;
    await streams.refresh();
    let refreshed = clock.now();
    while (!signal.aborted) {
      const { events, position } = await subscription.read(streams.counted, PAGE);
      streams.count(events, position);
      const changed = events.findLast(({ type }) => isOurs(type));
      if (changed || clock.now() - refreshed >= REFRESH_MS) {
        if (changed) await this.#awaitReadModel(changed);
        await streams.refresh();
        refreshed = clock.now();
      }
      if (events.length === 0)
        await subscription.wait(position, IDLE_MS, {
          signal,
          concerns: (type) => isOurs(type) || streams.concerns(type),
        });
    }
  }

  async #awaitReadModel({ position }: Pick<StoredEvent, 'position'>): Promise<void> {
    await this.#ports.freshness.waitFor(['log_destinations'], position, FRESH_MS);
  }

  /** Ends the lead before another process may begin, if the lease cannot be renewed. */
  async #keepLease(epoch: bigint, over: AbortController): Promise<void> {
    const { signal } = over;
    let renewed = performance.now();
    while (!signal.aborted) {
      await systemClock.sleep(RENEW_MS, signal);
      if (signal.aborted) return;
      try {
        await this.#lease.renew(epoch);
        renewed = performance.now();
      } catch (error) {
        const isOver = performance.now() - renewed > (LEASE_SECONDS * 1_000) / 2;
        if (error instanceof ForwardingLost || isOver) over.abort();
      }
    }
  }
}
