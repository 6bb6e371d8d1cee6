import type { Logger } from 'pino';
import type { StoredEvent } from '../../../platform/eventstore/port.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { SinkFailed, type Sink } from '../sinks/sink.ts';
import type { Clock } from './clock.ts';
import type { ForwardingCheckpoint, ForwardingCheckpoints } from './forwarding-checkpoints.ts';
import { ForwardingLost } from './forwarding-lease.ts';
import { hourEnd, PageSender, type OpenedDestination } from './page-sender.ts';
import type { TenantLogPage, TenantLog } from './tenant-log.ts';
import { Unconfirmed } from './unconfirmed.ts';
import { whenAborted } from '../../../platform/kernel/when-aborted.ts';

const PAGE = 500;
/** After a failure, so that a destination that barely recovers is not sent a whole page again and again. */
const CAREFUL_PAGE = 50;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Events of the last hour are sent before its end if so many wait. */
const HOURLY_EVENTS = 20_000;
/** Clocks of database nodes may differ. */
const HOUR_GRACE_MS = 60_000;
const IDLE_MS = 15_000;
/** A checkpoint that only passed other tenants' events is saved this seldom. */
const LAZY_SAVE_MS = 600_000;

export interface ForwardingStreamPorts {
  readonly tenantLog: TenantLog;
  readonly checkpoints: ForwardingCheckpoints;
  readonly clock: Clock;
  readonly log: Logger;
  /** How far the forwarder has counted: it calls `notice` for later events. */
  counted(): Position;
  open(): Promise<OpenedDestination>;
}

/**
 * Forwards to one destination, from one checkpoint. Reads the log, sends, lets the sink confirm, moves the checkpoint. After
 * any failure it begins again at the saved checkpoint: what waits is in the log, not in memory.
 */
export class ForwardingStream {
  readonly #checkpoint: ForwardingCheckpoint;
  readonly #ports: ForwardingStreamPorts;
  readonly #unconfirmed = new Unconfirmed();
  #saved: Position;
  #savedAt: number;
  #reached: Position;
  #lag: number;
  #failures = 0;
  #reason: string | undefined;
  #waitingSince: number | null = null;
  #wake: (() => void) | undefined;
  #isAwake = false;

  constructor(checkpoint: ForwardingCheckpoint, ports: ForwardingStreamPorts) {
    this.#checkpoint = checkpoint;
    this.#ports = ports;
    this.#saved = checkpoint.position;
    this.#reached = checkpoint.position;
    this.#savedAt = ports.clock.now();
    this.#lag = checkpoint.lagEvents;
  }

  /** Undelivered events, as counted so far, and the time since the oldest of them was recorded. */
  get lag(): { readonly events: number; readonly seconds: number; readonly isFailing: boolean } {
    const since = this.#waitingSince;
    const seconds = since === null ? 0 : Math.max(0, (this.#ports.clock.now() - since) / 1_000);
    return { events: Math.max(0, this.#lag), seconds, isFailing: this.#failures > 0 };
  }

  /** So many more events for this destination are in the log. */
  notice(events: number): void {
    this.#lag += events;
    this.#isAwake = true;
    this.#wake?.();
  }

  /**
   * Returns at the end of a range of the past, or when `leaving` is aborted and what was sent is confirmed: then nothing
   * of it is sent again. `over` ends that too, without a confirmation. Throws `ForwardingLost`.
   */
  async run(leaving: AbortSignal, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([leaving, over]);
    void this.#countBehind(signal).catch(() => undefined);
    whenAborted(signal, () => this.#wake?.());
    while (!signal.aborted) {
      let opened: OpenedDestination | undefined;
      try {
        opened = await this.#ports.open();
        await this.#forward(opened, signal, over);
        if (!this.#unconfirmed.isEmpty && !over.aborted) await this.#confirm(opened.sink, over);
        return;
      } catch (error) {
        if (error instanceof ForwardingLost) throw error;
        if (signal.aborted) break;
        await this.#failed(error as Error);
      } finally {
        opened?.sink.close();
      }
      // Doubles up to a minute, and differs among destinations.
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS);
      await this.#ports.clock.sleep(wait * (0.75 + Math.random() / 4), signal);
    }
  }

  /** Events between the last count and the forwarder's beginning. */
  async #countBehind(signal: AbortSignal): Promise<void> {
    const { tenantLog, counted } = this.#ports;
    if (this.#checkpoint.range) return;
    this.#lag += await tenantLog.count(this.#checkpoint.countedTo, counted(), signal);
  }

  async #forward(opened: OpenedDestination, signal: AbortSignal, over: AbortSignal): Promise<void> {
    const { sink } = opened;
    this.#reached = this.#saved;
    this.#unconfirmed.clear();
    const confirm = () => this.#confirm(sink, over);
    const sender = new PageSender(opened, this.#ports, this.#checkpoint, {
      signal: over,
      sent: (position, amount) => {
        this.#unconfirmed.add(amount, this.#ports.clock.now());
        this.#reached = position;
      },
      endOfHour: confirm,
    });
    let next: Promise<TenantLogPage> | undefined;
    while (!signal.aborted) {
      const page = await (next ?? this.#read(this.#reached));
      next = undefined;
      // Read while the log came into doubt, for example: perhaps of another log.
      if (signal.aborted) return;
      const due = this.#dueOf(page, sink);
      if (due.length > 0) {
        this.#waitingSince = due[0]!.recordedAt;
        const isWhole = due.length === page.events.length;
        if (isWhole && page.more && this.#failures === 0) {
          // Read ahead while this page is sent. A failure shows when the page is wanted.
          next = this.#read(page.position);
          next.catch(() => undefined);
        }
        await sender.send(due);
        if (isWhole) this.#reached = page.position;
        if (this.#unconfirmed.isDue(sink.limits, this.#ports.clock.now())) await confirm();
      } else {
        const isHeld = page.events.length > 0;
        if (!isHeld) this.#reached = page.position;
        if (page.more && !isHeld) continue;
        if (this.#isFinished) return confirm();
        await this.#rest(sink, isHeld, signal, confirm);
      }
    }
  }

  #read(after: Position): Promise<TenantLogPage> {
    // What is noticed from here on may be missing in the page.
    this.#isAwake = false;
    return this.#ports.tenantLog.next(after, this.#failures > 0 ? CAREFUL_PAGE : PAGE);
  }

  /** The events to send now: those of an hour that is not over wait, where objects are hourly. */
  #dueOf({ events }: TenantLogPage, { limits }: Sink): readonly StoredEvent[] {
    if (!limits.isHourly || this.#checkpoint.range || this.#lag >= HOURLY_EVENTS) return events;
    const now = this.#ports.clock.now();
    const held = events.findIndex(({ recordedAt }) => now < hourEnd(recordedAt) + HOUR_GRACE_MS);
    if (held === 0) this.#waitingSince ??= events[0]!.recordedAt;
    return held < 0 ? events : events.slice(0, held);
  }

  get #isFinished(): boolean {
    return this.#checkpoint.range !== undefined && this.#reached >= this.#checkpoint.range.until;
  }

  /** Waits for more events. Confirms what was sent, if nothing comes soon. */
  async #rest(sink: Sink, isHeld: boolean, signal: AbortSignal, confirm: () => Promise<void>): Promise<void> {
    const { clock } = this.#ports;
    if (!this.#unconfirmed.isEmpty) {
      const dueIn = this.#unconfirmed.dueIn(sink.limits, clock.now());
      if (dueIn === 0 || !(await this.#woken(dueIn, signal))) await confirm();
      return;
    }
    if (!isHeld) {
      this.#waitingSince = null;
      // At the end of the log nothing waits, whatever was counted under other event types.
      const isMiscounted = this.#lag !== 0 && !this.#isAwake;
      if (isMiscounted) this.#lag = 0;
      const isOld = this.#reached > this.#saved && clock.now() - this.#savedAt >= LAZY_SAVE_MS;
      if (isMiscounted || isOld) await this.#save(0);
    }
    if (isHeld) await clock.sleep(IDLE_MS, signal);
    else await this.#woken(IDLE_MS, signal);
  }

  /** Resolves with true when there are more events, with false after the time. */
  async #woken(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isAwake) return true;
    // An abort from here on calls `#wake`.
    if (signal.aborted) return false;
    const over = new AbortController();
    this.#wake = () => over.abort();
    await this.#ports.clock.sleep(milliseconds, over.signal);
    this.#wake = undefined;
    return this.#isAwake;
  }

  async #confirm(sink: Sink, signal: AbortSignal): Promise<void> {
    const { events, records } = this.#unconfirmed;
    if (records > 0) await sink.confirm(signal);
    this.#lag = Math.max(0, this.#lag - events);
    if (this.#lag === 0) this.#waitingSince = null;
    await this.#save(records);
    this.#unconfirmed.clear();
    if (this.#failures > 0) this.#ports.log.info(this.#named, 'a log destination takes records again');
    this.#failures = 0;
    this.#reason = undefined;
  }

  async #save(records: number): Promise<void> {
    const { checkpoints, clock } = this.#ports;
    await checkpoints.move(this.#checkpoint, { from: this.#saved, to: this.#reached, records, ...this.#counts });
    this.#saved = this.#reached;
    this.#savedAt = clock.now();
  }

  get #counts() {
    return {
      lagEvents: Math.max(0, this.#lag),
      countedTo: this.#ports.counted(),
      waitingSince: this.#waitingSince,
    };
  }

  get #named() {
    const { tenantId, destinationId, range } = this.#checkpoint;
    return { tenantId, destinationId, ...(range ? { backfill: this.#checkpoint.checkpointId } : {}) };
  }

  async #failed(error: Error): Promise<void> {
    const reason = error instanceof SinkFailed ? error.message : 'the service could not read its own data';
    this.#failures += 1;
    this.#unconfirmed.clear();
    if (reason !== this.#reason) {
      const cause = error instanceof SinkFailed ? undefined : error.message;
      this.#ports.log.warn({ ...this.#named, reason, cause }, 'a log destination fails; its records wait in the log');
    }
    this.#reason = reason;
    await this.#ports.checkpoints.fail(this.#checkpoint, { reason, ...this.#counts }).catch((failure: unknown) => {
      if (failure instanceof ForwardingLost) throw failure;
    });
  }
}
