import type { Position } from '../../../platform/kernel/event.ts';
import type { LogRecord } from '../formats/log-record.ts';

/** A formatted record, and the position of its event. */
export interface OutgoingRecord {
  readonly record: LogRecord;
  readonly line: string;
  readonly position: Position;
  /** When the log recorded the event, in epoch milliseconds. */
  readonly recordedAt: number;
}

/** A record that the destination refuses for good. */
export interface SinkRefusal {
  /** Its index in the batch. */
  readonly index: number;
  /** Fixed words, or a name from the protocol. */
  readonly reason: string;
}

/** A batch or an acknowledgement failed, and may succeed later. The message is for administrators, in fixed words. */
export class SinkFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'SinkFailed';
  }
}

/** How a sink takes records. A record that is larger than `batchBytes` travels alone. */
export interface SinkLimits {
  readonly batchRecords: number;
  /** Characters of lines. */
  readonly batchBytes: number;
  /** After so many records, or characters, what was sent is confirmed. */
  readonly unconfirmedRecords: number;
  readonly unconfirmedBytes: number;
  /** Otherwise it is confirmed when nothing came for so long, or the first record is this old. */
  readonly quietMs: number;
  readonly ageMs: number;
  /** Records of one hour are sent after its end, or once there are enough. */
  readonly isHourly?: boolean;
  /** Nothing tells whether a record arrived. */
  readonly isUnacknowledged?: boolean;
}

/**
 * The sending side of one destination, for one caller at a time. `send` hands over records in order; `confirm` resolves
 * once the destination has acknowledged everything that was sent. Only then may a checkpoint move: after a failure of
 * either, the caller closes the sink and sends again from its checkpoint. Both throw `SinkFailed`.
 */
export interface Sink {
  readonly limits: SinkLimits;
  send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]>;
  confirm(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Requests that each carry a batch and are acknowledged by their response. */
export const REQUEST_LIMITS: SinkLimits = {
  batchRecords: 1_000,
  batchBytes: 1024 * 1024,
  unconfirmedRecords: 5_000,
  unconfirmedBytes: 8 * 1024 * 1024,
  quietMs: 0,
  ageMs: 1_000,
};
