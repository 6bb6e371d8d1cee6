import { AccessDeniedError, ErrorType, StreamDeletedError, UnknownError } from '@eventstore/db-client';
import { AppendRefused } from '../port.ts';
import { positionOf } from './positions.ts';
import { INVALID_ARGUMENT, shared, UNAVAILABLE, type BatchAppendResp, type BatchStatus } from './protocol.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

/**
 * The node accepts no writes: it has not joined its cluster, or does not know the leader. Only another node may be able
 * to.
 */
export class NodeNotReady extends Error {
  readonly code = UNAVAILABLE;
  /** The client reads the reason of a failed call here. */
  readonly details: string;

  constructor(details: string) {
    super(details);
    this.name = 'NodeNotReady';
    this.details = details;
  }
}

/** The server responded that it does not know the outcome, or that it is busy. */
class TryAgain extends Error {
  readonly type = ErrorType.TIMEOUT;
}

/**
 * Converts a response. Errors have the same types as those of a single append call, so that `isTransient` can classify
 * them.
 */
export function outcomeOf(response: BatchAppendResp, stream: string): WriteSucceeded | WriteConflict | Error {
  const success = response.getSuccess();
  if (!success) return refusal(response.getError(), stream);
  const position = success.getPosition();
  if (!position) return new Error('the server returned no position for an append');
  return {
    kind: 'written',
    revision: BigInt(success.getCurrentRevision()),
    position: positionOf(BigInt(position.getCommitPosition())),
  };
}

const PACKAGE = 'event_store.client.';

function refusal(status: BatchStatus | undefined, stream: string): WriteConflict | Error {
  const details = status?.getDetails();
  const words = status?.getMessage() ?? '';
  switch (details?.getTypeName()) {
    case `${PACKAGE}WrongExpectedVersion`: {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details.getValue_asU8());
      return {
        kind: 'wrongRevision',
        actual: wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : -1n,
      };
    }
    case `${PACKAGE}StreamDeleted`:
      return StreamDeletedError.fromStreamName(stream);
    case `${PACKAGE}AccessDenied`:
      return new AccessDeniedError();
    case `${PACKAGE}Timeout`:
      return new TryAgain('the server did not finish an append in time');
    case `${PACKAGE}MaximumAppendSizeExceeded`: {
      const most = shared.MaximumAppendSizeExceeded.deserializeBinary(details.getValue_asU8()).getMaxappendsize();
      return new AppendRefused(`the server takes at most ${most} bytes in one append (its setting MaxAppendSize)`);
    }
    // Only sent by servers from 25.1 on.
    case `${PACKAGE}MaximumAppendEventSizeExceeded`:
      return new AppendRefused('the server takes no event of that size (its setting MaxAppendEventSize)');
    case `${PACKAGE}BadRequest`:
      return new AppendRefused(
        `the server refused an append: ${shared.BadRequest.deserializeBinary(details.getValue_asU8()).getMessage()}`,
      );
    default:
      return unnamedRefusal(words, status?.getCode());
  }
}

/** Errors that a node reports only in its message text. */
function unnamedRefusal(words: string, code: number | undefined): Error {
  if (/not ready|no leader info/i.test(words)) return new NodeNotReady(words);
  if (/busy/i.test(words)) return new TryAgain(words);
  if (code === INVALID_ARGUMENT) return new AppendRefused(`the server refused an append: ${words}`);
  return new UnknownError(undefined, words || 'the server did not say why it refused an append');
}
